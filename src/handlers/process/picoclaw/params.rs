//! The params of PicoClaw's methods.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::EventMethod;
use crate::config::process::{self, Stage};
use crate::describe::{self, CallDescription, TouchedFile};
use crate::event::Event;
use crate::wire::{Input, JsonObject, ToolResult, is_empty, json_bytes};

/// Declares the params of all stages: each stage has some of them, and a default is not written.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        #[derive(Debug, Default, Serialize)]
        struct Params<'a> {
            meta: Meta<'a>,
            $($(#[$doc])* #[serde(skip_serializing_if = "is_empty")] $name: $type,)*
        }
    };
}

params! {
    context: Option<&'a Value>;
    model: Option<&'a str>;
    messages: &'a [Value];
    tools: &'a [Value];
    options: Option<&'a JsonObject>;
    graceful_terminal: Option<&'a Value>;
    response: Option<Cow<'a, Value>>;
    tool: Option<&'a str>;
    arguments: Option<&'a JsonObject>;
    result: Option<Cow<'a, Value>>;
    /// In nanoseconds.
    duration: Option<u64>;
    channel: Option<&'a Value>;
    chat_id: Option<&'a Value>;
    /// Ours: PicoClaw's hooks don't learn which call it is, nor where.
    tool_call_id: Option<&'a str>;
    cwd: &'a str;
    /// Ours, as in the input of other hooks.
    tool_kinds: &'a [String];
    commands: &'a [describe::Command];
    files: &'a [TouchedFile];
    /// Ours: the process is asked about this call a second time, for its decision only.
    repeated: bool;
}

/// Keys of the params that a process may send back along with what it changed; they are ignored.
pub(super) const ECHOED: [&str; 11] = [
    "meta", "context", "channel", "chat_id", "tool_call_id", "cwd", "tool_kinds", "commands",
    "files", "repeated", "graceful_terminal",
];

impl Stage {
    /// Returns the params of a call.
    pub(in crate::handlers::process) fn params(
        self,
        input: &Input,
        described: &CallDescription,
    ) -> Vec<u8> {
        let mut params = Params {
            meta: Meta::new(input, self.trace_path),
            context: input.extra.get("context"),
            channel: input.extra.get("channel"),
            chat_id: input.extra.get("chat_id"),
            cwd: &input.cwd,
            repeated: input.repeated,
            ..Params::default()
        };
        if self.event.contract().tool_matched {
            params.tool = Some(input.tool());
            params.arguments = unless_empty(input.tool_input.as_ref());
            params.tool_call_id = input.tool_use_id.as_deref();
            params.tool_kinds = &input.tool_kinds;
            (params.commands, params.files) = (&described.commands, &described.files);
        } else {
            params.model = Some(input.model_id.as_deref().unwrap_or_default());
        }
        match self.event {
            Event::BeforeLlmCall => {
                params.messages = input.messages.as_deref().unwrap_or_default();
                params.tools = input.tools.as_deref().unwrap_or_default();
                params.options = unless_empty(input.options.as_ref());
                params.graceful_terminal = input.extra.get("graceful_terminal");
            }
            Event::AfterLlmCall => params.response = model_response(input),
            Event::PostToolUse => {
                params.result = tool_result(input);
                params.duration = Some(nanoseconds(input));
            }
            _ => {}
        }
        json_bytes(&params)
    }
}

fn unless_empty(object: Option<&JsonObject>) -> Option<&JsonObject> {
    if object?.is_empty() { None } else { object }
}

/// PicoClaw's description of the place in a turn, with its names of Go.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Meta<'a> {
    #[serde(rename = "AgentID")]
    agent: &'a str,
    #[serde(rename = "TurnID")]
    turn: &'a str,
    #[serde(rename = "ParentTurnID")]
    parent_turn: &'a str,
    session_key: &'a str,
    iteration: u64,
    trace_path: &'a str,
    source: &'a str,
}

impl<'a> Meta<'a> {
    pub(super) fn new(input: &'a Input, trace_path: &'a str) -> Self {
        let parent_turn = input.extra.get("parent_turn_id").and_then(Value::as_str);
        Self {
            agent: input.agent_name.as_deref().unwrap_or_default(),
            turn: input.turn_id.as_deref().unwrap_or_default(),
            parent_turn: parent_turn.unwrap_or_default(),
            session_key: &input.session_id,
            iteration: input.iteration.unwrap_or_default(),
            trace_path,
            source: "runTurn",
        }
    }
}

/// Returns how long the tool ran; 0 if the host does not say.
pub(super) fn nanoseconds(input: &Input) -> u64 {
    input.tool_duration_ms.unwrap_or_default().saturating_mul(1_000_000)
}

/// Returns the model's response as an object: a plain text is its `content`.
pub(super) fn model_response(input: &Input) -> Option<Cow<'_, Value>> {
    match input.response.as_ref()? {
        Value::String(text) => Some(Cow::Owned(json!({ "content": text }))),
        response => Some(Cow::Borrowed(response)),
    }
}

/// Returns the tool's response as PicoClaw writes it.
pub(super) fn tool_result(input: &Input) -> Option<Cow<'_, Value>> {
    match &input.tool_response {
        Some(response) if is_tool_result(response) => Some(Cow::Borrowed(response)),
        _ => Some(Cow::Owned(text_result(input)?.into())),
    }
}

