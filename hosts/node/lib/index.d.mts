/** A path of a file. */
type Path = string;
type Json = any;
type Maybe<T> = T | Promise<T>;

/** Returns the path of the native program that this package installed. */
export function findHookexecBin(): Path;

/** The server could not be started, or gave no valid answer. */
export class HooksError extends Error {
  /** The verdict that the server's hooks stand for, if it said one. */
  verdict?: Verdict;
}

/** A hook refused a prompt, a model call or its response, or the hooks could not be asked. */
export class Refused extends Error {
  constructor(message: string, by?: string | null, stop?: Stop | null);
  /** The event of the hook; null if the hooks could not be asked. */
  by: string | null;
  /** What the refusal also ends. */
  stop: Stop | null;
}

/** The tool must not run: `outcome` says why, and what the model reads instead. */
export class NotRun extends Error {
  constructor(outcome: ToolOutcome);
  outcome: ToolOutcome;
}

/** The host cancelled: throw it in a tool, a model call or a turn. */
export class Cancelled extends Error {}

export interface Stop {
  scope: "turn" | "session";
  reason: string;
}

/** The verdict on one event, as `hookexec run` prints it. */
export interface Verdict {
  event: string;
  decision: "allow" | "deny" | "ask" | null;
  allowed: boolean;
  message?: string;
  [key: string]: Json;
}

/** A tool call that a hook wants a person to approve. Show all of it. */
export interface ApprovalRequest {
  toolName: string;
  toolInput: Record<string, Json>;
  reason: string;
  metadata: Record<string, Json>;
}

/**
 * Returns true to approve; false, or the reason as a text, to refuse. If it throws, the call is
 * cancelled.
 */
export type Approve = (request: ApprovalRequest) => Maybe<boolean | string>;

/** How a tool call ended. */
export interface ToolOutcome {
  /**
   * `responded`: a hook answered in the tool's place; `aborted`: a hook ended the turn or the
   * session.
   */
  end: "ran" | "failed" | "responded" | "denied" | "aborted" | "cancelled";
  toolName: string;
  /** The arguments as the tool got them. */
  toolInput: Record<string, Json>;
  /** The text for the model, in each case. */
  forModel: string;
  isError: boolean;
  /** The tool's response with the hooks' rewrites; the tool's own value if it is plain
   * JSON and no hook changed it, else its JSON, which is what hooks saw. */
  response: Json;
  /** Why it was denied, or what a hook objects. */
  message: string | null;
  stop: Stop | null;
  additionalContext: string | null;
  systemMessages: string[];
  /** Hooks that failed while the event went on. */
  failedOpen: string[];
  /** What the tool threw. */
  exception: unknown;
  /** Whether the model must read `forModel` in the place of what the tool returned or threw. */
  wasRewritten: boolean;
}

export interface HooksOptions {
  /** The project; the current directory by default. */
  cwd?: Path;
  /** Leaves out the files of the user and the project. */
  isolated?: boolean;
  /** The socket of a running server. */
  socket?: Path;
  /** The native program; that of this package by default. */
  program?: Path;
  /** After how many seconds a request counts as denied; 120 by default. */
  timeout?: number;
  /** The kinds of tools whose names do not tell: `{ run_it: "shell" }`. */
  tools?: Record<string, string | string[]>;
  /** Is asked about a tool call that a hook wants approved. */
  approve?: Approve;
}

/**
 * The hooks that guard an agent. The server starts with the first request, and a server that died
 * is replaced by the next one. What the server does not answer counts as denied.
 */
export class Hooks {
  constructor(config?: Path | Path[], options?: HooksOptions);
  /** In seconds; applies to requests from now on. */
  timeout: number;
  /**
   * Makes a function callable by hooks: `{ type: builtin, command: NAME }`. If it throws, the hook
   * has failed.
   */
  builtin(
    name: string,
    answer: (input: Record<string, Json>, args: string[]) => Maybe<Record<string, Json> | null | void>,
  ): this;
  session(options?: SessionOptions): Session;
  /** Fires one event. */
  dispatch(event: string, input: Record<string, Json>): Promise<Verdict>;
  /** Ends the server, or the connection to it; open calls are denied. */
  close(): Promise<void>;
}

export interface SessionOptions {
  id?: string;
  source?: "startup" | "resume" | "clear" | "compact";
  agentName?: string;
  model?: string;
}

export interface ToolCallOptions {
  id?: string;
  /** A reason to need approval unless a hook allows the call. */
  ask?: string;
  approve?: Approve;
  /** `false` denies the call if a hook wants another tool. */
  canRename?: boolean;
}

export interface ModelRequest {
  model?: string;
  tools?: Json[];
  options?: Record<string, Json>;
}

interface Calls {
  toolCall(name: string, args: Record<string, Json>, options?: ToolCallOptions): ToolCall;
  modelCall(messages: Json[], request?: ModelRequest): ModelCall;
}

/** A conversation. `run` fires `session_start` before the function and `session_end` after it. */
export class Session implements Calls {
  readonly id: string;
  /** Context for the model that hooks gave at the start. */
  additionalContext: string | null;
  systemMessages: string[];
  /** Configured hooks that never run, because drivers do not fire their events. */
  unfired: string[];
  /** What ended the turn or the session, by the wish of a hook. */
  stop: Stop | null;
  turn(prompt?: string | null): Turn;
  toolCall(name: string, args: Record<string, Json>, options?: ToolCallOptions): ToolCall;
  modelCall(messages: Json[], request?: ModelRequest): ModelCall;
  run<T>(work: (session: Session) => Maybe<T>): Promise<T>;
  begin(): Promise<this>;
  end(error?: unknown): Promise<void>;
}

/** A prompt and what follows. `run` throws `Refused` if a hook blocks the prompt. */
export class Turn implements Calls {
  readonly id: string;
  /** Context for the model that hooks gave for this prompt. */
  additionalContext: string | null;
  systemMessages: string[];
  /** The model's final response, which `stop` hooks read. */
  response: string;
  toolCall(name: string, args: Record<string, Json>, options?: ToolCallOptions): ToolCall;
  modelCall(messages: Json[], request?: ModelRequest): ModelCall;
  /** Returns what the model must read before it may stop; null if it may. */
  finish(response: string): Promise<string | null>;
  run<T>(work: (turn: Turn) => Maybe<T>): Promise<T>;
  begin(): Promise<this>;
  end(error?: unknown): Promise<void>;
}

/** A tool call on its way through the hooks. */
export class ToolCall {
  toolName: string;
  toolInput: Record<string, Json>;
  /** Runs `tool(args)` if the hooks let it, and returns how the call ended. */
  run(tool: (args: any) => Json): Promise<ToolOutcome>;
  /** Asks the hooks. Throws `NotRun` if the tool must not run with `toolName` and `toolInput`. */
  begin(): Promise<this>;
  /** Passes on what the tool returned or threw, and returns how the call ended. */
  end(done: { response?: Json; error?: unknown }): Promise<ToolOutcome>;
}

/** A model call on its way through the hooks. */
export class ModelCall {
  messages: Json[];
  model: string | null;
  tools: Json[];
  options: Record<string, Json>;
  /** Runs `call(this)` with the request as the hooks left it, and returns the response. */
  run<T = Json>(call: (request: ModelCall) => Maybe<T>): Promise<T>;
  /** Asks the hooks, and has the request as they left it. Throws `Refused`. */
  begin(): Promise<this>;
  /** Passes on the model's response or error, and returns the response as the hooks left it. */
  end(done: { response?: Json; error?: unknown }): Promise<Json>;
}
