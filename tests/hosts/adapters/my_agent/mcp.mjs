// The server of docs/hosts.md.

import { appendFileSync } from "node:fs";

import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "tools", version: "1" });
server.registerTool("shell", { inputSchema: { cmd: z.string() } }, ({ cmd }) => {
  appendFileSync("ran", `${cmd}\n`);
  return { content: [{ type: "text", text: `ran ${cmd}` }] };
});

export const approve = () => false;

const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(far);
export const transport = near;
