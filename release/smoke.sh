#!/usr/bin/env bash
# Uses one build of the command as a user would: `smoke.sh PROGRAM...`, such as
# `smoke.sh qemu-aarch64-static target/.../hookexec`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hookexec=("$@")
last=$((${#hookexec[@]} - 1))
hookexec[last]=$(realpath "${hookexec[last]}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export HOME=$place/home XDG_CONFIG_HOME= XDG_STATE_HOME=
mkdir "$HOME" "$place/run"
chmod 700 "$place/run"

# `expect CODE COMMAND...`: the exit code is the decision.
expect() {
    local wanted=$1 code=0
    shift
    "$@" >"$place/out" 2>&1 || code=$?
    if [ "$code" != "$wanted" ]; then
        echo "exit code $code, expected $wanted: $*" >&2
        cat "$place/out" >&2
        exit 1
    fi
}

guard=examples/guard.yaml
expect 0 "${hookexec[@]}" check --config "$guard"
expect 2 "${hookexec[@]}" run pre_tool_use --config "$guard" <examples/inputs/rm.json
expect 0 "${hookexec[@]}" run pre_tool_use --config "$guard" <examples/inputs/ls.json
cat >"$place/guard.test.yaml" <<CASES
config: $PWD/$guard
cases:
  - name: rm is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm -rf / } }
    expect: { decision: deny }
CASES
expect 0 "${hookexec[@]}" test "$place/guard.test.yaml"

"${hookexec[@]}" serve --config "$guard" --socket "$place/run/socket" 2>"$place/serve" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$place"' EXIT
for _ in $(seq 600); do
    [ -S "$place/run/socket" ] && break
    sleep 0.1
done
expect 2 "${hookexec[@]}" run pre_tool_use --connect "$place/run/socket" <examples/inputs/rm.json
if grep -q "hooks run here\|no server" "$place/out"; then
    echo "the server was not asked: $(cat "$place/out")" >&2
    exit 1
fi
kill "$server"
wait "$server" || true
echo "check, run, test, serve: as expected"
