//! Runs the hooks of a configuration: the doors that a host uses.

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
///   file order within a layer, and each sees the result of the one before. A hook is a rewriter if it says `mutates: true`, if it is a builtin that rewrites, and on
///   every event that exists to rewrite. All others run at once, on the final input; those with
///   `background: true` are started and not waited for. A rewriter that did not see the final input
///   is asked once more, for its decision only. The verdict is folded in config order, so it does not
///   depend on which hook finishes first.
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
    /// What hooks in the background are to be told by another process, when none is started here.
    pub(super) handed_over: Option<Mutex<Vec<(Event, Input)>>>,
}

/// What a caller wants beyond a verdict.
#[derive(Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "only packages of this workspace use it")]
pub struct Wish<'w> {
    /// When the verdict must be there.
    pub deadline: Option<Instant>,
    /// Whether an event of the same moment follows that has hooks which are not the project's.
    pub others_follow: bool,
    /// Until when the hooks of the project may run in all events of the same moment.
    pub project_until: Option<&'w OnceLock<Instant>>,
    /// What is told of each hook.
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
    /// Returns whether any enabled hook is configured for `event`, or a log of decisions for all, so
    /// that a caller can spare itself the making of an input.
    #[must_use]
    pub fn has(&self, event: Event) -> bool {
        !self.plans[event.index()].hooks.is_empty()
            || self.auditor.as_ref().is_some_and(Auditor::records_all)
    }

    /// Returns whether anything would be done if `input` were dispatched. When not, the verdict is
    /// [`Verdict::no_opinion`], and a caller can spare itself a runtime. Conditions are not looked at.
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
    /// There is no error to return: what goes wrong is part of the verdict, so that a host can't
    /// take a failure for permission. On an event matched by tool, an input without `tool_name`, or
    /// with control characters in it, is denied where the event may be blocked.
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

    /// Like [`dispatch`](Self::dispatch), and tells `observer` of each hook that starts and ends.
    /// Hooks in the background are left out.
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

    /// Returns the verdict when the hooks of `event` can't be asked, because of `why`: each hook that
    /// matches `input` fails by its own `on_error`, and a redactor withholds. Conditions are taken to
    /// hold. Without an input every hook of the event fails.
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
        auditor.record(event, &input, &mut verdict, hooked, started.elapsed()).await;
        verdict
    }

    async fn decide(&self, event: Event, input: &Input, wish: Wish<'_>) -> Verdict {
        if let Some(verdict) = self.without_hooks(event, input) {
            return verdict;
        }
        let deadlines = Deadlines::new(self.plan(event), self.deadline, wish);
        Dispatch::new(self, event, deadlines, wish.observer).run(self.complete(event, input)).await
    }

    /// Returns the verdict on an input that no hook is asked about.
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

    /// Returns whether hooks of `event` are waited for that did not come with the project.
    #[doc(hidden)]
    pub fn has_others(&self, event: Event) -> bool {
        self.plan(event).has_others()
    }

    /// Leaves hooks in the background to another process: none is started here any more, and
    /// [`take_handed_over`](Self::take_handed_over) says what they are to be told.
    ///
    /// For a program that must end as soon as it has answered.
    #[must_use]
    pub fn handing_over_background(mut self) -> Self {
        self.handed_over = Some(Mutex::default());
        self
    }

    /// Returns, and forgets, the events whose hooks in the background another process is to start
    /// with [`start_background`](Self::start_background), each with the input as it was in the end.
    pub fn take_handed_over(&self) -> Vec<(Event, Input)> {
        let Some(events) = &self.handed_over else { return Vec::new() };
        std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves the background hooks of `event` to another process, unless that is done already.
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

    /// Waits until background hooks are done, then stops the processes; whatever is not done within
    /// `patience` is killed.
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
/// They are called where the dispatch is polled and must not block. A hook that is asked again,
/// because another hook rewrote the input, starts and ends more than once.
pub trait Observer: Send + Sync {
    /// A hook starts.
    fn started(&self, hook: &Hook) {
        let _ = hook;
    }

    /// A hook has ended, in whichever way.
    fn finished(&self, report: &HookReport) {
        let _ = report;
    }
}
