//! Decides whether a tool call may be executed: every stage before the tool, and an approval that is
//! bound to exactly what was shown.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use super::cancel::Cancellation;
use super::outcome::{DeniedBy, ToolEnd, Trail, reason};
use super::scope::Scope;
use super::tool_call::{ToolCall, ToolFacts};
use crate::asks::{ASKING, Judged};
use crate::event::Event;
use crate::executor::{BEFORE_TOOL, DispatchOptions};
use crate::handler::BoxFuture;
use crate::wire::{Decision, Input, JsonObject, Verdict, metadata_of};
use futures_util::FutureExt as _;

/// A tool call about to be driven through its stages.
///
/// * Order: `tool_input_transform`, `tool_guard`, `pre_tool_use`; when one of the last two asks,
///   `permission_request` and then the approver; `on_tool_approval_decision`; the tool;
///   `post_tool_use`, `tool_response_transform`.
/// * Rewrites: the hooks of all events before the tool decide together, and so do those of all events
///   after it ([`Executor`](crate::Executor) says how).
/// * Answers in the tool's place: the tool, its approval and the hooks after it are left out. If a hook
///   asked, approval comes first.
/// * Failure: the stages after the tool run as well when it fails, panics or is cancelled.
/// * Cancellation: see [`cancelled_by`](Self::cancelled_by). Dropping the future of
///   [`run`](Self::run) stops everything at once, and nothing more fires: a warning is logged when
///   the tool was running.
#[must_use = "a tool call does nothing before `run` or `begin` is called"]
pub struct ToolRun<'a> {
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

impl Scope {
    /// Returns the driver around one tool call.
    pub fn tool_call<'a>(&self, mut call: ToolCall) -> ToolRun<'a> {
        if call.facts == ToolFacts::default() {
            call.facts = self.session.facts_of(&call.name);
        }
        ToolRun {
            scope: self.clone(),
            call,
            asks: None,
            approver: None,
            cancel: Cancellation::never(),
            trail: Trail::default(),
            original: None,
        }
    }
}

