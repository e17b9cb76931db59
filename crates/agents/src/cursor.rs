//! Cursor, the editor and its command line.

use serde_json::{Value, json};

use super::payload::{arguments, text, value};
use super::{
    Adapter, Agent, Answer, EntryMember, HookSettings, NativeEvent, Plan, Wanted, members, native,
};
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Input};

pub(super) static ADAPTER: Adapter = Adapter {
    project: Some("CURSOR_PROJECT_DIR"),
    settings: Some(&HookSettings {
        directory: ".cursor",
        members: &[EntryMember::Command, EntryMember::Seconds, EntryMember::FailClosed],
        version: Some("1"),
        next_step: "Cursor reads the change at once. With `-p` it fires no prompt and no stop event. It also \
                    loads settings of Claude Code: with hookexec in both, every hook runs twice until third-party \
                    hooks are switched off in Cursor's settings.",
        ..HookSettings::LISTS
    }),
    refine,
    ..Adapter::new(Agent::Cursor, "cursor", "Cursor", native::CURSOR, write)
};

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
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

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    Answer::json(match native.event {
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
