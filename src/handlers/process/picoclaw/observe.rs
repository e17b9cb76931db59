//! The notification about an event that an observing process gets, in PicoClaw's words.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::params::{self, Meta};
use crate::config::{EventMethod, picoclaw};
use crate::event::Event;
use crate::wire::{Input, json_bytes};

/// Returns the method and the params that tell of an event.
pub(in crate::handlers::process) fn notification(
    method: EventMethod,
    event: Event,
    input: &Input,
) -> (&'static str, Vec<u8>) {
    let known = picoclaw::KINDS.iter().find(|(.., known)| *known == event);
    let time = Timestamp::now().to_string();
    let payload = payload(event, input);
    match method {
        // As PicoClaw tells it up to v0.2.8.
        EventMethod::Event => {
            let kind = known.map_or(event.name(), |(_, kind, _)| kind);
            let meta = Meta::new(input, event.name());
            let mut params = json!({ "Kind": kind, "Time": time, "Meta": meta });
            params["Payload"] = payload;
            ("hook.event", json_bytes(&params))
        }
        // As PicoClaw tells it from v0.2.9 on.
        EventMethod::RuntimeEvent => {
            static LAST: AtomicU64 = AtomicU64::new(0);
            let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            let kind =
                known.map_or_else(|| format!("agent.{event}"), |(kind, ..)| (*kind).to_owned());
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
            "Duration": params::nanoseconds(input),
            "IsError": input.tool_error.unwrap_or_default(),
            "Result": params::tool_result(input),
        }),
        Event::BeforeLlmCall => json!({
            "Model": model,
            "MessagesCount": input.messages.as_ref().map_or(0, Vec::len),
            "ToolsCount": input.tools.as_ref().map_or(0, Vec::len),
        }),
        Event::AfterLlmCall => {
            json!({ "Model": model, "Response": params::model_response(input) })
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
