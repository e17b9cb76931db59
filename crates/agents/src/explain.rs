//! Which hooks an agent's call concerns.

use super::Agent;
use super::read::NativeCall;
use hookexec::executor::Executor;
use hookexec::internal::{Explanation, Selection};
use hookexec::wire::{Input, JsonObject};

/// Returns whether [`dispatch`](super::dispatch) would run each configured hook for `call`, and why
/// not: first the files that failed, once for each event that they fail, then the hooks in config
/// order. Nothing is run.
pub fn explain(executor: &Executor, call: &NativeCall) -> Vec<Explanation> {
    let mut merged = Vec::new();
    let mut configured: Vec<Explanation> = Vec::new();
    for event in call.native.fires(call.agent) {
        let mut explanations = executor.explain(event, &call.input);
        let hooks = explanations.split_off(executor.failed_files(event));
        merged.extend(explanations);
        if configured.is_empty() {
            configured = hooks;
            continue;
        }
        for (known, other) in configured.iter_mut().zip(hooks) {
            if !matches!(other.selection, Selection::OtherEvent(_)) {
                *known = other;
            }
        }
    }
    merged.extend(configured);
    merged
}

/// Adds the kinds of the tool where the input names an agent and no kinds, as [`read`](super::read)
/// does for the agent's own payload. Guards by kind, such as `matcher: shell`, then match.
pub fn add_tool_kinds(input: &mut Input) {
    let agent = input.agent_name.as_deref().and_then(|name| name.parse::<Agent>().ok());
    if let (Some(agent), Some(tool), true) = (agent, &input.tool_name, input.tool_kinds.is_empty())
    {
        let none = JsonObject::new();
        let payload = input.native.as_ref().and_then(|native| native.as_object()).unwrap_or(&none);
        input.tool_kinds = agent.toolset().kinds(tool, payload);
    }
}
