#!/usr/bin/env bash
# Installs the packages of a directory (`$1`) in fresh places, without the network, and uses them.
# Needs node with npm, and python3 with venv.
set -euo pipefail
dist=$(realpath "${1:?usage: test-packages.sh DIST}")
release=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
registry=
trap '[ -z "$registry" ] || kill "$registry" 2>/dev/null; rm -rf "$place"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
step() { echo "== $*"; }

# A home and a project with nothing in them but hooks, and nothing of the caller's environment.
# Its temporary directory is elsewhere, so that the home does not count as one.
fresh() {
    home=$place/$1
    mkdir -p "$home/.config/hookexec" "$home/project" "$place/tmp"
    chmod 700 "$home"
    cp "$place/hooks.yaml" "$home/.config/hookexec/hooks.yaml"
    clean=(env -i "HOME=$home" "TMPDIR=$place/tmp" "PATH=/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8)
    cd "$home/project"
}
cat > "$place/hooks.yaml" <<'YAML'
pre_tool_use:
  - matcher: shell|Bash
    hooks:
      - type: command
        name: decide
        command: |
          input=$(cat)
          case $input in
              *forbidden*) echo "this is forbidden" >&2; exit 2 ;;
              *doubtful*) echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}' ;;
          esac
YAML

# Has the words after `$2` answer a call of a tool with the command `$2`: exit code `$1`.
decides() {
    local expected=$1 input=$2 status=0
    shift 2
    printf '{"session_id": "s1", "tool_name": "shell", "tool_input": {"cmd": "%s"}}' "$input" |
        "${clean[@]}" "$@" run pre_tool_use > "$place/verdict" 2> "$place/messages" || status=$?
    [ "$status" = "$expected" ] ||
        fail "$* on \`$input\`: exit code $status, not $expected: $(cat "$place/messages")"
}
decides_all() {
    decides 0 harmless "$@"
    decides 2 forbidden "$@"
    grep -q "this is forbidden" "$place/verdict" || fail "$*: no reason: $(cat "$place/verdict")"
    decides 3 doubtful "$@"
}

# Runs the entry in the settings `$1` for the event before a tool, as an agent does.
agent_is_denied() {
    local entry status=0
    entry=$(python3 - "$1" <<'PYTHON'
import json, sys
entries = json.load(open(sys.argv[1]))["hooks"]["PreToolUse"]
print(entries[0]["hooks"][0]["command"])
PYTHON
    )
    case $entry in
        *"$home/.local/share/hookexec/bin/hookexec-$version run"*) ;;
        *) fail "$1 calls another program: $entry" ;;
    esac
    printf '{"session_id": "s1", "cwd": "%s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "forbidden"}}' "$home/project" |
        "${clean[@]}" sh -c "$entry" > "$place/verdict" 2> "$place/messages" || status=$?
    grep -q '"deny"' "$place/verdict" && grep -q "this is forbidden" "$place/verdict" ||
        fail "$1: not denied (exit code $status): $(cat "$place/verdict" "$place/messages")"
}

step "checksums"
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)

step "archive"
fresh archive
stem=$(basename "$dist"/hookexec-*-"$(uname -m)-unknown-linux-musl.tar.gz" .tar.gz)
version=${stem#hookexec-}
version=${version%-"$(uname -m)"-unknown-linux-musl}
tar -xzf "$dist/$stem.tar.gz"
decides_all "$PWD/$stem/hookexec"
[ "$("$stem/hookexec" --version)" = "hookexec $version" ] || fail "it is not version $version"
for file in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT man/man1/hookexec.1 \
    man/man1/hookexec-run.1 completions/hookexec.bash completions/_hookexec \
    completions/hookexec.fish; do
    [ -s "$stem/$file" ] || fail "$file is missing in the archive"
done
bash -n "$stem/completions/hookexec.bash"
if command -v ldd >/dev/null && ldd "$stem/hookexec" 2>&1 | grep '=>'; then
    fail "the program needs libraries"
fi

step "npm"
python3 "$release/registry.py" "$dist" "$place/port" &
registry=$!
until [ -s "$place/port" ]; do
    kill -0 "$registry" 2>/dev/null || fail "the registry did not start"
    sleep 0.1
done
quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)
use_registry() {
    printf 'registry=http://127.0.0.1:%s/\n' "$(cat "$place/port")" > "$home/.npmrc"
}
fresh npm && use_registry
"${clean[@]}" npm install "${quiet[@]}" hookexec > /dev/null
decides_all npx hookexec

