//! The drivers around one tool call, and around those of one answer of the model.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::watch;

use super::cancel::Cancellation;
use super::decide::{Approval, ApprovalRequest, ToolRun};
use super::outcome::{ToolEnd, ToolOutcome, reason};
use super::owed::Owed;
use super::scope::Scope;
use super::tool_call::{AuthorizedCall, ToolCall, ToolError};
use crate::event::Event;
use crate::executor::DispatchOptions;
use crate::handler::panic_text;
use crate::wire::Decision;

impl<'a> ToolRun<'a> {
    /// Requires approval unless a `pre_tool_use` hook allows the call.
    pub fn ask_unless_allowed(mut self, reason: impl Into<String>) -> Self {
        self.asks = Some(reason.into());
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

    /// Drives the call up to the tool, and returns the authorized call, for hosts that do not run the
    /// tool in a closure: they pass its result to [`PendingTool::finish`].
    ///
    /// # Errors
    /// When the call ended without the tool: it was denied, answered by a hook, or cancelled.
    pub async fn begin(mut self) -> Result<(AuthorizedCall, PendingTool<'a>), Box<ToolOutcome>> {
        // Boxed: most of the future is what decides.
        if let Err(end) = Box::pin(self.decide()).await {
            let Self { call, trail, .. } = self;
            return Err(Box::new(ToolOutcome { call, end, duration: None, trail }));
        }
        let call = self.call.clone();
        let owed = Owed::new(&call.name, DROPPED, true);
        if self.cancel.is_wished().await {
            let pending = PendingTool { run: self, started: None, owed };
            return Err(Box::new(pending.cancel().await));
        }
        let pending = PendingTool { run: self, started: Some(Instant::now()), owed };
        Ok((AuthorizedCall(call), pending))
    }

    /// Drives the call through every stage, and gives the tool the authorized call.
    pub async fn run<F, R>(self, execute: F) -> ToolOutcome
    where
        F: FnOnce(AuthorizedCall) -> R,
        R: Future<Output = Result<Value, ToolError>>,
    {
        let (call, mut pending) = match self.begin().await {
            Ok(begun) => begun,
            Err(ended) => return *ended,
        };
        // The closure is called inside: it may panic before it has made a future.
        let tool = AssertUnwindSafe(async move { execute(call).await }).catch_unwind();
        tokio::select! {
            // A finished tool counts as finished, even if the host cancelled at the same time.
            biased;
            result = tool => match result {
                Ok(result) => pending.finish(result).await,
                Err(payload) => {
                    let said = format!("the tool panicked: {}", panic_text(&*payload));
                    pending.conclude(Ran::Panicked, said.into()).await
                }
            },
            () = pending.run.cancel.wished() => pending.cancel().await,
        }
    }
}

/// A tool call that every stage let pass: the host runs the tool, and passes the result to
/// [`finish`](Self::finish).
#[must_use = "the hooks after the tool run in `finish`"]
pub struct PendingTool<'a> {
    run: ToolRun<'a>,
    started: Option<Instant>,
    owed: Owed,
}

/// How the tool itself ended.
#[derive(Clone, Copy, PartialEq)]
enum Ran {
    Returned,
    Failed,
    Panicked,
    Cancelled,
}

impl PendingTool<'_> {
    /// Fires `post_tool_use` and `tool_response_transform` after the tool ran or failed.
    pub async fn finish(self, result: Result<Value, ToolError>) -> ToolOutcome {
        match result {
            Ok(response) => self.conclude(Ran::Returned, response).await,
            Err(error) => self.conclude(Ran::Failed, error.0).await,
        }
    }

    /// Ends the call after the host cancelled the running tool; `post_tool_use` fires.
    pub async fn cancel(self) -> ToolOutcome {
        self.conclude(Ran::Cancelled, "the tool call was cancelled".into()).await
    }

    async fn conclude(self, ran: Ran, given: Value) -> ToolOutcome {
        let duration = self.started.map(|started| started.elapsed());
        // A tool that was cancelled said nothing that could be transformed.
        let once_rewritten: &[Event] =
            if ran == Ran::Cancelled { &[Event::ToolResponseTransform] } else { &[] };
        let events = [Event::ToolResponseTransform, Event::PostToolUse];
        let options = DispatchOptions { once_rewritten, ..DispatchOptions::default() };
        let firing = self.run.scope.fire_together(&events, options, |input| {
            self.run.call.fill(input);
            input.tool_response = Some(given.clone());
            input.tool_error = Some(ran != Ran::Returned);
            input.tool_duration_ms =
                duration.map(|ran| u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
            input.reason = match ran {
                Ran::Cancelled => Some("canceled".to_owned()),
                Ran::Panicked => Some("panic".to_owned()),
                Ran::Returned | Ran::Failed => None,
            };
        });
        let decided = firing.await;
        self.owed.settle();

        let left = decided.rewritten.and_then(|input| input.tool_response);
        let response = left.unwrap_or_else(|| given.clone());
        let rewritten = response != given;
        let verdict = decided.verdict;
        let objects = verdict.decision == Some(Decision::Deny);
        let objection = if objects { Some(reason(&verdict)) } else { None };
        let end = match (verdict.stop, ran) {
            (Some(stop), _) => {
                let (by, response) = (verdict.event, Some(response));
                let objection = objection.filter(|why| *why != stop.reason);
                ToolEnd::Aborted { by, stop, response, objection }
            }
            (None, Ran::Returned) => ToolEnd::Ran { response, rewritten, objection },
            (None, Ran::Failed | Ran::Panicked) => {
                ToolEnd::Failed { response, rewritten, objection }
            }
            (None, Ran::Cancelled) => ToolEnd::Cancelled,
        };
        let ToolRun { call, mut trail, .. } = self.run;
        for verdict in decided.verdicts {
            trail.push(verdict);
        }
        ToolOutcome { call, end, duration, trail }
    }
}

