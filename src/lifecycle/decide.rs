//! Decides whether a tool call may be executed: every stage before the tool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;

use super::approval::{Answer, Approval, ApprovalRequest, Approver};
use super::cancel::Cancellation;
use super::outcome::{DeniedBy, Stage, ToolEnd};
use super::scope::Scope;
use super::tool_call::{ToolCall, ToolFacts};
use super::trail::{Trail, reason};
use crate::asks::{Asks, Judged};
use crate::config::Hook;
use crate::event::Event;
use crate::executor::BEFORE_TOOL;
use crate::executor::DispatchOptions;
use crate::executor::dispatch::Observer;
use crate::wire::{Decision, HookReport, Input, JsonObject, ToolResult, Verdict, metadata_of};

/// The decision on a call.
pub(super) enum Fate {
    Execute,
    Respond(ToolResult),
    End(ToolEnd),
}

/// A tool call on its way to a decision.
pub(super) struct Decider<'a> {
    pub(super) scope: Scope,
    pub(super) call: ToolCall,
    pub(super) cancel: Cancellation<'a>,
    pub(super) trail: Trail,
    /// The arguments as the model wrote them, once a hook changed them.
    original: Option<JsonObject>,
}

/// The answers of the hooks before the tool that are about the call in its final form.
#[derive(Default)]
struct Wishes {
    /// Why the mandatory guard asks.
    guard_asks: Option<String>,
    /// Why a hook of `pre_tool_use` asks.
    hook_asks: Option<String>,
    /// Whether a `pre_tool_use` hook allows the call.
    allowed: bool,
    /// The answer given in the tool's place.
    respond: Option<ToolResult>,
}

impl<'a> Decider<'a> {
    pub(super) fn new(scope: Scope, mut call: ToolCall, cancel: Cancellation<'a>) -> Self {
        if call.facts == ToolFacts::default() {
            call.facts = scope.session.facts_of(&call.name);
        }
        Self { scope, call, cancel, trail: Trail::default(), original: None }
    }

    /// Takes the call through every stage before the tool, and fires the event with the decision.
    pub(super) async fn decide(
        &mut self,
        host_asks: Option<String>,
        approval: Option<Approval>,
        approver: Option<Approver<'a>>,
    ) -> Fate {
        let wishes = match self.consult().await {
            Ok(wishes) => wishes,
            Err(end) => return self.decided_against(end).await,
        };
        let asked = wishes.guard_asks.is_some() || wishes.hook_asks.is_some();
        if let (Some(result), false) = (&wishes.respond, asked) {
            // Nothing is executed, so there is nothing to approve.
            return Fate::Respond(result.clone());
        }
        let source = if asked || (host_asks.is_some() && !wishes.allowed) {
            match self.approve(&wishes, host_asks, approval, approver).await {
                Ok(source) => source,
                Err(end) => return self.decided_against(end).await,
            }
        } else if wishes.allowed {
            Event::PreToolUse.name().to_owned()
        } else {
            "default".to_owned()
        };
        // From here on the call has begun: if it is cancelled, its `post_tool_use` fires.
        if self.cancel.is_wished().await {
            return self.decided_against(ToolEnd::Cancelled { during: Stage::Start }).await;
        }
        self.announce("allow", source).await;
        wishes.respond.map_or(Fate::Execute, Fate::Respond)
    }

    pub(super) fn input(&self) -> Input {
        let mut input = Input::default();
        self.call.fill(&mut input);
        input
    }

    /// Runs the hooks; at the end each has seen the call in its final form.
    async fn consult(&mut self) -> Result<Wishes, ToolEnd> {
        let verdicts = self.ask_together().await?;
        self.rewrite(&verdicts);
        let mut wishes = Wishes::default();
        for verdict in verdicts {
            let asks =
                if verdict.decision == Some(Decision::Ask) { Some(reason(&verdict)) } else { None };
            match verdict.event {
                Event::ToolGuard => wishes.guard_asks = asks,
                Event::PreToolUse => {
                    wishes.allowed = verdict.decision == Some(Decision::Allow);
                    wishes.respond = verdict.respond;
                    wishes.hook_asks = asks;
                }
                _ => {}
            }
        }
        Ok(wishes)
    }

