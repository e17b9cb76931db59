// A client for `hookexec serve`, in Node's standard library alone.
//
//     import { Hooks } from "./hookexec.mjs";
//
//     const hooks = await Hooks.connect("/run/user/1000/hookexec/socket");
//     const verdict = await hooks.dispatch("pre_tool_use", { tool_name: "shell", tool_input: { cmd: "ls" } });
//     if (!verdict.allowed) console.log("denied:", verdict.message ?? "");
//     hooks.close();
//
// From a shell: node hookexec.mjs SOCKET EVENT < input.json

import { realpathSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const WITHHELD = "The tool's response is withheld: hookexec gave no verdict.";

/**
 * Returns the verdict when there is none: an error never means "go on". It denies, and after a tool it
 * withholds the response, since nobody took the secrets out.
 */
function withoutAnswer(event, message) {
  const verdict = { event, decision: "deny", allowed: false, hooks: [], message };
  if (["post_tool_use", "tool_response_transform"].includes(event)) verdict.updated_tool_response = WITHHELD;
  return verdict;
}

/** Tells whether a value of the server can be taken for a verdict. */
const isVerdict = (value) => typeof value?.allowed === "boolean";

/** A connection to a server. Any number of requests may be on their way at once. */
export class Hooks {
  #socket;
  #pending = new Map();
  #id = 0;
  #end = null;

  /** Connects to the server that listens at `path`. */
  static connect(path) {
    return new Promise((resolve, reject) => {
      const socket = createConnection(path, () => resolve(new Hooks(socket)));
      socket.once("error", reject);
    });
  }

  constructor(socket) {
    this.#socket = socket;
    const end = (error) => {
      this.#end ??= error ?? new Error("the server hung up");
      for (const { reject } of this.#pending.values()) reject(this.#end);
      this.#pending.clear();
    };
    socket.on("error", end).on("close", () => end());
    createInterface({ input: socket }).on("line", (line) => {
      let message;
      try {
        message = JSON.parse(line);
      } catch (error) {
        end(error);
        return socket.destroy();
      }
      this.#receive(message);
    });
  }

  /**
   * Returns the verdict on an event; also when the server refuses or goes away.
   *
   * `project` makes sure that the server has the hooks of this directory. `onHook(method, params)`
   * is told of every hook that starts and ends.
   */
  async dispatch(event, input, { project, onHook } = {}) {
    const params = { event, input, progress: Boolean(onHook) };
    if (project) params.project = realpathSync(project);
    let answer;
    try {
      answer = await this.call("dispatch", params, onHook);
    } catch (error) {
      return withoutAnswer(event, `hookexec serve: ${error.message}`);
    }
    if (isVerdict(answer.result)) return answer.result;
    // With an error comes the verdict that the configured hooks stand for, where the server knows it.
    const verdict = answer.error?.data?.verdict;
    if (isVerdict(verdict)) return verdict;
    return withoutAnswer(event, `hookexec serve: ${answer.error?.message ?? "no verdict"}`);
  }

  /** Returns the answer to a request: an object with `result` or `error`. */
  call(method, params = {}, onHook) {
    if (this.#end) return Promise.reject(this.#end);
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onHook });
      this.#socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(message) {
    if (message?.method) {
      this.#pending.get(message.params?.id)?.onHook?.(message.method, message.params);
      return;
    }
    this.#pending.get(message?.id)?.resolve(message);
    this.#pending.delete(message?.id);
  }
}

async function main([path, event]) {
  let verdict;
  try {
    const hooks = await Hooks.connect(path);
    verdict = await hooks.dispatch(event, JSON.parse(readFileSync(0, "utf8")), { project: "." });
    hooks.close();
  } catch (error) {
    verdict = withoutAnswer(event, `${path}: ${error.message}`);
  }
  console.log(JSON.stringify(verdict));
  process.exitCode = verdict.allowed ? 0 : verdict.decision === "ask" ? 3 : 2;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.slice(2));