/// The log line of a running tool that is dropped together with the hooks after it.
const DROPPED: &str = "a running tool call was dropped; its `post_tool_use` hooks did not fire \
                       (cancel it with `cancelled_by` instead)";

/// Tells the later calls that the one at `place` needs no approval any more.
fn settle(settled: &watch::Sender<Vec<bool>>, place: usize) {
    settled.send_modify(|settled| settled[place] = true);
}

/// Several tool calls of one answer of the model.
///
/// * Order: all at once; the outcomes come in the order of the calls. The approver gets one call at a
///   time, in that order, too.
/// * Stop: when a hook ends the turn or the session, the other calls of the batch are cancelled.
/// * Cancellation: as for a single call.
#[must_use = "a batch does nothing before `run` is called"]
pub struct Batch<'a> {
    runs: Vec<ToolRun<'a>>,
    /// Whether each call needs no approval any more.
    settled: watch::Sender<Vec<bool>>,
    cancel: Cancellation<'a>,
}

impl Scope {
    /// Returns the driver around the tool calls of one answer of the model.
    pub fn batch<'a>(&self, calls: Vec<ToolCall>) -> Batch<'a> {
        let (settled, _) = watch::channel(vec![false; calls.len()]);
        let runs = calls.into_iter().map(|call| self.tool_call(call)).collect();
        Batch { runs, settled, cancel: Cancellation::never() }
    }
}

impl<'a> Batch<'a> {
    /// See [`ToolRun::ask_unless_allowed`].
    pub fn ask_unless_allowed(mut self, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        self.runs = self.runs.into_iter().map(|run| run.ask_unless_allowed(&reason)).collect();
        self
    }

    /// See [`ToolRun::approve_with`].
    pub fn approve_with<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(ApprovalRequest) -> R + Send + Sync + 'a,
        R: Future<Output = Approval> + Send + 'a,
    {
        let ask = Arc::new(ask);
        let mut runs = Vec::with_capacity(self.runs.len());
        for (place, run) in self.runs.into_iter().enumerate() {
            let (ask, mut settled) = (Arc::clone(&ask), self.settled.subscribe());
            runs.push(run.approve_with(async move |request| {
                // Earlier calls are approved first; the sender outlives every call.
                let _ = settled.wait_for(|settled| settled[..place].iter().all(|done| *done)).await;
                ask(request).await
            }));
        }
        self.runs = runs;
        self
    }

    /// See [`ToolRun::cancelled_by`].
    pub fn cancelled_by(mut self, wish: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Cancellation::on(wish);
        self
    }

    /// Drives every call through its stages.
    pub async fn run<F, R>(self, execute: F) -> Vec<ToolOutcome>
    where
        F: Fn(AuthorizedCall) -> R,
        R: Future<Output = Result<Value, ToolError>>,
    {
        let Self { runs, settled, mut cancel } = self;
        let (stop, stopped) = watch::channel(false);
        let (settled, stop, execute) = (&settled, &stop, &execute);
        let mut driven = Vec::with_capacity(runs.len());
        for (place, run) in runs.into_iter().enumerate() {
            let mut stopped = stopped.clone();
            let run = run.cancelled_by(async move {
                // The sender outlives every call; if it ever did not, that would be a stop as well.
                let _ = stopped.wait_for(|stopped| *stopped).await;
            });
            driven.push(async move {
                let running = run.run(async |call| {
                    settle(settled, place);
                    execute(call).await
                });
                let outcome = running.await;
                settle(settled, place);
                if outcome.stop().is_some() {
                    stop.send_replace(true);
                }
                outcome
            });
        }
        let mut all = std::pin::pin!(join_all(driven));
        tokio::select! {
            biased;
            outcomes = &mut all => outcomes,
            () = cancel.wished() => {
                stop.send_replace(true);
                all.await
            }
        }
    }
}
