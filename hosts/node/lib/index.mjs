// hookexec: deterministic control over AI agents by a declarative hooks.yaml.

export { HooksError } from "./connection.mjs";
export { Cancelled, ModelCall, NotRun, Refused, Session, ToolCall, Turn } from "./drivers.mjs";
export { Hooks } from "./hooks.mjs";
export { findHookexecBin } from "./program.mjs";
