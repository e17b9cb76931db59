//! Runs one hook inside its deadline; a panic is a failure of the hook.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::select::{Bound, concerns};
use super::time::{Until, now};
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
