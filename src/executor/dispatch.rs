//! The phases of one event: mutators in turn, everyone else at once, and once more on a new input.
//!
//! What must hold at the end: no answer that could have kept the event from going on rests on an
//! input other than the last.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::fold::fold;
use super::interpret::Interpreter;
use super::outcome::Outcome;
use super::parallel::{Slots, run_all};
use super::rewrite::{Current, rewritten};
use super::run::run;
use super::select::{Bound, Plan};
use crate::audit::Auditor;
use crate::config::Hook;
use crate::event::{Event, FailureMode};
use crate::handlers::process::Processes;
use crate::registry::{BoxFuture, Shared};
use crate::wire::{Decision, HookReport, HookStatus, Input, Output, Verdict};

/// Runs the hooks of a configuration.
///
/// * Order: hooks that match run in three phases. Those with `mutates: true` run one after another,
///   each seeing the rewrites before it; all others run at once; those with `background: true` are
///   started and not waited for. Whoever judged an input that was rewritten later judges again. The verdict is folded in config order, so it does not depend on
///   which hook finishes first.
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
        self.run(event, input, None).await
    }

    /// Does what [`dispatch`](Self::dispatch) does, and tells `observer` of each hook that starts
    /// and ends on the way. Hooks in the background are not told of.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch_observed(
        &self,
        event: Event,
        input: &Input,
        observer: &dyn Observer,
    ) -> Verdict {
        self.run(event, input, Some(observer)).await
    }

    async fn run(&self, event: Event, input: &Input, observer: Option<&dyn Observer>) -> Verdict {
        let Some(auditor) = self.auditor.as_ref().filter(|_| self.has(event)) else {
            return self.decide(event, input, observer).await;
        };
        let started = Instant::now();
        let mut verdict = self.decide(event, input, observer).await;
        let input = self.complete(event, input);
        let hooked = !self.plans[event.index()].hooks.is_empty();
        auditor.record(event, &input, &mut verdict, hooked, started.elapsed()).await;
        verdict
    }

    async fn decide(
        &self,
        event: Event,
        input: &Input,
        observer: Option<&dyn Observer>,
    ) -> Verdict {
        let plan = &self.plans[event.index()];
        if plan.hooks.is_empty() {
            return Verdict::no_opinion(event);
        }
        if let Some(cause) = plan.no_choice(input).filter(|_| plan.contract.may_block) {
            return Verdict::denied(event, cause);
        }
        if plan.matching(input).is_empty() {
            return Verdict::no_opinion(event);
        }
        let input = self.complete(event, input);
        let started = Instant::now();
        let deadline = self.deadline.map(|limit| started + limit);
        let outcomes = Vec::new();
        Dispatch { executor: self, plan, event, started, deadline, observer, outcomes }
            .run(input)
            .await
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

    /// Starts the hooks of `event` that run in the background, and no others;
    /// [`shutdown`](Self::shutdown) waits for them.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub fn start_background(&self, event: Event, input: &Input) {
        let plan = &self.plans[event.index()];
        let (input, outcomes) = (self.complete(event, input), Vec::new());
        let (started, deadline, observer) = (Instant::now(), None, None);
        let mut dispatch =
            Dispatch { executor: self, plan, event, started, deadline, observer, outcomes };
        dispatch.start_background(&Current::new(input));
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

/// Is told what happens while an event is dispatched.
///
/// It is called where the dispatch is polled and must not block. A hook that has to answer anew,
/// because another rewrote the input, starts and ends more than once.
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

/// One event on its way to a verdict.
struct Dispatch<'e> {
    executor: &'e Executor,
    plan: &'e Plan,
    event: Event,
    started: Instant,
    deadline: Option<Instant>,
    observer: Option<&'e dyn Observer>,
    /// At most one for each hook.
    outcomes: Vec<Outcome>,
}

