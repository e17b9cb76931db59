//! The tool calls of one answer of the model.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::watch;

use super::approval::{Approval, ApprovalRequest};
use super::cancel::Cancellation;
use super::outcome::ToolOutcome;
use super::scope::Scope;
use super::tool_call::{AuthorizedCall, ToolCall, ToolError};
use super::tool_run::ToolRun;

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

impl<'a> Batch<'a> {
    pub(super) fn new(scope: &Scope, calls: Vec<ToolCall>) -> Self {
        let (settled, _) = watch::channel(vec![false; calls.len()]);
        let runs = calls.into_iter().map(|call| ToolRun::new(scope.clone(), call)).collect();
        Self { runs, settled, cancel: Cancellation::Never }
    }

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
