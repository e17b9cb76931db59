//! The answers of Claude Code, which Codex, Qwen Code, Droid and Gemini CLI took over in part.
//!
//! No key leaves here that an agent might not know, for one unknown key makes Codex throw away a
//! denial. Which keys are filled is decided by the row of the event.

use serde_json::{Value, json};

use super::{Answer, NativeEvent, Plan, Rewrite, members};
use hookexec::event::Event;
use hookexec::wire::{Decision, Input, JsonObject};

/// Writes a plan for an agent that takes no new response of a tool.
pub(super) fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    Answer::json(said(native, plan, None))
}

/// Returns the members of an answer; `response` is the tool's new response, in the shape the agent
/// wants.
///
/// A denial of a tool call is said twice, `decision: block` and `permissionDecision: deny`: of all
/// forms in JSON only this one was seen to stop the tool in every agent of the family.
pub(super) fn said(native: &NativeEvent, plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    let permission = native.event == Some(Event::PermissionRequest);
    let denial = if plan.denies() && !permission { Some("block") } else { None };
    answer(native, plan, denial, specific(native, plan, response))
}

/// Returns what every event may answer: the word of a `denial` if it is one, and what is `specific`
/// to the event, with the event's name.
pub(super) fn answer(
    native: &NativeEvent,
    plan: &Plan<'_>,
    denial: Option<&str>,
    mut specific: JsonObject,
) -> JsonObject {
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), native.name.into());
    }
    members! {
        // `false` ends the turn.
        "continue": plan.stop.map(|_| false),
        "stopReason": plan.stop,
        "systemMessage": plan.system_message,
        "decision": denial,
        "reason": denial.and(plan.denial()),
        "hookSpecificOutput": if specific.is_empty() { None } else { Some(specific) },
    }
}

fn specific(native: &NativeEvent, plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    match native.event {
        Some(Event::PreToolUse) => {
            let is_forced = plan.rewrite.is_some() && native.rewrite == Rewrite::TakesWithAllow;
            let decision = plan.decision.or(if is_forced { Some(Decision::Allow) } else { None });
            members! {
                "permissionDecision": decision,
                "permissionDecisionReason": decision.and(plan.reason()),
                "updatedInput": plan.rewrite,
                "additionalContext": plan.context,
            }
        }
        Some(Event::PermissionRequest) => {
            let decision = match plan.denial() {
                Some(why) => Some(json!({ "behavior": "deny", "message": why })),
                None if plan.allows() => Some(json!({ "behavior": "allow" })),
                None => None,
            };
            members! { "decision": decision }
        }
        Some(Event::PostToolUse) => members! {
            "additionalContext": plan.context,
            "updatedToolOutput": response,
        },
        _ => members! { "additionalContext": plan.context },
    }
}
