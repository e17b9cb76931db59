// The AI SDK of Vercel; see tests/hosts/frameworks.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

import { guardTools, isStopped } from "../../../hosts/node/lib/ai.mjs";
import { Hooks } from "../../../hosts/node/lib/index.mjs";

const commands = JSON.parse(process.env.COMMANDS);
const ran = [];
const asked = [];

const shell = tool({
  description: "Runs a command.",
  inputSchema: z.object({ cmd: z.string() }),
  execute: async ({ cmd }) => {
    ran.push(cmd);
    if (cmd === "fail") throw new Error("it broke");
    return `ran ${cmd === "cat key" ? process.env.SECRET : cmd}`;
  },
});

const approve = ({ toolInput }) => {
  asked.push(toolInput.cmd);
  return toolInput.cmd.includes("--force") ? "not with force" : true;
};

const hooks = new Hooks("hooks.yaml", { isolated: true, program: "./hookexec", approve });
const turns = new Set();
hooks.builtin("judge", ({ turn_id, tool_input: { cmd } }) => {
  turns.add(turn_id);
  if (cmd === "ls") return { updated_input: { cmd: "ls -l" }, additional_context: "be brief" };
  if (cmd === "other") return { updated_tool_name: "other" };
  if (cmd === "halt") return { continue: false, stop_reason: "enough" };
  if (cmd === "kill") process.kill(Number(readFileSync("pid", "utf8")), "SIGKILL");
  return null;
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

async function drive(session, commands) {
  let step = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const cmd = commands[step++];
      const call = { type: "tool-call", toolCallId: `${step}`, toolName: "shell", input: JSON.stringify({ cmd }) };
      const content = cmd === undefined ? [{ type: "text", text: "done" }] : [call];
      const unified = cmd === undefined ? "stop" : "tool-calls";
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
  const tools = guardTools(session, { shell });
  const { steps } = await generateText({
    model, tools, prompt: "go", stopWhen: [isStopped(session), stepCountIs(20)],
  });
  const parts = steps.flatMap((it) => it.content);
  const results = parts.filter((it) => ["tool-result", "tool-error"].includes(it.type));
  return results.map((it) => (it.type === "tool-error" ? it.error.message : it.output));
}

const told = await hooks.session().run(async (session) => {
  const texts = await session.turn("go").run(() => drive(session, commands));
  assert.deepEqual([...turns], ["turn-1"]);
  const first = ran.splice(0);
  await drive(session, ["kill", "echo"]);
  const killed = ran.splice(0);
  await drive(session, ["halt", "echo"]);
  return { texts, ran: first, asked, stopped: ran.length === 0 ? session.stop?.reason : null, killed };
});
await hooks.close();
console.log(JSON.stringify(told));
