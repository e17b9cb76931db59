//! The part of a verdict that an agent can take.
//!
//! Every degradation happens here, by the row of the event, and each is noted: what an agent would
//! let through by mistake becomes a denial, what cannot be said is reported.

use std::borrow::Cow;

use serde_json::Value;

use super::Agent;
use super::native::{Ask, Deny, NativeEvent, Response, Rewrite};
use super::payload::spoken;
use hookexec::wire::{HookReport, JsonObject};
use hookexec::{Decision, Event, Input, Verdict};
use hookexec_files::text::cut;

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

/// The answer for the agent, all of it in the agent's power.
#[derive(Debug)]
pub(super) struct Plan<'v> {
    agent: Agent,
    pub(super) native: &'v NativeEvent,
    /// The input of the call, where it could be read.
    pub(super) input: Option<&'v Input>,
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
    pub(super) claude_code: Option<&'v JsonObject>,
    /// The parts that could not be said as they were meant.
    pub(super) notes: Vec<String>,
}

impl<'v> Plan<'v> {
    /// Fits a verdict to what the agent takes.
    pub(super) fn new(
        agent: Agent,
        native: &'v NativeEvent,
        input: Option<&'v Input>,
        verdict: &'v Verdict,
    ) -> Self {
        let mut plan = Self {
            agent,
            native,
            input,
            decision: verdict.decision,
            reason: verdict.message.clone().unwrap_or_default(),
            rewrite: None,
            response: None,
            context: None,
            objects: false,
            system_message: None,
            stop: None,
            claude_code: None,
            notes: Vec::new(),
        };
        // `allowed` is the last word: whatever a host made of the verdict, false never lets through.
        if !verdict.allowed && !plan.asks() {
            plan.decision = Some(Decision::Deny);
        }
        plan.settle_changes(verdict);
        plan.settle_decision();
        if plan.reason.trim().is_empty() && plan.denies() {
            plan.reason = match verdict.hooks.iter().find(|hook| denies_in_force(hook)) {
                Some(HookReport { name, source, .. }) => {
                    format!("denied by hook `{name}` ({source}), which gave no reason")
                }
                None => "Denied by a hook.".into(),
            };
        } else if plan.reason.trim().is_empty() && plan.asks() {
            plan.reason = "A hook wants this approved first.".into();
        }
        plan.settle_stop(verdict);
        plan.settle_speech(verdict);
        plan.settle_response(verdict);
        plan.settle_claude_code(verdict);
        plan.settle_messages(verdict);
        plan
    }

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

