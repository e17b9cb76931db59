# The npm packages of plugins for agents, from the registry on the loopback: the module denies through
# the program, and without it. The real agents then install the same files, if they are there.

step "npm packages of plugins"
serve "$dist"
fresh plugins && use_registry
mkdir "$place/program"
tar -xzf "$dist/$stem.tar.gz" -C "$place/program" --strip-components 1 "$stem/hookexec"
"${clean[@]}" npm install "${quiet[@]}" @hookexec/opencode @hookexec/openclaw @hookexec/pi > /dev/null
for plugin in opencode openclaw pi; do
    installed=node_modules/@hookexec/$plugin
    # What npm itself would pack of the directory, and the licences.
    diff <(cd "$release/../plugins/$plugin" && npm pack --dry-run --json 2>/dev/null |
        python3 -c 'import json, sys; print(*(it["path"] for it in json.load(sys.stdin)[0]["files"]), sep="\n")' |
        sort) <(cd "$installed" && find . -type f ! -name "LICENSE-*" -printf '%P\n' | sort) ||
        fail "@hookexec/$plugin holds other files"
    for file in LICENSE-APACHE LICENSE-MIT; do
        [ -s "$installed/$file" ] || fail "$file is missing in @hookexec/$plugin"
    done
done
# Calls each plugin as its agent does before a tool, and prints the reason of a denial.
cat > call.mjs <<'JS'
import { copyFileSync } from "node:fs"
const [plugin, command] = process.argv.slice(2)
if (plugin === "opencode") {
  const { Hookexec } = await import("@hookexec/opencode/server")
  const hooks = await Hookexec({ directory: process.cwd() })
  const call = { tool: "bash", sessionID: "s", callID: "c" }
  await hooks["tool.execute.before"](call, { args: { command } }).catch((error) => console.log(error.message))
} else if (plugin === "pi") {
  // It is TypeScript without a type: Node needs another name for it.
  copyFileSync("node_modules/@hookexec/pi/hookexec.ts", "pi.mjs")
  const { default: extend } = await import("./pi.mjs")
  const hooks = {}
  extend({ on: (event, hook) => { hooks[event] = hook } })
  const call = { toolName: "bash", toolCallId: "c", input: { command } }
  const answer = await hooks.tool_call(call, { cwd: process.cwd() })
  if (answer?.block) console.log(answer.reason)
} else {
  const { default: plugin } = await import("@hookexec/openclaw")
  const hooks = {}
  plugin.register({ on: (event, hook) => { hooks[event] = hook }, logger: console })
  const call = { toolName: "exec", toolCallId: "c", params: { command } }
  const answer = await hooks.before_tool_call(call, { sessionId: "s", workspaceDir: process.cwd() })
  if (answer?.block) console.log(answer.blockReason)
}
JS
for plugin in opencode openclaw pi; do
    call=("${clean[@]}" HOOKEXEC="$place/program/hookexec" node call.mjs "$plugin")
    allowed=$("${call[@]}" harmless) || fail "@hookexec/$plugin: $allowed"
    [ -z "$allowed" ] || fail "@hookexec/$plugin denies: $allowed"
    denied=$("${call[@]}" forbidden)
    [[ $denied == *"this is forbidden"* ]] || fail "@hookexec/$plugin does not deny: $denied"
    denied=$("${call[@]/%program\/hookexec/missing}" harmless)
    [[ $denied == *ENOENT* ]] || fail "@hookexec/$plugin does not deny without the program: $denied"
done

step "real OpenCode, OpenClaw and Pi with these packages"
HOOKEXEC=$place/program/hookexec HOOKEXEC_PACKAGES=$dist python3 "$release/../tests/agents/real/run.py" \
    opencode openclaw pi --only package --only package_missing
