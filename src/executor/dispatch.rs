//! The executor: the entry points that a host calls.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::background::HandedOver;
use super::conclude::{Concluded, Decided};
use super::evaluate::Evaluation;
use super::select::Plan;
use crate::config::Hook;
use crate::describe::DescribeCall;
use crate::event::Event;
use crate::handler::Capacity;
use crate::handlers::process::processes::{ProcessCheck, ProcessStatistics};
use crate::locks::locked;
use crate::recorder::{Recorded, Recorder};
use crate::registry::HandlerEnv;
use crate::wire::{Input, Verdict};

/// Runs the hooks of a configuration.
///
/// * Order: rewriters take turns, those of the lowest layer first and within a layer in file order,
///   and each gets what the one before it left. A hook is a rewriter if it has `mutates: true`, if it
///   is a builtin that rewrites, or if its event exists to rewrite. All others are judges: they run at
///   once, on the final input. A rewriter whose turn left another input judges the final one, too. A
///   judge that rewrites takes turns from then on, and the evaluation begins again. Each hook is
///   called once for each input. Nothing takes back a denial or an ask. The verdict does not
///   depend on which hook finishes first. Hooks with `background: true`
///   start after the verdict.
/// * Cancellation: dropping the future of [`dispatch`](Self::dispatch) stops the hooks it runs, and
///   their child processes, at once.
/// * Drop: dropping the executor stops background hooks and processes; [`shutdown`](Self::shutdown)
///   lets them finish.
/// * Panic: a hook that panics has failed; the host goes on.
/// * Runtime: any Tokio runtime with time and I/O enabled, of either flavour. None is built.
pub struct Executor {
    pub(crate) plans: Vec<Plan>,
    /// Every configured hook, disabled ones included.
    pub(crate) configured: Vec<Arc<Hook>>,
    /// Where its handlers were built; a successor takes it over.
    pub(super) environment: HandlerEnv,
    /// Reads tool calls, if anything does.
    pub(super) describer: Option<&'static dyn DescribeCall>,
    pub(crate) max_parallel: usize,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    pub(super) capacity: Arc<Capacity>,
    /// Whether another executor has taken over what can go on.
    pub(super) is_replaced: AtomicBool,
    /// Whether a session has logged which hooks never run.
    pub(crate) unfired_told: AtomicBool,
    /// The background hooks left to another process, if none is started here.
    pub(super) handed_over: Option<Mutex<Vec<HandedOver>>>,
}

/// Sets the kinds of a tool and other facts about it, by its name in the input.
pub(super) type DescribeTool = dyn Fn(&mut Input) + Send + Sync;

/// Options of one dispatch.
#[derive(Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a caller sets its fields")]
pub struct DispatchOptions<'w> {
    /// The events that take part only once a hook of another one rewrote the input.
    pub once_rewritten: &'w [Event],
    /// Which hooks before the tool have judged the call already, in another moment.
    pub judged: JudgedBefore<'w>,
    /// The events that follow from the others: they do not happen after a denial.
    pub following: &'w [Event],
    /// When the caller needs the answer. A hook that is late fails by its own `on_error`; what the other
    /// hooks decided, rewrote or redacted counts. A future of `dispatch` that is dropped loses all of that.
    pub until: Option<Instant>,
    /// Whether the caller can't replace what hooks rewrite: judges judge it as it came.
    pub stands: bool,
    /// The rank of the highest layer that asks, where a person answers: an allow of it ends the wait.
    pub asked_by: Option<usize>,
    /// Whether the caller wants to know how the hooks decided.
    pub shows_course: bool,
    /// Sets what is known of a tool, by the name that a hook has given the call.
    pub describe_tool: Option<&'w DescribeTool>,
}

/// Which hooks have judged a tool call before it came to `permission_request`: they judge it again with
/// `"repeated": true`.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_enums, reason = "a caller sets its fields")]
pub enum JudgedBefore<'w> {
    /// None.
    #[default]
    None,
    /// The hooks that these verdicts name.
    Named(&'w [Verdict]),
    /// All before the tool: an earlier process ran them.
    All,
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Executor")
            .field("hooks", &self.configured.len())
            .field("working_dir", &self.environment.working_dir)
            .finish_non_exhaustive()
    }
}

