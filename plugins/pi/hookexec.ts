// hookexec under Pi: copy this file to ~/.pi/agent/extensions/ (or .pi/extensions/ of a project).
//
// Pi has no hook settings. At each of its events this extension runs `hookexec run --from pi` and applies the answer:
// { deny, ask, arguments, response, context, message }, each only where there is something to apply. Without an answer the
// tool does not run, the prompt is not sent, and the model does not read the tool's response.
import { spawn } from "node:child_process"

const PROGRAM = process.env.HOOKEXEC ?? "hookexec"
const SECONDS = Number(process.env.HOOKEXEC_SECONDS ?? 60)

/** Asks hookexec about an event and returns what to apply. Without an answer it is a denial. */
function ask(event, input) {
  return new Promise((answered) => {
    const fail = (why) => answered({ deny: `hookexec: ${why}` })
    const child = spawn(PROGRAM, ["run", "--from", "pi", "--event", event, "--within", String(SECONDS)], { cwd: input.cwd })
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

export default function (pi) {
  let context = [] // what the next prompt is to carry

  // Never rejects: Pi goes on with a prompt or a response when a handler throws.
  const asks = async (event, input, ctx) => {
    try {
      const session_id = ctx?.sessionManager?.getSessionId?.() ?? ""
      return await ask(event, { session_id, cwd: ctx?.cwd ?? process.cwd(), ...input })
    } catch (error) {
      return { deny: `hookexec: ${error.message}` }
    }
  }
  const show = (message, ctx) => {
    if (!message) return
    try {
      if (ctx?.hasUI) return ctx.ui.notify(message, "warning")
    } catch {} // shown below
    console.error(message)
  }

  pi.on("session_start", async (event, ctx) => {
    const answer = await asks("session_start", { source: event.reason }, ctx)
    show(answer.message, ctx)
    if (answer.context) context.push(answer.context)
  })

  pi.on("input", async (event, ctx) => {
    const answer = await asks("input", { prompt: event.text }, ctx)
    show(answer.deny ?? answer.message, ctx)
    if (answer.deny) return { action: "handled" }
    if (answer.context) context.push(answer.context)
    return { action: "continue" }
  })

  pi.on("before_agent_start", async () => {
    const content = context.join("\n")
    context = []
    if (content) return { message: { customType: "hookexec", content, display: false } }
  })

  pi.on("tool_call", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input }
    const answer = await asks("tool_call", call, ctx)
    if (answer.deny) return { block: true, reason: answer.deny }
    show(answer.message, ctx)
    const approved = !answer.ask || (ctx?.hasUI && (await ctx.ui.confirm("A hook asks", answer.ask)))
    if (!approved) return { block: true, reason: answer.ask }
    if (!answer.arguments) return
    // Only what is changed in place is executed.
    for (const key of Object.keys(event.input)) if (!(key in answer.arguments)) delete event.input[key]
    Object.assign(event.input, answer.arguments)
  })

  pi.on("tool_result", async (event, ctx) => {
    const call = { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input ?? {} }
    const answer = await asks("tool_result", { ...call, tool_response: event.content ?? [], is_error: event.isError }, ctx)
    show(answer.message, ctx)
    let content = answer.response ?? event.content ?? []
    // No answer: what a redaction would have taken out is unknown.
    if (answer.deny) content = [{ type: "text", text: `The tool's response is withheld. ${answer.deny}` }]
    if (answer.context) content = [...content, { type: "text", text: answer.context }]
    if (content !== event.content) return { content }
  })

  pi.on("agent_end", async (_, ctx) => show((await asks("agent_end", {}, ctx)).message, ctx))
  pi.on("session_shutdown", async (event, ctx) => { await asks("session_shutdown", { reason: event.reason }, ctx) })
}
