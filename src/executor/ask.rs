//! Asks hooks: one, or many at once, each inside its deadline. A panic is a failure of the hook. Each
//! answer is kept with the input that it is about.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tracing::{Instrument as _, Span};

use super::dispatch::{DispatchOptions, Executor, JudgedBefore};
use super::interpret::Interpreter;
use super::outcome::Outcome;
use super::parallel::{Slots, run_all};
use super::select::{Bound, Plan};
use super::spans;
use super::time::{Deadlines, Until, now};
use super::versions::{Version, Versions, rewritten};
use crate::event::Event;
use crate::handler::{BoxFuture, Call, Failure, HandlerError, HandlerResult, Place, Shared};
use crate::wire::{Decision, Input};

/// The events before a tool call. Their hooks judge the call again if it is approved with other arguments.
pub const BEFORE_TOOL: [Event; 3] =
    [Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse];

/// A hook of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HookId {
    /// The place of its event in the moment.
    pub(super) place: usize,
    /// Its index among the hooks of its event.
    pub(super) index: usize,
}

/// One event of a moment.
pub(super) struct Stage<'e> {
    pub(super) event: Event,
    pub(super) plan: &'e Plan,
    /// Whether it takes part only once a hook of another event rewrote the input.
    pub(super) sleeps: bool,
    /// Whether it takes part only once no hook of the others denied.
    pub(super) follows: bool,
    /// How long its hooks took.
    pub(super) took: Duration,
    /// Which of its hooks have judged the call before the moment.
    judged: JudgedBefore<'e>,
    /// The hooks for the tool's first name.
    pub(super) matching: Arc<[usize]>,
    /// Its span, which begins when it takes part.
    pub(super) span: Option<Span>,
}

impl<'e> Stage<'e> {
    pub(super) fn new(
        event: Event,
        plan: &'e Plan,
        input: &Input,
        options: &DispatchOptions<'e>,
    ) -> Self {
        let sleeps = options.once_rewritten.contains(&event);
        let follows = options.following.contains(&event);
        let is_before_tool = BEFORE_TOOL.contains(&event);
        let judged = if is_before_tool { options.judged } else { JudgedBefore::None };
        Self {
            event,
            plan,
            sleeps,
            follows,
            took: Duration::ZERO,
            judged,
            matching: plan.matching(input),
            span: None,
        }
    }

    /// Returns whether its hooks only judge: they have judged the call before, and nothing rewrites it
    /// again.
    pub(super) fn only_judges(&self) -> bool {
        !matches!(self.judged, JudgedBefore::None)
    }

    /// Returns whether the hook has judged the call before the moment.
    pub(super) fn was_called(&self, bound: &Bound) -> bool {
        let verdicts = match self.judged {
            JudgedBefore::None => return false,
            JudgedBefore::All => return true,
            JudgedBefore::Named(verdicts) => verdicts,
        };
        let (name, source) = (bound.hook.label(), bound.hook.location.text());
        for verdict in verdicts.iter().filter(|verdict| verdict.event == self.event) {
            for report in &verdict.hooks {
                if report.name == name && report.source == source {
                    return true;
                }
            }
        }
        false
    }
}

/// The part of an evaluation that stays the same while hooks run.
pub(super) struct Moment<'e> {
    pub(super) executor: &'e Executor,
    pub(super) stages: Vec<Stage<'e>>,
    pub(super) versions: Versions<'e>,
    pub(super) deadlines: Deadlines,
    /// The rank of the highest layer that asks, where a person answers.
    pub(super) asked_by: Option<usize>,
    /// Why no hook is called any more: each missing answer is a failure then.
    pub(super) given_up: Option<String>,
}

/// A hook that is to be called with a version of the input.
#[derive(Clone, Copy)]
pub(super) struct Asked<'e> {
    pub(super) hook: HookId,
    bound: &'e Bound,
    version: Version,
    repeated: bool,
}

