// hookexec under OpenClaw: a plugin that asks the command at each of its own hooks.
//
// openclaw.json:  "plugins": { "load": { "paths": ["/path/to/this/directory"] }, "allow": ["hookexec"],
//                   "entries": { "hookexec": { "enabled": true, "hooks": { "allowConversationAccess": true } } } }
//
// Whatever goes wrong before a tool or a run counts as a no. `openclaw agent exec` calls no plugin hooks at all.
import { spawn } from "node:child_process"

const PROGRAM = process.env.HOOKEXEC ?? "hookexec"
const SECONDS = Number(process.env.HOOKEXEC_SECONDS ?? 60)
// OpenClaw gives a hook 15 seconds unless it is told otherwise, and blocks when they are over.
const PATIENCE = { timeoutMs: 2 * (SECONDS + 5) * 1000 }

const KINDS = {
  exec: ["shell"], process: ["shell"], write: ["write"], edit: ["edit"], apply_patch: ["edit", "write"], read: ["read"], ls: ["list"],
  find: ["glob"], grep: ["grep"], web_fetch: ["fetch"], web_search: ["search"], sessions_spawn: ["subagent"],
}

/** Asks hookexec about an event; never rejects: no answer is an answer that refuses. */
function ask(event, input, context) {
  const directory = context?.workspaceDir ?? process.cwd()
  return new Promise((answered) => {
    const refuse = (why) => answered({ allowed: false, failed: true, message: `hookexec: ${why}` })
    const child = spawn(PROGRAM, ["run", event], { cwd: directory })
    const timer = setTimeout(() => { child.kill("SIGTERM"); refuse(`no answer within ${SECONDS} s`) }, SECONDS * 1000)
    let said = "", complained = ""
    child.stdout.on("data", (data) => { said += data })
    child.stderr.on("data", (data) => { complained += data })
    child.stdin.on("error", () => {}) // a program that does not start reads nothing
    child.on("error", (error) => { clearTimeout(timer); refuse(error.message) })
    child.on("close", (code) => {
      clearTimeout(timer)
      // 0 is allowed, 2 denied, 3 ask; there is no verdict with any other.
      if (![0, 2, 3].includes(code)) return refuse(complained.trim() || `exit code ${code}`)
      try { answered(JSON.parse(said)) } catch { refuse("the verdict can't be read") }
    })
    const session_id = context?.sessionId ?? context?.sessionKey ?? ""
    child.stdin.end(JSON.stringify({ agent_name: "openclaw", cwd: directory, session_id, ...input }))
  })
}

const call = (event) => ({
  tool_name: event.toolName, tool_use_id: event.toolCallId, tool_kinds: KINDS[event.toolName] ?? [], tool_input: event.params ?? {},
})

const reason = (verdict) => verdict.message || "Denied by a hook."

export default {
  id: "hookexec",
  name: "hookexec",
  description: "Runs the hooks of hooks.yaml",
  configSchema: { jsonSchema: { type: "object", additionalProperties: false, properties: {} } },

  register(api) {
    const context = new Map() // by session: what the next prompt is to carry
    const key = (ctx) => ctx?.sessionKey ?? ctx?.sessionId ?? ""
    const add = (ctx, more) => more && context.set(key(ctx), [context.get(key(ctx)), more].filter(Boolean).join("\n"))

    // Not every way to run OpenClaw says that a session begins; its first run says it then.
    const begun = new Set()
    const begin = async (ctx) => {
      if (begun.has(key(ctx))) return
      begun.add(key(ctx))
      add(ctx, (await ask("session_start", { source: "startup" }, ctx)).additional_context)
    }

    api.on("session_start", (event, ctx) => begin(ctx), PATIENCE)
    api.on("session_end", async (event, ctx) => { await ask("session_end", { reason: event.reason }, ctx) })
    api.on("agent_end", async (event, ctx) => { await ask("stop", {}, ctx) }, PATIENCE)

    // The prompt is built first, and only then may the run be refused: one question, two answers.
    const asked = new Map() // by session: the verdict on its prompt
    const judge = async (event, ctx) => {
      await begin(ctx)
      const verdict = await ask("user_prompt_submit", { prompt: event.prompt }, ctx)
      add(ctx, verdict.additional_context)
      return verdict
    }

    api.on("before_prompt_build", async (event, ctx) => {
      asked.set(key(ctx), await judge(event, ctx))
      const more = context.get(key(ctx))
      context.delete(key(ctx))
      return more ? { prependContext: more } : undefined
    }, PATIENCE)

    api.on("before_agent_run", async (event, ctx) => {
      const verdict = asked.get(key(ctx)) ?? (await judge(event, ctx))
      asked.delete(key(ctx))
      if (!verdict.allowed) return { outcome: "block", reason: reason(verdict), message: reason(verdict) }
    }, PATIENCE)

    api.on("before_tool_call", async (event, ctx) => {
      const verdict = await ask("pre_tool_use", call(event), ctx)
      if (verdict.decision === "ask") {
        return { requireApproval: { title: "A hook asks", description: reason(verdict).slice(0, 512), severity: "warning" }, params: changed(event, verdict) }
      }
      if (!verdict.allowed) return { block: true, blockReason: reason(verdict) }
      if (verdict.updated_tool_name) return { block: true, blockReason: `A hook wants the tool ${verdict.updated_tool_name} called instead.` }
      if (verdict.respond) return { block: true, blockReason: verdict.respond.for_llm }
      return verdict.updated_input ? { params: changed(event, verdict) } : undefined
    }, PATIENCE)

    api.on("after_tool_call", async (event, ctx) => {
      const input = { ...call(event), tool_response: event.result ?? null, tool_error: Boolean(event.error), tool_duration_ms: Math.round(event.durationMs ?? 0) }
      await ask("post_tool_use", input, ctx)
    })
  },
}

/** Returns the changed arguments; OpenClaw lays them over the old ones, so what is gone is undefined. */
function changed(event, verdict) {
  if (!verdict.updated_input) return undefined
  const gone = Object.keys(event.params ?? {}).filter((name) => !(name in verdict.updated_input))
  return { ...Object.fromEntries(gone.map((name) => [name, undefined])), ...verdict.updated_input }
}
