//! The tool calls of one answer of the model.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::watch;

use super::approval::{Approval, ApprovalRequest};
use super::cancel::Cancellation;
use super::outcome::{Stage, ToolEnd, ToolOutcome};
use super::scope::Scope;
use super::tool_call::{AuthorizedCall, ToolCall, ToolError};
use super::tool_run::ToolRun;
use super::trail::Trail;
use crate::handler::BoxFuture;

/// Asks for approval of one of several calls.
type SharedApprover<'a> =
    Arc<dyn Fn(ApprovalRequest) -> BoxFuture<'a, Approval> + Send + Sync + 'a>;

/// Several tool calls of one answer of the model.
///
/// * Order: all at once, or [`one_at_a_time`](Self::one_at_a_time); the outcomes come in the order
///   of the calls. The approver gets one call at a time, in that order, too.
/// * Stop: when a hook ends the turn or the session, the other calls of the batch are cancelled;
///   those that had not begun do not run, and nothing fires for them.
/// * Cancellation: as for a single call.
#[must_use = "a batch does nothing before `run` is called"]
pub struct Batch<'a> {
    scope: Scope,
    calls: Vec<ToolCall>,
    asks: Option<String>,
    approver: Option<SharedApprover<'a>>,
    cancel: Cancellation<'a>,
    in_turn: bool,
}

impl<'a> Batch<'a> {
    pub(super) fn new(scope: Scope, calls: Vec<ToolCall>) -> Self {
        Self {
            scope,
            calls,
            asks: None,
            approver: None,
            cancel: Cancellation::Never,
            in_turn: false,
        }
    }

    /// Runs the calls one after another; after a stop the rest do not run.
    pub const fn one_at_a_time(mut self) -> Self {
        self.in_turn = true;
        self
    }

    /// See [`ToolRun::ask_unless_allowed`].
    pub fn ask_unless_allowed(mut self, reason: impl Into<String>) -> Self {
        self.asks = Some(reason.into());
        self
    }

    /// See [`ToolRun::approve_with`].
    pub fn approve_with<F, R>(mut self, ask: F) -> Self
    where
        F: Fn(ApprovalRequest) -> R + Send + Sync + 'a,
        R: Future<Output = Approval> + Send + 'a,
    {
        self.approver = Some(Arc::new(move |request| Box::pin(ask(request))));
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
        let Self { scope, calls, asks, approver, mut cancel, in_turn } = self;
        let (stop, stopped) = watch::channel(false);
        // The calls that need no approval any more, by index.
        let (decided, _) = watch::channel(vec![false; calls.len()]);
        let settle = |place: usize| decided.send_modify(|decided| decided[place] = true);
        let drive = async |(place, call): (usize, ToolCall)| {
            if in_turn && *stopped.borrow() {
                return not_started(call);
            }
            let mut stopped = stopped.clone();
            let mut run = ToolRun::new(scope.clone(), call).cancelled_by(async move {
                // The sender outlives every call; if it ever did not, that would be a stop as well.
                let _ = stopped.wait_for(|stopped| *stopped).await;
            });
            if let Some(reason) = &asks {
                run = run.ask_unless_allowed(reason);
            }
            if let Some(approver) = approver.clone() {
                let mut decided = decided.subscribe();
                run = run.approve_with(async move |request| {
                    // Earlier calls are approved first; the sender outlives every call.
                    let _ =
                        decided.wait_for(|decided| decided[..place].iter().all(|done| *done)).await;
                    approver(request).await
                });
            }
            let outcome = run
                .run(async |call| {
                    settle(place);
                    execute(call).await
                })
                .await;
            settle(place);
            if outcome.stop().is_some() {
                stop.send_replace(true);
            }
            outcome
        };
        let all = async {
            if in_turn {
                let mut outcomes = Vec::with_capacity(calls.len());
                for call in calls.into_iter().enumerate() {
                    outcomes.push(drive(call).await);
                }
                outcomes
            } else {
                join_all(calls.into_iter().enumerate().map(&drive)).await
            }
        };
        let mut all = std::pin::pin!(all);
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

fn not_started(call: ToolCall) -> ToolOutcome {
    let end = ToolEnd::Cancelled { during: Stage::NotStarted };
    ToolOutcome { call, end, duration: None, trail: Trail::default() }
}
