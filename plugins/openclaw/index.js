// hookexec under OpenClaw: a plugin that asks the command at each of its own hooks.
//
// OpenClaw has no hook settings. At each of its events this plugin runs `hookexec run --from openclaw` and applies the
// answer: { deny, ask, arguments, context, message }, each only where there is something to apply. Without an answer the
// tool or the run is blocked. `openclaw agent exec` calls no plugin hooks at all.
import { spawn } from "node:child_process"

const PROGRAM = process.env.HOOKEXEC ?? "hookexec"
const SECONDS = Number(process.env.HOOKEXEC_SECONDS ?? 60)
// OpenClaw gives a hook 15 seconds unless it is told otherwise, and blocks when they are over.
const PATIENCE = { timeoutMs: 2 * (SECONDS + 5) * 1000 }

// OpenClaw drops a longer text of a response.
const MOST_TEXT = 100_000

// Without this grant OpenClaw skips a plugin's hooks about prompts in silence, and a guard of prompts with them.
const GRANT = "openclaw config set plugins.entries.hookexec.hooks.allowConversationAccess true"
// OpenClaw lets only a plugin that is enabled by name change a response before the model reads it.
const ENABLE = "openclaw config set plugins.entries.hookexec.enabled true"

/** Asks hookexec about an event and returns what to apply; never rejects. Without an answer it is a denial. */
function ask(event, input) {
  return new Promise((answered) => {
    const fail = (why) => answered({ deny: `hookexec: ${why}` })
    const child = spawn(PROGRAM, ["run", "--from", "openclaw", "--event", event, "--within", String(SECONDS)], { cwd: input.cwd })
    const late = setTimeout(() => { child.kill("SIGKILL"); fail(`no answer within ${SECONDS} s`) }, (SECONDS + 2) * 1000)
    let said = "", complained = ""
    child.stdout.setEncoding("utf8").on("data", (text) => { said += text })
    child.stderr.setEncoding("utf8").on("data", (text) => { complained += text })
    child.stdin.on("error", () => {}) // a program that does not start reads nothing
    child.on("error", (error) => { clearTimeout(late); fail(error.message) })
    child.on("close", (code) => {
      clearTimeout(late)
      if (code !== 0) return fail(complained.trim() || `exit code ${code}`)
      try { answered(said.trim() ? { ...JSON.parse(said) } : {}) } catch { fail("its answer is not JSON") }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }))
  })
}

// OpenClaw loads this module more than once in a process, and calls functions of different copies during one tool call.
const { places, starts, answered } = (globalThis[Symbol.for("hookexec.openclaw")] ??= {
  places: new Map(), // by session: its workspace, which the hooks around a tool are not told
  starts: new Map(), // by id of a call: when it began
  answered: new Set(), // by id: the calls whose response was judged before the model read it
})

