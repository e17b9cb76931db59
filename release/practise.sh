#!/usr/bin/env bash
# Does with a hookexec (`$1`) what agents wait for: events that nothing is for, hooks of each type,
# an agent's own payload, and a server's answer. A build that counts writes below `$2`, scene by scene.
set -euo pipefail
if [ ! -x "${1:-}" ]; then
    echo "usage: practise.sh HOOKEXEC [DIRECTORY]; there is no program \`${1:-}\`" >&2
    exit 1
fi
hookexec=$(realpath "$1")
base=$(mktemp -d)
# A home inside the project would not count.
place=$base/project
mkdir -m 700 "$place" "$base/home"
counts=$(realpath -m "${2:-$place/counts}")
scene() { export LLVM_PROFILE_FILE="$counts/$1/%p.profraw"; }
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$base"' EXIT
export HOME=$base/home
# Nothing of the user who builds it counts.
unset XDG_CONFIG_HOME XDG_STATE_HOME
cd "$place"
mkdir .git .hookexec

{
    echo "hooks:"
    echo "  pre_tool_use:"
    for number in $(seq 100); do
        case $((number % 2)) in
            0) matcher="edit_$number|write_$number" ;;
            1) matcher="mcp__server${number}__.*write.*" ;;
        esac
        echo "    - matcher: \"$matcher\""
        echo "      hooks:"
        echo "        - type: command"
        echo "          command: ./check-$number.sh --strict"
        echo "          timeout: 5"
    done
} > many.yaml
cat > guards.yaml <<'YAML'
pre_tool_use:
  - matcher: shell|Bash
    hooks:
      - { type: command, name: quiet, command: "cat >/dev/null" }
      - { type: command, name: argv, command: [cat], timeout: 5 }
      - type: command
        name: no force
        command: 'grep -q -- --force && { echo "no force" >&2; exit 2; } || true'
  - matcher: edit|Edit|Write
    hooks:
      - { type: rule, deny: no, files: [.git, .env] }
post_tool_use:
  - hooks: [{ type: command, command: "echo '{\"additionalContext\": \"seen\"}'" }]
YAML
cp guards.yaml .hookexec/hooks.yaml
echo 'pre_tool_use: [{ hooks: [{ type: command, command: "cat >/dev/null" }] }]' > command.yaml

shell='{"session_id": "s1", "tool_name": "shell", "tool_input": {"cmd": "git push --force"}}'
edit='{"session_id": "s1", "tool_name": "edit", "tool_input": {"path": ".git/config"}}'
payload='{"session_id": "s1", "cwd": "'$place'", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
# Has `run` answer the input `$2`, which must end in the exit code `$1`.
ask() {
    local expected=$1 input=$2 status=0
    shift 2
    printf '%s' "$input" | "$hookexec" run "$@" >/dev/null 2>&1 || status=$?
    if [ "$status" != "$expected" ]; then
        echo "hookexec run $*: exit code $status in the place of $expected" >&2
        exit 1
    fi
}

scene other
# In a clean environment: where a coding agent builds the release, approving is refused.
env -i HOME="$HOME" PATH="$PATH" LLVM_PROFILE_FILE="$LLVM_PROFILE_FILE" \
    "$hookexec" trust add --yes .hookexec/hooks.yaml >/dev/null
"$hookexec" serve --socket "$place/socket" 2>/dev/null &
server=$!
until [ -S "$place/socket" ] || ! kill -0 "$server"; do sleep 0.1; done
for _ in 1 2 3 4 5; do
    scene start
    ask 0 "$shell" pre_tool_use --isolated --config many.yaml
    scene command
    ask 0 "$shell" pre_tool_use --isolated --config command.yaml
    scene other
    ask 2 "$shell" pre_tool_use
    ask 2 "$edit" pre_tool_use --isolated --config guards.yaml
    ask 0 "$shell" post_tool_use --isolated --config guards.yaml
    ask 0 "$payload" --from claude-code --isolated --config guards.yaml
    ask 2 "$edit" pre_tool_use --connect "$place/socket"
done
kill "$server"
wait "$server" || true
server=
