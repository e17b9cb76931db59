//! The one table between our events and PicoClaw's methods, and the parameters of each method.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;

use crate::event::Event;
use crate::wire::{Input, JsonObject, ToolResult, json_bytes};

/// An event that PicoClaw has a method of its own for. Every other event is `hook.<event>`, with the
/// Input as params and an Output as result.
#[derive(Debug)]
pub(in crate::handlers::process) struct Stage {
    pub(in crate::handlers::process) event: Event,
    pub(in crate::handlers::process) method: &'static str,
    /// The mode that the handshake announces it with.
    pub(in crate::handlers::process) mode: &'static str,
    /// PicoClaw's name of the place in a turn.
    trace_path: &'static str,
    pub(in crate::handlers::process) answer: Answer,
}

/// The answer that a stage expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::handlers::process) enum Answer {
    /// `action`, and `request` with what changed.
    Request,
    /// `action`, and `response`.
    Response,
    /// `action`, and `call` with what changed, or `result` in the tool's place.
    Call,
    /// `action`, and `result`.
    ToolResult,
    /// `approved`.
    Approval,
}

/// An action that a process asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Continue,
    Modify,
    Respond,
    DenyTool,
    AbortTurn,
    HardAbort,
}

/// PicoClaw's stages.
static STAGES: [Stage; 5] = [
    Stage {
        event: Event::BeforeLlmCall,
        method: "hook.before_llm",
        mode: "llm",
        trace_path: "turn.llm.request",
        answer: Answer::Request,
    },
    Stage {
        event: Event::AfterLlmCall,
        method: "hook.after_llm",
        mode: "llm",
        trace_path: "turn.llm.response",
        answer: Answer::Response,
    },
    Stage {
        event: Event::PreToolUse,
        method: "hook.before_tool",
        mode: "tool",
        trace_path: "turn.tool.before",
        answer: Answer::Call,
    },
    Stage {
        event: Event::PermissionRequest,
        method: "hook.approve_tool",
        mode: "approve",
        trace_path: "turn.tool.approve",
        answer: Answer::Approval,
    },
    Stage {
        event: Event::PostToolUse,
        method: "hook.after_tool",
        mode: "tool",
        trace_path: "turn.tool.after",
        answer: Answer::ToolResult,
    },
];

/// Every action by name.
pub(super) const ACTIONS: [(&str, Action); 6] = [
    ("continue", Action::Continue),
    ("modify", Action::Modify),
    ("respond", Action::Respond),
    ("deny_tool", Action::DenyTool),
    ("abort_turn", Action::AbortTurn),
    ("hard_abort", Action::HardAbort),
];

impl Stage {
    /// Returns PicoClaw's stage for `event`, if it has one.
    pub(in crate::handlers::process) fn of(event: Event) -> Option<&'static Self> {
        STAGES.iter().find(|stage| stage.event == event)
    }

    /// Returns the keys of its answer; the last names the part that may be changed.
    pub(super) const fn keys(&self) -> &'static [&'static str] {
        match self.answer {
            Answer::Request => &["action", "reason", "request"],
            Answer::Response => &["action", "reason", "response"],
            Answer::Call => &["action", "reason", "result", "call"],
            Answer::ToolResult => &["action", "reason", "result"],
            Answer::Approval => &["approved", "reason"],
        }
    }

    /// Returns whether a process may want `action` here.
    pub(super) const fn allows(&self, action: Action) -> bool {
        match action {
            Action::Respond | Action::DenyTool => matches!(self.answer, Answer::Call),
            Action::Continue | Action::Modify | Action::AbortTurn | Action::HardAbort => {
                !matches!(self.answer, Answer::Approval)
            }
        }
    }

    /// Returns the params of a call.
    pub(in crate::handlers::process) fn params(&self, input: &Input) -> Vec<u8> {
        let mut params = Params::new(input, self.trace_path);
        match self.answer {
            Answer::Request => {
                params.model = Some(input.model_id.as_deref().unwrap_or_default());
                params.messages = input.messages.as_deref().filter(|messages| !messages.is_empty());
                params.tools = input.tools.as_deref().filter(|tools| !tools.is_empty());
                params.options = input.options.as_ref().filter(|options| !options.is_empty());
                params.graceful_terminal = input.extra.get("graceful_terminal");
            }
            Answer::Response => {
                params.model = Some(input.model_id.as_deref().unwrap_or_default());
                params.response = model_response(input);
            }
            Answer::Call | Answer::Approval => params.tool(input),
            Answer::ToolResult => {
                params.tool(input);
                params.result = tool_result(input);
                let nanoseconds =
                    input.tool_duration_ms.unwrap_or_default().saturating_mul(1_000_000);
                params.duration = Some(nanoseconds);
            }
        }
        json_bytes(&params)
    }
}

