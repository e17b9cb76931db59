//! Agents that heed exit code 2 alone: Kimi Code, Kiro and Windsurf. Each takes at most one text beside it.

use serde_json::Value;

use super::payload::{PayloadError, text};
use super::{Answer, NativeEvent, Plan, Wanted, members};
use hookexec::wire::JsonObject;
use hookexec::{Event, Input};

pub(super) fn refine_kimi(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    match native.event {
        // A list of parts. One that has more than texts stays as it is, in JSON.
        Some(Event::UserPromptSubmit) => {
            if let Some(Value::Array(parts)) = payload.get("prompt") {
                let texts: Option<Vec<&str>> =
                    parts.iter().map(|part| part["text"].as_str()).collect();
                input.prompt = texts.map(|texts| texts.join("\n")).or(input.prompt.take());
            }
        }
        Some(Event::SubagentStop) => input.stop_response = text(payload, &["response"]),
        _ => {}
    }
    Wanted::Yes
}

pub(super) fn write_kimi(plan: &Plan<'_>) -> Answer {
    Answer::json(members! { "message": plan.context })
}

pub(super) fn write_kiro(plan: &Plan<'_>) -> Answer {
    match &plan.context {
        Some(context) => Answer::text(context),
        None => Answer::default(),
    }
}

/// Says nothing beside the exit code.
pub(super) fn write_windsurf(_: &Plan<'_>) -> Answer {
    Answer::default()
}

pub(super) fn refine_windsurf(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Wanted {
    let empty = JsonObject::new();
    let info = match payload.get("tool_info").and_then(Value::as_object) {
        Some(info) => info,
        None if native.is_deciding() => return Wanted::Unusable(PayloadError::ToolInfo),
        None => &empty,
    };
    match native.event {
        Some(Event::UserPromptSubmit) => input.prompt = text(info, &["user_prompt"]),
        Some(Event::Stop) => input.stop_response = text(info, &["response"]),
        Some(_) => match tool_call(native, info, input) {
            Ok(arguments) => input.tool_input = Some(arguments),
            Err(cause) => return Wanted::Unusable(cause),
        },
        None => {}
    }
    Wanted::Yes
}

/// Reads a tool call into the input, and returns its arguments.
fn tool_call(
    native: &NativeEvent,
    info: &JsonObject,
    input: &mut Input,
) -> Result<JsonObject, PayloadError> {
    let mut arguments = info.clone();
    let renamed = rename_command(&mut arguments);
    if native.is_deciding() {
        renamed?;
    }
    if native.event == Some(Event::PostToolUse) && input.tool_response.is_none() {
        let response = arguments.remove("response");
        input.tool_response = response.or_else(|| arguments.remove("mcp_result"));
    }
    if native.tool != Some("mcp_tool") {
        return Ok(arguments);
    }
    let server = text(info, &["mcp_server_name"]).unwrap_or_default();
    let tool = text(info, &["mcp_tool_name"]).unwrap_or_default();
    input.tool_name = if tool.is_empty() { None } else { Some(format!("mcp__{server}__{tool}")) };
    match info.get("mcp_tool_arguments") {
        Some(given) => native.arguments(given),
        None => Ok(JsonObject::new()),
    }
}

/// Gives the command line the word that every other agent has for it.
///
/// # Errors
/// When another command has that word, too: which one runs is not known.
fn rename_command(arguments: &mut JsonObject) -> Result<(), PayloadError> {
    if let (Some(command), Some(line)) = (arguments.get("command"), arguments.get("command_line"))
        && command != line
    {
        return Err(PayloadError::TwoCommands);
    }
    if let Some(command) = arguments.remove("command_line") {
        arguments.insert("command".to_owned(), command);
    }
    Ok(())
}
