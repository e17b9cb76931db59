# What the tests of packages share: a fresh home, and a program that decides as its hooks say.
# Sourced by `test-packages.sh`, which sets `dist` and `release`.

place=$(mktemp -d)
servers=()
end() {
    [ "${#servers[@]}" = 0 ] || kill "${servers[@]}" 2>/dev/null || true
    rm -rf "$place"
}
trap end EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
step() { echo "== $*"; }

version=$(cd "$release/.." && cargo pkgid --package hookexec-cli)
version=${version##*@}
here=$(uname -m)-unknown-linux-musl
stem=hookexec-$version-$here

# A home and a project with nothing in them, and nothing of the caller's environment. The temporary
# directory is elsewhere, so that the home does not count as one.
bare() {
    home=$place/$1
    mkdir -p "$home/project" "$place/tmp"
    chmod 700 "$home"
    clean=(env -i "HOME=$home" "TMPDIR=$place/tmp" "PATH=/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8)
    cd "$home/project"
}
# The same with hooks of the user's own.
fresh() {
    bare "$1"
    mkdir -p "$home/.config/hookexec"
    cp "$place/hooks.yaml" "$home/.config/hookexec/hooks.yaml"
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

# Serves the files of the directory `$1`, as a registry of npm's and one by one, and sets `address`.
serve() {
    local port=$place/port-${#servers[@]}
    python3 "$release/registry.py" "$1" "$port" &
    servers+=("$!")
    until [ -s "$port" ]; do
        kill -0 "${servers[-1]}" 2>/dev/null || fail "the server of $1 did not start"
        sleep 0.1
    done
    address=http://127.0.0.1:$(cat "$port")
}

quiet=(--no-audit --no-fund --no-update-notifier --loglevel=error)
use_registry() { echo "registry=$address/" > "$home/.npmrc"; }

# Makes an environment of Python in the project, with nothing in it but the wheel.
install_wheel() {
    "${clean[@]}" "$(command -v python3)" -m venv venv
    "${clean[@]}" venv/bin/pip install --quiet --no-index --disable-pip-version-check \
        --find-links "$dist" hookexec
}
