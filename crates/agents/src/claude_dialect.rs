//! The answers of Claude Code, which Codex, Qwen Code, Droid and Gemini CLI took over in part; and the
//! agents that have no others.
//!
//! No key leaves here that an agent might not know, for one unknown key makes Codex throw away a
//! denial. Which keys are filled is decided by the row of the event.
#![expect(clippy::unnecessary_wraps, reason = "the payload of another agent may be unusable")]

use serde_json::{Value, json};

use super::payload::text;
use super::{Answer, NativeEvent, Plan, Refined, Rewrite, members};
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Input};

/// Writes a plan for an agent that takes no new response of a tool.
pub(super) fn write(plan: &Plan<'_>) -> Answer {
    Answer::json(members_of(plan, None))
}

/// Returns all members of an answer; `response` is the tool's new response, in the shape the agent
/// wants.
///
/// A denial of a tool call is said twice, `decision: block` and `permissionDecision: deny`: of all
/// forms in JSON only this one was seen to stop the tool in every agent of the family.
pub(super) fn members_of(plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    let permission = plan.native.event == Some(Event::PermissionRequest);
    let denial = if permission { None } else { plan.denial_as("block") };
    whole_answer(plan, denial, specific_members(plan, response))
}

/// Returns the members that only this event has.
fn specific_members(plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    match plan.native.event {
        Some(Event::PreToolUse) => {
            let is_forced =
                plan.rewrite.is_some() && plan.native.rewrite == Rewrite::TakesWithAllow;
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

/// Adds the members that every event has around those that are `specific` to this one; `denial` is
/// the word for one.
fn whole_answer(plan: &Plan<'_>, denial: Option<&str>, mut specific: JsonObject) -> JsonObject {
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), plan.native.name.into());
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

pub(super) fn write_codex(plan: &Plan<'_>) -> Answer {
    if plan.native.event == Some(Event::PreCompact) && plan.denies() {
        // A compaction is refused by ending the turn; this event has no key `decision`.
        return Answer::json(members! { "continue": Some(false), "stopReason": plan.denial() });
    }
    write(plan)
}

pub(super) fn refine_qwen(native: &NativeEvent, payload: &JsonObject, _: &mut Input) -> Refined {
    if native.event != Some(Event::UserPromptSubmit) || !payload.contains_key("prompt") {
        return Ok(true);
    }
    // Fires with an empty prompt too, whenever results of tools go back to the model.
    for key in ["submitted_prompt", "prompt"] {
        if payload.get(key).is_some_and(|prompt| prompt != "") {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn refine_gemini(
    native: &NativeEvent,
    payload: &JsonObject,
    input: &mut Input,
) -> Refined {
    if let Some(Value::Object(request)) = payload.get("llm_request") {
        input.model_id = text(request, &["model"]);
        if native.event == Some(Event::BeforeLlmCall) {
            input.messages = request.get("messages").and_then(Value::as_array).cloned();
            input.options = request.get("config").and_then(Value::as_object).cloned();
        }
    }
    if native.event == Some(Event::AfterLlmCall) {
        input.response = payload.get("llm_response").cloned();
    }
    Ok(true)
}

pub(super) fn write_gemini(plan: &Plan<'_>) -> Answer {
    let specific = members! {
        // The only key of the dialect in this spelling.
        "tool_input": plan.rewrite,
        "additionalContext": plan.context,
    };
    let denial = plan.denial_as("deny");
    Answer::json(whole_answer(plan, denial, specific))
}