export default {
  id: "hookexec",
  name: "hookexec",
  description: "Runs the hooks of hooks.yaml",
  configSchema: { jsonSchema: { type: "object", additionalProperties: false, properties: {} } },

  register(api) {
    const warn = (text) => (api.logger ?? console).warn(text)
    const { entries, allow } = api.config?.plugins ?? {}
    if (api.config && entries?.hookexec?.hooks?.allowConversationAccess !== true) warn(`hookexec: OpenClaw does not ask it about prompts; run: ${GRANT}`)
    const named = !api.config || entries?.hookexec?.enabled === true || allow?.includes("hookexec")
    if (!named) warn(`hookexec: the model reads what a hook says after a tool only with the next prompt; run: ${ENABLE}`)
    const key = (ctx) => ctx?.sessionKey ?? ctx?.sessionId ?? ""
    const context = new Map() // by session: what its next prompt is to carry
    const add = (ctx, more) => more && context.set(key(ctx), [context.get(key(ctx)), more].filter(Boolean).join("\n"))

    const asks = async (event, input, ctx) => {
      if (ctx?.workspaceDir) places.set(key(ctx), ctx.workspaceDir)
      const cwd = places.get(key(ctx)) ?? process.cwd()
      const answer = await ask(event, { session_id: ctx?.sessionId ?? ctx?.sessionKey ?? "", cwd, ...input })
      if (answer.message) warn(answer.message)
      return answer
    }
    const call = (event) => ({ tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.params ?? {} })
    const tell = (event, after, ctx) => asks("after_tool_call", { ...call(event), tool_response: event.result ?? null, ...after }, ctx)

    // Not every way to run OpenClaw says that a session begins; its first run says it then.
    const begun = new Set()
    const begin = async (ctx) => {
      if (begun.has(key(ctx))) return
      begun.add(key(ctx))
      add(ctx, (await asks("session_start", {}, ctx)).context)
    }

    api.on("session_start", (event, ctx) => begin(ctx), PATIENCE)
    api.on("session_end", async (event, ctx) => { await asks("session_end", { reason: event.reason }, ctx) })
    api.on("agent_end", async (event, ctx) => { await asks("agent_end", {}, ctx) }, PATIENCE)

    // The prompt is built first, and only then may the run be refused: one question, two answers.
    const judged = new Map() // by session: the answer about its prompt
    const judge = async (event, ctx) => {
      await begin(ctx)
      const answer = await asks("before_agent_run", { prompt: event.prompt }, ctx)
      add(ctx, answer.context)
      return answer
    }

    api.on("before_prompt_build", async (event, ctx) => {
      judged.set(key(ctx), await judge(event, ctx))
      const more = context.get(key(ctx))
      context.delete(key(ctx))
      return more ? { prependContext: more } : undefined
    }, PATIENCE)

    api.on("before_agent_run", async (event, ctx) => {
      const { deny } = judged.get(key(ctx)) ?? (await judge(event, ctx))
      judged.delete(key(ctx))
      if (deny) return { outcome: "block", reason: deny, message: deny }
    }, PATIENCE)

    api.on("before_tool_call", async (event, ctx) => {
      starts.set(event.toolCallId, Date.now())
      const answer = await asks("before_tool_call", call(event), ctx)
      if (answer.deny) return { block: true, blockReason: answer.deny }
      const params = answer.arguments && changed(event, answer.arguments)
      if (answer.ask) return { requireApproval: { title: "A hook asks", description: answer.ask.slice(0, 512), severity: "warning" }, params }
      return params && { params }
    }, PATIENCE)

    // OpenClaw waits for this function, so the model reads the text beside the response. Only OpenClaw's own runtime
    // calls it.
    const judgeResponse = async (event, ctx) => {
      answered.add(event.toolCallId)
      const start = starts.get(event.toolCallId)
      const after = { error: failure(event), duration_ms: start && Date.now() - start }
      const answer = await tell({ ...event, params: event.args }, after, { ...ctx, workspaceDir: places.get(key(ctx)) ?? event.cwd })
      const text = answer.context ?? answer.deny
      if (!text) return
      const content = [...event.result.content, { type: "text", text: text.slice(0, MOST_TEXT) }]
      return { result: { ...event.result, content } }
    }
    if (named) api.registerAgentToolResultMiddleware?.(judgeResponse, { runtimes: ["openclaw"] })

    // Other runtimes call only this one. OpenClaw does not wait for it: its text goes along with the next prompt.
    api.on("after_tool_call", async (event, ctx) => {
      starts.delete(event.toolCallId)
      if (answered.delete(event.toolCallId)) return
      const answer = await tell(event, { error: event.error, duration_ms: event.durationMs }, ctx)
      add(ctx, answer.context ?? answer.deny)
    })
  },
}

/** Returns the changed arguments; OpenClaw lays them over the old ones, so what is gone is undefined. */
function changed(event, now) {
  const gone = Object.keys(event.params ?? {}).filter((name) => !(name in now))
  return { ...Object.fromEntries(gone.map((name) => [name, undefined])), ...now }
}

// The states of a response that OpenClaw takes for a failure. It tells a plugin only of a tool that threw an error.
const FAILED = /^(error|failed|failure|timeout|timed_out|blocked|denied|forbidden|unavailable|disabled|aborted|cancelled|canceled|killed|invalid)$/i

/** Returns why the tool failed; undefined if it did not. */
function failure({ isError, result }) {
  const { status, ok, success, error, timedOut, exitCode } = result.details ?? {}
  const bad = ok === false || success === false || (FAILED.test(status) && ok !== true && success !== true)
  if (!isError && !bad && timedOut !== true && !error && (status === "completed" || !exitCode)) return
  if (error && typeof error === "string") return error
  return result.content.map((part) => part.text ?? "").join("\n").trim() || "the tool failed"
}