    /// Returns the agent's `word` for a denial, if it is one.
    pub(super) fn denial_as(&self, word: &'static str) -> Option<&'static str> {
        if self.denies() { Some(word) } else { None }
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

    /// Notes what could not be said as it was meant.
    fn note(&mut self, problem: &str) {
        self.notes.push(format!("{} {} {problem}", self.agent.title(), self.native.name));
    }

    /// Keeps the changes the agent takes; a change of what is about to run that it cannot take is
    /// a denial, for the unchanged call is not what the hooks let pass.
    fn settle_changes(&mut self, verdict: &'v Verdict) {
        if let Some(response) = &verdict.respond {
            self.deny_instead("take an answer in the tool's place", &response.for_llm);
        }
        if let Some(name) = &verdict.updated_tool_name {
            let advice = format!("A hook wants the tool `{name}` called instead.");
            self.deny_instead("call another tool instead", &advice);
        }
        if let Some(input) = &verdict.updated_input {
            if self.native.rewrite == Rewrite::No {
                let advice = format!(
                    "A hook changed the arguments. Call again with: {}",
                    Value::Object(input.clone())
                );
                self.deny_instead("change the arguments of a call", &advice);
            } else {
                self.rewrite = Some(input);
            }
        }
        let request = verdict.updated_messages.is_some()
            || verdict.updated_request.is_some()
            || verdict.updated_response.is_some();
        if request {
            self.deny_instead(
                "pass on a changed request or response of the model",
                "A hook changed the model's request or response, which cannot be passed on.",
            );
        }
    }

    fn deny_instead(&mut self, what: &str, advice: &str) {
        if self.native.deny != Deny::Blocks {
            self.note(&format!("cannot {what}: that is lost"));
            return;
        }
        if !self.denies() {
            self.note(&format!("cannot {what}: denied instead"));
            self.decision = Some(Decision::Deny);
            self.reason = cut(advice, TOLD).into_owned();
        }
    }

    fn settle_decision(&mut self) {
        match self.decision {
            Some(Decision::Ask) => match self.native.ask {
                Ask::Asks => {}
                Ask::Silence => self.decision = None,
                Ask::Denies => {
                    self.decision = Some(Decision::Deny);
                    self.note("cannot ask: denied instead");
                }
                Ask::No if self.native.deny == Deny::No => self.lose_denial(),
                Ask::No => self.decision = Some(Decision::Deny),
            },
            Some(Decision::Deny) if self.native.deny == Deny::No => self.lose_denial(),
            // An allow is worth saying only where it spares the user a question.
            Some(Decision::Allow) if !self.native.allow => self.decision = None,
            _ => {}
        }
        if self.denies() {
            self.rewrite = None;
        }
    }

    fn lose_denial(&mut self) {
        self.decision = None;
        let reason = std::mem::take(&mut self.reason);
        let cannot = match self.native.event {
            Some(Event::Stop | Event::SubagentStop) => "cannot keep the model at work, it stopped",
            _ => "cannot be blocked, it went on",
        };
        self.note(&format!("{cannot}: {reason}"));
    }

    /// Gives the model the context and, after a tool, the reason of a denial: the model reads the
    /// tool's response and the reason, and the run goes on.
    fn settle_speech(&mut self, verdict: &'v Verdict) {
        if self.denies() && self.native.deny == Deny::TellsAsContext {
            self.decision = None;
            self.objects = true;
            self.context = Some(Cow::Owned(std::mem::take(&mut self.reason)));
        }
        match verdict.additional_context.as_deref() {
            None | Some("") => {}
            // With a refused call only the reason is sure to reach the model.
            Some(context) if self.denies() && self.native.event == Some(Event::PreToolUse) => {
                if !self.reason.is_empty() {
                    self.reason.push('\n');
                }
                self.reason.push_str(context);
            }
            Some(_) if self.denies() && self.native.deny == Deny::Blocks => {}
            Some(context) if self.native.context => {
                self.context = Some(match self.context.take() {
                    Some(objection) => Cow::Owned(format!("{objection}\n{context}")),
                    None => Cow::Borrowed(context),
                });
            }
            Some(_) => self.note("takes no context: it is lost"),
        }
    }

    fn settle_response(&mut self, verdict: &'v Verdict) {
        let Some(response) = &verdict.updated_tool_response else { return };
        match self.native.response {
            Response::No => {
                self.note("cannot replace the tool's response: the model sees the original");
            }
            Response::TakesOfMcp if self.native.response_stands(self.input) => {
                let agent = self.agent.title();
                self.notes.push(format!(
                    "{agent} replaces the response of MCP tools alone: the model sees the original"
                ));
            }
            Response::AsReason => {
                // The context goes with the new response: beside a denial it may be lost.
                self.decision = Some(Decision::Deny);
                self.reason = match self.context.take() {
                    // First, because an agent may cut what comes last.
                    Some(told) => format!("{told}\n\n{}", spoken(response)),
                    None => spoken(response).into_owned(),
                };
            }
            Response::Takes | Response::TakesOfMcp => self.response = Some(response),
        }
    }

    fn settle_claude_code(&mut self, verdict: &'v Verdict) {
        if self.agent == Agent::ClaudeCode {
            self.claude_code = Some(&verdict.claude_code);
            return;
        }
        for key in verdict.claude_code.keys() {
            // A call that is deferred is an ask elsewhere.
            if key != "permissionDecision" {
                self.note(&format!("does not know `{key}`: it is lost"));
            }
        }
    }

    /// Tells the user what the hooks said and what could not be passed on.
    fn settle_messages(&mut self, verdict: &Verdict) {
        let mut said = Vec::from_iter(verdict.system_message.clone());
        said.retain(|message| !message.is_empty());
        if !self.native.system_message {
            self.notes.extend(said);
            return;
        }
        for note in &self.notes {
            said.push(format!("hookexec: {note}"));
        }
        self.system_message = if said.is_empty() { None } else { Some(said.join("\n")) };
    }

    fn settle_stop(&mut self, verdict: &'v Verdict) {
        let Some(stop) = &verdict.stop else { return };
        if self.native.stop {
            self.stop =
                Some(if stop.reason.is_empty() { "Stopped by a hook." } else { &stop.reason });
        } else if !matches!(self.native.event, Some(Event::Stop | Event::SubagentStop)) {
            // The model stops anyway at these two.
            self.note("cannot end the turn");
        }
    }
}

/// Returns whether a hook denies and its answer counts: only hooks that are tried out report a mode.
fn denies_in_force(hook: &HookReport) -> bool {
    hook.decision == Some(Decision::Deny) && hook.mode.is_none()
}