impl Executor {
    /// Returns whether any enabled hook is configured for `event`, or a log of decisions for all
    /// events. If not, a caller need not make an input. The hooks of `approval` answer what those of
    /// `permission_request` leave, so they count there, too.
    pub fn has(&self, event: Event) -> bool {
        !self.plan(event).hooks.is_empty()
            || event == Event::PermissionRequest && !self.plan(Event::Approval).hooks.is_empty()
            || self.recorder.as_ref().is_some_and(|recorder| recorder.records_all())
    }

    /// Returns whether a dispatch of `input` would do anything. If not, the verdict is
    /// [`Verdict::no_opinion`], and a caller needs no runtime. Conditions are not evaluated.
    pub fn concerns(&self, event: Event, input: &Input) -> bool {
        let plan = &self.plans[event.index()];
        self.recorder.is_some() && self.has(event)
            || event == Event::PermissionRequest && self.has_channel(input)
            || !plan.hooks.is_empty()
                && (!plan.matching(input).is_empty() || plan.why_no_choice(input).is_some())
    }

    /// Returns every configured hook, in config order; disabled ones included.
    pub fn hooks(&self) -> impl ExactSizeIterator<Item = &Hook> {
        self.configured.iter().map(AsRef::as_ref)
    }

    /// Takes the place of `old`, before anything is started here: hooks in the background go on, and so
    /// do processes whose definition and hooks file are the same. A [`shutdown`](Self::shutdown) of `old`
    /// leaves them alone.
    pub fn take_over(&mut self, old: &Self) {
        self.capacity = Arc::clone(&old.capacity);
        old.is_replaced.store(true, Ordering::Release);
        self.environment.processes.take_over(&old.environment.processes);
    }

