# The npm packages, from the registry on the loopback and from their files.

step "npm"
serve "$dist"
fresh npm && use_registry
"${clean[@]}" npm install "${quiet[@]}" hookexec > /dev/null
decides_all npx hookexec

cat > agent.mjs <<'JS'
import { Hooks } from "hookexec";
const hooks = new Hooks();
for (const cmd of ["harmless", "forbidden"]) {
  console.log((await hooks.session().toolCall("shell", { cmd }).run(() => "ran")).end);
}
await hooks.close();
JS
[ "$("${clean[@]}" node agent.mjs | xargs)" = "ran denied" ] || fail "the library of the npm package"

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
case $(uname -m) in
    aarch64) processor=arm64 ;;
    *) processor=x64 ;;
esac
fresh files
echo "registry=http://127.0.0.1:9/" > "$home/.npmrc"
"${clean[@]}" npm install "${quiet[@]}" --offline "$dist/hookexec-$version.tgz" \
    "$dist/hookexec-linux-$processor-$version.tgz" > /dev/null
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
