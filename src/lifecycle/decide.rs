//! Decides whether a tool call may be executed: every stage before the tool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use super::approval::{ApprovalRequest, Approver};
use super::cancel::Cancellation;
use super::outcome::{DeniedBy, ToolEnd};
use super::scope::Scope;
use super::tool_call::{ToolCall, ToolFacts};
use super::trail::{Trail, reason};
use crate::asks::{Asks, Judged};
use crate::event::Event;
use crate::executor::{BEFORE_TOOL, DispatchOptions};
use crate::wire::{Decision, Input, JsonObject, ToolResult, Verdict, metadata_of};

/// A tool call on its way to a decision.
pub(super) struct Decider<'a> {
    pub(super) scope: Scope,
    pub(super) call: ToolCall,
    /// Why the host asks, unless a hook allows the call.
    pub(super) asks: Option<String>,
    pub(super) approver: Option<Approver<'a>>,
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

impl Decider<'_> {
    pub(super) fn new(scope: Scope, mut call: ToolCall) -> Self {
        if call.facts == ToolFacts::default() {
            call.facts = scope.session.facts_of(&call.name);
        }
        Self {
            scope,
            call,
            asks: None,
            approver: None,
            cancel: Cancellation::Never,
            trail: Trail::default(),
            original: None,
        }
    }

    /// Takes the call through every stage before the tool, and fires the event with the decision.
    /// The error is how the call ends without the tool.
    pub(super) async fn decide(&mut self) -> Result<(), ToolEnd> {
        let wishes = match self.consult().await {
            Ok(wishes) => wishes,
            Err(end) => return Err(self.decided_against(end).await),
        };
        let asked = wishes.guard_asks.is_some() || wishes.hook_asks.is_some();
        let respond = wishes.respond.clone().map(Box::new);
        if let (Some(result), false) = (&respond, asked) {
            // Nothing is executed, so there is nothing to approve.
            return Err(ToolEnd::Responded { result: result.clone() });
        }
        let source = if asked || (self.asks.is_some() && !wishes.allowed) {
            match self.approve(&wishes, asked).await {
                Ok(source) => source,
                Err(end) => return Err(self.decided_against(end).await),
            }
        } else if wishes.allowed {
            Event::PreToolUse.name().to_owned()
        } else {
            "default".to_owned()
        };
        // From here on the call has begun: if it is cancelled, its `post_tool_use` fires.
        if self.cancel.is_wished().await {
            return Err(self.decided_against(ToolEnd::Cancelled).await);
        }
        self.announce("allow", source).await;
        respond.map_or(Ok(()), |result| Err(ToolEnd::Responded { result }))
    }

    /// Fires the events before the tool: a denial or a stop ends the call, and so does cancelling. At
    /// the end each hook has seen the call in its final form.
    async fn consult(&mut self) -> Result<Wishes, ToolEnd> {
        if !BEFORE_TOOL.iter().any(|event| self.scope.has(*event)) {
            return Ok(Wishes::default());
        }
        let session = Arc::clone(&self.scope.session);
        let describe = move |input: &mut Input| {
            if session.describe_tool.is_some() {
                session.facts_of(input.tool()).fill(input);
            }
        };
        let options =
            DispatchOptions { describe_tool: Some(&describe), ..DispatchOptions::default() };
        let firing = self.scope.fire_together(&BEFORE_TOOL, options, |input| self.call.fill(input));
        let Some(decided) = self.cancel.or(firing).await else {
            return Err(ToolEnd::Cancelled);
        };
        let mut wishes = Wishes::default();
        for verdict in decided.verdicts {
            self.rewrite(&verdict);
            let asks =
                if verdict.decision == Some(Decision::Ask) { Some(reason(&verdict)) } else { None };
            match verdict.event {
                Event::ToolGuard => wishes.guard_asks = asks,
                Event::PreToolUse => {
                    wishes.allowed = verdict.decision == Some(Decision::Allow);
                    wishes.respond.clone_from(&verdict.respond);
                    wishes.hook_asks = asks;
                }
                _ => {}
            }
            self.trail.push(verdict);
        }
        match end_of(&decided.verdict) {
            Some(end) => Err(end),
            None => Ok(wishes),
        }
    }

    /// Applies what hooks of one event rewrote.
    fn rewrite(&mut self, verdict: &Verdict) {
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

    /// Obtains approval for the call as it stands, and returns who gave it.
    async fn approve(&mut self, wishes: &Wishes, asked: bool) -> Result<String, ToolEnd> {
        let session_id = self.scope.session.common.session_id.clone();
        let mut asks = Asks::default();
        asks.add(self.trail.verdicts());
        if !asked {
            asks.add_host();
        }
        let firing = self.scope.fire_with(Event::PermissionRequest, |input| self.call.fill(input));
        let Some(verdict) = self.cancel.or(firing).await else {
            return Err(ToolEnd::Cancelled);
        };
        self.trail.push(verdict.clone());
        if let Some(end) = end_of(&verdict) {
            return Err(end);
        }
        asks.settle(std::slice::from_ref(&verdict));
        let mut reasons = Vec::new();
        if verdict.decision == Some(Decision::Ask) {
            reasons.push((Some(Event::PermissionRequest), reason(&verdict)));
        }
        // Within one layer the earlier event has the last word, as the mandatory guard has.
        let metadata = metadata_of(self.trail.verdicts().iter().rev());
        if asks.are_settled() {
            return Ok(Event::PermissionRequest.name().to_owned());
        }

        if let Some(answer) = self.ask_person(&asks).await? {
            asks.settle(std::slice::from_ref(&answer));
            let is_allowed = asks.are_settled();
            if is_allowed {
                return Ok(Event::Approval.name().to_owned());
            }
            reasons.extend(answer.message.map(|why| (Some(Event::Approval), why)));
        }
        reasons.extend(self.asks.clone().map(|why| (None, why)));
        reasons.extend(wishes.hook_asks.clone().map(|why| (Some(Event::PreToolUse), why)));
        reasons.extend(wishes.guard_asks.clone().map(|why| (Some(Event::ToolGuard), why)));

        let Some(approver) = self.approver.take() else {
            let why: Vec<&str> = reasons.iter().map(|(_, why)| why.as_str()).collect();
            let why = why.join("\n");
            let by = DeniedBy::NobodyToAsk;
            let message = format!("approval is needed and no one can be asked: {why}");
            return Err(ToolEnd::Denied { by, message });
        };
        let request = ApprovalRequest::new(&session_id, &self.call, reasons, metadata);
        let asking = AssertUnwindSafe(async move { approver(request).await }).catch_unwind();
        let Some(answer) = self.cancel.or(asking).await else {
            return Err(ToolEnd::Cancelled);
        };
        let (by, message) = match answer {
            Ok(answer) => match answer.for_call(&session_id, &self.call) {
                Some(answer) => return answer,
                None => (DeniedBy::VoidApproval, "the approval given was for another call"),
            },
            Err(_) => (DeniedBy::NobodyToAsk, "approval is needed, and asking for it failed"),
        };
        Err(ToolEnd::Denied { by, message: message.to_owned() })
    }

    /// Has the hooks of `approval` ask a person, if one is for the call: a denial or a stop ends the
    /// call, and so does cancelling.
    async fn ask_person(&mut self, asks: &Asks) -> Result<Option<Verdict>, ToolEnd> {
        let mut input = Input::default();
        self.call.fill(&mut input);
        self.scope.fill(&mut input);
        let executor = self.scope.session.executor();
        if !executor.has_channel(&input) {
            return Ok(None);
        }
        let mut original = input.clone();
        original.tool_input = self.original.clone().or(original.tool_input);
        let judged = Judged {
            event: Event::PreToolUse,
            verdicts: self.trail.verdicts(),
            original: &original,
            input: &input,
            options: self.scope.options(),
            consults: false,
            host_asks: self.asks.as_deref(),
            asks_person: true,
        };
        let asking = Box::pin(executor.ask(Event::Approval, &judged, asks));
        let Some((answer, _)) = self.cancel.or(asking).await else {
            return Err(ToolEnd::Cancelled);
        };
        self.scope.note_stop(&answer);
        self.trail.push(answer.clone());
        match end_of(&answer) {
            Some(end) => Err(end),
            None => Ok(Some(answer)),
        }
    }

    /// Fires the event with the decision on the call.
    async fn announce(&mut self, decision: &str, source: String) {
        let firing = self.scope.fire_with(Event::OnToolApprovalDecision, |input| {
            self.call.fill(input);
            input.approval_decision = Some(decision.to_owned());
            input.approval_source = Some(source);
        });
        self.trail.push(firing.await);
    }

    async fn decided_against(&mut self, end: ToolEnd) -> ToolEnd {
        let (decision, source) = match &end {
            ToolEnd::Denied { by, .. } => ("deny", by.to_string()),
            ToolEnd::Aborted { by, .. } => ("deny", by.name().to_owned()),
            _ => ("canceled", "host".to_owned()),
        };
        self.announce(decision, source).await;
        end
    }
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
