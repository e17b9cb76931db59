//! The fields that the input of each event may have.

use hookexec::{Event, Input};

/// Fields that the input of every event has, where the agent tells them.
const ALWAYS: [&str; 8] = [
    "session_id", "cwd", "hook_event_name", "agent_name", "model_id", "turn_id", "iteration",
    "last_user_message",
];

/// Fields of an event about a tool.
const OF_TOOLS: [&str; 4] = ["tool_name", "tool_use_id", "tool_input", "tool_kinds"];

/// Returns the fields that few events have.
fn own_fields(event: Event) -> &'static [&'static str] {
    match event {
        Event::PostToolUse | Event::ToolResponseTransform => {
            &["tool_response", "tool_error", "tool_duration_ms"]
        }
        Event::BeforeLlmCall => &["messages", "tools", "options"],
        Event::AfterLlmCall => &["response"],
        Event::SessionStart | Event::PreCompact | Event::BeforeCompaction => &["source"],
        Event::SessionEnd | Event::TurnEnd => &["reason"],
        Event::TurnStart
        | Event::UserPromptSubmit
        | Event::UserSteeringMessagesSubmit
        | Event::UserFollowupSubmit => &["prompt"],
        Event::Stop | Event::SubagentStop => &["stop_response", "stop_hook_active"],
        Event::Notification | Event::OnError => &["notification_level", "notification_message"],
        Event::AfterCompaction => &["summary"],
        Event::Approval => &["approval"],
        Event::OnToolApprovalDecision => &["approval_decision", "approval_source"],
        _ => &[],
    }
}

/// Returns the names of all fields that the input of an event may have.
pub fn field_names(event: Event) -> Vec<&'static str> {
    let mut names = ALWAYS.to_vec();
    if event.contract().tool_matched {
        names.extend(OF_TOOLS);
        names.extend(Input::OF_CALLS);
    }
    names.extend(own_fields(event));
    names
}