# The launcher passes a signal on, and ends as the program ends.
"${clean[@]}" node_modules/.bin/hookexec serve --socket "$home/socket" 2> "$place/messages" &
launcher=$!
until [ -S "$home/socket" ]; do
    kill -0 "$launcher" 2>/dev/null || fail "the server did not start: $(cat "$place/messages")"
    sleep 0.1
done
# `env` became the launcher, whose only child is the program.
program=$(cat "/proc/$launcher/task/$launcher/children")
kill -TERM "$launcher"
status=0
wait "$launcher" || status=$?
[ "$status" = 0 ] || [ "$status" = 143 ] || fail "the launcher ended with $status after SIGTERM"
[ ! -d "/proc/${program% }" ] || fail "the program outlived its launcher"
[ ! -S "$home/socket" ] || fail "the program did not hear of SIGTERM"
"${clean[@]}" node_modules/.bin/hookexec serve --socket "$home/socket" 2> "$place/messages" &
launcher=$!
until [ -S "$home/socket" ]; do sleep 0.1; done
kill -KILL "$(cat "/proc/$launcher/task/$launcher/children")"
status=0
wait "$launcher" 2>/dev/null || status=$?
[ "$status" = 137 ] || fail "the launcher of a killed program ended with $status, not 137"

step "npm, from files and without the package of this platform"
fresh files
echo "registry=http://127.0.0.1:9/" > "$home/.npmrc"
"${clean[@]}" npm install "${quiet[@]}" --offline "$dist"/*.tgz > /dev/null
decides_all npx --offline hookexec
fresh lacking && use_registry
"${clean[@]}" npm install "${quiet[@]}" --omit=optional hookexec > /dev/null
decides 2 harmless npx hookexec
grep -q "the package @hookexec/.* is missing: install again" "$place/messages" ||
    fail "no plain message: $(cat "$place/messages")"

step "npx install, then without npm's cache"
fresh npx && use_registry
"${clean[@]}" npx --yes hookexec install claude-code
"${clean[@]}" npx --yes hookexec doctor claude-code > "$place/messages" || true
! grep -q "PROBLEM" "$place/messages" || fail "the doctor: $(cat "$place/messages")"
rm -rf "$home/.npm"
agent_is_denied "$home/.claude/settings.json"

step "wheel"
fresh wheel
"${clean[@]}" "$(command -v python3)" -m venv venv
"${clean[@]}" venv/bin/pip install --quiet --no-index --disable-pip-version-check \
    --find-links "$dist" hookexec
decides_all venv/bin/hookexec
decides_all venv/bin/python -m hookexec
found=$("${clean[@]}" venv/bin/python -c 'import hookexec; print(hookexec.find_hookexec_bin())')
[ "$found" = "$PWD/venv/bin/hookexec" ] || fail "find_hookexec_bin(): $found"
"${clean[@]}" venv/bin/pip install --quiet --no-index --disable-pip-version-check \
    --find-links "$dist" --target elsewhere hookexec
clean+=("PYTHONPATH=$PWD/elsewhere")
mv venv/bin/hookexec "$place/hidden"
decides_all venv/bin/python -m hookexec
mv elsewhere/bin/hookexec "$place/hidden-too"
decides 2 harmless venv/bin/python -m hookexec
grep -q "install the package again" "$place/messages" || fail "$(cat "$place/messages")"
mv "$place/hidden" venv/bin/hookexec

step "install from an environment of Python, then without it"
"${clean[@]}" venv/bin/python -m hookexec install claude-code codex
rm -rf venv elsewhere
agent_is_denied "$home/.claude/settings.json"
agent_is_denied "$home/.codex/hooks.json"

step "every package works"
