//! The answers of Claude Code, which Codex, Qwen Code, Droid and Gemini CLI took over in part.
//!
//! The types are closed: no key leaves here that an agent might not know, for one unknown key
//! makes Codex throw away a denial. Which keys are filled is decided by the row of the event.

use serde::Serialize;
use serde_json::Value;

use super::answer::Answer;
use super::native::{NativeEvent, Rewrite};
use super::plan::Plan;
use hookexec::event::Event;
use hookexec::wire::{Decision, JsonObject};

/// What every event may answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Said<'p, S> {
    /// `false` ends the turn.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    go_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<S>,
}

/// What only one event may answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", untagged)]
pub(super) enum Specific<'p> {
    PreToolUse {
        hook_event_name: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision: Option<Decision>,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<&'p str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_input: Option<&'p JsonObject>,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<&'p str>,
    },
    PermissionRequest {
        hook_event_name: &'static str,
        decision: Behavior<'p>,
    },
    PostToolUse {
        hook_event_name: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<&'p str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_tool_output: Option<Value>,
    },
    Context {
        hook_event_name: &'static str,
        additional_context: &'p str,
    },
}

#[derive(Serialize)]
pub(super) struct Behavior<'p> {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'p str>,
}

impl<'p, S: Serialize> Said<'p, S> {
    /// Says what every event may say, the word of a `denial` if it is one, and what only one event
    /// may.
    pub(super) fn new(
        plan: &'p Plan<'_>,
        denial: Option<&'static str>,
        specific: Option<S>,
    ) -> Self {
        Self {
            go_on: plan.stop.map(|_| false),
            stop_reason: plan.stop,
            system_message: plan.system_message.as_deref(),
            decision: denial,
            reason: denial.and(Some(&plan.reason)),
            hook_specific_output: specific,
        }
    }

    /// Returns the answer to the agent.
    pub(super) fn answer(&self) -> Answer {
        let silent = self.go_on.is_none()
            && self.system_message.is_none()
            && self.decision.is_none()
            && self.hook_specific_output.is_none();
        if silent { Answer::silence() } else { Answer::json(self) }
    }
}

/// Writes a plan; `response` is the tool's new response, in the shape the agent wants.
pub(super) fn write(native: &NativeEvent, plan: &Plan<'_>, response: Option<Value>) -> Answer {
    said(native, plan, response).answer()
}

/// Returns what `write` says, for an agent that knows more keys.
///
/// A denial of a tool call is said twice, `decision: block` and `permissionDecision: deny`: of all
/// forms in JSON only this one was seen to stop the tool in every agent of the family.
pub(super) fn said<'p>(
    native: &NativeEvent,
    plan: &'p Plan<'_>,
    response: Option<Value>,
) -> Said<'p, Specific<'p>> {
    let permission = native.event == Some(Event::PermissionRequest);
    let denial = (plan.denies() && !permission).then_some("block");
    Said::new(plan, denial, specific(native, plan, response))
}

fn specific<'p>(
    native: &NativeEvent,
    plan: &'p Plan<'_>,
    response: Option<Value>,
) -> Option<Specific<'p>> {
    let hook_event_name = native.name;
    match native.event? {
        Event::PreToolUse => {
            let forced = plan.rewrite.is_some() && native.rewrite == Rewrite::TakesWithAllow;
            let permission_decision = plan.decision.or(forced.then_some(Decision::Allow));
            let reason = (!plan.reason.is_empty()).then_some(plan.reason.as_str());
            let said = permission_decision.is_some() || plan.rewrite.is_some();
            (said || plan.context.is_some()).then_some(Specific::PreToolUse {
                hook_event_name,
                permission_decision,
                permission_decision_reason: permission_decision.and(reason),
                updated_input: plan.rewrite,
                additional_context: plan.context.as_deref(),
            })
        }
        Event::PermissionRequest => {
            let behavior = match () {
                () if plan.denies() => Behavior { behavior: "deny", message: Some(&plan.reason) },
                () if plan.allows() => Behavior { behavior: "allow", message: None },
                () => return None,
            };
            Some(Specific::PermissionRequest { hook_event_name, decision: behavior })
        }
        Event::PostToolUse => {
            (plan.context.is_some() || response.is_some()).then_some(Specific::PostToolUse {
                hook_event_name,
                additional_context: plan.context.as_deref(),
                updated_tool_output: response,
            })
        }
        _ => plan
            .context
            .as_deref()
            .map(|additional_context| Specific::Context { hook_event_name, additional_context }),
    }
}
