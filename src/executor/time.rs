//! The deadlines of the hooks of one event.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::dispatch::Wish;
use super::select::{Bound, Plan};
use crate::event::Rewrite;

/// The deadlines of one event.
pub(super) struct Deadlines<'w> {
    started: Instant,
    /// The caller's deadline, which nothing may exceed.
    caller: Option<Instant>,
    /// The configuration's deadline for the whole event.
    event: Option<Instant>,
    /// Whether hooks of other layers than the project's may run later, in this event or in the next
    /// one of the moment.
    others_later: [bool; 2],
    /// Half of the time until the event's deadline, for the hooks of the project.
    half_of_event: OnceLock<Instant>,
    /// Half of the time until the caller's deadline.
    half_of_caller: OnceLock<Instant>,
    /// Replaces `half_of_caller` when the caller runs several events of one moment.
    half_of_moment: Option<&'w OnceLock<Instant>>,
}

/// The time limits of one hook.
#[derive(Debug)]
pub(super) struct Until {
    /// The deadline of its answer.
    pub(super) answer: Instant,
    /// When it is killed, whether or not it is ending.
    pub(super) stop: Instant,
    /// The error of a late hook; `None` if its own `timeout` is the first to pass.
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

    /// Returns deadlines for background hooks: each has its own timeout.
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

    /// Returns the limits of `bound`, which starts now.
    pub(super) fn until(&self, bound: &Bound) -> Until {
        let now = Instant::now();
        let grace = bound.handler.grace();
        let layer = bound.hook.limits.deadline.map(|limit| self.started + limit);
        let project = self.project_share(bound, now);
        // A killed hook gives no answer, so some of the time is reserved for an orderly end.
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

    /// Returns the common deadline of a project's hooks if hooks of other layers may run after
    /// them: half of the time that is left when the first of them starts.
    fn project_share(&self, bound: &Bound, now: Instant) -> Option<Instant> {
        let [in_this_event, in_a_later_event] = self.others_later;
        // After a rewrite other hooks run, also those that started together with it.
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
