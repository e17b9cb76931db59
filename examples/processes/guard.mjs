// Keeps secrets out of shell commands and out of what tools return. See docs/serve.md.
// Node's standard library only.

import { createInterface } from 'node:readline';

const SECRET = /\b(ghp_[A-Za-z0-9]{36}|sk-[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16})\b/g;

const methods = {
  'hook.hello': () => ({ ok: true, name: 'guard' }),

  'hook.before_tool': ({ arguments: args = {} }) =>
    JSON.stringify(args).search(SECRET) < 0
      ? { action: 'continue' }
      : { action: 'deny_tool', reason: 'a secret in the arguments of a tool' },

  // The result is given back whole: what is left out is gone.
  'hook.after_tool': ({ result }) => {
    if (!result) return { action: 'continue' };
    const text = result.for_llm.replace(SECRET, '[secret]');
    return text === result.for_llm
      ? { action: 'continue' }
      : { action: 'modify', result: { result: { ...result, for_llm: text } } };
  },
};

function answer({ id, method, params }) {
  const call = methods[method];
  if (!call) return { jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown method' } };
  try {
    return { jsonrpc: '2.0', id, result: call(params ?? {}) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32000, message: String(error) } };
  }
}

// The end of stdin is the end of the host, and of this process.
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) process.stdout.write(`${JSON.stringify(answer(message))}\n`);
}
