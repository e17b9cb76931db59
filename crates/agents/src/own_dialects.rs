//! Agents with answers of their own: GitHub Copilot CLI, Cursor and Mistral Vibe; and those that heed exit
//! code 2 alone, each with at most one text beside it: Kimi Code, Kiro and Windsurf.
#![expect(clippy::unnecessary_wraps, reason = "the payload of another agent may be unusable")]

use std::borrow::Cow;

use serde_json::{Value, json};

use super::payload::{PayloadError, arguments, spoken, text, value};
use super::{Answer, NativeEvent, Plan, Refined, Response, members};
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Input};

pub(super) fn write_copilot(plan: &Plan<'_>) -> Answer {
    let failed = matches!(plan.input, Some(input) if input.tool_error == Some(true));
    Answer::json(match plan.native.event {
        // Read at the top level in both spellings.
        Some(Event::PreToolUse) => members! {
            "permissionDecision": plan.decision,
            "permissionDecisionReason": plan.decision.and(plan.reason()),
            "modifiedArgs": plan.rewrite,
            "additionalContext": plan.context,
        },
        Some(Event::PermissionRequest) => members! {
            "behavior": plan.denial_as("deny"),
            "message": plan.denial(),
        },
        _ => members! {
            "decision": plan.denial_as("block"),
            "reason": plan.denial(),
            // Ignored in any other spelling, also where results come in that other one.
            "modifiedResult": plan.response.map(|response| json!({
                "resultType": if failed { "failure" } else { "success" },
                "textResultForLlm": result_text(response),
            })),
            "additionalContext": plan.context,
        },
    })
}

/// Returns the text of a result, whether a hook wrote a text or changed the object it was given.
fn result_text(response: &Value) -> Cow<'_, str> {
    let inner = response.get("textResultForLlm").or(response.get("text_result_for_llm"));
    spoken(inner.unwrap_or(response))
}

