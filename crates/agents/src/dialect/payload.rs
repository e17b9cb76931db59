//! Writes Claude Code's payload from an [`Input`].

use serde_json::{Value, json};

use super::{View, is_own};
use crate::Agent;
use hookexec::wire::JsonObject;
use hookexec::{Event, Input, Output};

/// Keys of a tool's response that hold the text for the model.
const SPOKEN: [&str; 7] = [
    "llmContent", "textResultForLlm", "text_result_for_llm", "for_llm", "output", "content", "text",
];

/// Returns what the agent calls the event.
pub(super) fn event_name(input: &Input) -> Option<&'static str> {
    let event = input.hook_event_name?;
    let failed = event == Event::PostToolUse && input.tool_error == Some(true);
    let mut rows = Agent::ClaudeCode.events().iter();
    let same = rows.find(|row| row.event == Some(event) && row.failed_tool == failed)?;
    Some(same.name)
}

/// Returns the agent's payload for the event, with `name` as the tool's name.
pub(super) fn write(input: &Input, name: &str, view: &View) -> JsonObject {
    if let Some(Value::Object(native)) = &input.native
        && is_own(input)
    {
        return current(native.clone(), input);
    }
    let mut payload = Value::Object(input.extra.clone());
    payload["session_id"] = json!(input.session_id);
    payload["cwd"] = json!(input.cwd);
    payload["hook_event_name"] = json!(event_name(input));
    if let Some(milliseconds) = input.tool_duration_ms {
        payload["duration_ms"] = json!(milliseconds);
    }
    // These keys are always there: a script that indexes a missing one dies and decides nothing.
    let mut defaults = vec![("transcript_path", json!("")), ("permission_mode", json!("default"))];
    let Some(event) = input.hook_event_name else { return with_defaults(payload, defaults) };
    if event.contract().tool_matched || event == Event::OnToolApprovalDecision {
        payload["tool_name"] = json!(name);
        payload["tool_input"] = arguments(input, view);
        payload["tool_use_id"] = text(input.tool_use_id.as_deref(), "");
    }
    let Input { prompt, source, model_id, reason, summary, .. } = input;
    let texts: &[(&str, &Option<String>, &str)] = match event {
        Event::PostToolUse if input.tool_error == Some(true) => {
            payload["error"] = json!(input.tool_response.as_ref().map(spoken));
            payload["is_interrupt"] = json!(false);
            &[]
        }
        Event::PostToolUse => {
            let response = input.tool_response.clone().unwrap_or(json!(""));
            let shell = view.names.iter().any(|name| name == "Bash");
            payload["tool_response"] = if shell { shell_response(response) } else { response };
            &[]
        }
        Event::UserPromptSubmit => &[("prompt", prompt, "")],
        Event::SessionStart => &[("source", source, "startup"), ("model", model_id, "")],
        Event::SessionEnd => &[("reason", reason, "other")],
        Event::Stop | Event::SubagentStop => {
            defaults.push(("stop_hook_active", json!(false)));
            &[("last_assistant_message", &input.stop_response, "")]
        }
        Event::PreCompact => {
            defaults.push(("custom_instructions", json!("")));
            &[("trigger", source, "auto")]
        }
        Event::AfterCompaction => &[("trigger", source, "auto"), ("compact_summary", summary, "")],
        Event::Notification => {
            defaults.push(("notification_type", json!("")));
            &[("message", &input.notification_message, "")]
        }
        Event::OnError => &[("error", reason, "")],
        Event::OnToolApprovalDecision => &[("reason", reason, "")],
        _ => &[],
    };
    for (key, value, otherwise) in texts {
        payload[key] = text(value.as_deref(), otherwise);
    }
    with_defaults(payload, defaults)
}

fn with_defaults(payload: Value, defaults: Vec<(&str, Value)>) -> JsonObject {
    let Value::Object(mut payload) = payload else { return JsonObject::new() };
    for (key, value) in defaults {
        payload.entry(key).or_insert(value);
    }
    payload
}

/// Returns the agent's own payload with the rewrites of earlier hooks.
fn current(mut payload: JsonObject, input: &Input) -> JsonObject {
    let arguments = input.tool_input.clone().map(Value::Object);
    for (key, value) in [("tool_input", arguments), ("tool_response", input.tool_response.clone())]
    {
        if let (Some(said), Some(value)) = (payload.get_mut(key), value) {
            *said = value;
        }
    }
    payload
}

fn arguments(input: &Input, view: &View) -> Value {
    match &view.call {
        Some(call) => call.arguments.clone().into(),
        None => input.tool_input.clone().unwrap_or_default().into(),
    }
}

fn text(value: Option<&str>, otherwise: &str) -> Value {
    json!(value.unwrap_or(otherwise))
}

/// Returns a command's response in the shape that Claude Code's has.
fn shell_response(response: Value) -> Value {
    if response.get("stdout").is_some() {
        return response;
    }
    json!({ "stdout": spoken(&response), "stderr": "", "interrupted": false, "isImage": false })
}

fn spoken(response: &Value) -> String {
    for key in SPOKEN {
        if let Some(text) = response[key].as_str() {
            return text.to_owned();
        }
    }
    response.as_str().map_or_else(|| response.to_string(), str::to_owned)
}

/// Returns a changed response as plain text if the tool's own response was plain text.
pub(super) fn take_back_response(input: &Input, output: &mut Output) {
    let Some(Value::Object(changed)) = &output.updated_tool_response else { return };
    let before = input.tool_response.as_ref().unwrap_or(&Value::Null);
    if !is_own(input)
        && before.get("stdout").is_none()
        && let Some(stdout @ Value::String(_)) = changed.get("stdout")
    {
        output.updated_tool_response = Some(stdout.clone());
    }
}