    /// Fires the events before the tool: a denial or a stop ends the call, and so does cancelling.
    async fn ask_together(&mut self) -> Result<Vec<Verdict>, ToolEnd> {
        if !BEFORE_TOOL.iter().any(|event| self.scope.has(*event)) {
            return Ok(Vec::new());
        }
        let input = self.input();
        let running = Running::default();
        let session = Arc::clone(&self.scope.session);
        let describe = move |input: &mut Input| {
            if session.describe_tool.is_some() {
                session.facts_of(input.tool()).fill(input);
            }
        };
        let options = DispatchOptions {
            describe_tool: Some(&describe),
            observer: Some(&running),
            ..DispatchOptions::default()
        };
        let firing = self.scope.fire_together(&BEFORE_TOOL, input, options);
        let Some(decided) = self.cancel.or(firing).await else {
            return Err(ToolEnd::Cancelled { during: Stage::Hooks(running.event()) });
        };
        let fired = decided.verdicts;
        for verdict in &fired {
            self.trail.push(verdict.clone());
        }
        match end_of_all(&fired, decided.verdict) {
            Some(end) => {
                self.rewrite(&fired);
                Err(end)
            }
            None => Ok(fired),
        }
    }

    /// Fires one event before the tool: a denial or a stop ends the call, and so does cancelling.
    async fn ask(&mut self, event: Event) -> Result<Verdict, ToolEnd> {
        if !self.scope.has(event) {
            return Ok(Verdict::no_opinion(event));
        }
        let input = self.input();
        let Some(verdict) = self.cancel.or(self.scope.fire(event, input)).await else {
            return Err(ToolEnd::Cancelled { during: Stage::Hooks(event) });
        };
        let Some(end) = end_of(&verdict) else { return Ok(verdict) };
        self.trail.push(verdict);
        Err(end)
    }

    /// Applies what hooks rewrite.
    fn rewrite(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            if let Some(arguments) = &verdict.updated_input {
                let before = std::mem::replace(&mut self.call.arguments, arguments.clone());
                self.original.get_or_insert(before);
            }
            if let Some(name) = &verdict.updated_tool_name {
                self.call.name.clone_from(name);
                // What was known of the other tool says nothing about this one.
                self.call.facts = self.scope.session.facts_of(name);
            }
        }
    }

    /// Obtains approval for the call as it stands, and returns who gave it.
    async fn approve(
        &mut self,
        wishes: &Wishes,
        host_asks: Option<String>,
        approval: Option<Approval>,
        approver: Option<Approver<'a>>,
    ) -> Result<String, ToolEnd> {
        let session_id = self.scope.session.session_id.clone();
        let mut void = false;
        if let Some(approval) = approval {
            match approval.for_call(&session_id, &self.call) {
                Some((answer, source)) => return conclude(answer, source),
                None => void = true,
            }
        }

        let mut asks = Asks::default();
        asks.add(self.trail.verdicts());
        let is_asked_by_hook = wishes.guard_asks.is_some() || wishes.hook_asks.is_some();
        if host_asks.is_some() && !is_asked_by_hook {
            asks.add_host();
        }
        let verdict = self.ask(Event::PermissionRequest).await?;
        asks.settle(std::slice::from_ref(&verdict));
        let mut reasons = Vec::new();
        if void {
            reasons.push((None, "the call was changed after it had been approved".to_owned()));
        }
        if verdict.decision == Some(Decision::Ask) {
            reasons.push((Some(Event::PermissionRequest), reason(&verdict)));
        }
        self.trail.push(verdict);
        // Within one layer the earlier event has the last word, as the mandatory guard has.
        let metadata = metadata_of(self.trail.verdicts().iter().rev());
        if asks.are_settled() {
            return Ok(Event::PermissionRequest.name().to_owned());
        }

        if let Some(answer) = self.ask_person(host_asks.as_deref(), &asks).await? {
            asks.settle(std::slice::from_ref(&answer));
            let is_allowed = asks.are_settled();
            reasons.extend(answer.message.clone().map(|why| (Some(Event::Approval), why)));
            self.trail.push(answer);
            if is_allowed {
                return Ok(Event::Approval.name().to_owned());
            }
        }
        reasons.extend(host_asks.map(|reason| (None, reason)));
        reasons.extend(wishes.hook_asks.clone().map(|why| (Some(Event::PreToolUse), why)));
        reasons.extend(wishes.guard_asks.clone().map(|why| (Some(Event::ToolGuard), why)));

        let Some(approver) = approver else {
            let why: Vec<&str> = reasons.iter().map(|(_, why)| why.as_str()).collect();
            let why = why.join("\n");
            let by = if void { DeniedBy::VoidApproval } else { DeniedBy::NobodyToAsk };
            let message = format!("approval is needed and no one can be asked: {why}");
            return Err(ToolEnd::Denied { by, message });
        };
        let request = ApprovalRequest::new(&session_id, &self.call).because(reasons, metadata);
        let asking = AssertUnwindSafe(async move { approver(request).await }).catch_unwind();
        let Some(answer) = self.cancel.or(asking).await else {
            return Err(ToolEnd::Cancelled { during: Stage::Approval });
        };
        let Ok(answer) = answer else {
            let message = "approval is needed, and asking for it failed".to_owned();
            return Err(ToolEnd::Denied { by: DeniedBy::NobodyToAsk, message });
        };
        match answer.for_call(&session_id, &self.call) {
            Some((answer, source)) => conclude(answer, source),
            None => Err(ToolEnd::Denied {
                by: DeniedBy::VoidApproval,
                message: "the approval given was for another call".to_owned(),
            }),
        }
    }

    /// Has the hooks of `approval` ask a person, if one is for the call: a denial or a stop ends the
    /// call, and so does cancelling.
    async fn ask_person(
        &mut self,
        host_asks: Option<&str>,
        asks: &Asks,
    ) -> Result<Option<Verdict>, ToolEnd> {
        let mut input = self.input();
        self.scope.fill(&mut input);
        let mut original = input.clone();
        original.tool_input = self.original.clone().or(original.tool_input);
        let judged = Judged {
            event: Event::PreToolUse,
            verdicts: self.trail.verdicts(),
            original: &original,
            input: &input,
            options: self.scope.options(),
            consults: false,
            host_asks,
            asks_person: true,
        };
        let executor = self.scope.session.executor();
        if !executor.has_channel(&input) {
            return Ok(None);
        }
        let asking = Box::pin(executor.ask(Event::Approval, &judged, asks));
        let Some((answer, _)) = self.cancel.or(asking).await else {
            return Err(ToolEnd::Cancelled { during: Stage::Approval });
        };
        self.scope.session.note_stop(&answer);
        let Some(end) = end_of(&answer) else { return Ok(Some(answer)) };
        self.trail.push(answer);
        Err(end)
    }

    /// Fires the event with the decision on the call.
    async fn announce(&mut self, decision: &str, source: String) {
        let mut input = self.input();
        input.approval_decision = Some(decision.to_owned());
        input.approval_source = Some(source);
        let verdict = self.scope.fire(Event::OnToolApprovalDecision, input).await;
        self.trail.push(verdict);
    }

    async fn decided_against(&mut self, end: ToolEnd) -> Fate {
        match &end {
            ToolEnd::Denied { by, .. } => self.announce("deny", by.to_string()).await,
            ToolEnd::Aborted { by, .. } => self.announce("deny", by.name().to_owned()).await,
            _ => self.announce("canceled", "host".to_owned()).await,
        }
        Fate::End(end)
    }
}

