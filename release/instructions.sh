#!/usr/bin/env bash
# Counts what one `hookexec run` costs, for each program in the arguments: the instructions of the
# command itself (callgrind; not those of the hook), and page faults where no hook matches. Neither
# depends on what else the machine does.
set -euo pipefail
[ "$#" -gt 0 ] || { echo "usage: instructions.sh HOOKEXEC..." >&2; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
hook='hooks: [{ type: command, command: "cat >/dev/null" }]'
echo "pre_tool_use: [{ $hook }]" > "$place/command.yaml"
echo "pre_tool_use: [{ matcher: other, $hook }]" > "$place/nothing.yaml"
echo '{"session_id": "s1", "tool_name": "shell", "tool_input": {"cmd": "ls"}}' > "$place/input"

# In an environment with nothing in it: what is in it counts.
clean=(env -i "HOME=$place" PATH=/usr/bin:/bin)
instructions() {
    "${clean[@]}" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" run pre_tool_use \
        --isolated --config "$2" < "$place/input" 2>&1 > /dev/null |
        sed -n 's/.*Collected : //p' | tail -n 1
}
page_faults() {
    "${clean[@]}" "$(command -v python3)" - "$1" "$2" "$place/input" <<'PYTHON'
import os, sys
program, config, path = sys.argv[1:]
command = [program, "run", "pre_tool_use", "--isolated", "--config", config]
files = [
    (os.POSIX_SPAWN_OPEN, 0, path, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
]
# `subprocess` may fork, and the faults of the copy would count.
child = os.posix_spawn(program, command, os.environ, file_actions=files)
_, status, used = os.wait4(child, 0)
assert status == 0, status
print(used.ru_minflt)
PYTHON
}

printf '%-14s %-14s %-12s %s\n' "nothing" "one command" "page faults" program
for program in "$@"; do
    program=$(realpath "$program")
    printf '%-14s %-14s %-12s %s\n' "$(instructions "$program" "$place/nothing.yaml")" \
        "$(instructions "$program" "$place/command.yaml")" \
        "$(page_faults "$program" "$place/nothing.yaml")" "$program"
done
