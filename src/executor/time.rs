//! Until when the hooks of one event may run.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::select::{Bound, Plan};

/// The deadlines of one event.
pub(super) struct Deadlines {
    started: Instant,
    /// The caller's: nothing may run any longer.
    caller: Option<Instant>,
    /// The configuration's, for the whole event.
    event: Option<Instant>,
    /// Whether hooks that are not the project's run later: then, or in the next event of the moment.
    others_later: [bool; 2],
    /// Until when the hooks of the project may run that run before others.
    project: OnceLock<Instant>,
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

impl Deadlines {
    pub(super) fn new(
        plan: &Plan,
        limit: Option<Duration>,
        caller: Option<Instant>,
        others_follow: bool,
    ) -> Self {
        let started = Instant::now();
        Self {
            started,
            caller,
            event: limit.map(|limit| started + limit),
            others_later: [plan.has_others(), others_follow],
            project: OnceLock::new(),
        }
    }

    /// Returns deadlines for hooks that nobody waits for: each has its own timeout.
    pub(super) fn none() -> Self {
        Self {
            started: Instant::now(),
            caller: None,
            event: None,
            others_later: [false; 2],
            project: OnceLock::new(),
        }
    }

    /// Returns when `bound`, which starts now, has to be done.
    pub(super) fn until(&self, bound: &Bound) -> Until {
        let now = Instant::now();
        let grace = bound.handler.grace();
        let layer = bound.hook.limits.deadline.map(|limit| self.started + limit);
        // A hook that is stopped by force has said nothing: some of the time is for its leave.
        let caller = self.caller.map(|caller| {
            caller.checked_sub(grace.min(caller.saturating_duration_since(now) / 5)).unwrap_or(now)
        });
        let deadlines = [
            (layer, "the event's deadline passed before it answered; raise `defaults.deadline`"),
            (
                self.event,
                "the event's deadline passed before it answered; raise `defaults.deadline`",
            ),
            (
                self.project_share(bound, now),
                "the hooks of a project may use half of the time before hooks of others run, and it passed before it answered",
            ),
            (caller, "the time for an answer passed before it answered; lower its `timeout`"),
        ];
        let mut until = (now + bound.hook.timeout, None);
        for (at, late) in deadlines {
            if let Some(at) = at.filter(|at| *at < until.0) {
                until = (at, Some(late));
            }
        }
        let (answer, late) = until;
        let stop = answer + grace;
        Until { answer, stop: self.caller.map_or(stop, |caller| stop.min(caller)), late }
    }

    /// Returns the end of the time that the hooks of a project have together: of what is left when
    /// the first of them starts, half, if hooks of others run after them.
    fn project_share(&self, bound: &Bound, now: Instant) -> Option<Instant> {
        let [in_this_event, in_a_later_event] = self.others_later;
        let before_others = in_a_later_event || in_this_event && bound.is_rewriter();
        if !bound.is_projects() || !before_others {
            return None;
        }
        let end = [self.caller, self.event].into_iter().flatten().min()?;
        Some(*self.project.get_or_init(|| now + end.saturating_duration_since(now) / 2))
    }
}
