//! Until when the hooks of one moment may run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::select::{Bound, Plan};
use crate::config::Layer;
use crate::event::{Event, Rewrite};

tokio::task_local! {
    /// Those of the request of the task.
    static TERMS: Terms;
}

/// On which terms a caller has hooks run: those of one request, whose events share its time.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    until: Option<Instant>,
    without_project: bool,
    spent: Arc<Spent>,
}

impl Terms {
    /// Returns those of a caller that waits `until` then.
    pub fn until(until: Option<Instant>) -> Self {
        Self { until, ..Self::default() }
    }

    /// Sets whether hooks of a project have no place: they fail at once.
    #[must_use]
    pub fn without_project(self, without_project: bool) -> Self {
        Self { without_project, ..self }
    }
}

/// What the events of one request have used of its time.
#[derive(Debug, Default)]
struct Spent {
    shares: Shares,
    /// The layers of whose hooks one was waited for, in the order of rewriting.
    ran: [AtomicBool; Layer::REWRITE_STEPS],
}

/// For each rank, the end of the time that its hooks have before those of higher layers: half of what
/// was left when its first hook started.
type Shares = [OnceLock<Instant>; Layer::RANKS];

/// The failure of a project's hook without a place.
const NO_PLACE: &str =
    "its server runs as many requests as may wait for hooks of a project; let them end sooner";

/// The most of a caller's time that is kept for writing the answer.
const RESERVE: Duration = Duration::from_millis(200);

/// Returns the events that a host may fire after `event` in one request.
const fn followers(event: Event) -> &'static [Event] {
    match event {
        Event::SessionStart => &[Event::OnSessionResume],
        Event::UserPromptSubmit => &[Event::TurnStart],
        Event::ToolInputTransform | Event::ToolGuard | Event::PreToolUse => {
            &[Event::PermissionRequest, Event::Approval, Event::OnToolApprovalDecision]
        }
        Event::PermissionRequest => &[Event::Approval, Event::OnToolApprovalDecision],
        Event::Approval => &[Event::OnToolApprovalDecision],
        Event::Notification => &[Event::OnError, Event::OnMaxIterations, Event::TurnEnd],
        Event::Stop | Event::OnError | Event::OnMaxIterations => &[Event::TurnEnd],
        _ => &[],
    }
}

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
    /// The request that it is part of, if it is of one.
    request: Option<Terms>,
    /// `defaults.deadline` of all layers together.
    moment: Option<Instant>,
    /// For each event, in order, the hooks of each rank: whether there are any that are waited for,
    /// and their own shortest deadline.
    waited_for: (WaitedFor, Vec<WaitedFor>),
    /// Whether hooks of each rank may be waited for in the same request afterwards.
    followed_by: [bool; Layer::RANKS],
    /// Of the time that hooks files set for the moment.
    shares: Shares,
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
    /// Returns the deadlines for hooks of `events`, which have the plans that `plan_of` returns.
    pub(super) fn new<'p>(
        events: &[Event],
        plan_of: impl Fn(Event) -> &'p Plan,
        limit: Option<Duration>,
    ) -> Self {
        let none = Self::none();
        let moment = limit.and_then(|limit| none.started.checked_add(limit));
        let request = TERMS.try_get().ok();
        let mut waited_for = events.iter().map(|event| plan_of(*event).deadlines);
        // Most moments are one event, and then nothing is allocated.
        let waited_for = (waited_for.next().unwrap_or_default(), waited_for.collect());
        let mut followed_by = none.followed_by;
        if request.is_some() {
            for follower in events.iter().flat_map(|event| followers(*event)) {
                let ranks = plan_of(*follower).deadlines;
                followed_by.iter_mut().zip(ranks).for_each(|(is, rank)| *is |= rank.is_some());
            }
        }
        Self { request, moment, waited_for, followed_by, ..none }
    }

    /// Returns the caller's deadline, which nothing may exceed.
    pub(super) fn caller(&self) -> Option<Instant> {
        self.request.as_ref()?.until
    }

    /// Returns whether `bound` is a hook of a project for which there is no place.
    pub(super) fn has_no_place_for(&self, bound: &Bound) -> bool {
        let without_project = self.request.as_ref().is_some_and(|request| request.without_project);
        without_project && bound.hook.layer() == Layer::Project
    }

    /// Notes that `bound` is waited for.
    pub(super) fn wait_for(&self, bound: &Bound) {
        if let Some(request) = &self.request {
            request.spent.ran[bound.rewrite_order()].store(true, Ordering::Relaxed);
        }
    }

    /// Returns the lowest layer of whose hooks one was waited for in this request, by its position in the
    /// order of rewriting.
    pub(super) fn lowest(&self) -> Option<usize> {
        let spent = &self.request.as_ref()?.spent;
        spent.ran.iter().position(|ran| ran.load(Ordering::Relaxed))
    }

    /// Returns deadlines for background hooks: each has its own timeout.
    pub(super) fn none() -> Self {
        Self {
            started: Instant::now(),
            request: None,
            moment: None,
            waited_for: Default::default(),
            followed_by: Default::default(),
            shares: Default::default(),
        }
    }

    /// Returns when `bound`, a hook that starts now, has to be done.
    pub(super) fn until(&self, bound: &Bound) -> Until {
        let now = Instant::now();
        if self.has_no_place_for(bound) {
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
                self.caller().map(before),
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
        let ends = [self.caller(), share].into_iter().flatten();
        Until { answer, stop: ends.fold(answer + grace, Instant::min), late_message }
    }

    /// Returns the end of the time that the hooks of a layer have together, if hooks of a higher layer
    /// may run after them: half of what those have left when the first of these starts, in the moment
    /// and in the request.
    fn share(&self, bound: &Bound, now: Instant) -> Option<Instant> {
        let rank = bound.rank();
        let followers = self.shortest_above(bound);
        let half = |end: Instant| move || now + end.saturating_duration_since(now) / 2;
        let of_moment = followers.and_then(|shortest| {
            let theirs = self.started.checked_add(shortest);
            let end = [self.moment, theirs].into_iter().flatten().min()?;
            Some(*self.shares[rank].get_or_init(half(end)))
        });
        let is_followed = followers.is_some() || self.followed_by[..rank].contains(&true);
        let request = self.request.as_ref().filter(|_| is_followed);
        let of_request = request.and_then(|request| {
            Some(*request.spent.shares[rank].get_or_init(half(request.until?)))
        });
        of_moment.into_iter().chain(of_request).min()
    }

    /// Returns the shortest deadline of hooks of higher layers that may run after `bound` in the moment,
    /// if there are any.
    fn shortest_above(&self, bound: &Bound) -> Option<Duration> {
        // A rewrite makes other hooks run again, at any event, and after a rewriter those of the other
        // events run. So all ranks above count.
        let (first, others) = &self.waited_for;
        let may_rewrite =
            bound.is_rewriter() || bound.hook.event.contract().rewrite != Rewrite::None;
        if others.is_empty() && !may_rewrite {
            return None;
        }
        let ranks = std::iter::once(first).chain(others);
        ranks.flat_map(|ranks| &ranks[..bound.rank()]).flatten().min().copied()
    }
}
