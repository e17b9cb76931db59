// A client of MCP; see tests/hosts/frameworks.py.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

import { Refused } from "../../../hosts/node/lib/index.mjs";
import { guardClient } from "../../../hosts/node/lib/mcp.mjs";
import { report, shell } from "./common.mjs";

async function connect() {
  const server = new McpServer({ name: "tools", version: "1" });
  server.registerTool("shell", { inputSchema: { cmd: z.string() } }, ({ cmd }) => ({
    content: [{ type: "text", text: shell(cmd) }],
  }));
  const client = new Client({ name: "agent", version: "1" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  return client;
}

async function drive(session, commands) {
  const client = guardClient(await connect(), session);
  const texts = [];
  try {
    for (const cmd of commands) {
      const { content } = await client.callTool({ name: "shell", arguments: { cmd } });
      texts.push(content.map((block) => block.text).join("\n"));
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  await client.close();
  return texts;
}

await report(drive);
