// hookexec under OpenCode: copy this file to ~/.config/opencode/plugin/ (or .opencode/plugin/ of a project).
//
// OpenCode has no hook settings. At each of its events this plugin runs `hookexec run --from opencode` and applies the
// answer: { deny, arguments, response, context, message }, each only where there is something to apply. Without an answer
// the tool does not run, the prompt is not sent, and the model does not read the tool's response.
import { spawn } from "node:child_process"

const PROGRAM = process.env.HOOKEXEC ?? "hookexec"
const SECONDS = Number(process.env.HOOKEXEC_SECONDS ?? 60)

/** Asks hookexec about an event and returns what to apply; never rejects. Without an answer it is a denial. */
function ask(event, input) {
  return new Promise((answered) => {
    const fail = (why) => answered({ deny: `hookexec: ${why}` })
    const child = spawn(PROGRAM, ["run", "--from", "opencode", "--event", event, "--within", String(SECONDS)], { cwd: input.cwd })
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

/** Gives the model another response. A tool of an MCP server responds with a list of parts, any other with a text. */
function put(output, response) {
  if (Array.isArray(output.content)) {
    output.content = Array.isArray(response) ? response : [{ type: "text", text: response }]
  } else {
    output.output = typeof response === "string" ? response : JSON.stringify(response)
    if (output.metadata?.output !== undefined) output.metadata.output = output.output
  }
}

/** Adds a text to what the model reads. */
function add(output, text) {
  if (Array.isArray(output.content)) output.content = [...output.content, { type: "text", text }]
  else output.output = `${output.output ?? ""}\n\n${text}`
}

export const Hookexec = async ({ client, directory }) => {
  const starting = new Map() // by session: the answer to its start
  const at = (sessionID) => ({ session_id: sessionID ?? "", cwd: directory })

  /** Tells the user: OpenCode itself shows no more of a refused prompt than `UnknownError`. */
  const show = async (message) => {
    if (!message) return
    if (process.argv.includes("run")) process.stderr.write(`${message}\n`)
    else await client?.tui?.showToast({ body: { title: "hookexec", message, variant: "warning" } })?.catch(() => {})
  }

  const refuse = async (reason) => {
    await show(reason)
    throw new Error(reason)
  }

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created") starting.set(session, ask("session.created", at(session)))
      if (event.type === "session.idle") await show((await ask("session.idle", at(session))).message)
      if (event.type === "session.deleted") await ask("session.deleted", at(session))
    },

    "chat.message": async ({ sessionID }, output) => {
      const texts = output.parts.filter((part) => part.type === "text")
      const start = await starting.get(sessionID)
      starting.delete(sessionID)
      const answer = await ask("chat.message", { ...at(sessionID), prompt: texts.map((part) => part.text).join("\n") })
      if (answer.deny) await refuse(answer.deny)
      await show([start?.message, answer.message].filter(Boolean).join("\n"))
      const context = [start?.context, answer.context].filter(Boolean).join("\n")
      if (context && texts.length) texts.at(-1).text += `\n\n${context}`
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const answer = await ask("tool.execute.before", { ...at(sessionID), tool_name: tool, tool_use_id: callID, tool_input: output.args })
      if (answer.deny) throw new Error(answer.deny)
      await show(answer.message)
      if (!answer.arguments) return
      // Only what is changed in place is executed; OpenCode ignores a new object.
      for (const key of Object.keys(output.args)) if (!(key in answer.arguments)) delete output.args[key]
      Object.assign(output.args, answer.arguments)
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const tool_response = (Array.isArray(output.content) ? output.content : output.output) ?? null
      const input = { ...at(sessionID), tool_name: tool, tool_use_id: callID, tool_input: args ?? {}, tool_response }
      input.is_error = output.metadata?.exit > 0
      const answer = await ask("tool.execute.after", input)
      if (answer.deny) { // no answer: what a redaction would have taken out is unknown
        put(output, `The tool's response is withheld. ${answer.deny}`)
        output.attachments = []
      }
      if (answer.response !== undefined) put(output, answer.response)
      if (answer.context) add(output, answer.context)
      await show(answer.message)
    },
  }
}
