//! The driver around one tool call.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use serde_json::Value;

use super::approval::{Approval, ApprovalRequest, Approver};
use super::cancel::Cancellation;
use super::decide::{Decider, Fate};
use super::outcome::{Stage, ToolEnd, ToolOutcome};
use super::scope::Scope;
use super::tool_call::{AuthorizedCall, Panic, ToolCall, ToolError};
use super::trail::reason;
use crate::event::Event;
use crate::executor::DispatchOptions;
use crate::wire::{Decision, Input, Stop, ToolResult, Verdict};

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
#[must_use = "a tool call does nothing before `run` is called"]
pub struct ToolRun<'a> {
    scope: Scope,
    call: ToolCall,
    asks: Option<String>,
    approval: Option<Approval>,
    approver: Option<Approver<'a>>,
    cancel: Cancellation<'a>,
}

impl<'a> ToolRun<'a> {
    pub(super) fn new(scope: Scope, call: ToolCall) -> Self {
        Self {
            scope,
            call,
            asks: None,
            approval: None,
            approver: None,
            cancel: Cancellation::Never,
        }
    }

    /// Requires approval unless a `pre_tool_use` hook allows the call.
    pub fn ask_unless_allowed(mut self, reason: impl Into<String>) -> Self {
        self.asks = Some(reason.into());
        self
    }

    /// Passes an approval that was given before the call was driven.
    ///
    /// If the hooks change the call, the approval is void. The approver is then asked, or without
    /// an approver the call is denied.
    pub fn approved(mut self, approval: Approval) -> Self {
        self.approval = Some(approval);
        self
    }

    /// Sets the approver. Without one, a call that needs approval is denied.
    ///
    /// An approver that panics has not approved.
    pub fn approve_with<F, R>(mut self, ask: F) -> Self
    where
        F: FnOnce(ApprovalRequest) -> R + Send + 'a,
        R: Future<Output = Approval> + Send + 'a,
    {
        self.approver = Some(Box::new(move |request| Box::pin(ask(request))));
        self
    }

    /// Sets a future that ends when the host cancels.
    ///
    /// Hooks before the tool, the approver and the tool itself are dropped then; the hooks after
    /// the tool still run, so that a call that began is always seen to end.
    pub fn cancelled_by(mut self, wish: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Cancellation::on(wish);
        self
    }

    /// Drives the call through every stage, and gives the tool the authorized call.
    pub async fn run<F, R>(self, execute: F) -> ToolOutcome
    where
        F: FnOnce(AuthorizedCall) -> R,
        R: Future<Output = Result<Value, ToolError>>,
    {
        let Self { scope, call, asks, approval, approver, cancel } = self;
        let mut decider = Decider::new(scope, call, cancel);
        // Boxed: most of the future is what decides.
        let fate = Box::pin(decider.decide(asks, approval, approver)).await;
        let after = After { duration: None, decider };
        match fate {
            Fate::Execute => after.execute(execute).await,
            Fate::Respond(result) => after.respond(result),
            Fate::End(end) => after.end(end),
        }
    }
}

/// The remaining work after the decision on the call.
struct After<'a> {
    decider: Decider<'a>,
    duration: Option<Duration>,
}

/// How the tool itself ended.
enum Ran {
    Returned(Value),
    Failed(Value, Option<Panic>),
    Cancelled(Stage),
}

