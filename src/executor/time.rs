//! The three limits of a moment: the caller's, the deadlines of layers, and the share of rewriters.

use std::time::{Duration, Instant};

use super::select::{Bound, Plan};
use crate::event::Event;

const BY_LAYER: &str = "the event's deadline passed before it answered; raise `defaults.deadline`";
const BY_SHARE: &str = "its share of the time for rewriters passed before it answered: hooks that \
                        rewrite have half of the time, in equal shares";
pub(super) const BY_CALLER: &str =
    "the time for an answer passed before it answered; lower its `timeout`";
const NOBODY: &str = "nobody answered in the time that the caller waits for hookexec; give the hook a \
     `timeout` and run `hookexec install AGENT` again, which raises `--within`, or \
     raise `timeout` of the host's `Hooks`";

/// Returns the time by the clock of the runtime, which a test can stop.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns the deadline of hooks for a caller that waits for `within` from `started` on.
pub fn deadline_of_hooks(started: Instant, within: Duration) -> Option<Instant> {
    // The most of a caller's time that is kept for writing the answer.
    started.checked_add(within.saturating_sub((within / 20).min(Duration::from_millis(200))))
}

/// The deadlines of one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    started: Instant,
    /// When the caller needs the answer.
    pub(super) caller: Option<Instant>,
    /// The first deadline of a layer that has hooks here.
    first_of_layers: Option<Instant>,
}

/// The time limits of one call.
pub(super) struct Until {
    /// The deadline of its answer.
    pub(super) answer: Instant,
    /// When it is killed, whether or not it is ending.
    pub(super) stop: Instant,
    /// The error of a late hook; `None` if its own `timeout` is the first to pass.
    pub(super) late_message: Option<&'static str>,
}

impl Deadlines {
    /// Returns the deadlines for hooks of `plans`, for a caller that needs the answer by `caller`.
    pub(super) fn new<'p>(plans: impl Iterator<Item = &'p Plan>, caller: Option<Instant>) -> Self {
        let started = now();
        let mut first_of_layers = None;
        if let Some(shortest) = plans.filter_map(|plan| plan.shortest_deadline).min() {
            first_of_layers = started.checked_add(shortest);
        }
        Self { started, caller, first_of_layers }
    }

    /// Returns the end of the time of rewriters whose turns begin now: half of what is left.
    pub(super) fn end_of_turns(&self) -> Option<Instant> {
        let now = now();
        let end = [self.caller, self.first_of_layers].into_iter().flatten().min()?;
        Some(now + end.saturating_duration_since(now) / 2)
    }

    /// Returns when `bound`, a hook that starts now, has to be done; a rewriter also at the end of its
    /// `share`.
    pub(super) fn until(&self, bound: &Bound, share: Option<Instant>) -> Until {
        let now = now();
        let grace = bound.handler.grace();
        // A hook that is killed gives no answer: keep some time for SIGTERM.
        let mut ends = [share, self.caller];
        for end in ends.iter_mut().flatten() {
            let kept = grace.min(end.saturating_duration_since(now) / 5);
            *end = end.checked_sub(kept).unwrap_or(now);
        }
        let [share_answer, caller_answer] = ends;
        let layer = match bound.hook.limits.deadline {
            Some(limit) if bound.hook.phase.is_answered() => self.started.checked_add(limit),
            _ => None,
        };
        let by_caller = if bound.hook.event == Event::Approval { NOBODY } else { BY_CALLER };
        let mut until = (now + bound.hook.timeout, None);
        for (at, late_message) in
            [(layer, BY_LAYER), (share_answer, BY_SHARE), (caller_answer, by_caller)]
        {
            if let Some(at) = at
                && at < until.0
            {
                until = (at, Some(late_message));
            }
        }
        let (answer, late_message) = until;
        let mut stop = answer + grace;
        for end in [self.caller, share].into_iter().flatten() {
            stop = stop.min(end);
        }
        Until { answer, stop, late_message }
    }
}

/// Returns the end of the share of the first of `waiting` rewriters, whose time is over at `end`.
pub(super) fn share(end: Option<Instant>, waiting: usize) -> Option<Instant> {
    let now = now();
    let waiting = u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
    Some(now + end?.saturating_duration_since(now) / waiting)
}
