// The hooks of one project, at a server that is started when it is needed.

import { realpathSync } from "node:fs";
import { resolve } from "node:path";

import { Connection, HooksError } from "./connection.mjs";
import { Session, isJson } from "./drivers.mjs";
import { findHookexecBin } from "./program.mjs";

/** What stands for a tool's response that no hook could look at. */
export const WITHHELD = "The tool's response is withheld: hookexec gave no verdict.";
/** How long background hooks may take when the hooks are closed, in milliseconds. */
const PATIENCE = 12_000;

export class Hooks {
  #files;
  #isolated;
  #socket;
  #program;
  #builtins = new Map();
  #connection;
  #closed = false;

  constructor(config = [], options = {}) {
    const { cwd, isolated = false, socket, program, timeout = 120, tools = {}, approve } = options;
    this.#files = [config].flat().map((file) => resolve(file));
    if (socket !== undefined && (this.#files.length > 0 || isolated)) {
      throw new HooksError("`config` and `isolated` are the server's own: start it with them");
    }
    this.#isolated = isolated;
    this.#socket = socket;
    this.#program = program;
    this.timeout = timeout;
    this.cwd = realpathSync(cwd ?? ".");
    this.approve = approve;
    this.tools = Object.fromEntries(Object.entries(tools).map(([name, kinds]) => [name, [kinds].flat()]));
  }

  builtin(name, answer) {
    if (this.#builtins.has(name)) throw new HooksError(`the builtin \`${name}\` is registered twice`);
    if (this.#connection) throw new HooksError(`register \`${name}\` before the first event`);
    this.#builtins.set(name, answer);
    return this;
  }

  session(options = {}) {
    return new Session(this, options);
  }

  async dispatch(event, input) {
    let why = "the server sent no verdict";
    try {
      const verdict = await this.call("dispatch", { event, input });
      if (typeof verdict.allowed === "boolean" && verdict.event === event) return verdict;
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      if (error.verdict) return error.verdict;
      why = error.message;
    }
    const denied = { event, decision: "deny", allowed: false, hooks: [], message: `hookexec: ${why}` };
    const isAfter = event === "post_tool_use" || event === "tool_response_transform";
    return isAfter ? { ...denied, updated_tool_response: WITHHELD } : denied;
  }

  async close() {
    this.#closed = true;
    await this.#connection?.close("the hooks are closed", PATIENCE);
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  // What the drivers use.

  /** Returns the server, a new one if there is none that lives. */
  connection() {
    if (this.#closed) throw new HooksError("the hooks are closed");
    if (!this.#connection?.alive) this.#connection = this.#connect();
    return this.#connection;
  }

  #connect() {
    const answer = (method, params) => this.#answer(method, params);
    if (this.#socket !== undefined) return Connection.connect(this.#socket, answer);
    let program = this.#program;
    try {
      program ??= findHookexecBin();
    } catch (error) {
      throw new HooksError(error.message);
    }
    const command = [program, "serve", "--cwd", this.cwd];
    for (const file of this.#files) command.push("--config", file);
    if (this.#isolated) command.push("--isolated");
    for (const name of this.#builtins.keys()) command.push(`--builtin=${name}`);
    return Connection.start(command, this.cwd, answer);
  }

  /** Returns the result of a request, or throws a `HooksError`. */
  async call(method, params, at = this.connection()) {
    const isNew = this.#socket !== undefined && !("call" in params);
    const project = isNew ? { project: this.cwd } : {};
    const within = this.timeout * 1000;
    return at.request(method, { ...params, ...project, within_ms: Math.round(within) }, within);
  }

  async #answer(method, { name, args, input }) {
    const answer = method === "builtin" ? this.#builtins.get(name) : undefined;
    if (answer === undefined) throw new HooksError(`no builtin \`${name}\` is registered`);
    const answered = (await answer(input, args)) ?? null;
    if (typeof answered !== "object") throw new HooksError("the answer is not an object");
    // Of a circle this says more.
    JSON.stringify(answered);
    if (!isJson(answered)) throw new HooksError("the answer is not plain JSON");
    return answered;
  }
}