impl Dispatch<'_> {
    async fn run(mut self, input: Cow<'_, Input>) -> Verdict {
        let mut current = Current::new(input);
        if self.mutate(&mut current).await {
            self.validate(&mut current).await;
            self.ask_mutators_again(&current).await;
            self.tell_observers(&current).await;
        }
        self.start_background(&current);
        self.outcomes.sort_by_key(|outcome| outcome.index);
        self.drop_outdated_permissions(current.generation);
        let mut verdict = fold(self.event, &self.plan.hooks, &self.outcomes);
        current.report(&mut verdict);
        verdict
    }

    /// Runs the mutators in turn and returns whether the event goes on.
    async fn mutate(&mut self, current: &mut Current<'_>) -> bool {
        let plan = self.plan;
        for (index, bound) in plan.hooks.iter().enumerate().filter(|(_, bound)| bound.hook.mutates)
        {
            // Asked anew for each: an earlier mutator may have renamed the tool.
            if !self.selects(index, current) {
                continue;
            }
            let mut outcome = self.call(bound, current).await;
            current.apply(&outcome.output);
            outcome.generation = current.generation;
            let denied = outcome.denied();
            self.outcomes.push(outcome);
            if denied {
                self.skip_rest(current);
                return false;
            }
        }
        true
    }

    /// Runs everyone else at once; should one of them rewrite all the same, the others once more.
    async fn validate(&mut self, current: &mut Current<'_>) {
        let selected = self.select(current);
        let mut outcomes = self.call_all(&selected, current).await;

        let mut rewriters = Vec::new();
        for outcome in outcomes.iter().filter(|outcome| !outcome.denied()) {
            if current.apply(&outcome.output) {
                rewriters.push(outcome.index);
            }
        }
        if rewriters.is_empty() {
            self.outcomes.append(&mut outcomes);
            return;
        }
        // Who alone made the new input has seen it; of several, none has.
        let settled = if let [only] = rewriters[..] { Some(only) } else { None };
        for mut outcome in outcomes {
            if Some(outcome.index) == settled {
                outcome.generation = current.generation;
                self.outcomes.push(outcome);
            }
        }
        let again: Vec<usize> =
            self.select(current).into_iter().filter(|index| Some(*index) != settled).collect();
        for outcome in self.call_all(&again, current).await {
            let outcome = self.settle(outcome, current);
            self.outcomes.push(outcome);
        }
    }

    /// Has the mutators judge the last input that did not see it. Their time to rewrite is over.
    async fn ask_mutators_again(&mut self, current: &Current<'_>) {
        // Where nothing can be prevented, a second answer is of no use.
        if !self.plan.contract.may_stop() || self.outcomes.iter().any(Outcome::denied) {
            return;
        }
        let saw_it = |index: usize| {
            let generation = current.generation;
            self.outcomes.iter().any(|it| it.index == index && it.generation == generation)
        };
        let outdated: Vec<usize> = self
            .selected(current)
            .into_iter()
            .filter(|index| self.plan.hooks[*index].hook.mutates && !saw_it(*index))
            .collect();
        for outcome in self.call_all(&outdated, current).await {
            let outcome = self.settle(outcome, current);
            match self.outcomes.iter_mut().find(|first| first.index == outcome.index) {
                Some(first) => *first = outcome.after(first),
                None => self.outcomes.push(outcome),
            }
        }
    }

    /// A rewrite that changes the input even now would go on for ever: it is a failure.
    fn settle(&self, mut outcome: Outcome, current: &Current<'_>) -> Outcome {
        if outcome.denied() || rewritten(current.input(), &outcome.output).is_none() {
            return outcome;
        }
        let bound = &self.plan.hooks[outcome.index];
        let cause = if bound.hook.mutates {
            "its rewrite does not settle: it also rewrites what the hooks after it made of the \
             input; put it behind them, or let it leave alone what is as it wants it"
        } else {
            "its rewrite does not settle: given the rewritten input it rewrote again; \
             set `mutates: true` on hooks that rewrite"
        };
        if bound.hook.mutates
            && bound.hook.on_error.is_none()
            && self.plan.contract.failure == FailureMode::Open
        {
            // In a chain of rewriters the last one has the last word, and no guard is among them.
            outcome.warnings.push(format!("{cause}; ignored"));
            outcome.output.decision = outcome.output.decision.filter(|it| *it != Decision::Allow);
            return outcome;
        }
        let interpreter = self.interpreter(bound, current.input());
        let failed =
            interpreter.failed_unless_stricter(&outcome.output, cause).unwrap_or_else(|| {
                // Its ask stands, although what it wants to be asked about does not.
                let Output { decision, reason, .. } = outcome.output;
                let output = Output { decision, reason, ..Output::default() };
                Outcome { output, ..interpreter.failed(cause) }
            });
        Outcome { duration: outcome.duration, generation: outcome.generation, ..failed }
    }

    /// Tells the hooks that only observe: once, and of the input that all others agreed on.
    async fn tell_observers(&mut self, current: &Current<'_>) {
        let plan = self.plan;
        for (index, bound) in plan.hooks.iter().enumerate().filter(|(_, bound)| bound.hook.observe)
        {
            if self.selects(index, current) {
                let outcome = self.call(bound, current).await;
                self.outcomes.push(outcome);
            }
        }
    }

    /// Starts the hooks that nobody waits for.
    fn start_background(&mut self, current: &Current<'_>) {
        let plan = self.plan;
        let selected: Vec<&Bound> = plan
            .hooks
            .iter()
            .filter(|bound| bound.hook.background && self.selects(bound.index, current))
            .collect();
        let started = |bound: &&Bound| {
            let status = HookStatus::Background;
            Outcome { status, ..Outcome::none(bound.index) }
        };
        self.outcomes.extend(selected.iter().map(started));
        if let Some(events) = &self.executor.handed_over {
            if !selected.is_empty() {
                let input = current.input().clone();
                events.lock().unwrap_or_else(PoisonError::into_inner).push((self.event, input));
            }
            return;
        }
        for bound in selected {
            let (bound, event) = (bound.clone(), self.event);
            let input = current.input().clone();
            let mut background =
                self.executor.background.lock().unwrap_or_else(PoisonError::into_inner);
            while background.try_join_next().is_some() {}
            background.spawn(async move {
                let (result, _) = run(&bound, event, &input, &input, &Shared::default(), None, None).await;
                if let Err(error) = result {
                    tracing::warn!(hook = %bound.title(), %event, "background hook failed: {error}");
                }
            });
        }
    }

    async fn call_all(&self, indexes: &[usize], current: &Current<'_>) -> Vec<Outcome> {
        if let [index] = *indexes {
            return vec![self.call(&self.plan.hooks[index], current).await];
        }
        // Boxed, or the compiler can't see that `dispatch` is `Send` for every lifetime.
        let calls = indexes.iter().map(|index| {
            let bound = &self.plan.hooks[*index];
            let call: BoxFuture<'_, Outcome> = Box::pin(self.call(bound, current));
            (Arc::clone(&bound.hook.limits), call)
        });
        let slots = Slots::new(self.executor.max_parallel);
        let mut outcomes = run_all(calls.collect(), slots).await;
        outcomes.sort_by_key(|outcome| outcome.index);
        outcomes
    }

    async fn call(&self, bound: &Bound, current: &Current<'_>) -> Outcome {
        if let Some(observer) = self.observer {
            observer.started(&bound.hook);
        }
        let (original, input) = (current.original(), current.input());
        let own = bound.hook.limits.deadline.map(|limit| self.started + limit);
        let deadline = self.deadline.into_iter().chain(own).min();
        // A program that must end with its answer waits for nothing in the background.
        let background = self.executor.handed_over.is_none().then_some(&self.executor.background);
        let (result, duration) =
            run(bound, self.event, original, input, &current.shared, deadline, background).await;
        let outcome = self.interpreter(bound, current.input()).read(result);
        let mut outcome = outcome.under_mode_of(bound);
        outcome.duration = duration;
        outcome.generation = current.generation;
        tracing::debug!(
            event = %self.event,
            hook = %bound.hook.label(),
            source = %bound.hook.location,
            status = ?outcome.status,
            decision = ?outcome.output.decision,
            error = outcome.error.as_deref(),
            elapsed = ?duration,
            "hook ran"
        );
        if let Some(observer) = self.observer {
            observer.finished(&outcome.report(bound));
        }
        outcome
    }

    fn interpreter<'i>(&self, bound: &'i Bound, input: &'i Input) -> Interpreter<'i> {
        Interpreter { contract: self.plan.contract, bound, input }
    }

    fn selects(&self, index: usize, current: &Current<'_>) -> bool {
        self.plan.matching(current.input()).contains(&index)
            && self.plan.condition_holds(index, current.input())
    }

    /// Returns the hooks that validate `current`, in config order.
    fn select(&self, current: &Current<'_>) -> Vec<usize> {
        let validates = |index: &usize| {
            let hook = &self.plan.hooks[*index].hook;
            !hook.mutates && !hook.background && !hook.observe
        };
        self.selected(current).into_iter().filter(validates).collect()
    }

    /// Returns the hooks that are for `current`, in config order.
    fn selected(&self, current: &Current<'_>) -> Vec<usize> {
        let holds = |index: &usize| self.plan.condition_holds(*index, current.input());
        self.plan.matching(current.input()).iter().copied().filter(holds).collect()
    }

    /// Notes the hooks that did not run because the event was denied before.
    fn skip_rest(&mut self, current: &Current<'_>) {
        let seen = |index: usize| self.outcomes.iter().any(|outcome| outcome.index == index);
        let rest: Vec<Outcome> = self
            .plan
            .matching(current.input())
            .iter()
            .filter(|index| !seen(**index) && !self.plan.hooks[**index].hook.background)
            .map(|index| Outcome::skipped(*index, "an earlier hook denied the event"))
            .collect();
        self.outcomes.extend(rest);
    }

    /// What was allowed, or answered in the tool's place, for an input other than the final one
    /// permits nothing.
    fn drop_outdated_permissions(&mut self, generation: usize) {
        for outcome in self.outcomes.iter_mut().filter(|it| it.generation != generation) {
            let mut drop = |what: &str| {
                let warning =
                    format!("its {what} was for an input that was rewritten later; ignored");
                outcome.warnings.push(warning);
            };
            if outcome.output.decision == Some(Decision::Allow) {
                outcome.output.decision = None;
                drop("allow");
            }
            if outcome.output.respond.take().is_some() {
                drop("answer in the tool's place");
            }
        }
    }
}
