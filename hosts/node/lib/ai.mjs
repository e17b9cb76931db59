// The AI SDK of Vercel: `generateText({ model, tools: guardTools(session, { shell }), ... })`.

import { Cancelled, NotRun } from "./drivers.mjs";

/**
 * Returns tools whose calls run through the hooks of a session. What the model must not read as a
 * response is thrown: a denial, a failure.
 */
export function guardTools(session, tools) {
  const guarded = Object.entries(tools).map(([name, tool]) => {
    if (typeof tool.execute !== "function") {
      throw new TypeError(`the tool ${name} would run past the hooks: it has no \`execute\``);
    }
    return [name, { ...tool, execute: (input, options) => run(session, name, tool, input, options) }];
  });
  return Object.fromEntries(guarded);
}

/** A condition for `stopWhen`: a hook ended the turn or the session. */
export function isStopped(session) {
  return () => session.stop !== null;
}

async function run(session, name, tool, input, options) {
  const call = session.toolCall(name, input, { id: options?.toolCallId, canRename: false });
  const outcome = await call.run(async (rewritten) => {
    // The user may have pressed stop while an approval was pending.
    if (options?.abortSignal?.aborted) throw new Cancelled("stopped before the tool ran");
    return last(await tool.execute(rewritten, options));
  });
  if (!outcome.wasRewritten && outcome.exception !== undefined) throw outcome.exception;
  if (outcome.isError) throw new NotRun(outcome);
  return outcome.wasRewritten ? rewrittenResponse(outcome) : outcome.response;
}

/** Structured output keeps its form, as far as a hook only rewrote it. */
function rewrittenResponse(outcome) {
  const isText = typeof outcome.response === "string" || outcome.end === "responded";
  const hasMore = outcome.message !== null || outcome.additionalContext !== null;
  return isText || hasMore ? outcome.forModel : outcome.response;
}

/** A tool may give results one after another. No hook has seen those before the last. */
async function last(result) {
  if (typeof result?.[Symbol.asyncIterator] !== "function") return result;
  let latest;
  for await (const it of result) latest = it;
  return latest;
}
