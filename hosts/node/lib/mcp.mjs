// MCP: `guardClient(client, session)`, where `client` is a `Client` of the TypeScript SDK.

import { Refused } from "./drivers.mjs";

/**
 * Returns the client itself: from now on `callTool` runs through the hooks of a session. With the
 * name of the server, hooks know its tools as `mcp__server__tool`.
 */
export function guardClient(client, session, { server = null } = {}) {
  const run = client.callTool.bind(client);
  client.callTool = async (params, ...more) => {
    let result;
    const known = server === null ? params.name : `mcp__${server}__${params.name}`;
    const call = session.toolCall(known, params.arguments ?? {}, { canRename: false });
    const outcome = await call.run(async (rewritten) => {
      result = await run({ ...params, arguments: rewritten }, ...more);
      if (result.isError) throw new Failed(textOf(result));
      return result;
    });
    if (outcome.end === "aborted") throw new Refused(outcome.message, null, outcome.stop);
    if (outcome.wasRewritten) return rewrittenResult(outcome);
    if (outcome.exception !== undefined && !(outcome.exception instanceof Failed)) {
      throw outcome.exception;
    }
    return result;
  };
  return client;
}

/** The server says that the tool has failed. */
class Failed extends Error {}

/** Returns the text of a result if it has nothing else, and otherwise its JSON. */
function textOf(result) {
  const { content = [], isError, ...more } = result;
  const isText = ({ type, text, ...rest }) => type === "text" && Object.keys(rest).length === 0;
  const hasOnlyText = content.every(isText) && Object.keys(more).length === 0;
  return hasOnlyText ? content.map((it) => it.text).join("\n") : JSON.stringify(result);
}

function rewrittenResult({ end, response, forModel, isError, message, additionalContext }) {
  if (end !== "ran" || !Array.isArray(response?.content)) {
    return { content: [blockOf(forModel)], isError };
  }
  const said = [message, additionalContext].filter(Boolean).map(blockOf);
  return { ...response, content: [...response.content, ...said], isError };
}

function blockOf(text) {
  return { type: "text", text };
}
