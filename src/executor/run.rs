//! Runs one hook inside its deadline; a panic is a failure of the hook.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::task::JoinSet;

use super::select::Bound;
use crate::event::Event;
use crate::registry::{Call, Failure, HandlerError, HandlerResult, Shared};
use crate::wire::Input;

/// Runs `bound` on `input`, which is `original` as rewritten until now, and returns what it brought back, and how long it took.
pub(super) async fn run(
    bound: &Bound,
    event: Event,
    original: &Input,
    input: &Input,
    shared: &Shared,
    event_deadline: Option<Instant>,
    background: Option<&Mutex<JoinSet<()>>>,
) -> (Result<HandlerResult, HandlerError>, Duration) {
    let started = Instant::now();
    let own = started + bound.hook.timeout;
    let deadline = event_deadline.map_or(own, |limit| own.min(limit));
    if deadline <= started {
        return (Err(out_of_time(bound, event_deadline, started)), Duration::ZERO);
    }
    let call = Call::new(event, input, shared, deadline).after(original).leaving_to(background);
    let work = AssertUnwindSafe(async { bound.handler.run(&call).await }).catch_unwind();
    let limit = tokio::time::Instant::from_std(deadline + bound.handler.grace());
    let result = match tokio::time::timeout_at(limit, work).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(HandlerError::panicked(&*panic)),
        Err(_) => Err(out_of_time(bound, event_deadline, started)),
    };
    (result, started.elapsed())
}

fn out_of_time(bound: &Bound, event_deadline: Option<Instant>, started: Instant) -> HandlerError {
    let timeout = bound.hook.timeout;
    let text = match event_deadline {
        Some(limit) if limit < started + timeout => {
            "the event's deadline passed before it answered; raise `defaults.deadline`".to_owned()
        }
        _ => format!("timed out after {timeout:?}; raise its `timeout`"),
    };
    HandlerError::new(Failure::TimedOut, text)
}
