// The drivers: a session, a turn, a tool call, a model call.
//
// The order of events is the server's. A driver sends what the host has done and does what the
// server says next. `run` drives all of it; `begin` and `end` are for code that is no function.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

import { HooksError } from "./connection.mjs";
import { WITHHELD } from "./hooks.mjs";

/** The turn that the running function is in, so that adapters of frameworks find it. */
const current = new AsyncLocalStorage();

/** A hook refused a prompt, a model call or its response, or the hooks could not be asked. */
export class Refused extends Error {
  name = "Refused";

  constructor(message, by = null, stop = null) {
    super(message);
    this.by = by;
    this.stop = stop;
  }
}

/** The tool must not run: `outcome` says why, and what the model reads instead. */
export class NotRun extends Error {
  name = "NotRun";

  constructor(outcome) {
    super(outcome.forModel);
    this.outcome = outcome;
  }
}

/** The host cancelled: throw it in a tool, a model call or a turn. */
export class Cancelled extends Error {
  name = "Cancelled";
}

export class Session {
  #source;
  #turns = 0;
  additionalContext = null;
  systemMessages = [];
  unfired = [];
  /** What ended the turn or the session, by the wish of a hook. */
  stop = null;

  constructor(hooks, { id = randomUUID(), source = "startup", agentName = null, model = null }) {
    this.hooks = hooks;
    this.id = id;
    this.#source = source;
    const names = { agent_name: agentName, model_id: model };
    this.facts = { session_id: id, cwd: hooks.cwd, tools: hooks.tools, ...names };
  }

  turn(prompt = null) {
    this.#turns += 1;
    return new Turn(this, `turn-${this.#turns}`, prompt);
  }

