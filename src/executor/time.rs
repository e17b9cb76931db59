//! Until when the hooks of one moment may run.

use std::time::{Duration, Instant};

use super::select::{Bound, Plan};
use crate::config::Layer;
use crate::event::{Event, Permission, Rewrite};

tokio::task_local! {
    /// Those of the request of the task.
    static TERMS: Terms;
}

/// On which terms a caller has hooks run: those of one request, whose events share its time.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    since: Instant,
    until: Option<Instant>,
    is_of_host: bool,
    without_project: bool,
}

impl Terms {
    /// Returns those of a request that came now, and whose caller waits `until` then.
    pub fn until(until: Option<Instant>) -> Self {
        Self { since: Instant::now(), until, is_of_host: false, without_project: false }
    }

    /// Says that the request is of a host: any other event may follow one of it.
    #[must_use]
    pub fn of_host(self) -> Self {
        Self { is_of_host: true, ..self }
    }

    /// Sets whether hooks of a project have no place: they fail at once.
    #[must_use]
    pub fn without_project(self, without_project: bool) -> Self {
        Self { without_project, ..self }
    }

    /// Returns the events that may follow `events` in the request.
    fn followers(&self, events: &[Event]) -> impl Iterator<Item = Event> {
        let asks = |event: &Event| event.contract().permission != Permission::None;
        let may_ask = events.iter().any(asks);
        Event::all().filter(move |event| {
            self.is_of_host
                || may_ask && matches!(event, Event::PermissionRequest | Event::Approval)
        })
    }
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
    /// The request that it is part of, if it is of one.
    request: Option<Terms>,
    waited_for: WaitedFor,
    has_several_events: bool,
    /// Whether hooks of each rank only observe, which are the last of an event.
    observed_by: [bool; Layer::RANKS],
    /// Whether hooks of each rank may be waited for in the same request afterwards.
    followed_by: [bool; Layer::RANKS],
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
    pub(super) fn new<'p>(events: &[Event], plan_of: impl Fn(Event) -> &'p Plan) -> Self {
        let none = Self::none();
        let request = TERMS.try_get().ok();
        let Self { mut waited_for, mut observed_by, mut followed_by, .. } = none;
        for plan in events.iter().map(|event| plan_of(*event)) {
            let ranks = waited_for.iter_mut().zip(plan.deadlines);
            ranks.for_each(|(all, own)| *all = all.iter().copied().chain(own).min());
            observed_by.iter_mut().zip(plan.observed_by).for_each(|(is, rank)| *is |= rank);
        }
        let has_several_events = events.len() > 1;
        for follower in request.iter().flat_map(|request| request.followers(events)) {
            let ranks = plan_of(follower).deadlines;
            followed_by.iter_mut().zip(ranks).for_each(|(is, rank)| *is |= rank.is_some());
        }
        Self { request, waited_for, has_several_events, observed_by, followed_by, ..none }
    }

    /// Returns the caller's deadline, which nothing may exceed.
    pub(super) fn caller(&self) -> Option<Instant> {
        self.request.as_ref()?.until
    }

    /// Returns whether `bound` is a hook of a project, and its request has no place for those.
    pub(super) fn has_no_place_for(&self, bound: &Bound) -> bool {
        let without_project = self.request.as_ref().is_some_and(|request| request.without_project);
        without_project && bound.hook.layer() == Layer::Project
    }

    /// Returns deadlines for background hooks: each has its own timeout.
    pub(super) fn none() -> Self {
        Self {
            started: Instant::now(),
            request: None,
            waited_for: Default::default(),
            has_several_events: false,
            observed_by: Default::default(),
            followed_by: Default::default(),
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
        let share = self.share(bound);
        // A hook that is killed gives no answer: keep some time for SIGTERM.
        let before = |end: Instant| {
            end.checked_sub(grace.min(end.saturating_duration_since(now) / 5)).unwrap_or(now)
        };
        let deadlines = [
            (layer, "the event's deadline passed before it answered; raise `defaults.deadline`"),
            (share.map(before), "timed out: the rest of the time is for hooks of higher layers"),
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

    /// Returns the end of the time of `bound`'s layer, if hooks of higher layers may run after it: a
    /// project has the first half of the moment and of the request, the user the first three quarters.
    fn share(&self, bound: &Bound) -> Option<Instant> {
        let kept = 1 << (Layer::RANKS - bound.rank());
        let end = |since: Instant, end: Instant| {
            end.checked_sub(end.saturating_duration_since(since) / kept).unwrap_or(since)
        };
        let theirs = self.shortest_above(bound);
        let of_moment = theirs
            .and_then(|shortest| Some(end(self.started, self.started.checked_add(shortest)?)));
        let is_followed = theirs.is_some() || self.followed_by[..bound.rank()].contains(&true);
        let request = self.request.as_ref().filter(|_| is_followed);
        let of_request = request.and_then(|request| Some(end(request.since, request.until?)));
        of_moment.into_iter().chain(of_request).min()
    }

    /// Returns the shortest deadline of hooks of higher layers that may run after `bound` in the moment,
    /// if there are any.
    fn shortest_above(&self, bound: &Bound) -> Option<Duration> {
        // A rewrite makes other hooks run again, at any event, and after a rewriter those of the other
        // events run. So all ranks above count.
        let may_rewrite =
            bound.is_rewriter() || bound.hook.event.contract().rewrite != Rewrite::None;
        let is_observed = self.observed_by[..bound.rank()].contains(&true);
        if !self.has_several_events && !may_rewrite && !is_observed {
            return None;
        }
        self.waited_for[..bound.rank()].iter().flatten().min().copied()
    }
}
