//! The part of a verdict that an agent can take.
//!
//! Every degradation happens here, by the row of the event, and each is noted: what an agent would
//! let through by mistake becomes a denial, what cannot be said is reported.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Agent;
use super::native::{Ask, Deny, NativeEvent, Response, Rewrite};
use super::payload::spoken;
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Input, Verdict};
use hookexec_files::text::cut;

/// The answer for the agent, all of it in the agent's power.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan<'v> {
    pub(super) decision: Option<Decision>,
    /// Why; never empty with a denial or an ask, or Codex lets the tool run.
    pub(super) reason: String,
    pub(super) rewrite: Option<&'v JsonObject>,
    pub(super) response: Option<&'v Value>,
    pub(super) context: Option<Cow<'v, str>>,
    /// Whether the context holds a denial after the tool, which must not be lost.
    pub(super) objects: bool,
    pub(super) system_message: Option<String>,
    pub(super) stop: Option<&'v str>,
    /// The keys that only Claude Code understands; empty under any other agent.
    pub(super) claude_code: Option<&'v BTreeMap<String, Value>>,
    /// The parts that could not be said as they were meant.
    pub(super) notes: Vec<String>,
}

impl Plan<'_> {
    pub(super) fn denies(&self) -> bool {
        self.decision == Some(Decision::Deny)
    }

    pub(super) fn asks(&self) -> bool {
        self.decision == Some(Decision::Ask)
    }

    pub(super) fn allows(&self) -> bool {
        self.decision == Some(Decision::Allow)
    }

    /// Returns the reason, if there is one.
    pub(super) fn reason(&self) -> Option<&str> {
        if self.reason.is_empty() { None } else { Some(&self.reason) }
    }

    /// Returns the reason of a denial.
    pub(super) fn denial(&self) -> Option<&str> {
        if self.denies() { Some(&self.reason) } else { None }
    }

    /// Returns what is to be said where the answer is lost, if it must not be.
    pub(super) fn fallback(&self) -> Option<String> {
        if self.denies() || self.asks() {
            return Some(self.reason.clone());
        }
        if self.objects {
            return self.context.clone().map(Cow::into_owned);
        }
        if self.rewrite.is_none() && self.response.is_none() && self.stop.is_none() {
            return None;
        }
        Some("What a hook changed could not be passed on.".to_owned())
    }
}

/// How many bytes a reason or a message may have. Agents cut what a hook prints (Qwen Code at 1
/// MiB), and a denial that is cut is none: even twice in one answer, and with every byte escaped,
/// this stays below.
pub(super) const SAID: usize = 8 * 1024;

/// How many bytes context may have, and what is handed to the model in a call's place.
const TOLD: usize = 32 * 1024;

/// Returns the verdict with texts of a length that every agent takes.
pub(super) fn bounded(verdict: &Verdict) -> Verdict {
    let mut verdict = verdict.clone();
    for (text, limit) in [
        (&mut verdict.message, SAID),
        (&mut verdict.system_message, SAID),
        (&mut verdict.additional_context, TOLD),
    ] {
        if let Some(text) = text {
            *text = cut(text, limit).into_owned();
        }
    }
    if let Some(stop) = &mut verdict.stop {
        stop.reason = cut(&stop.reason, SAID).into_owned();
    }
    verdict
}

/// Fits a verdict to what `agent` takes at `native`.
pub(super) fn settle<'v>(
    agent: Agent,
    native: &NativeEvent,
    input: Option<&Input>,
    verdict: &'v Verdict,
) -> Plan<'v> {
    let mut plan = Plan {
        decision: verdict.decision,
        reason: verdict.message.clone().unwrap_or_default(),
        ..Plan::default()
    };
    // `allowed` is the last word: whatever a host made of the verdict, false never lets through.
    if !verdict.allowed && !matches!(plan.decision, Some(Decision::Deny | Decision::Ask)) {
        plan.decision = Some(Decision::Deny);
    }
    let at = Place { agent, native };
    at.settle_changes(verdict, &mut plan);
    at.settle_decision(&mut plan);
    if (plan.denies() || plan.asks()) && plan.reason.trim().is_empty() {
        plan.reason = match plan.decision {
            Some(Decision::Ask) => "A hook wants this approved first.".to_owned(),
            _ => "Denied by a hook.".to_owned(),
        };
    }
    at.settle_stop(verdict, &mut plan);
    at.settle_speech(verdict, &mut plan);
    at.settle_response(input, verdict, &mut plan);
    at.settle_claude_code(verdict, &mut plan);
    at.settle_messages(verdict, &mut plan);
    plan
}

/// Where an answer goes.
struct Place<'p> {
    agent: Agent,
    native: &'p NativeEvent,
}

