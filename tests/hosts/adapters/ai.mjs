// The AI SDK of Vercel; see tests/hosts/frameworks.py.

import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

import { guardTools, isStopped } from "../../../hosts/node/lib/ai.mjs";
import { report, shell as execute } from "./common.mjs";

const shell = tool({
  description: "Runs a command.",
  inputSchema: z.object({ cmd: z.string() }),
  execute: async ({ cmd }) => execute(cmd),
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

await report(drive);
