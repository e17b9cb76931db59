// The agent of docs/hosts.md, with a model that is played.

import { appendFileSync } from "node:fs";

import { tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const commands = ["ls", "rm -r build", "git push"];

export const approve = () => false;

export const shell = tool({
  description: "Runs a command.",
  inputSchema: z.object({ cmd: z.string() }),
  execute: async ({ cmd }) => {
    appendFileSync("ran", `${cmd}\n`);
    return `ran ${cmd}`;
  },
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export const model = new MockLanguageModelV3({
  doGenerate: async () => {
    const cmd = commands.shift();
    const call = { type: "tool-call", toolCallId: `${cmd}`, toolName: "shell", input: JSON.stringify({ cmd }) };
    const content = cmd === undefined ? [{ type: "text", text: "It is clean." }] : [call];
    const unified = cmd === undefined ? "stop" : "tool-calls";
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
  },
});
