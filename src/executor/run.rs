//! Runs one hook inside its deadline; a panic is a failure of the hook.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use super::select::Bound;
use super::time::Until;
use crate::event::Event;
use crate::handler::{
    Background, Call, Failure, HandlerError, HandlerResult, Seating, Shared, SharedRoom, Sharing,
};
use crate::wire::Input;

/// What a hook has together with others of its rank.
pub(super) struct Surroundings<'a> {
    /// Where it goes on if it asks to run in the background, and its rank.
    pub(super) background: Option<(&'a Background, usize)>,
    pub(super) seating: Seating<'a>,
    pub(super) room: SharedRoom<'a>,
}

/// Runs `bound` on `input`, which is `original` with the rewrites so far, and returns its result
/// and how long it took. Breaks with the reason if its limit is reached, so that it did not run.
pub(super) async fn run(
    bound: &Bound,
    event: Event,
    original: &Input,
    (input, shared): (&Input, &Shared),
    until: Until,
    around: Surroundings<'_>,
) -> (Result<ControlFlow<String, HandlerResult>, HandlerError>, Duration) {
    let started = Instant::now();
    let Until { answer, stop, late_message } = until;
    let timeout = bound.hook.timeout;
    let text = || {
        let own = || format!("timed out after {timeout:?}; raise its `timeout`");
        late_message.map_or_else(own, str::to_owned)
    };
    if answer <= started {
        return (Err(HandlerError::new(Failure::TimedOut, text())), Duration::ZERO);
    }
    let call = Call {
        event,
        input,
        deadline: answer,
        original,
        background: around.background,
        room: Some(around.room),
        seating: around.seating,
        shared: Sharing::All(shared),
    };
    let work = AssertUnwindSafe(async {
        if let Some(runs) = &bound.runs
            && let Some(why) = Box::pin(runs.refusal(&call)).await?
        {
            return Ok(ControlFlow::Break(why));
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
    (result, started.elapsed())
}
