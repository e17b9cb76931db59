// One server and the requests that are open at it: JSON-RPC 2.0, one object a line.

import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { createConnection } from "node:net";
import { StringDecoder } from "node:string_decoder";

/** The longest line that the server reads, in bytes. */
const LONGEST = 8 << 20;

/** The server could not be started, or gave no valid answer. */
export class HooksError extends Error {
  name = "HooksError";
  /** The verdict that the server's hooks stand for, if it said one. */
  verdict = undefined;
}

/** A running server. It never comes back to life: the next request needs a new connection. */
export class Connection {
  #answer;
  #close;
  #keepAlive;
  #sink;
  #open = new Map();
  #lastId = 0;
  #dead;
  /** When the server last sent something. */
  heard = performance.now();

  constructor({ lines, sink, keepAlive, close }, answer) {
    this.#sink = sink;
    this.#close = close;
    this.#keepAlive = keepAlive;
    this.#answer = answer;
    // The reader hears of the end and knows the cause.
    sink.on("error", () => {});
    const decoder = new StringDecoder();
    let rest = "";
    lines.on("data", (chunk) => {
      this.heard = performance.now();
      const parts = (rest + decoder.write(chunk)).split("\n");
      rest = parts.pop();
      for (const line of parts) this.#take(line);
    });
    keepAlive(false);
  }

  /** Starts a server that talks on its stdin and stdout. */
  static start(command, cwd, answer) {
    const child = spawn(command[0], command.slice(1), { cwd, stdio: "pipe" });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said = (said + chunk).slice(-4000);
      process.stderr.write(chunk);
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    const connection = new Connection(
      {
        lines: child.stdout,
        sink: child.stdin,
        keepAlive: (wanted) => {
          for (const it of [child, child.stdin, child.stdout, child.stderr]) it[wanted ? "ref" : "unref"]();
        },
        close: async (patience) => {
          // The server stops what runs for a client that closes both, and ends background hooks.
          child.stdin.end();
          child.stdout.destroy();
          const timer = setTimeout(() => child.kill("SIGKILL"), patience);
          child.ref();
          if (child.exitCode === null && child.signalCode === null && child.pid) await ended;
          clearTimeout(timer);
        },
      },
      answer,
    );
    child.on("error", (error) => connection.#end(`can't start ${command[0]}: ${error.message}`));
    child.on("close", (code, signal) => {
      const told = said.trim();
      connection.#end(`\`hookexec serve\` ended with ${signal ?? code}${told && `: ${told}`}`);
    });
    // A child that closes its stdout and lives on answers nothing more.
    child.stdout.on("end", () => setTimeout(() => child.kill("SIGKILL"), 1000).unref());
    return connection;
  }

  /** Connects to a server that listens at a socket of this user. */
  static connect(path, answer) {
    try {
      if (statSync(path).uid !== process.getuid()) throw new Error("it belongs to another user");
    } catch (error) {
      throw new HooksError(`no server at ${path}: ${error.message}`);
    }
    const peer = createConnection(path);
    const connection = new Connection(
      {
        lines: peer,
        sink: peer,
        keepAlive: (wanted) => peer[wanted ? "ref" : "unref"](),
        close: async () => peer.destroy(),
      },
      answer,
    );
    peer.on("error", (error) => connection.#end(`no server at ${path}: ${error.message}`));
    peer.on("close", () => connection.#end("the server hung up"));
    return connection;
  }

  get alive() {
    return this.#dead === undefined;
  }

  /** Sends a request, and returns its result within `timeout` milliseconds, or throws. */
  request(method, params, timeout) {
    return new Promise((resolve, reject) => {
      if (this.#dead !== undefined) throw new HooksError(this.#dead);
      const id = ++this.#lastId;
      let line;
      try {
        line = write({ id, method, params });
        // The server could not say to which request its error belongs.
        if (Buffer.byteLength(line) > LONGEST) throw new Error(`it is longer than ${LONGEST} bytes`);
      } catch (error) {
        throw new HooksError(`\`${method}\` can't be sent: ${error.message}`);
      }
      const sent = performance.now();
      const timer = setTimeout(() => {
        this.#open.set(id, { late: true });
        const why = `no answer to \`${method}\` within ${timeout / 1000} seconds`;
        reject(new HooksError(why));
        // It answered nobody in all this time: it hangs, and the next request needs a new one.
        if (this.heard < sent) this.close(why, 0);
        this.#rest();
      }, timeout);
      this.#open.set(id, { resolve, reject, timer });
      this.#keepAlive(true);
      this.#sink.write(line);
    });
  }

  /** Ends the server; every open request fails. It gets some time to end by itself. */
  async close(why, patience) {
    this.#end(why);
    await this.#close(patience);
  }

  #end(why) {
    this.#dead ??= why;
    for (const { reject, timer } of this.#open.values()) {
      clearTimeout(timer);
      reject?.(new HooksError(this.#dead));
    }
    this.#open.clear();
    this.#rest();
  }

  /** Lets the program end while nobody waits for the server. */
  #rest() {
    const waits = [...this.#open.values()].some(({ late }) => !late);
    if (!waits) this.#keepAlive(false);
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
      if (message === null || typeof message !== "object" || Array.isArray(message)) {
        throw new Error("it sent a line that is not an object");
      }
    } catch (error) {
      this.close(`the server can't be understood: ${error.message}`, 0);
      return;
    }
    const { id, method, params, result, error } = message;
    if (method !== undefined) {
      if (id !== undefined) this.#reply(id, method, params ?? {});
      return;
    }
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    clearTimeout(request.timer);
    const isResult = !("error" in message) && result !== null && typeof result === "object";
    if (request.late) {
      // Nobody runs the call, so it is cancelled.
      if (isResult && "call" in result && this.alive) {
        const end = "messages" in result ? "model.end" : "tool.end";
        this.request(end, { call: result.call, cancelled: true }, 60_000).catch(() => {});
      }
    } else if (isResult) {
      request.resolve(result);
    } else {
      const problem = new HooksError(String(error?.message ?? "the server gave no answer"));
      const verdict = error?.data?.verdict;
      if (typeof verdict?.allowed === "boolean") problem.verdict = verdict;
      request.reject(problem);
    }
    this.#rest();
  }

  async #reply(id, method, params) {
    let line;
    try {
      line = write({ id, result: await this.#answer(method, params) });
    } catch (error) {
      const told = error instanceof Error ? `${error.name}: ${error.message}` : "it threw no Error";
      line = write({ id, error: { code: -32000, message: told } });
    }
    this.#sink.write(line);
  }
}

function write(message) {
  return `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
}
