#!/usr/bin/env bash
# Uses the command on Windows as a user would: `smoke-windows.sh HOOKEXEC.EXE`, in Git Bash on Windows
# or under Wine (`smoke-windows.sh wine HOOKEXEC.EXE`) with a prefix of its own. Every hook here needs
# nothing but what Windows has: cmd.exe, find.exe and ping.exe.
set -euo pipefail
hookexec=("$@")
last=$((${#hookexec[@]} - 1))
hookexec[last]=$(realpath "${hookexec[last]}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/project" "$place/home"
cd "$place/project"

# `expect CODE COMMAND...`: stdin is the file `input`, stdout goes to `out`, stderr to `errors`.
expect() {
    local wanted=$1 code=0
    shift
    "$@" <"$place/input" >"$place/out" 2>"$place/errors" || code=$?
    [ "$code" = "$wanted" ] || fail "exit code $code, expected $wanted: $*"
}
fail() {
    echo "FAILED: $*" >&2
    cat "$place/out" "$place/errors" >&2
    exit 1
}
says() { grep -q -- "$1" "$place/out" "$place/errors" || fail "no \`$1\` is said"; }
silent_on() { ! grep -q -- "$1" "$place/out" || fail "\`$1\` is said"; }
call() { printf '{"session_id": "s", "tool_name": "shell", "tool_input": {"cmd": "%s"}}' "$1" >"$place/input"; }
hooks() { cat >hooks.yaml; }

call 'echo hello'
echo "== a list is run as it is, a text by cmd"
printf '@find "forbidden" >nul\r\n@if errorlevel 1 exit 0\r\n@echo the list denies, with %%~1>&2\r\n@exit 2\r\n' >guard.cmd
hooks <<'YAML'
pre_tool_use:
  - hooks:
      - type: command
        name: list
        command: ['.\guard.cmd', 'an argument']
        on_error: block
      - type: command
        name: text
        shell: cmd
        command: find "secret" >nul & if errorlevel 1 (exit 0) else (echo the "text" denies>&2& exit 2)
        on_error: block
YAML
expect 0 "${hookexec[@]}" check --config hooks.yaml
expect 0 "${hookexec[@]}" list --config hooks.yaml
says text
expect 0 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
call forbidden
expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
says 'the list denies, with an argument'
call secret
expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
says 'the \\"text\\" denies'
expect 0 "${hookexec[@]}" explain pre_tool_use --config hooks.yaml
says list
cat >hooks.test.yaml <<'YAML'
config: hooks.yaml
cases:
  - name: secret is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: secret } }
    expect: { decision: deny }
YAML
expect 0 "${hookexec[@]}" test hooks.test.yaml

echo "== an agent is denied in its own words"
printf '{"session_id": "s", "cwd": "%s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "forbidden"}}' \
    'C:\\' >"$place/input"
expect 0 "${hookexec[@]}" run --from claude-code --config hooks.yaml
says '"permissionDecision":"deny"'
printf 'no payload' >"$place/input"
expect 0 "${hookexec[@]}" run --from claude-code --event PreToolUse --config hooks.yaml
says '"permissionDecision":"deny"'

echo "== a server on stdin and stdout"
printf '{"jsonrpc":"2.0","id":7,"method":"dispatch","params":{"event":"pre_tool_use","input":{"tool_name":"shell","tool_input":{"cmd":"secret"}}}}\n' \
    >"$place/input"
expect 0 "${hookexec[@]}" serve --config hooks.yaml
says '"id":7'
says '"decision":"deny"'
expect 64 "${hookexec[@]}" serve --socket socket --config hooks.yaml
says 'not available on Windows'

echo "== what can't start has failed"
call 'echo hello'
for command in '[no-such-program]' "['C:\\no\\such.exe']" '[hooks.yaml]' "['.\\bad.cmd', \"a\\nb\"]"; do
    printf '@exit 0\r\n' >bad.cmd
    printf 'pre_tool_use: [{hooks: [{type: command, name: broken, on_error: block, command: %s}]}]\n' "$command" |
        hooks
    expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
    says broken
done
if [ ! -e "/c/Program Files/Git/bin/bash.exe" ]; then
    echo 'pre_tool_use: [{hooks: [{type: command, command: exit 0}]}]' | hooks
    expect 78 "${hookexec[@]}" check --config hooks.yaml
    says 'install Git for Windows'
    expect 78 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
fi

echo "== a timeout ends the whole tree"
printf '@ping -n 6 127.0.0.1 >nul\r\n@echo alive>survived\r\n' >slow.cmd
hooks <<'YAML'
pre_tool_use:
  - hooks:
      - type: command
        name: tree
        command: [cmd, /d, /c, "cmd /d /c slow.cmd & exit 0"]
        timeout: 2
        on_error: block
YAML
expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
says 'stopped after 2s'
sleep 6
[ ! -e survived ] || fail "a part of the tree went on after the timeout"

echo "== protected paths, however they are written"
hooks <<'YAML'
pre_tool_use:
  - hooks:
      - { type: rule, deny: protected, files: ['~\.ssh', 'C:\secrets', .env] }
YAML
profile='%USERPROFILE%\\.ssh\\key'
for path in 'C:\\secrets\\x' 'c:/SECRETS/x' '/c/secrets/x' '\\\\?\\C:\\secrets' 'D:\\work\\.ENV' 'C:\\windows\\..\\secrets.\\x::$DATA'; do
    printf '{"tool_name": "read_file", "tool_input": {"path": "%s"}}' "$path" >"$place/input"
    expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
done
for command in "type $profile" 'cat $env:USERPROFILE\\.ssh\\key' 'cat ~/.ssh/key' 'type \"C:\\secrets\\x\"' 'cd C:\\ && type secrets\\x'; do
    call "$command"
    expect 2 "${hookexec[@]}" run pre_tool_use --config hooks.yaml
    says 'protected'
done
call 'type C:\\windows\\win.ini'
expect 0 "${hookexec[@]}" run pre_tool_use --config hooks.yaml

echo "== approvals, and the settings of an agent"
rm hooks.yaml
mkdir .git .hookexec
printf 'pre_tool_use: [{hooks: [{type: command, name: theirs, command: [./guard.cmd]}]}]\n' >.hookexec/hooks.yaml
call forbidden
expect 2 "${hookexec[@]}" run pre_tool_use
says 'not approved'
expect 0 "${hookexec[@]}" trust add --yes
says 'hooks.yaml'
expect 2 "${hookexec[@]}" run pre_tool_use
says 'the list denies'
cp guard.cmd kept.cmd
printf '@exit 0\r\n' >guard.cmd
expect 2 "${hookexec[@]}" run pre_tool_use
says 'guard.cmd. changed after its approval'
mv kept.cmd guard.cmd
: >guard.cmd.exe
expect 2 "${hookexec[@]}" run pre_tool_use
says 'Windows would start'
rm guard.cmd.exe
echo '# changed' >>.hookexec/hooks.yaml
expect 2 "${hookexec[@]}" run pre_tool_use
says 'changed'
XDG_STATE_HOME='C:\ProgramData\state' expect 2 "${hookexec[@]}" run pre_tool_use
says 'is not below your profile'
expect 0 "${hookexec[@]}" install claude-code --dry-run
says 'hookexec.*exe run --from claude-code --event PreToolUse --within'
expect 0 "${hookexec[@]}" trust remove --yes
echo "every command did what it should"