    /// Starts the processes that are to be started with the executor, without waiting for them.
    ///
    /// A failure to start is logged, and reported to the first hook that calls the process.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub fn start_processes(&self) {
        self.environment.processes.start_eager();
    }

    /// Starts each process to see whether it can serve, and stops it.
    pub async fn check_processes(&self) -> Vec<ProcessCheck> {
        self.environment.processes.check().await
    }

    /// Returns the counts of each process.
    pub fn process_statistics(&self) -> Vec<ProcessStatistics> {
        self.environment.processes.statistics()
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
        // Most calls concern no hook, and making the options for `run` costs more than this check.
        if !self.concerns(event, input) {
            return Verdict::no_opinion(event);
        }
        self.run_concerned(event, input, DispatchOptions::default()).await
    }

    /// Returns the verdict for a host that could not ask the hooks of `event`, with the reason
    /// `why`. Each hook that matches `input` fails by its own `on_error`, and a redactor replaces what
    /// it could not check. Conditions count as true. Without an input every hook of the event fails.
    /// Hooks in the background are not started.
    pub fn failed(&self, event: Event, input: Option<&Input>, why: &str) -> Verdict {
        self.fail_moment(&[event], input, DispatchOptions::default(), why)
    }

    /// Like [`failed`](Self::failed), for `events` that fire together.
    pub fn fail_moment(
        &self,
        events: &[Event],
        input: Option<&Input>,
        options: DispatchOptions<'_>,
        why: &str,
    ) -> Verdict {
        let unknown = Input::default();
        let mut evaluation = Evaluation::new(self, events, input.unwrap_or(&unknown), &options);
        if input.is_none() {
            for stage in &mut evaluation.moment.stages {
                stage.matching = Arc::clone(&stage.plan.all);
            }
        }
        evaluation.give_up(why);
        let event = events.first().copied().unwrap_or_default();
        evaluation.conclude(false).into_verdict(event)
    }

    /// Like [`dispatch`](Self::dispatch), with options.
    pub async fn run(&self, event: Event, input: &Input, options: DispatchOptions<'_>) -> Verdict {
        if !self.concerns(event, input) {
            return Verdict::no_opinion(event);
        }
        self.run_concerned(event, input, options).await
    }

    async fn run_concerned(
        &self,
        event: Event,
        input: &Input,
        options: DispatchOptions<'_>,
    ) -> Verdict {
        let events = [event];
        let question = self.question(&events, input, options.until);
        let input = question.as_deref().unwrap_or(input);
        let mut evaluation = Evaluation::new(self, &events, input, &options);
        evaluation.run_until(options.until).await;
        let mut concluded = evaluation.conclude(true);
        drop(evaluation);
        self.record(&mut concluded, input, options.until).await;
        concluded.into_verdict(event)
    }

    /// Runs the hooks of `events`, which fire together.
    pub async fn run_moment(
        &self,
        events: &[Event],
        input: &Input,
        options: DispatchOptions<'_>,
    ) -> Decided {
        let question = self.question(events, input, options.until);
        let input = question.as_deref().unwrap_or(input);
        // Boxed, or every future of a host would carry its size.
        let mut evaluation = Box::new(Evaluation::new(self, events, input, &options));
        evaluation.run_until(options.until).await;
        let course = evaluation.course();
        let mut concluded = evaluation.conclude(true);
        let rewritten = evaluation.rewritten();
        drop(evaluation);
        self.record(&mut concluded, input, options.until).await;
        let verdicts: Vec<Verdict> =
            concluded.verdicts.into_iter().map(|(verdict, _)| verdict).collect();
        let verdict = match (concluded.whole, verdicts.first()) {
            (Some(whole), _) => *whole,
            (None, Some(only)) => only.clone(),
            (None, None) => Verdict::no_opinion(events.first().copied().unwrap_or_default()),
        };
        Decided { verdicts, verdict, rewritten, course }
    }

    /// Writes a verdict that no hook gave into the logs of decisions.
    pub async fn record_own(&self, verdict: &mut Verdict, input: &Input) {
        let Some(recorder) = &self.recorder else { return };
        let input = &*self.complete(verdict.event, input);
        let took = Duration::ZERO;
        let decided = Recorded { input, verdict, is_hooked: true, took, deadline: None };
        for problem in recorder.record(decided).await {
            verdict.tell(&problem);
        }
    }

    /// Writes the verdicts of a moment into the logs of decisions. A problem of writing becomes a
    /// message of the verdict, and of that of the whole moment.
    async fn record(&self, concluded: &mut Concluded, input: &Input, until: Option<Instant>) {
        let Some(recorder) = &self.recorder else { return };
        for (verdict, took) in &mut concluded.verdicts {
            let event = verdict.event;
            if !self.has(event) {
                continue;
            }
            let is_hooked = !self.plan(event).hooks.is_empty();
            let input = &*self.complete(event, input);
            let decided = Recorded { input, verdict, is_hooked, took: *took, deadline: until };
            for problem in recorder.record(decided).await {
                verdict.tell(&problem);
                if let Some(whole) = &mut concluded.whole {
                    whole.tell(&problem);
                }
            }
        }
    }

    pub(crate) fn plan(&self, event: Event) -> &Plan {
        &self.plans[event.index()]
    }

    /// Leaves hooks in the background to another process: none is started here any more, and
    /// [`take_handed_over`](Self::take_handed_over) returns them.
    ///
    /// For a program that must end as soon as it has answered.
    #[must_use]
    pub fn handing_over_background(mut self) -> Self {
        self.handed_over = Some(Mutex::default());
        self
    }

    /// Returns, and forgets, the background hooks that another process must start with
    /// [`start_background`](Self::start_background).
    pub fn take_handed_over(&self) -> Vec<HandedOver> {
        let Some(events) = &self.handed_over else { return Vec::new() };
        std::mem::take(&mut *locked(events))
    }

    /// Waits until background hooks are done and records are written, then stops the processes.
    /// Kills everything that is not done within `patience`.
    pub async fn shutdown(&self, patience: Duration) {
        let mut background = tokio::task::JoinSet::new();
        if !self.is_replaced.load(Ordering::Acquire) {
            background = self.capacity.take_background();
        }
        let all_done = async { while background.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, all_done).await.is_err() {
            tracing::warn!(
                hooks = background.len(),
                "background hooks were still running and are stopped"
            );
            background.shutdown().await;
        }
        if let Some(recorder) = &self.recorder {
            recorder.settle(patience).await;
        }
        self.environment.processes.shutdown().await;
    }

    /// Returns the input with the event's name and a working directory; a copy only where it has to
    /// be changed.
    pub(crate) fn complete<'a>(&self, event: Event, input: &'a Input) -> Cow<'a, Input> {
        if input.hook_event_name == Some(event) && !input.cwd.is_empty() && !input.repeated {
            return Cow::Borrowed(input);
        }
        let mut input = input.clone();
        input.hook_event_name = Some(event);
        // A caller can't say so: hooks that count would not count the call.
        input.repeated = false;
        if input.cwd.is_empty() {
            input.cwd = self.environment.working_dir.to_string_lossy().into_owned();
        }
        Cow::Owned(input)
    }
}
