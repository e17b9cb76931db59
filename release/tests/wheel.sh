# The wheel, in a new environment and with `--target`.

step "wheel"
fresh wheel
install_wheel
decides_all venv/bin/hookexec
decides_all venv/bin/python -m hookexec
found=$("${clean[@]}" venv/bin/python -c 'import hookexec; print(hookexec.find_hookexec_bin())')
[ "$found" = "$PWD/venv/bin/hookexec" ] || fail "find_hookexec_bin(): $found"
cat > agent.py <<'PYTHON'
from hookexec import Hooks
with Hooks() as hooks, hooks.session() as session:
    for cmd in ["harmless", "forbidden"]:
        print(session.tool_call("shell", {"cmd": cmd}).run(lambda cmd: "ran").end)
PYTHON
[ "$("${clean[@]}" venv/bin/python agent.py | xargs)" = "ran denied" ] || fail "the library of the wheel"
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