/// Returns a tool's response in another format as a tool result whose text is the response.
pub(super) fn text_result(input: &Input) -> Option<ToolResult> {
    let failed = input.tool_error.unwrap_or_default();
    let text = match &input.tool_response {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None if failed => String::new(),
        None => return None,
    };
    let mut result = ToolResult::text(text);
    result.is_error = failed;
    Some(result)
}

/// Returns whether a tool's response is written as PicoClaw's tools write it.
pub(super) fn is_tool_result(response: &Value) -> bool {
    response.get("for_llm").is_some_and(Value::is_string)
}

/// Returns the method and the params that tell of an event.
pub(in crate::handlers::process) fn notification(
    method: EventMethod,
    event: Event,
    input: &Input,
) -> (&'static str, Vec<u8>) {
    let known = process::KINDS.iter().find(|(.., known)| *known == event);
    let time = Timestamp::now().to_string();
    let payload = payload(event, input);
    match method {
        // As PicoClaw tells it up to v0.2.8.
        EventMethod::Event => {
            let kind = match known {
                Some((_, kind, _)) => kind,
                None => event.name(),
            };
            let meta = Meta::new(input, event.name());
            let mut params = json!({ "Kind": kind, "Time": time, "Meta": meta });
            params["Payload"] = payload;
            ("hook.event", json_bytes(&params))
        }
        // As PicoClaw tells it from v0.2.9 on.
        EventMethod::RuntimeEvent => {
            static LAST: AtomicU64 = AtomicU64::new(0);
            let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            let kind = match known {
                Some((kind, ..)) => (*kind).to_owned(),
                None => format!("agent.{event}"),
            };
            let agent = input.agent_name.as_deref().unwrap_or_default();
            let mut scope = json!({ "agent_id": agent, "session_key": input.session_id });
            if let Some(turn) = &input.turn_id {
                scope["turn_id"] = turn.as_str().into();
            }
            let mut params = json!({
                "id": format!("evt-{id}"),
                "kind": kind,
                "time": time,
                "source": { "component": "agent", "name": agent },
                "scope": scope,
                "correlation": {},
                "severity": if event == Event::OnError { "error" } else { "info" },
            });
            params["payload"] = payload;
            ("hook.runtime_event", json_bytes(&params))
        }
    }
}

/// Returns what PicoClaw tells of the event; of one that it does not know, the whole Input.
fn payload(event: Event, input: &Input) -> Value {
    let model = input.model_id.as_deref().unwrap_or_default();
    match event {
        Event::PreToolUse => json!({ "Tool": input.tool(), "Arguments": input.tool_input }),
        Event::PostToolUse => json!({
            "Tool": input.tool(),
            "Arguments": input.tool_input,
            "Duration": nanoseconds(input),
            "IsError": input.tool_error.unwrap_or_default(),
            "Result": tool_result(input),
        }),
        Event::BeforeLlmCall => json!({
            "Model": model,
            "MessagesCount": input.messages.as_deref().unwrap_or_default().len(),
            "ToolsCount": input.tools.as_deref().unwrap_or_default().len(),
        }),
        Event::AfterLlmCall => {
            json!({ "Model": model, "Response": model_response(input) })
        }
        _ => serde_json::to_value(input).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(method: EventMethod, event: Event, input: &Input) -> (&'static str, Value) {
        let (name, params) = notification(method, event, input);
        (name, serde_json::from_slice(&params).unwrap())
    }

    fn input() -> Input {
        let arguments = json!({ "text": "hello" });
        let mut input = Input::for_tool("echo_text", arguments.as_object().unwrap().clone());
        input.agent_name = Some("agent-1".into());
        input.turn_id = Some("turn-1".into());
        input.with_session("s")
    }

    #[test]
    fn the_older_method_names_kind_meta_and_payload() {
        let (method, params) = told(EventMethod::Event, Event::PreToolUse, &input());
        assert_eq!(method, "hook.event");
        assert_eq!(params["Kind"], "tool_exec_start");
        assert!(params["Time"].as_str().unwrap().ends_with('Z'));
        assert_eq!(params["Meta"]["AgentID"], "agent-1");
        assert_eq!(params["Meta"]["TurnID"], "turn-1");
        assert_eq!(
            params["Payload"],
            json!({ "Tool": "echo_text", "Arguments": { "text": "hello" } })
        );
    }

    #[test]
    fn the_newer_method_is_an_envelope() {
        let (method, params) = told(EventMethod::RuntimeEvent, Event::PreToolUse, &input());
        assert_eq!(method, "hook.runtime_event");
        assert_eq!(params["kind"], "agent.tool.exec_start");
        assert_eq!(params["source"], json!({ "component": "agent", "name": "agent-1" }));
        assert_eq!(params["scope"]["turn_id"], "turn-1");
        assert!(params["id"].as_str().unwrap().starts_with("evt-"));
    }

    #[test]
    fn an_event_of_ours_is_told_whole_under_its_own_name() {
        let (_, params) = told(EventMethod::Event, Event::SessionStart, &input());
        assert_eq!(params["Kind"], "session_start");
        assert_eq!(params["Payload"]["session_id"], "s");
        let (_, params) = told(EventMethod::RuntimeEvent, Event::SessionStart, &input());
        assert_eq!(params["kind"], "agent.session_start");
    }
}