/// How many hooks of each event of [`BEFORE_TOOL`] run.
#[derive(Default)]
struct Running([AtomicUsize; BEFORE_TOOL.len()]);

impl Running {
    /// Returns the first event of which hooks run.
    fn event(&self) -> Event {
        let runs = |(_, running): &(&Event, &AtomicUsize)| running.load(Ordering::Relaxed) > 0;
        let first = BEFORE_TOOL.iter().zip(&self.0).find(runs);
        first.map_or(Event::PreToolUse, |(event, _)| *event)
    }

    fn of(&self, event: Event) -> Option<&AtomicUsize> {
        let place = BEFORE_TOOL.iter().position(|known| *known == event)?;
        self.0.get(place)
    }
}

impl Observer for Running {
    fn started(&self, hook: &Hook) {
        if let Some(running) = self.of(hook.event) {
            running.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn finished(&self, hook: &Hook, _: &HookReport) {
        if let Some(running) = self.of(hook.event) {
            running.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Returns how the call ends with the verdicts of events that fired together, if it does, by what all of
/// them decided: a stop of one counts beside the denial of another.
fn end_of_all(fired: &[Verdict], mut whole: Verdict) -> Option<ToolEnd> {
    let decided = |verdict: &&Verdict| match &whole.stop {
        Some(_) => verdict.stop.is_some(),
        None => end_of(verdict).is_some(),
    };
    if let Some(decider) = fired.iter().find(decided) {
        whole.event = decider.event;
    }
    end_of(&whole)
}

/// Returns how the call ends with a verdict, if it does: a denial or a stop.
fn end_of(verdict: &Verdict) -> Option<ToolEnd> {
    let by = verdict.event;
    let denied = !verdict.allowed && verdict.decision != Some(Decision::Ask);
    if let Some(stop) = verdict.stop.clone() {
        // A hook that stops most often denies with the same words.
        let objection = verdict.message.clone().filter(|why| denied && *why != stop.reason);
        return Some(ToolEnd::Aborted { by, stop, response: None, objection });
    }
    if denied {
        Some(ToolEnd::Denied { by: DeniedBy::Hooks(by), message: reason(verdict) })
    } else {
        None
    }
}

/// Returns who approved, or how the call ends.
fn conclude(answer: Answer, source: String) -> Result<String, ToolEnd> {
    match answer {
        Answer::Granted => Ok(source),
        Answer::Refused(message) => Err(ToolEnd::Denied { by: DeniedBy::Approver, message }),
        Answer::Cancelled => Err(ToolEnd::Cancelled { during: Stage::Approval }),
    }
}
