//! Until when the hooks of one event may run.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::dispatch::Wish;
use super::select::{Bound, Plan};
use crate::event::Rewrite;

/// The deadlines of one event.
pub(super) struct Deadlines<'w> {
    started: Instant,
    /// The caller's: nothing may run any longer.
    caller: Option<Instant>,
    /// The configuration's, for the whole event.
    event: Option<Instant>,
    /// Whether hooks that are not the project's may run later: in this event, or in the next one of the
    /// moment.
    others_later: [bool; 2],
    /// Half of the time until the deadline of the event: for the hooks of the project.
    half_of_event: OnceLock<Instant>,
    /// The same of the caller's deadline.
    half_of_caller: OnceLock<Instant>,
    /// It takes the place of `half_of_caller` when the caller runs several events of one moment.
    half_of_moment: Option<&'w OnceLock<Instant>>,
}

/// When a hook has to be done.
#[derive(Debug)]
pub(super) struct Until {
    /// When its answer must be there.
    pub(super) answer: Instant,
    /// When it is stopped at once, however it takes its leave.
    pub(super) stop: Instant,
    /// What is said of a hook that is late; `None` when its own `timeout` is the first to pass.
    pub(super) late: Option<&'static str>,
}

impl<'w> Deadlines<'w> {
    pub(super) fn new(plan: &Plan, limit: Option<Duration>, wish: Wish<'w>) -> Self {
        let none = Self::none();
        Self {
            caller: wish.deadline,
            event: limit.map(|limit| none.started + limit),
            others_later: [plan.has_others(), wish.others_follow],
            half_of_moment: wish.project_until,
            ..none
        }
    }

    /// Returns deadlines for hooks that nobody waits for: each has its own timeout.
    pub(super) fn none() -> Self {
        Self {
            started: Instant::now(),
            caller: None,
            event: None,
            others_later: [false; 2],
            half_of_event: OnceLock::new(),
            half_of_caller: OnceLock::new(),
            half_of_moment: None,
        }
    }

    /// Returns when `bound`, which starts now, has to be done.
    pub(super) fn until(&self, bound: &Bound) -> Until {
        let now = Instant::now();
        let grace = bound.handler.grace();
        let layer = bound.hook.limits.deadline.map(|limit| self.started + limit);
        let project = self.project_share(bound, now);
        // A hook that is stopped by force has said nothing: some of the time is for its leave.
        let before = |end: Instant| {
            end.checked_sub(grace.min(end.saturating_duration_since(now) / 5)).unwrap_or(now)
        };
        let deadlines = [
            (layer, "the event's deadline passed before it answered; raise `defaults.deadline`"),
            (
                self.event,
                "the event's deadline passed before it answered; raise `defaults.deadline`",
            ),
            (
                project.map(before),
                "the hooks of a project may use half of the time before hooks of others run, and it passed before it answered",
            ),
            (
                self.caller.map(before),
                "the time for an answer passed before it answered; lower its `timeout`",
            ),
        ];
        let mut until = (now + bound.hook.timeout, None);
        for (at, late) in deadlines {
            if let Some(at) = at.filter(|at| *at < until.0) {
                until = (at, Some(late));
            }
        }
        let (answer, late) = until;
        let ends = [self.caller, project].into_iter().flatten();
        Until { answer, stop: ends.fold(answer + grace, Instant::min), late }
    }

    /// Returns the end of the time that the hooks of a project have together, if hooks of others may run
    /// after them: half of what is left when the first of them starts.
    fn project_share(&self, bound: &Bound, now: Instant) -> Option<Instant> {
        let [in_this_event, in_a_later_event] = self.others_later;
        // If a hook rewrites, others run after it, also those that started together with it.
        let may_rewrite = || bound.hook.event.contract().rewrite != Rewrite::None;
        let before_others =
            in_a_later_event || in_this_event && (bound.is_rewriter() || may_rewrite());
        if !bound.is_projects() || !before_others {
            return None;
        }
        let half = |known: &OnceLock<Instant>, end: Instant| {
            *known.get_or_init(|| now + end.saturating_duration_since(now) / 2)
        };
        let of_caller = self.half_of_moment.unwrap_or(&self.half_of_caller);
        let caller = self.caller.map(|end| half(of_caller, end));
        let event = self.event.map(|end| half(&self.half_of_event, end));
        [caller, event].into_iter().flatten().min()
    }
}