impl After<'_> {
    async fn execute<F, R>(mut self, execute: F) -> ToolOutcome
    where
        F: FnOnce(AuthorizedCall) -> R,
        R: Future<Output = Result<Value, ToolError>>,
    {
        if self.decider.cancel.is_wished().await {
            return self.conclude(Ran::Cancelled(Stage::Start)).await;
        }
        let call = AuthorizedCall::new(self.decider.call.clone());
        let debt = Debt::of(&self.decider.call);
        let started = Instant::now();
        // The closure is called inside: it may panic before it has made a future.
        let tool = AssertUnwindSafe(async move { execute(call).await }).catch_unwind();
        let ran = tokio::select! {
            // A finished tool counts as finished, even if the host cancelled at the same time.
            biased;
            result = tool => match result {
                Ok(Ok(response)) => Ran::Returned(response),
                Ok(Err(error)) => Ran::Failed(error.into_response(), None),
                Err(payload) => {
                    let panic = Panic::new(payload);
                    let response = format!("the tool panicked: {}", panic.message());
                    Ran::Failed(response.into(), Some(panic))
                }
            },
            () = self.decider.cancel.wished() => Ran::Cancelled(Stage::Execution),
        };
        self.duration = Some(started.elapsed());
        let outcome = self.conclude(ran).await;
        debt.paid();
        outcome
    }

    async fn conclude(mut self, ran: Ran) -> ToolOutcome {
        let (response, failed) = match &ran {
            Ran::Returned(response) => (response.clone(), false),
            Ran::Failed(response, _) => (response.clone(), true),
            Ran::Cancelled(_) => ("the tool call was cancelled".into(), true),
        };
        let mut input = self.input(response, failed);
        input.reason = match &ran {
            Ran::Cancelled(_) => Some("canceled".to_owned()),
            Ran::Failed(_, Some(_)) => Some("panic".to_owned()),
            Ran::Returned(_) | Ran::Failed(_, None) => None,
        };
        // A tool that was cancelled said nothing that could be transformed.
        let once_rewritten: &[Event] = match &ran {
            Ran::Cancelled(_) => &[Event::ToolResponseTransform],
            Ran::Returned(_) | Ran::Failed(..) => &[],
        };
        let events = [Event::ToolResponseTransform, Event::PostToolUse];
        let (response, verdict, stop) = self.transform(&events, input, once_rewritten).await;
        let objection =
            if verdict.decision == Some(Decision::Deny) { Some(reason(&verdict)) } else { None };

        self.end(match (stop, ran) {
            (Some((by, stop)), _) => {
                let response = Some(response);
                let objection = objection.filter(|why| *why != stop.reason);
                ToolEnd::Aborted { by, stop, response, objection }
            }
            (None, Ran::Returned(_)) => ToolEnd::Ran { response, objection },
            (None, Ran::Failed(_, panic)) => ToolEnd::Failed { response, objection, panic },
            (None, Ran::Cancelled(during)) => ToolEnd::Cancelled { during },
        })
    }

    fn respond(self, result: ToolResult) -> ToolOutcome {
        self.end(ToolEnd::Responded { result: Box::new(result) })
    }

    /// Fires the events after the tool. Returns the response that they leave, their verdict, and the
    /// widest stop with the event of its hook.
    async fn transform(
        &mut self,
        events: &[Event],
        input: Input,
        once_rewritten: &[Event],
    ) -> (Value, Verdict, Option<(Event, Stop)>) {
        let given = input.tool_response.clone().unwrap_or_default();
        let options = DispatchOptions { once_rewritten, ..DispatchOptions::default() };
        let scope = &self.decider.scope;
        let decided = scope.fire_together(events, input, options).await;
        let left = decided.rewritten.and_then(|input| input.tool_response).unwrap_or(given);
        let mut widest: Option<(Event, Stop)> = None;
        for verdict in decided.verdicts {
            if let Some(stop) = &verdict.stop
                && widest.as_ref().is_none_or(|(_, known)| stop.scope > known.scope)
            {
                widest = Some((verdict.event, stop.clone()));
            }
            self.decider.trail.push(verdict);
        }
        (left, decided.verdict, widest)
    }

    fn input(&self, response: Value, failed: bool) -> Input {
        let mut input = self.decider.input();
        input.tool_response = Some(response);
        input.tool_error = Some(failed);
        input.tool_duration_ms =
            self.duration.map(|ran| u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
        input
    }

    fn end(self, end: ToolEnd) -> ToolOutcome {
        let Decider { call, trail, .. } = self.decider;
        ToolOutcome { call, end, duration: self.duration, trail }
    }
}

/// Logs a warning when a running tool is dropped together with the hooks after it.
struct Debt(Option<String>);

impl Debt {
    fn of(call: &ToolCall) -> Self {
        Self(Some(call.name.clone()))
    }

    fn paid(mut self) {
        self.0 = None;
    }
}

impl Drop for Debt {
    fn drop(&mut self) {
        if let Some(tool) = &self.0 {
            tracing::warn!(
                %tool,
                "a running tool call was dropped; its `post_tool_use` hooks did not fire \
                 (cancel it with `cancelled_by` instead)"
            );
        }
    }
}
