//! The executor: the entry points that a host calls.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::phases::Dispatch;
use super::rewrite::Current;
use super::select::Plan;
use super::time::Deadlines;
use crate::audit::Auditor;
use crate::config::Hook;
use crate::event::Event;
use crate::handlers::process::Processes;
use crate::wire::{HookReport, Input, Verdict};

/// Runs the hooks of a configuration.
///
/// * Order: rewriters run one after another, layer by layer from the lowest to the highest and in
///   file order within a layer, and each sees the result of the one before. A hook is a rewriter if
///   it has `mutates: true`, if it is a builtin that rewrites, or if its event exists to rewrite.
///   All others run at once, on the final input; those with `background: true` are started and not
///   waited for. A rewriter that did not see the final input runs once more, for its decision only.
///   The verdict is folded in config order, so it does not depend on which hook finishes first.
/// * Cancellation: dropping the future of [`dispatch`](Self::dispatch) stops the hooks it runs, and
///   their child processes, at once.
/// * Drop: dropping the executor stops background hooks and processes; [`shutdown`](Self::shutdown)
///   lets them finish.
/// * Panic: a hook that panics has failed; the host goes on.
/// * Runtime: any Tokio runtime with time and I/O enabled, of either flavour. None is built.
pub struct Executor {
    pub(super) plans: Vec<Plan>,
    /// Every configured hook, disabled ones included.
    pub(super) configured: Vec<Arc<Hook>>,
    pub(super) working_dir: PathBuf,
    pub(super) processes: Arc<Processes>,
    pub(super) max_parallel: usize,
    pub(super) deadline: Option<Duration>,
    pub(super) auditor: Option<Auditor>,
    pub(super) background: Mutex<JoinSet<()>>,
    /// The background hooks left to another process, if none is started here.
    pub(super) handed_over: Option<Mutex<Vec<(Event, Input)>>>,
}

/// Options of one dispatch.
#[derive(Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "only packages of this workspace use it")]
pub struct Wish<'w> {
    /// The deadline of the verdict.
    pub deadline: Option<Instant>,
    /// Whether another event of the same moment follows that has hooks of the user or the
    /// administrator.
    pub others_follow: bool,
    /// Until when the hooks of the project may run in all events of the same moment.
    pub project_until: Option<&'w OnceLock<Instant>>,
    /// Receives progress callbacks for each hook.
    pub observer: Option<&'w dyn Observer>,
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Executor")
            .field("hooks", &self.configured.len())
            .field("working_dir", &self.working_dir)
            .finish_non_exhaustive()
    }
}

impl Executor {
    /// Returns whether any enabled hook is configured for `event`, or a log of decisions for all
    /// events. If not, a caller need not make an input.
    #[must_use]
    pub fn has(&self, event: Event) -> bool {
        !self.plans[event.index()].hooks.is_empty()
            || self.auditor.as_ref().is_some_and(Auditor::records_all)
    }

    /// Returns whether a dispatch of `input` would do anything. If not, the verdict is
    /// [`Verdict::no_opinion`], and a caller needs no runtime. Conditions are not evaluated.
    #[must_use]
    pub fn concerns(&self, event: Event, input: &Input) -> bool {
        let plan = &self.plans[event.index()];
        self.auditor.is_some() && self.has(event)
            || !plan.hooks.is_empty()
                && (plan.no_choice(input).is_some() || !plan.matching(input).is_empty())
    }

    /// Returns every configured hook, in config order; disabled ones included.
    pub fn hooks(&self) -> impl ExactSizeIterator<Item = &Hook> {
        self.configured.iter().map(AsRef::as_ref)
    }

    /// Returns the processes that hooks of type `process` call.
    #[must_use]
    pub fn processes(&self) -> &Arc<Processes> {
        &self.processes
    }

