//! Agents with answers of their own: GitHub Copilot CLI, Cursor and Mistral Vibe.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::payload::{arguments, spoken, text, value};
use super::{Answer, NativeEvent, Plan, Wanted, members};
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
) -> Wanted {
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
    Wanted::Yes
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

pub(super) fn refine_vibe(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
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
    if of_subagent { Wanted::No } else { Wanted::Yes }
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
