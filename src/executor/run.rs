//! Runs one hook inside its deadline; a panic is a failure of the hook.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::select::Bound;
use super::time::{Until, now};
use crate::event::Event;
use crate::handler::{
    BoxFuture, Call, Failure, HandlerError, HandlerResult, Place, Shared, Sharing,
};
use crate::pattern::TooMuchWork;
use crate::wire::Input;

/// Whether the hook is for the input, where that was too much work to find out before.
type IsForInput<'a> = BoxFuture<'a, Result<bool, TooMuchWork>>;

/// Why a hook did not run.
pub(super) enum NotRun {
    /// Its `when` does not hold.
    NotForInput,
    /// Its limit is reached, for this reason.
    Limited(String),
}

/// The failure of a hook whose condition was not looked at.
const TOO_MUCH_WORK: &str = "its `when` is too much work on an input of this size; match a smaller field, or a shorter pattern";

/// Runs `bound` on `input`, which is `original` with the rewrites so far, and returns its result
/// and how long it took.
pub(super) async fn run(
    bound: &Bound,
    event: Event,
    original: &Input,
    (input, shared): (&Input, &Shared),
    condition: Option<IsForInput<'_>>,
    until: Until,
    place: Place<'_>,
) -> (Result<ControlFlow<NotRun, HandlerResult>, HandlerError>, Duration) {
    let started = now();
    let Until { answer, stop, late_message } = until;
    let timeout = bound.hook.timeout;
    let text = || {
        let own = || format!("timed out after {timeout:?}; raise its `timeout`");
        late_message.map_or_else(own, str::to_owned)
    };
    if answer <= started {
        return (Err(HandlerError::new(Failure::TimedOut, text())), Duration::ZERO);
    }
    let call =
        Call { event, input, deadline: answer, original, place, shared: Sharing::All(shared) };
    let work = AssertUnwindSafe(async {
        if let Some(is_for_input) = condition {
            let too_much = |TooMuchWork| HandlerError::new(Failure::Other, TOO_MUCH_WORK);
            if !is_for_input.await.map_err(too_much)? {
                return Ok(ControlFlow::Break(NotRun::NotForInput));
            }
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
            Err(HandlerError { message: text(), ..error })
        }
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(HandlerError::panicked(&*panic)),
        Err(_) => Err(HandlerError::new(Failure::TimedOut, text())),
    };
    (result, now().saturating_duration_since(started))
}