impl ToolRun<'_> {
    /// Takes the call through every stage before the tool, and fires the event with the decision.
    /// The error is how the call ends without the tool.
    pub(super) async fn decide(&mut self) -> Result<(), ToolEnd> {
        if let Err(end) = self.consult().await {
            return Err(self.decided_against(end).await);
        }
        let (mut asked, mut is_allowed, mut respond) = (false, false, None);
        for verdict in self.trail.verdicts() {
            asked |= ASKING.contains(&verdict.event) && verdict.decision == Some(Decision::Ask);
            if verdict.event == Event::PreToolUse {
                is_allowed = verdict.decision == Some(Decision::Allow);
                respond = verdict.respond.clone().map(Box::new);
            }
        }
        if let (Some(result), false) = (&respond, asked) {
            // Nothing is executed, so there is nothing to approve.
            return Err(ToolEnd::Responded { result: result.clone() });
        }
        let source = if asked || (self.asks.is_some() && !is_allowed) {
            match self.approve(asked).await {
                Ok(source) => source,
                Err(end) => return Err(self.decided_against(end).await),
            }
        } else if is_allowed {
            Event::PreToolUse.name().to_owned()
        } else {
            "default".to_owned()
        };
        // From here on the call has begun: if it is cancelled, its `post_tool_use` fires.
        if self.cancel.is_wished().await {
            return Err(self.decided_against(ToolEnd::Cancelled).await);
        }
        self.announce("allow", source).await;
        match respond {
            Some(result) => Err(ToolEnd::Responded { result }),
            None => Ok(()),
        }
    }

    /// Fires the events before the tool: a denial or a stop ends the call, and so does cancelling. At
    /// the end each hook has seen the call in its final form.
    async fn consult(&mut self) -> Result<(), ToolEnd> {
        if !BEFORE_TOOL.iter().any(|event| self.scope.has(*event)) {
            return Ok(());
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
        let decided = self.cancel.or_end(firing).await?;
        for verdict in decided.verdicts {
            self.rewrite(&verdict);
            self.trail.push(verdict);
        }
        end_of(&decided.verdict)
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

    /// Obtains approval for the call as it stands, and returns who gave it: hooks, or else the host.
    async fn approve(&mut self, asked: bool) -> Result<String, ToolEnd> {
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        if asked {
            (verdict.decision, verdict.allowed) = (Some(Decision::Ask), false);
        }
        let mut input = Input::default();
        self.call.fill(&mut input);
        self.scope.fill(&mut input);
        let mut original = input.clone();
        original.tool_input = self.original.clone().or(original.tool_input);
        let judged = Judged {
            event: Event::PreToolUse,
            verdicts: self.trail.verdicts(),
            original: &original,
            input: &input,
            options: self.scope.options(),
            consults: true,
            host_asks: self.asks.as_deref(),
            asks_person: true,
        };
        let executor = self.scope.session.executor();
        let asking = Box::pin(executor.settle(&mut verdict, &judged));
        let answers = self.cancel.or_end(asking).await?;
        let mut by = Event::PermissionRequest;
        for answer in answers {
            self.scope.note_stop(&answer);
            self.rewrite(&answer);
            self.trail.push(answer.clone());
            end_of(&answer)?;
            if answer.event == Event::Approval {
                by = answer.event;
            }
        }
        if verdict.decision == Some(Decision::Allow) {
            return Ok(by.name().to_owned());
        }
        self.ask_host().await
    }

    /// Has the host's approver answer, and returns who approved.
    async fn ask_host(&mut self) -> Result<String, ToolEnd> {
        let mut reasons = Vec::new();
        // Those of the event with the last word first.
        for verdict in self.trail.verdicts().iter().rev() {
            if verdict.decision == Some(Decision::Ask) {
                reasons.push((Some(verdict.event), reason(verdict)));
            }
        }
        reasons.extend(self.asks.clone().map(|why| (None, why)));
        let Some(approver) = self.approver.take() else {
            let why: Vec<&str> = reasons.iter().map(|(_, why)| why.as_str()).collect();
            let why = why.join("\n");
            let by = DeniedBy::NobodyToAsk;
            let message = format!("approval is needed and no one can be asked: {why}");
            return Err(ToolEnd::Denied { by, message });
        };
        let session_id = self.scope.session.common.session_id.clone();
        // Within one layer the earlier event has the last word, as the mandatory guard has.
        let metadata = metadata_of(self.trail.verdicts().iter().rev());
        let (session, call) = (session_id.clone(), self.call.clone());
        let request = ApprovalRequest { session_id: session, call, reasons, metadata };
        let asking = AssertUnwindSafe(async move { approver(request).await }).catch_unwind();
        let answer = self.cancel.or_end(asking).await?;
        let (by, message) = match answer {
            Ok(given) if given.session_id == session_id && given.call.same_as(&self.call) => {
                return given.answer;
            }
            Ok(_) => (DeniedBy::VoidApproval, "the approval given was for another call"),
            Err(_) => (DeniedBy::NobodyToAsk, "approval is needed, and asking for it failed"),
        };
        Err(ToolEnd::Denied { by, message: message.to_owned() })
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
fn end_of(verdict: &Verdict) -> Result<(), ToolEnd> {
    let by = verdict.event;
    let denied = !verdict.allowed && verdict.decision != Some(Decision::Ask);
    if let Some(stop) = verdict.stop.clone() {
        // A hook that stops most often denies with the same words.
        let objection = verdict.message.clone().filter(|why| denied && *why != stop.reason);
        return Err(ToolEnd::Aborted { by, stop, response: None, objection });
    }
    if denied {
        return Err(ToolEnd::Denied { by: DeniedBy::Hooks(by), message: reason(verdict) });
    }
    Ok(())
}

/// The host's approver: shows the request to the user and returns the answer.
pub(super) type Approver<'a> =
    Box<dyn FnOnce(ApprovalRequest) -> BoxFuture<'a, Approval> + Send + 'a>;

/// A request for approval of a tool call.
///
/// Answering consumes it, and the answer carries the call that was shown. An [`Approval`] can't be
/// made in another way, used twice, or used for another call.
#[must_use = "a request that is not answered approves nothing"]
#[derive(Debug)]
pub struct ApprovalRequest {
    session_id: String,
    call: ToolCall,
    /// The reason: the event whose hooks asked, and their text. Without an event the host asked.
    reasons: Vec<(Option<Event>, String)>,
    metadata: JsonObject,
}

impl ApprovalRequest {
    /// Returns the tool.
    pub fn tool_name(&self) -> &str {
        &self.call.name
    }

    /// Returns the arguments. Show them: the approval holds only for them.
    pub const fn arguments(&self) -> &JsonObject {
        &self.call.arguments
    }

    /// Returns the call's id.
    pub fn tool_use_id(&self) -> Option<&str> {
        self.call.id.as_deref()
    }

    /// Returns the reason: the event whose hooks asked (`None`: the host asked), and their text.
    pub fn reasons(&self) -> &[(Option<Event>, String)] {
        &self.reasons
    }

    /// Returns the metadata that hooks attached.
    pub const fn metadata(&self) -> &JsonObject {
        &self.metadata
    }

    /// Approves the call.
    pub fn grant(self) -> Approval {
        self.grant_as("user")
    }

    /// Approves the call with `source`, such as a rule; hooks read it in `approval_source`.
    pub fn grant_as(self, source: impl Into<String>) -> Approval {
        self.answer(Ok(source.into()))
    }

    /// Refuses the call, with a reason for the model.
    pub fn refuse(self, reason: impl Into<String>) -> Approval {
        self.answer(Err(ToolEnd::Denied { by: DeniedBy::Approver, message: reason.into() }))
    }

    /// Cancels the request without an answer.
    pub fn cancel(self) -> Approval {
        self.answer(Err(ToolEnd::Cancelled))
    }

    fn answer(self, answer: Result<String, ToolEnd>) -> Approval {
        Approval { session_id: self.session_id, call: self.call, answer }
    }
}

/// The answer to one [`ApprovalRequest`]; void for any call but the one that was shown.
#[must_use]
#[derive(Debug)]
pub struct Approval {
    session_id: String,
    call: ToolCall,
    /// Who approved, or how the call ends.
    answer: Result<String, ToolEnd>,
}
