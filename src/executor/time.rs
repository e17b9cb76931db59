//! Until when the hooks of one moment may run.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::select::{Bound, Plan};
use crate::config::Layer;
use crate::event::{Event, Rewrite};

tokio::task_local! {
    /// Those of the caller of the task.
    static TERMS: Terms;
}

/// On which terms a caller has hooks run.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "only packages of this workspace use it")]
pub struct Terms {
    /// Until when it waits, if it says so.
    pub until: Option<Instant>,
    /// Whether hooks of a project have no place: they fail at once.
    pub without_project: bool,
}

/// The failure of a project's hook without a place.
const NO_PLACE: &str =
    "its server runs as many requests as may wait for hooks of a project; let them end sooner";

/// The most of a caller's time that is kept for writing the answer.
const RESERVE: Duration = Duration::from_millis(200);

/// Runs `work` for a caller: each dispatch in it is on the same terms.
pub fn on_terms<F: Future>(terms: Terms, work: F) -> impl Future<Output = F::Output> {
    TERMS.scope(terms, work)
}

/// Returns the deadline of hooks for a caller that waits for `within` from `started` on.
pub fn deadline_of_hooks(started: Instant, within: Duration) -> Option<Instant> {
    started.checked_add(within.saturating_sub((within / 20).min(RESERVE)))
}

/// Whether hooks of each rank are waited for, and their shortest deadline.
type WaitedFor = [Option<Duration>; Layer::RANKS];

/// The deadlines of one moment.
pub(super) struct Deadlines {
    started: Instant,
    /// The caller's deadline, which nothing may exceed.
    pub(super) caller: Option<Instant>,
    /// Whether hooks of a project fail at once.
    without_project: bool,
    /// `defaults.deadline` of all layers together.
    moment: Option<Instant>,
    /// For each event, in order, the hooks of each rank: whether there are any that are waited for,
    /// and their own shortest deadline.
    waited_for: (WaitedFor, Vec<WaitedFor>),
    /// For each rank, the end of the time that its hooks have before those of higher layers: half of
    /// what was left when its first hook started.
    shares: [OnceLock<Instant>; Layer::RANKS],
}

/// The time limits of one hook.
#[derive(Debug)]
pub(super) struct Until {
    /// The deadline of its answer.
    pub(super) answer: Instant,
    /// When it is killed, whether or not it is ending.
    pub(super) stop: Instant,
    /// The error of a late hook; `None` if its own `timeout` is the first to pass.
    pub(super) late_message: Option<&'static str>,
}

impl Deadlines {
    /// Returns the deadlines for hooks of `plans`, one for each event, in order.
    pub(super) fn new<'p>(
        plans: impl Iterator<Item = &'p Plan>,
        limit: Option<Duration>,
        caller: Option<Instant>,
    ) -> Self {
        let none = Self::none();
        let moment = limit.and_then(|limit| none.started.checked_add(limit));
        let Terms { until, without_project } = TERMS.try_get().unwrap_or_default();
        let caller = caller.or(until);
        let mut waited_for = plans.map(|plan| plan.deadlines);
        // Most moments are one event, and then nothing is allocated.
        let waited_for = (waited_for.next().unwrap_or_default(), waited_for.collect());
        Self { caller, without_project, moment, waited_for, ..none }
    }

    /// Returns deadlines for background hooks: each has its own timeout.
    pub(super) fn none() -> Self {
        Self {
            started: Instant::now(),
            caller: None,
            without_project: false,
            moment: None,
            waited_for: Default::default(),
            shares: Default::default(),
        }
    }

    /// Returns when `bound`, a hook that starts now, has to be done.
    pub(super) fn until(&self, bound: &Bound) -> Until {
        let now = Instant::now();
        if self.without_project && bound.hook.layer() == Layer::Project {
            return Until { answer: now, stop: now, late_message: Some(NO_PLACE) };
        }
        let grace = bound.handler.grace();
        let layer = bound.hook.limits.deadline.and_then(|limit| self.started.checked_add(limit));
        let share = self.share(bound, now);
        // A hook that is killed gives no answer: keep some time for SIGTERM.
        let before = |end: Instant| {
            end.checked_sub(grace.min(end.saturating_duration_since(now) / 5)).unwrap_or(now)
        };
        let deadlines = [
            (
                layer.into_iter().chain(self.moment).min(),
                "the event's deadline passed before it answered; raise `defaults.deadline`",
            ),
            (
                share.map(before),
                "timed out: the hooks of a layer may use half of the time that is left, the rest is for higher layers",
            ),
            (
                self.caller.map(before),
                if bound.hook.event == Event::Approval {
                    "nobody answered in the time that the caller waits for hookexec; give the hook a \
                     `timeout` and run `hookexec install AGENT` again, which raises `--within`, or \
                     raise `timeout` of the host's `Hooks`"
                } else {
                    "the time for an answer passed before it answered; lower its `timeout`"
                },
            ),
        ];
        let mut until = (now + bound.hook.timeout, None);
        for (at, late_message) in deadlines {
            if let Some(at) = at.filter(|at| *at < until.0) {
                until = (at, Some(late_message));
            }
        }
        let (answer, late_message) = until;
        let ends = [self.caller, share].into_iter().flatten();
        Until { answer, stop: ends.fold(answer + grace, Instant::min), late_message }
    }

    /// Returns the end of the time that the hooks of a layer have together, if hooks of a higher layer
    /// may run after them: half of what those have left when the first of these starts.
    fn share(&self, bound: &Bound, now: Instant) -> Option<Instant> {
        // A rewrite makes other hooks run again, at any event, and after a rewriter those of the other
        // events run. So all ranks above count.
        let (first, others) = &self.waited_for;
        let may_rewrite =
            bound.is_rewriter() || bound.hook.event.contract().rewrite != Rewrite::None;
        if others.is_empty() && !may_rewrite {
            return None;
        }
        let ranks = std::iter::once(first).chain(others);
        let followers = ranks.flat_map(|ranks| &ranks[..bound.rank()]).flatten();
        let shortest = followers.min()?;
        let theirs = self.started.checked_add(*shortest);
        let end = [self.caller, self.moment, theirs].into_iter().flatten().min()?;
        let half = || now + end.saturating_duration_since(now) / 2;
        Some(*self.shares[bound.rank()].get_or_init(half))
    }
}