  toolCall(name, args, options) {
    return new ToolCall(this, this.#turn(), name, args, options);
  }

  modelCall(messages, request) {
    return new ModelCall(this, this.#turn(), messages, request);
  }

  #turn() {
    const turn = current.getStore();
    return turn?.session === this ? turn : undefined;
  }

  run(work) {
    return during(this, work);
  }

  async begin() {
    const answer = await this.hooks.call("session.begin", { session: this.facts, source: this.#source });
    note(this, answer);
    this.unfired = answer.unfired ?? [];
    for (const hook of this.unfired) process.emitWarning(hook);
    return this;
  }

  async end(error) {
    const reason = error === undefined ? "exit" : error instanceof Cancelled ? "canceled" : "error";
    await unlessLost("session.end", this.hooks.call("session.end", { session: this.facts, reason }));
  }
}

export class Turn {
  #prompt;
  additionalContext = null;
  systemMessages = [];
  /** The model's final response, which `stop` hooks read. */
  response = "";
  /** Kept for the server, and sent back as it came. */
  state = null;

  constructor(session, id, prompt) {
    this.session = session;
    this.id = id;
    this.#prompt = prompt;
  }

  toolCall(name, args, options) {
    return new ToolCall(this.session, this, name, args, options);
  }

  modelCall(messages, request) {
    return new ModelCall(this.session, this, messages, request);
  }

  run(work) {
    return during(this, (turn) => current.run(turn, work, turn));
  }

  async begin() {
    const { facts, hooks } = this.session;
    const params = { session: facts, turn_id: this.id, prompt: this.#prompt };
    const answer = await orRefused(hooks.call("turn.begin", params));
    refuse(answer);
    if (!answer.turn) throw new Refused("hookexec: the server did not begin the turn");
    this.state = answer.turn;
    note(this, answer);
    if (this.session.stop?.scope === "turn") this.session.stop = null;
    return this;
  }

  async finish(response) {
    this.response = response;
    const answer = await unlessLost("turn.finish", this.#call("turn.finish", { response }));
    this.state = answer?.turn ?? this.state;
    return answer?.go_on ?? null;
  }

  async end(error) {
    let end = { response: this.response };
    if (error instanceof Refused) end = { reason: "hook_blocked" };
    else if (error instanceof Cancelled) end = { reason: "canceled" };
    else if (error !== undefined) end = { error: textOf(error) };
    await unlessLost("turn.end", this.#call("turn.end", end));
  }

  async #call(method, params) {
    const { facts, hooks } = this.session;
    return hooks.call(method, { session: facts, turn: this.state, ...params });
  }
}

export class ToolCall {
  #approve;
  #beginning;
  #call = null;
  #canRename;
  #connection;
  #hooks;
  #session;

  constructor(session, turn, name, args, { id = null, ask = null, approve, canRename = true } = {}) {
    this.toolName = name;
    this.toolInput = args;
    this.#session = session;
    this.#canRename = canRename;
    this.#hooks = session.hooks;
    this.#approve = approve ?? session.hooks.approve;
    this.#beginning = {
      session: session.facts,
      turn: turn?.state ?? null,
      tool_name: name,
      tool_input: args,
      tool_use_id: id,
      ask,
      can_ask: this.#approve !== undefined,
    };
  }

  /** Runs `tool(args)` if the hooks let it, and returns how the call ended. */
  async run(tool) {
    try {
      await this.begin();
    } catch (error) {
      if (error instanceof NotRun) return error.outcome;
      throw error;
    }
    let response;
    try {
      response = await tool(this.toolInput);
    } catch (error) {
      return this.end({ error: error ?? new Error("it threw nothing") });
    }
    return this.end({ response });
  }

  /** Asks the hooks. Throws `NotRun` if the tool must not run with `toolName` and `toolInput`. */
  async begin() {
    let step;
    try {
      this.#connection = this.#hooks.connection();
      step = await this.#hooks.call("tool.begin", this.#beginning, this.#connection);
      this.#call = step.call ?? null;
      while (step.next === "approve") {
        const answer = { call: this.#call, ...(await this.#asked(step)) };
        step = await this.#hooks.call("tool.approve", answer, this.#connection);
        this.#call = step.call ?? null;
      }
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      throw new NotRun(this.#denied(error));
    }
    if (isDone(step)) throw new NotRun(this.#outcome(step));
    const { tool_name: name, tool_input: input } = step;
    if (step.next !== "run" || typeof name !== "string" || !isObject(input)) {
      throw new NotRun(this.#denied(new HooksError("the server named no call to run")));
    }
    if (name !== this.toolName && !this.#canRename) {
      await this.end({ error: new Cancelled() });
      const problem = `a hook wants the tool \`${name}\` instead, which can't be called here`;
      throw new NotRun(this.#denied(new HooksError(problem)));
    }
    this.toolName = name;
    this.toolInput = input;
    return this;
  }

  /** Passes on what the tool returned or threw, and returns how the call ended. */
  async end({ response, error }) {
    const call = this.#call;
    let done = { call, response: jsonable(response) };
    if (error instanceof Cancelled) done = { call, cancelled: true };
    else if (error !== undefined) done = { call, error: textOf(error) };
    try {
      const step = await this.#hooks.call("tool.end", done, this.#connection);
      if (!isDone(step)) throw new HooksError("the server did not say how the call ended");
      const outcome = this.#outcome(step);
      const own = error === undefined ? jsonable(response) : textOf(error);
      const isOwn = ["ran", "failed"].includes(outcome.end) && same(outcome.response, own);
      if (isOwn && error === undefined && isJson(response)) outcome.response = response;
      const hasMore = outcome.message || outcome.additionalContext;
      return { ...outcome, exception: error, wasRewritten: !isOwn || Boolean(hasMore) };
    } catch (problem) {
      if (!(problem instanceof HooksError)) throw problem;
      // If the server lives, its hooks hear at least that the call has ended.
      this.#hooks.call("tool.end", { call, cancelled: true }, this.#connection).catch(() => {});
      return {
        ...this.#denied(problem),
        end: "failed",
        forModel: WITHHELD,
        response: WITHHELD,
        exception: error,
      };
    }
  }

  async #asked(step) {
    let granted;
    try {
      granted = await this.#approve({
        toolName: step.tool_name,
        toolInput: step.tool_input,
        reason: step.reason ?? "",
        metadata: step.metadata ?? {},
      });
    } catch (error) {
      await this.end({ error: new Cancelled() });
      throw error;
    }
    // Only `true` approves.
    return { granted: granted === true, reason: typeof granted === "string" ? granted : null };
  }

  #outcome(step) {
    this.#session.stop = step.stop ?? this.#session.stop;
    return {
      end: step.end,
      toolName: step.tool_name ?? this.toolName,
      toolInput: step.tool_input ?? this.toolInput,
      forModel: String(step.for_model ?? ""),
      isError: step.is_error !== false,
      response: step.response ?? null,
      message: step.message ?? null,
      stop: step.stop ?? null,
      additionalContext: step.additional_context ?? null,
      systemMessages: step.system_messages ?? [],
      failedOpen: step.failed_open ?? [],
      exception: undefined,
      wasRewritten: true,
    };
  }

  #denied(problem) {
    const message = `hookexec: ${problem.message}`;
    const forModel = `Tool call denied: ${message}`;
    return this.#outcome({ end: "denied", for_model: forModel, message });
  }
}

export class ModelCall {
  #session;
  #turn;
  #call = null;
  #connection;

  constructor(session, turn, messages, { model = null, tools = [], options = {} } = {}) {
    this.messages = messages;
    this.model = model;
    this.tools = tools;
    this.options = options;
    this.#session = session;
    this.#turn = turn;
  }

  /** Runs `call(this)` with the request as the hooks left it, and returns the response. */
  async run(call) {
    await this.begin();
    let response;
    try {
      response = await call(this);
    } catch (error) {
      await unlessLost("model.end", this.#ended({ error: error ?? new Error("it threw nothing") }));
      throw error;
    }
    return this.end({ response });
  }

  /** Asks the hooks, and has the request as they left it. Throws `Refused`. */
  async begin() {
    const { messages, model, tools, options } = this;
    const { facts, hooks } = this.#session;
    const place = { session: facts, turn: this.#turn?.state ?? null };
    const params = { ...place, messages, model, tools, options };
    let step;
    try {
      this.#connection = hooks.connection();
      step = await hooks.call("model.begin", params, this.#connection);
    } catch (error) {
      throw refusal(error);
    }
    this.#keep(step);
    refuse(step);
    this.#call = step.call ?? null;
    if (step.next !== "run" || !Array.isArray(step.messages)) {
      throw new Refused("hookexec: the server did not say which request to send");
    }
    this.messages = step.messages;
    this.model = step.model ?? null;
    this.tools = step.tools ?? [];
    this.options = step.options ?? {};
    return this;
  }

  /** Passes on the model's response or error, and returns the response as the hooks left it. */
  async end({ response, error }) {
    const step = await orRefused(this.#ended({ response, error }));
    refuse(step);
    if (error !== undefined) return undefined;
    if (step.next !== "done" || !("response" in step)) {
      throw new Refused("hookexec: the server did not say how the call ended");
    }
    const isOwn = isJson(response) && same(step.response, jsonable(response));
    return isOwn ? response : step.response;
  }

  async #ended({ response, error }) {
    const call = this.#call;
    let done = { call, response: jsonable(response) };
    if (error instanceof Cancelled) done = { call, cancelled: true };
    else if (error !== undefined) done = { call, error: textOf(error) };
    const step = await this.#session.hooks.call("model.end", done, this.#connection);
    this.#keep(step);
    return step;
  }

  #keep(step) {
    if (this.#turn && step.turn) this.#turn.state = step.turn;
  }
}

async function during(driver, work) {
  await driver.begin();
  let result;
  try {
    result = await work(driver);
  } catch (error) {
    await driver.end(error ?? new Error("it threw nothing"));
    throw error;
  }
  await driver.end();
  return result;
}

function note(driver, answer) {
  driver.additionalContext = answer.additional_context ?? null;
  driver.systemMessages = answer.system_messages ?? [];
}

function refuse({ refused }) {
  if (refused) throw new Refused(refused.message ?? "", refused.by, refused.stop);
}

function refusal(error) {
  return error instanceof HooksError ? new Refused(`hookexec: ${error.message}`) : error;
}

async function orRefused(answer) {
  try {
    return await answer;
  } catch (error) {
    throw refusal(error);
  }
}

async function unlessLost(method, answer) {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    process.emitWarning(`the hooks of \`${method}\` did not run: ${error.message}`);
    return undefined;
  }
}

function isDone(step) {
  return step.next === "done" && typeof step.end === "string";
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(error) {
  if (error instanceof Error) return error.message || error.name || "unknown error";
  const image = jsonable(error);
  return (typeof image === "string" ? image : JSON.stringify(image)) || "unknown error";
}

/** No deeper value goes to a hook. A circle is deeper. */
const MOST_LEVELS = 128;

/** Returns whether hooks saw a response as it is. What they did not see must not be handed on. */
export function isJson(value, depth = 0) {
  if (depth > MOST_LEVELS) return false;
  if (value === null || ["string", "boolean"].includes(typeof value)) return true;
  if (typeof value === "number") return Number.isFinite(value);
  const isItem = (item) => isJson(item, depth + 1);
  if (Array.isArray(value)) return value.every(isItem);
  if (typeof value !== "object" || "toJSON" in value) return false;
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  return isPlain && Reflect.ownKeys(value).every((key) => typeof key === "string" && isItem(value[key]));
}

/** Returns a response as JSON: itself, or what its text is. */
function jsonable(value) {
  try {
    return JSON.parse(JSON.stringify(value ?? null));
  } catch {
    return typeof value === "object" ? Object.prototype.toString.call(value) : String(value);
  }
}

function same(one, other) {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}