impl<'e> Moment<'e> {
    pub(super) fn bound(&self, hook: HookId) -> &'e Bound {
        &self.stages[hook.place].plan.hooks[hook.index]
    }

    /// Returns a version as the hooks of one event get it, and what is made of it at most once.
    pub(super) fn shown(
        &self,
        place: usize,
        version: Version,
        repeated: bool,
    ) -> (&Input, &Shared) {
        self.versions.shown(version, self.stages[place].event, place, repeated)
    }

    /// Returns the hooks of an event whose matcher matches a version, in config order.
    pub(super) fn matching(&self, place: usize, version: Version) -> Arc<[usize]> {
        let stage = &self.stages[place];
        if self.versions.is_renamed(version) {
            return stage.plan.matching(self.versions.input(version));
        }
        Arc::clone(&stage.matching)
    }

    /// Returns whether the matcher of a hook matches a version.
    pub(super) fn matches(&self, hook: HookId, version: Version) -> bool {
        self.matching(hook.place, version).binary_search(&hook.index).is_ok()
    }

    /// Returns the hook if its matcher and its `when` are for the input.
    pub(super) fn choose(
        &self,
        hook: HookId,
        version: Version,
        repeated: bool,
    ) -> Option<Asked<'e>> {
        if !self.matches(hook, version) {
            return None;
        }
        let bound = self.bound(hook);
        // When nothing is called any more, a condition counts as true.
        if self.given_up.is_none() && bound.hook.when.is_some() {
            let plan = self.stages[hook.place].plan;
            if !plan.may_concern(hook.index, self.shown(hook.place, version, repeated)) {
                return None;
            }
        }
        Some(Asked { hook, bound, version, repeated })
    }

    /// Calls hooks at once, those of higher layers first, and adds each answer as it comes.
    pub(super) async fn call_all(&self, asked: Vec<Asked<'e>>, answers: &mut Vec<Outcome>) {
        if let [only] = asked[..] {
            answers.extend(self.call(only, None).await);
            return;
        }
        let from = answers.len();
        let mut calls = Vec::new();
        for asked in &asked {
            // Boxed, or the compiler can't see that `dispatch` is `Send` for every lifetime.
            let call: BoxFuture<'_, _> = Box::pin(self.call(*asked, None));
            calls.push((asked.bound, call));
        }
        let mut is_over = false;
        run_all(calls, Slots::new(self.executor.max_parallel), |answer: Option<Outcome>| {
            is_over |= answer.as_ref().is_some_and(|answer| self.is_last_word(answer));
            answers.extend(answer);
            is_over
        })
        .await;
        if is_over {
            let answered: Vec<HookId> = answers[from..].iter().map(|answer| answer.hook).collect();
            let left = asked.iter().filter(|asked| !answered.contains(&asked.hook));
            answers.extend(
                left.map(|asked| asked.answer(Outcome::skipped("another hook answered first"))),
            );
        }
        answers[from..].sort_by_key(|answer| (answer.hook, answer.version));
    }

    /// Returns whether the answer ends the wait for the others: a person denied, or allowed all that
    /// is asked. A failure does not answer.
    fn is_last_word(&self, answer: &Outcome) -> bool {
        let hook = answer.hook;
        if self.stages[hook.place].event != Event::Approval || answer.error.is_some() {
            return false;
        }
        match answer.output.decision {
            Some(Decision::Deny) => true,
            Some(Decision::Allow) => self.bound(hook).rank() <= self.asked_by.unwrap_or_default(),
            _ => false,
        }
    }

    /// Returns the answer of a hook that is not called any more.
    fn give_up(&self, asked: Asked<'e>) -> Outcome {
        let why = self.given_up.as_deref().unwrap_or_default();
        let mut outcome = self.interpreter(asked.hook, self.versions.original()).failed(why);
        outcome.put_under_mode_of(asked.bound);
        asked.answer(outcome)
    }

    /// Calls a hook, a rewriter within its `share` of the time. Returns `None` if its `when`, looked
    /// at only now, does not hold.
    pub(super) async fn call(&self, asked: Asked<'e>, share: Option<Instant>) -> Option<Outcome> {
        if self.given_up.is_some() {
            return Some(self.give_up(asked));
        }
        let Asked { hook, bound, version, repeated } = asked;
        let stage = &self.stages[hook.place];
        let shown = self.shown(hook.place, version, repeated);
        let original =
            if version == Version::ORIGINAL { shown.0 } else { self.versions.original() };
        let until = self.deadlines.until(bound, share);
        let stop = until.stop;
        let place = Place::Event {
            capacity: &self.executor.capacity,
            rank: bound.rank(),
            // A program that must end with its answer waits for nothing in the background.
            may_leave: self.executor.handed_over.is_none(),
        };
        let span = spans::of_hook(bound, stage.span.as_ref());
        let (result, duration) = if span.is_disabled() {
            run(bound, stage.event, original, shown, until, place).await
        } else {
            let running = Box::pin(run(bound, stage.event, original, shown, until, place));
            running.instrument(span.clone()).await
        };
        let interpreter = self.interpreter(hook, shown.0);
        let mut outcome = match result {
            Ok(Ran::NotForInput) => {
                let skipped = Outcome::skipped("its `when` does not hold");
                spans::tell_outcome(&span, &skipped);
                return None;
            }
            Ok(Ran::Limited(why)) => interpreter.limited(why),
            Ok(Ran::Answered(result)) => interpreter.read(Ok(result), stop).await,
            Err(error) => interpreter.read(Err(error), stop).await,
        };
        self.refuse_name(hook, shown.0, &mut outcome);
        outcome.duration = duration;
        outcome.put_under_mode_of(bound);
        spans::tell_outcome(&span, &outcome);
        Some(asked.answer(outcome))
    }

    /// Fails a hook that gave the call a name that no tool can have: no guard could be chosen by it.
    fn refuse_name(&self, hook: HookId, input: &Input, outcome: &mut Outcome) {
        if outcome.output.updated_tool_name.is_none() {
            return;
        }
        let Some(named) = rewritten(input, &outcome.output, self.executor.describer) else {
            return;
        };
        let Some(cause) = self.stages[hook.place].plan.why_no_choice(&named) else { return };
        let cause = format!("it renamed the tool: {cause}");
        let interpreter = self.interpreter(hook, input);
        if let Some(failed) = interpreter.failed_unless_stricter(&outcome.output, &cause) {
            *outcome = failed;
        } else {
            outcome.output.drop_rewrite();
            outcome.warnings.push(cause);
        }
    }

    fn interpreter<'i>(&'i self, hook: HookId, input: &'i Input) -> Interpreter<'i> {
        let contract = self.stages[hook.place].plan.contract;
        // Only hooks of the events before the tool judge new arguments.
        let may_approve_with_arguments =
            contract.event == Event::PermissionRequest && self.stages.len() > 1;
        Interpreter { contract, bound: self.bound(hook), input, may_approve_with_arguments }
    }
}