pub(super) fn refine_cursor(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Refined {
    match native.name {
        "beforeShellExecution" | "afterShellExecution" => {
            input.tool_input = Some(picked(payload, &["command", "cwd", "sandbox"]));
        }
        "beforeMCPExecution" | "afterMCPExecution" => {
            // The bare name of the tool; elsewhere Cursor writes `MCP:` before it.
            if let Some(name) = &mut input.tool_name
                && !name.starts_with("MCP:")
            {
                name.insert_str(0, "MCP:");
            }
        }
        "beforeReadFile" | "beforeTabFileRead" => {
            input.tool_input = Some(picked(payload, &["file_path", "content", "attachments"]));
        }
        "afterFileEdit" | "afterTabFileEdit" => {
            input.tool_input = Some(picked(payload, &["file_path", "edits"]));
        }
        "afterAgentResponse" => input.response = payload.get("text").cloned(),
        _ => {}
    }
    if native.event == Some(Event::PostToolUse) && input.tool_response.is_none() {
        input.tool_response = value(payload, &["output", "result_json"]).cloned();
    }
    // What a tool said comes as JSON in a string; a hook should find its keys.
    if let Some(Value::String(said)) = &input.tool_response
        && said.starts_with('{')
        && let Ok(object) = arguments(&json!(said))
    {
        input.tool_response = Some(Value::Object(object));
    }
    if native.event == Some(Event::Stop) {
        input.reason = text(payload, &["status"]);
    }
    if let Some(Event::Stop | Event::SubagentStop) = native.event {
        let again = payload.get("loop_count").and_then(Value::as_u64) > Some(0);
        input.extra.insert("stop_hook_active".to_owned(), json!(again));
    }
    Ok(true)
}

/// Returns the members of a payload that are there of `keys`.
fn picked(payload: &JsonObject, keys: &[&str]) -> JsonObject {
    let mut picked = payload.clone();
    picked.retain(|key, _| keys.contains(&key.as_str()));
    picked
}

pub(super) fn write_cursor(plan: &Plan<'_>) -> Answer {
    Answer::json(match plan.native.event {
        Some(Event::PreToolUse) => {
            let is_allow = plan.decision == Some(Decision::Allow);
            let reason = if is_allow { None } else { plan.decision.and(plan.reason()) };
            members! {
                "permission": plan.decision,
                "user_message": reason,
                "agent_message": reason,
                "updated_input": plan.rewrite,
            }
        }
        Some(Event::UserPromptSubmit) if plan.denies() => members! {
            "continue": Some(false),
            "user_message": plan.denial(),
        },
        Some(Event::Stop | Event::SubagentStop) if plan.denies() => {
            members! { "followup_message": plan.denial() }
        }
        Some(Event::PostToolUse) => members! {
            "additional_context": plan.context,
            "updated_mcp_tool_output": plan.response,
        },
        _ => members! { "additional_context": plan.context },
    })
}

pub(super) fn refine_vibe(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Refined {
    if native.event == Some(Event::PostToolUse) {
        // What the model reads. `tool_output` is null if a tool answers with text alone, and may lack
        // parts of the text.
        if let Some(text) = value(payload, &["tool_output_text"]) {
            input.tool_response = Some(text.clone());
        }
        if let Some(error) = value(payload, &["tool_error"]) {
            input.tool_error = Some(true);
            input.tool_response.get_or_insert_with(|| error.clone());
        }
    }
    // It also fires for every subagent that is done, as if that were the session.
    let of_subagent =
        native.event == Some(Event::Stop) && value(payload, &["parent_session_id"]).is_some();
    Ok(!of_subagent)
}

pub(super) fn write_vibe(plan: &Plan<'_>) -> Answer {
    let specific = members! {
        "tool_input": plan.rewrite,
        "additional_context": plan.context,
    };
    Answer::json(members! {
        "decision": plan.denial_as("deny"),
        "reason": plan.denial(),
        "system_message": plan.system_message,
        "hook_specific_output": if specific.is_empty() { None } else { Some(specific) },
    })
}

pub(super) fn refine_kimi(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Refined {
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
    Ok(true)
}

pub(super) fn write_kimi(plan: &Plan<'_>) -> Answer {
    Answer::json(members! { "message": plan.context })
}

/// Writes the context as plain text; nothing beside the exit code for an agent that takes none.
pub(super) fn write_text(plan: &Plan<'_>) -> Answer {
    match &plan.context {
        Some(context) => Answer::text(context),
        None => Answer::default(),
    }
}

pub(super) fn refine_windsurf(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Refined {
    let empty = JsonObject::new();
    let info = match payload.get("tool_info").and_then(Value::as_object) {
        Some(info) => info,
        None if native.is_deciding() => return Err(PayloadError::ToolInfo),
        None => &empty,
    };
    match native.event {
        Some(Event::UserPromptSubmit) => input.prompt = text(info, &["user_prompt"]),
        Some(Event::Stop) => input.stop_response = text(info, &["response"]),
        Some(_) => input.tool_input = Some(tool_call(native, info, input)?),
        None => {}
    }
    Ok(true)
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

/// Says what a plugin applies, for an agent without hook settings: a plugin in the agent's own process calls
/// hookexec. It sends the keys that [`read`](super::read) knows from other agents (`session_id`, `cwd`,
/// `tool_name`, `tool_input`, `tool_response`, ...). The answer says what to do, not how: the plugin knows
/// its agent's ways of doing it.
pub(super) fn write_plugin(plan: &Plan<'_>) -> Answer {
    let takes_response =
        plan.native.event == Some(Event::PostToolUse) && plan.native.response == Response::Takes;
    let response = match (plan.input, plan.response) {
        // Without an input there was no verdict, and a redaction might have been missed.
        (None, _) if takes_response => {
            Some(json!("The tool's response is withheld: hookexec gave no verdict."))
        }
        (Some(input), Some(response)) => Some(in_shape_of(input.tool_response.as_ref(), response)),
        (None, Some(response)) => Some(in_shape_of(None, response)),
        (_, None) => None,
    };
    Answer::json(members! {
        // Stop the call or the prompt, with this reason.
        "deny": plan.denial(),
        // Ask the user first, with this reason.
        "ask": if plan.asks() { Some(&plan.reason) } else { None },
        // Run the tool with these arguments instead; they are all of them.
        "arguments": plan.rewrite,
        // Give the model this in place of the tool's response, in the same shape.
        "response": response,
        // Tell the model this along with what it reads next.
        "context": plan.context,
        // Tell the user this.
        "message": plan.system_message,
    })
}

/// Returns a changed response as the tool gave its own: a text, or a list of content parts (MCP).
fn in_shape_of(before: Option<&Value>, response: &Value) -> Value {
    match (before, response) {
        (_, Value::Array(_)) => response.clone(),
        (Some(Value::Array(_)), other) => json!([{ "type": "text", "text": spoken(other) }]),
        (_, other) => json!(spoken(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_response_has_the_shape_of_the_old_one() {
        let parts = json!([{ "type": "text", "text": "x" }]);
        for (before, response, expected) in [
            (json!("a"), json!("x"), json!("x")),
            (json!("a"), json!({ "for_llm": "x" }), json!("x")),
            (json!([]), json!("x"), parts.clone()),
            (parts.clone(), parts.clone(), parts.clone()),
        ] {
            assert_eq!(in_shape_of(Some(&before), &response), expected);
        }
    }
}