/// The params of all stages; each has some of them.
#[skip_serializing_none]
#[derive(Debug, Default, Serialize)]
struct Params<'a> {
    meta: Meta<'a>,
    context: Option<&'a Value>,
    model: Option<&'a str>,
    messages: Option<&'a [Value]>,
    tools: Option<&'a [Value]>,
    options: Option<&'a JsonObject>,
    graceful_terminal: Option<&'a Value>,
    response: Option<Cow<'a, Value>>,
    tool: Option<&'a str>,
    arguments: Option<&'a JsonObject>,
    result: Option<Cow<'a, Value>>,
    /// In nanoseconds.
    duration: Option<u64>,
    channel: Option<&'a Value>,
    chat_id: Option<&'a Value>,
    /// Ours: PicoClaw's hooks don't learn which call it is, nor where.
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    cwd: &'a str,
    /// Ours: the process is asked about this call a second time, for its decision only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repeated: bool,
}

/// Keys of the params that a process may send back along with what it changed; they are ignored.
pub(super) const ECHOED: [&str; 8] = [
    "meta", "context", "channel", "chat_id", "tool_call_id", "cwd", "repeated", "graceful_terminal",
];

impl<'a> Params<'a> {
    fn new(input: &'a Input, trace_path: &'static str) -> Self {
        Self {
            meta: Meta::new(input, trace_path),
            context: input.extra.get("context"),
            channel: input.extra.get("channel"),
            chat_id: input.extra.get("chat_id"),
            cwd: &input.cwd,
            repeated: input.repeated,
            ..Self::default()
        }
    }

    fn tool(&mut self, input: &'a Input) {
        self.tool = Some(input.tool());
        self.arguments = input.tool_input.as_ref().filter(|arguments| !arguments.is_empty());
        self.tool_call_id = input.tool_use_id.as_deref();
    }
}

/// PicoClaw's description of the place in a turn, with its names of Go.
#[derive(Debug, Default, Serialize)]
pub(super) struct Meta<'a> {
    #[serde(rename = "AgentID")]
    agent: &'a str,
    #[serde(rename = "TurnID")]
    turn: &'a str,
    #[serde(rename = "ParentTurnID")]
    parent_turn: &'a str,
    #[serde(rename = "SessionKey")]
    session: &'a str,
    #[serde(rename = "Iteration")]
    iteration: u64,
    #[serde(rename = "TracePath")]
    trace_path: &'a str,
    #[serde(rename = "Source")]
    source: &'a str,
}

impl<'a> Meta<'a> {
    pub(super) fn new(input: &'a Input, trace_path: &'a str) -> Self {
        Self {
            agent: input.agent_name.as_deref().unwrap_or_default(),
            turn: input.turn_id.as_deref().unwrap_or_default(),
            parent_turn: input
                .extra
                .get("parent_turn_id")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            session: &input.session_id,
            iteration: input.iteration.unwrap_or_default(),
            trace_path,
            source: "runTurn",
        }
    }
}

/// Returns the model's response as an object: a plain text is its `content`.
pub(super) fn model_response(input: &Input) -> Option<Cow<'_, Value>> {
    match input.response.as_ref()? {
        Value::String(text) => Some(Cow::Owned(json!({ "content": text }))),
        response => Some(Cow::Borrowed(response)),
    }
}

/// Returns the tool's response as a tool result: whatever is none is what the model reads.
pub(super) fn tool_result(input: &Input) -> Option<Cow<'_, Value>> {
    let failed = input.tool_error.unwrap_or_default();
    let text = match input.tool_response.as_ref() {
        Some(result) if is_tool_result(result) => return Some(Cow::Borrowed(result)),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None if failed => String::new(),
        None => return None,
    };
    let mut result = ToolResult::text(text);
    result.is_error = failed;
    Some(Cow::Owned(result.into()))
}

/// Returns whether a tool's response is written as PicoClaw's tools write it.
pub(super) fn is_tool_result(response: &Value) -> bool {
    response.get("for_llm").is_some_and(Value::is_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::picoclaw;

    #[test]
    fn the_shorthand_and_the_methods_mean_the_same_events() {
        for (name, (event, _)) in picoclaw::STAGES {
            assert_eq!(Stage::of(event).unwrap().method, format!("hook.{name}"));
        }
        assert_eq!(STAGES.len(), picoclaw::STAGES.len());
    }
}