impl Place<'_> {
    /// Keeps the changes the agent takes; a change of what is about to run that it cannot take is
    /// a denial, for the unchanged call is not what the hooks let pass.
    fn settle_changes<'v>(&self, verdict: &'v Verdict, plan: &mut Plan<'v>) {
        if let Some(response) = &verdict.respond {
            self.deny_instead(plan, "take an answer in the tool's place", &response.for_llm);
        }
        if let Some(name) = &verdict.updated_tool_name {
            let advice = format!("A hook wants the tool `{name}` called instead.");
            self.deny_instead(plan, "call another tool instead", &advice);
        }
        if let Some(input) = &verdict.updated_input {
            if self.native.rewrite == Rewrite::No {
                let advice = format!(
                    "A hook changed the arguments. Call again with: {}",
                    Value::Object(input.clone())
                );
                self.deny_instead(plan, "change the arguments of a call", &advice);
            } else {
                plan.rewrite = Some(input);
            }
        }
        let request = verdict.updated_messages.is_some()
            || verdict.updated_request.is_some()
            || verdict.updated_response.is_some();
        if request {
            self.deny_instead(
                plan,
                "pass on a changed request or response of the model",
                "A hook changed the model's request or response, which cannot be passed on.",
            );
        }
    }

    fn deny_instead(&self, plan: &mut Plan<'_>, what: &str, advice: &str) {
        if self.native.deny != Deny::Blocks {
            plan.notes.push(format!("{self} cannot {what}: that is lost"));
            return;
        }
        if !plan.denies() {
            plan.notes.push(format!("{self} cannot {what}: denied instead"));
            plan.decision = Some(Decision::Deny);
            plan.reason = cut(advice, TOLD).into_owned();
        }
    }

    fn settle_decision(&self, plan: &mut Plan<'_>) {
        match plan.decision {
            Some(Decision::Ask) => match self.native.ask {
                Ask::Asks => {}
                Ask::Silence => plan.decision = None,
                Ask::Denies => {
                    plan.decision = Some(Decision::Deny);
                    plan.notes.push(format!("{self} cannot ask: denied instead"));
                }
                Ask::No if self.native.deny == Deny::No => self.lose_denial(plan),
                Ask::No => plan.decision = Some(Decision::Deny),
            },
            Some(Decision::Deny) if self.native.deny == Deny::No => self.lose_denial(plan),
            // An allow is worth saying only where it spares the user a question.
            Some(Decision::Allow) if !self.native.allow => plan.decision = None,
            _ => {}
        }
        if plan.denies() {
            plan.rewrite = None;
        }
    }

    fn lose_denial(&self, plan: &mut Plan<'_>) {
        plan.decision = None;
        let reason = std::mem::take(&mut plan.reason);
        let cannot = match self.native.event {
            Some(Event::Stop | Event::SubagentStop) => "cannot keep the model at work, it stopped",
            _ => "cannot be blocked, it went on",
        };
        plan.notes.push(format!("{self} {cannot}: {reason}"));
    }

    /// Gives the model the context and, after a tool, the reason of a denial: the model reads the
    /// tool's response and the reason, and the run goes on.
    fn settle_speech<'v>(&self, verdict: &'v Verdict, plan: &mut Plan<'v>) {
        if plan.denies() && self.native.deny == Deny::TellsAsContext {
            plan.decision = None;
            plan.objects = true;
            plan.context = Some(Cow::Owned(std::mem::take(&mut plan.reason)));
        }
        match verdict.additional_context.as_deref() {
            None | Some("") => {}
            // With a refused call only the reason is sure to reach the model.
            Some(context) if plan.denies() && self.native.event == Some(Event::PreToolUse) => {
                if !plan.reason.is_empty() {
                    plan.reason.push('\n');
                }
                plan.reason.push_str(context);
            }
            Some(_) if plan.denies() && self.native.deny == Deny::Blocks => {}
            Some(context) if self.native.context => {
                plan.context = Some(match plan.context.take() {
                    Some(objection) => Cow::Owned(format!("{objection}\n{context}")),
                    None => Cow::Borrowed(context),
                });
            }
            Some(_) => plan.notes.push(format!("{self} takes no context: it is lost")),
        }
    }

    fn settle_response<'v>(
        &self,
        input: Option<&Input>,
        verdict: &'v Verdict,
        plan: &mut Plan<'v>,
    ) {
        let Some(response) = &verdict.updated_tool_response else { return };
        match self.native.response {
            Response::No => plan.notes.push(format!(
                "{self} cannot replace the tool's response: the model sees the original"
            )),
            Response::TakesOfMcp if self.native.response_stands(input) => {
                let agent = self.agent.title();
                plan.notes.push(format!(
                    "{agent} replaces the response of MCP tools alone: the model sees the original"
                ));
            }
            Response::AsReason => {
                // The context goes with the new response: beside a denial it may be lost.
                plan.decision = Some(Decision::Deny);
                plan.reason = match plan.context.take() {
                    // First, because an agent may cut what comes last.
                    Some(told) => format!("{told}\n\n{}", spoken(response)),
                    None => spoken(response).into_owned(),
                };
            }
            Response::Takes | Response::TakesOfMcp => plan.response = Some(response),
        }
    }

    fn settle_claude_code<'v>(&self, verdict: &'v Verdict, plan: &mut Plan<'v>) {
        if self.agent == Agent::ClaudeCode {
            plan.claude_code = Some(&verdict.claude_code);
            return;
        }
        for key in verdict.claude_code.keys() {
            // A call that is deferred is an ask elsewhere.
            if key != "permissionDecision" {
                plan.notes.push(format!("{self} does not know `{key}`: it is lost"));
            }
        }
    }

    /// Tells the user what the hooks said and what could not be passed on.
    fn settle_messages(&self, verdict: &Verdict, plan: &mut Plan<'_>) {
        let mut message = verdict.system_message.clone().unwrap_or_default();
        if !self.native.system_message {
            plan.notes.extend(if message.is_empty() { None } else { Some(message) });
            return;
        }
        for note in &plan.notes {
            if !message.is_empty() {
                message.push('\n');
            }
            message.push_str("hookexec: ");
            message.push_str(note);
        }
        plan.system_message = if message.is_empty() { None } else { Some(message) };
    }

    fn settle_stop<'v>(&self, verdict: &'v Verdict, plan: &mut Plan<'v>) {
        let Some(stop) = &verdict.stop else { return };
        if self.native.stop {
            plan.stop =
                Some(if stop.reason.is_empty() { "Stopped by a hook." } else { &stop.reason });
        } else if !matches!(self.native.event, Some(Event::Stop | Event::SubagentStop)) {
            // The model stops anyway at these two.
            plan.notes.push(format!("{self} cannot end the turn"));
        }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.agent.title(), self.native.name)
    }
}