    /// Runs the hooks of `event` that match `input` and folds their answers into one verdict.
    ///
    /// A failure is part of the verdict, not an error, so that a host can't mistake it for
    /// permission. At an event matched by tool that may be blocked, an input without `tool_name`,
    /// or with control characters in it, is denied.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch(&self, event: Event, input: &Input) -> Verdict {
        self.run(event, input, Wish::default()).await
    }

    /// Like [`dispatch`](Self::dispatch), and returns at `deadline` at the latest.
    ///
    /// A hook that is late fails by its own `on_error`; what the other hooks decided, rewrote or
    /// redacted counts. Dropping the future of `dispatch` at the deadline would lose all of that.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch_until(&self, event: Event, input: &Input, deadline: Instant) -> Verdict {
        self.run(event, input, Wish { deadline: Some(deadline), ..Wish::default() }).await
    }

    /// Like [`dispatch`](Self::dispatch), and calls `observer` when a hook starts and ends. Hooks
    /// in the background are left out.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch_observed(
        &self,
        event: Event,
        input: &Input,
        observer: &dyn Observer,
    ) -> Verdict {
        self.run(event, input, Wish { observer: Some(observer), ..Wish::default() }).await
    }

    /// Returns the verdict for a host that could not ask the hooks of `event`, with the reason
    /// `why`. Each hook that matches `input` fails by its own `on_error`, and a redactor withholds.
    /// Conditions count as true. Without an input every hook of the event fails.
    #[must_use]
    pub fn failed(&self, event: Event, input: Option<&Input>, why: &str) -> Verdict {
        let without = match input {
            Some(input) => self.without_hooks(event, input),
            None => self.plan(event).hooks.is_empty().then(|| Verdict::no_opinion(event)),
        };
        without
            .unwrap_or_else(|| Dispatch::new(self, event, Deadlines::none(), None).fail(input, why))
    }

    #[doc(hidden)]
    pub async fn run(&self, event: Event, input: &Input, wish: Wish<'_>) -> Verdict {
        let Some(auditor) = self.auditor.as_ref().filter(|_| self.has(event)) else {
            return self.decide(event, input, wish).await;
        };
        let started = Instant::now();
        let mut verdict = self.decide(event, input, wish).await;
        let input = self.complete(event, input);
        let hooked = !self.plans[event.index()].hooks.is_empty();
        let took = started.elapsed();
        auditor.record(event, &input, &mut verdict, hooked, took, wish.deadline).await;
        verdict
    }

    async fn decide(&self, event: Event, input: &Input, wish: Wish<'_>) -> Verdict {
        if let Some(verdict) = self.without_hooks(event, input) {
            return verdict;
        }
        let deadlines = Deadlines::new(self.plan(event), self.deadline, wish);
        Dispatch::new(self, event, deadlines, wish.observer).run(self.complete(event, input)).await
    }

    /// Returns the verdict on an input for which no hook runs.
    fn without_hooks(&self, event: Event, input: &Input) -> Option<Verdict> {
        let plan = self.plan(event);
        if plan.hooks.is_empty() {
            return Some(Verdict::no_opinion(event));
        }
        if let Some(cause) = plan.no_choice(input).filter(|_| plan.contract.may_block) {
            return Some(Verdict::denied(event, cause));
        }
        plan.matching(input).is_empty().then(|| Verdict::no_opinion(event))
    }

    pub(super) fn plan(&self, event: Event) -> &Plan {
        &self.plans[event.index()]
    }

    /// Returns whether `event` waits for hooks of the user, the administrator or the program.
    #[doc(hidden)]
    pub fn has_others(&self, event: Event) -> bool {
        self.plan(event).has_others()
    }

    /// Leaves hooks in the background to another process: this executor starts none any more, and
    /// [`take_handed_over`](Self::take_handed_over) returns their events and inputs.
    ///
    /// For a program that must end as soon as it has answered.
    #[must_use]
    pub fn handing_over_background(mut self) -> Self {
        self.handed_over = Some(Mutex::default());
        self
    }

    /// Returns, and forgets, the events whose background hooks another process must start with
    /// [`start_background`](Self::start_background), each with its final input.
    pub fn take_handed_over(&self) -> Vec<(Event, Input)> {
        let Some(events) = &self.handed_over else { return Vec::new() };
        std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves the background hooks of `event` to another process, at most once.
    #[doc(hidden)]
    pub fn hand_over(&self, event: Event, input: &Input) {
        let is_new = self.handed_over.as_ref().is_some_and(|events| {
            let events = events.lock().unwrap_or_else(PoisonError::into_inner);
            !events.iter().any(|(known, _)| *known == event)
        });
        if is_new {
            self.start_background(event, input);
        }
    }

    /// Starts the hooks of `event` that run in the background, and no others;
    /// [`shutdown`](Self::shutdown) waits for them.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub fn start_background(&self, event: Event, input: &Input) {
        let mut dispatch = Dispatch::new(self, event, Deadlines::none(), None);
        let input = self.complete(event, input);
        dispatch.start_background(&Current::new(self.plan(event), input));
    }

    /// Waits until background hooks are done and records are written, then stops the processes.
    /// Kills everything that is not done within `patience`.
    pub async fn shutdown(&self, patience: Duration) {
        let mut background =
            std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        let all_done = async { while background.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, all_done).await.is_err() {
            tracing::warn!(
                hooks = background.len(),
                "background hooks were still running and are stopped"
            );
            background.shutdown().await;
        }
        if let Some(auditor) = &self.auditor {
            auditor.settle(patience).await;
        }
        self.processes.shutdown().await;
    }

    /// Returns the input with the event's name and a working directory; a copy only when one of
    /// them is missing.
    pub(super) fn complete<'a>(&self, event: Event, input: &'a Input) -> Cow<'a, Input> {
        if input.hook_event_name == Some(event) && !input.cwd.is_empty() {
            return Cow::Borrowed(input);
        }
        let mut input = input.clone();
        input.hook_event_name = Some(event);
        if input.cwd.is_empty() {
            input.cwd = self.working_dir.to_string_lossy().into_owned();
        }
        Cow::Owned(input)
    }
}

/// Receives progress callbacks while an event is dispatched.
///
/// The callbacks run where the dispatch is polled and must not block. A hook that runs again,
/// because another hook rewrote the input, starts and ends more than once.
pub trait Observer: Send + Sync {
    /// A hook starts.
    fn started(&self, hook: &Hook) {
        let _ = hook;
    }

    /// A hook has ended, in any way.
    fn finished(&self, report: &HookReport) {
        let _ = report;
    }
}