impl Asked<'_> {
    fn answer(&self, outcome: Outcome) -> Outcome {
        let Self { hook, version, repeated, .. } = *self;
        Outcome { hook, version, repeated, ..outcome }
    }
}

/// How the run of a hook ended.
pub(super) enum Ran {
    /// With its result.
    Answered(HandlerResult),
    /// It did not begin: its `when` does not hold.
    NotForInput,
    /// It did not begin: its limit is reached, for this reason.
    Limited(String),
}

/// Runs `bound` on `input`, which is `original` with the rewrites so far, and returns its result
/// and how long it took.
pub(super) async fn run(
    bound: &Bound,
    event: Event,
    original: &Input,
    (input, shared): (&Input, &Shared),
    until: Until,
    place: Place<'_>,
) -> (Result<Ran, HandlerError>, Duration) {
    let started = now();
    let Until { answer, stop, late_message } = until;
    let timeout = bound.hook.timeout;
    if answer <= started {
        return (
            Err(HandlerError::new(Failure::TimedOut, late(late_message, timeout))),
            Duration::ZERO,
        );
    }
    let call =
        Call { event, input, deadline: answer, original, place, shared: Cow::Borrowed(shared) };
    let work = AssertUnwindSafe(async {
        // Left open by `Plan::may_concern`.
        if let Some(when) = &bound.hook.when
            && shared.is_long(input)
        {
            let when = Arc::clone(when);
            let looked = call.blocking(move |call| when.holds(call.input, &call.shared.memo));
            if !Box::pin(looked).await? {
                return Ok(Ran::NotForInput);
            }
        }
        if bound.counter.is_some()
            && let Some(why) = Box::pin(refusal(bound, &call)).await?
        {
            return Ok(Ran::Limited(why));
        }
        bound.handler.run(&call).await.map(Ran::Answered)
    })
    .catch_unwind();
    let result = match tokio::time::timeout_at(tokio::time::Instant::from_std(stop), work).await {
        // The handler knows its deadline, but not where the deadline came from.
        Ok(Ok(Err(error))) if late_message.is_some() && error.failure == Failure::TimedOut => {
            Err(HandlerError { message: late(late_message, timeout), ..error })
        }
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => Err(HandlerError::panicked(&*panic)),
        Err(_) => Err(HandlerError::new(Failure::TimedOut, late(late_message, timeout))),
    };
    (result, now().saturating_duration_since(started))
}

/// Returns the error of a hook that is late.
fn late(message: Option<&str>, timeout: Duration) -> String {
    match message {
        Some(message) => message.to_owned(),
        None => format!("timed out after {timeout:?}; raise its `timeout`"),
    }
}

/// Counts a run of a hook that has a limit. Returns why the hook must not run, if it must not.
///
/// # Errors
/// When it can't be counted.
async fn refusal(bound: &Bound, call: &Call<'_>) -> Result<Option<String>, HandlerError> {
    let (Some(counter), Some(limit)) = (&bound.counter, &bound.hook.limit) else {
        return Ok(None);
    };
    let (counter, runs) = (Arc::clone(counter), limit.clone());
    let counting = call.blocking(move |call| runs.admits(&counter, call.input));
    match counting.await? {
        Ok(true) => Ok(None),
        Ok(false) => Ok(Some(limit.reached())),
        Err(cause) => Err(HandlerError::new(Failure::Other, format!("`limit`: {cause}"))),
    }
}
