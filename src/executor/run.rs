//! Runs one hook inside its deadline; a panic is a failure of the hook.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::select::{Bound, concerns};
use super::time::{Until, now};
use crate::config::{Hook, RunLimit};
use crate::counts::{Counter, Counts};
use crate::event::Event;
use crate::handler::{Call, Failure, HandlerError, HandlerResult, Place, Shared, Sharing};
use crate::wire::Input;

/// Why a hook did not run.
pub(super) enum NotRun {
    /// Its `when` does not hold.
    NotForInput,
    /// Its limit is reached, for this reason.
    Limited(String),
}

/// Runs `bound` on `input`, which is `original` with the rewrites so far, and returns its result
/// and how long it took.
pub(super) async fn run(
    bound: &Bound,
    event: Event,
    original: &Input,
    (input, shared): (&Input, &Shared),
    until: Until,
    place: Place<'_>,
) -> (Result<ControlFlow<NotRun, HandlerResult>, HandlerError>, Duration) {
    let started = now();
    let Until { answer, stop, late_message } = until;
    let timeout = bound.hook.timeout;
    if answer <= started {
        return (
            Err(HandlerError::new(Failure::TimedOut, late(late_message, timeout))),
            Duration::ZERO,
        );
    }
    let call =
        Call { event, input, deadline: answer, original, place, shared: Sharing::All(shared) };
    let work = AssertUnwindSafe(async {
        if !concerns(bound, (input, shared)).await? {
            return Ok(ControlFlow::Break(NotRun::NotForInput));
        }
        if let Some(runs) = &bound.runs
            && let Some(why) = Box::pin(runs.refusal(&call)).await?
        {
            return Ok(ControlFlow::Break(NotRun::Limited(why)));
        }
        bound.handler.run(&call).await.map(ControlFlow::Continue)
    })
    .catch_unwind();
    let result = match tokio::time::timeout_at(tokio::time::Instant::from_std(stop), work).await {
        // The handler knows its deadline, but not where the deadline came from.
        Ok(Ok(Err(error))) if late_message.is_some() && error.failure == Failure::TimedOut => {
            Err(HandlerError { message: late(late_message, timeout), ..error })
        }
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(HandlerError::panicked(&*panic)),
        Err(_) => Err(HandlerError::new(Failure::TimedOut, late(late_message, timeout))),
    };
    (result, now().saturating_duration_since(started))
}

/// Returns the error of a hook that is late.
fn late(message: Option<&str>, timeout: Duration) -> String {
    match message {
        Some(message) => message.to_owned(),
        None => format!("timed out after {timeout:?}; raise its `timeout`"),
    }
}

/// Counts the runs of one hook.
pub(crate) struct Runs {
    limit: RunLimit,
    counter: Counter,
}

impl Runs {
    pub(super) fn of(hook: &Hook, counts: &Arc<Counts>) -> Option<Arc<Self>> {
        // A host may have set a limit where a file can't: a guard is never switched off.
        let limit = hook.limit.clone().filter(|_| RunLimit::is_for(hook.event.contract()))?;
        Some(Arc::new(Self { limit, counter: Counter::new(counts, hook.counting_name()) }))
    }

    /// Counts a run. Returns why the hook must not run, if it must not.
    ///
    /// # Errors
    /// When it can't be counted.
    pub(super) async fn refusal(
        self: &Arc<Self>,
        call: &Call<'_>,
    ) -> Result<Option<String>, HandlerError> {
        let runs = Arc::clone(self);
        let counted = call.blocking(move |call| runs.limit.admits(&runs.counter, call.input));
        match counted.await? {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(self.limit.reached())),
            Err(cause) => Err(HandlerError::new(Failure::Other, format!("`limit`: {cause}"))),
        }
    }
}
