// hookexec under OpenCode: copy this file to ~/.config/opencode/plugin/ (or .opencode/plugin/ of a project).
//
// OpenCode's hooks are functions in its own process, so this plugin asks the command and throws where the answer is no: what
// is thrown before a tool keeps the tool from running, and the model reads the message. Whatever goes wrong before a tool, or
// before a prompt is sent, counts as a no.
import { spawn } from "node:child_process"

const PROGRAM = process.env.HOOKEXEC ?? "hookexec"
const SECONDS = Number(process.env.HOOKEXEC_SECONDS ?? 60)

const KINDS = {
  bash: ["shell"], write: ["write"], edit: ["edit"], multiedit: ["edit"], patch: ["edit", "write"], apply_patch: ["edit", "write"],
  read: ["read"], list: ["list"], glob: ["glob"], grep: ["grep"], webfetch: ["fetch"], websearch: ["search"], task: ["subagent"],
}

/** Asks hookexec about an event; never rejects: no answer is an answer that refuses. */
function ask(event, input, directory) {
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
    child.stdin.end(JSON.stringify({ agent_name: "opencode", cwd: directory, ...input }))
  })
}

/** Returns why it must not go on, or nothing. An ask is a no: no plugin hook can ask the user. */
const refusal = (verdict) => (verdict.allowed ? undefined : verdict.message || "Denied by a hook.")

const text = (value) => (typeof value === "string" ? value : (value?.for_llm ?? JSON.stringify(value)))

export const Hookexec = async ({ directory }) => {
  const context = new Map() // by session: what its first prompt is to carry
  const add = (session, more) => more && context.set(session, [context.get(session), more].filter(Boolean).join("\n"))

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id ?? ""
      const about = { session_id: session }
      if (event.type === "session.created") add(session, (await ask("session_start", { ...about, source: "startup" }, directory)).additional_context)
      if (event.type === "session.idle") await ask("stop", about, directory)
      if (event.type === "session.deleted") await ask("session_end", about, directory)
    },

    "chat.message": async ({ sessionID }, output) => {
      const part = output.parts.findLast((part) => part.type === "text")
      if (!part) return
      const verdict = await ask("user_prompt_submit", { session_id: sessionID, prompt: part.text }, directory)
      const no = refusal(verdict)
      if (no) throw new Error(no)
      add(sessionID, verdict.additional_context)
      const more = context.get(sessionID)
      context.delete(sessionID)
      if (more) part.text += `\n\n${more}`
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const input = { session_id: sessionID, tool_name: tool, tool_use_id: callID, tool_kinds: KINDS[tool] ?? [], tool_input: output.args }
      const verdict = await ask("pre_tool_use", input, directory)
      const no = refusal(verdict)
      if (no) throw new Error(no)
      if (verdict.updated_tool_name) throw new Error(`A hook wants the tool ${verdict.updated_tool_name} called instead.`)
      if (verdict.respond) throw new Error(text(verdict.respond))
      if (!verdict.updated_input) return
      // Only what is changed in place is executed; a new object would be ignored.
      for (const key of Object.keys(output.args)) if (!(key in verdict.updated_input)) delete output.args[key]
      Object.assign(output.args, verdict.updated_input)
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const input = { session_id: sessionID, tool_name: tool, tool_use_id: callID, tool_kinds: KINDS[tool] ?? [], tool_input: args ?? {}, tool_response: output.output }
      const verdict = await ask("post_tool_use", input, directory)
      if (verdict.failed) return
      if (verdict.updated_tool_response !== undefined) output.output = text(verdict.updated_tool_response)
      const no = refusal(verdict)
      if (no) output.output = no
      if (verdict.additional_context) output.output += `\n\n${verdict.additional_context}`
    },
  }
}
