# What runs in a user's CI: the steps of action.yml, and the hooks for pre-commit and prek.

# A repository with good hooks, and one with a mistake in them.
project() {
    fresh "$1"
    git init -q
    cat > hooks.yaml <<YAML
pre_tool_use:
  - matcher: shell
    hooks: [{ type: command, name: no, command: "exit 2", on_error: block, $2 }]
YAML
    cat > hooks.test.yaml <<YAML
cases:
  - name: one
    event: pre_tool_use
    input: { tool_name: shell, tool_input: {} }
    expect: { decision: $3 }
YAML
    git add --all
}

step "the steps of action.yml"
serve "$dist"
action() {
    : > "$home/path"
    : > "$home/output"
    "${clean[@]}" ACTION="$release/.." RELEASES=https://REPOSITORY GITHUB_PATH="$home/path" \
        GITHUB_OUTPUT="$home/output" RUNNER_TEMP="$home/runner" INPUT_PATH= INPUT_VERSION= \
        INPUT_FROM="$address/-" INPUT_DIRECTORY=. INPUT_FILES= INPUT_TEST=true "$@" \
        bash "$release/action.sh" > "$place/messages" 2>&1
}
# Every input of action.yml is set above, and every variable there is known to the script.
variables='s/^ *\(INPUT_[A-Z]*\|ACTION\|RELEASES\): .*/\1/p'
sed -n "$variables" "$release/../action.yml" |
    while read -r variable; do
    grep -q "\$$variable\|{$variable" "$release/action.sh" || fail "action.sh does not read $variable"
done
project action "timeout: 5" deny
action || fail "the action on good hooks: $(cat "$place/messages")"
grep -q "1 passed, 0 failed" "$place/messages" || fail "no tests: $(cat "$place/messages")"
[ "$(cat "$home/path")" = "$home/runner/hookexec" ] || fail "GITHUB_PATH: $(cat "$home/path")"
grep -qx "program=$home/runner/hookexec/hookexec" "$home/output" || fail "no output"
action INPUT_PATH="$home/runner/hookexec/hookexec" INPUT_FROM=http://127.0.0.1:9/- ||
    fail "the action with a program: $(cat "$place/messages")"
! action INPUT_PATH="$home/missing" || fail "the action took a program that is not there"
! action INPUT_FROM=http://127.0.0.1:9/- || fail "the action went on without a program"
! action INPUT_TEST=yes || fail "the action took \`test: yes\`"
project action-broken "timeoutt: 5" deny
! action INPUT_TEST=false || fail "the action on a broken file"
grep -q "timeoutt" "$place/messages" || fail "no reason: $(cat "$place/messages")"
! action INPUT_TEST=false INPUT_FILES=$'\nhooks.yaml\n' || fail "the action on a broken file, named"
project action-failing "timeout: 5" allow
! action || fail "the action on a failing case"

step "prek"
prek=$(command -v prek || true)
if [ -z "$prek" ]; then
    echo "prek is not installed (it is on PyPI): the hooks for it were not tried"
    return
fi
# prek takes hooks from a repository: this one, as it is here.
mkdir "$place/hooks" && cp "$release/../.pre-commit-hooks.yaml" "$place/hooks/"
commit() { git -C "$1" -c user.name=test -c user.email=test@localhost commit -qm "$2"; }
git init -q "$place/hooks" && git -C "$place/hooks" add --all && commit "$place/hooks" hooks
mkdir "$place/path"
tar -xzf "$dist/$stem.tar.gz" -C "$place/path" --strip-components 1 "$stem/hookexec"
try() {
    "${clean[@]}" PATH="$place/path:/usr/local/bin:/usr/bin:/bin" \
        "$prek" try-repo "$place/hooks" --all-files "$@" > "$place/messages" 2>&1
}
project prek "timeout: 5" deny
try || fail "prek on good hooks: $(cat "$place/messages")"
[ "$(grep -c Passed "$place/messages")" = 2 ] || fail "not both ran: $(cat "$place/messages")"
project prek-broken "timeoutt: 5" deny
! try hookexec-check || fail "prek on a broken file"
grep -q "timeoutt" "$place/messages" || fail "no reason: $(cat "$place/messages")"
project prek-failing "timeout: 5" allow
! try hookexec-test || fail "prek on a failing case"
grep -q "1 failed" "$place/messages" || fail "no reason: $(cat "$place/messages")"
project prek-lacking "timeout: 5" deny
rm "$place/path/hookexec"
! try || fail "prek without hookexec"
