//! Hooks that nothing waits for: they get the final input, and the verdict afterwards.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tracing::{Instrument as _, Span};

use super::ask::{Ran, run};
use super::dispatch::Executor;
use super::evaluate::Evaluation;
use super::interpret::Interpreter;
use super::outcome::Outcome;
use super::select::{Bound, Plan};
use super::spans;
use super::time::Deadlines;
use crate::config::Phase;
use crate::describe::Memo;
use crate::event::Event;
use crate::handler::{BACKGROUND_FULL, BoxFuture, Place, Seat, Shared};
use crate::locks::locked;
use crate::wire::{Decision, HookStatus, Input, JsonObject, Verdict};

/// Hooks that another process must start: their event, and the input for them.
pub type HandedOver = (Event, Input);

impl Plan {
    /// Returns whether hooks follow the verdict: those in the background, and observers.
    pub(super) fn has_followers(&self) -> bool {
        self.hooks.iter().any(|bound| !bound.hook.phase.is_answered())
    }

    /// Returns the hooks that follow the verdict on `input`.
    fn followers(&self, matching: &[usize], input: &Input, shared: &Shared) -> Vec<usize> {
        let mut followers = Vec::new();
        for index in matching {
            let is_answered = self.hooks[*index].hook.phase.is_answered();
            if !is_answered && self.may_concern(*index, (input, shared)) {
                followers.push(*index);
            }
        }
        followers
    }
}

impl Evaluation<'_> {
    /// Starts the hooks that follow the verdict `whole` of all events, and returns an outcome for each.
    pub(super) fn start_followers(&self, whole: &Verdict) -> Vec<Outcome> {
        let is_denied = whole.decision == Some(Decision::Deny);
        let mut outcomes = Vec::new();
        for (place, stage) in self.moment.stages.iter().enumerate() {
            if !self.takes_part(place) || !stage.plan.has_followers() {
                continue;
            }
            // A denial leaves no final input: they get the input that the judges had.
            let is_prevented = is_denied && stage.plan.contract.denial_prevents();
            let version = if is_prevented { self.judged() } else { self.last };
            let (input, shared) = self.moment.shown(place, version, false);
            let matching = self.moment.matching(place, version);
            let followers = stage.plan.followers(&matching, input, shared);
            if followers.is_empty() {
                continue;
            }
            let input = Input { verdict: Some(summary(whole)), ..input.clone() };
            let span = stage.span.as_ref();
            let started = self.moment.executor.start(stage.event, followers, input, span);
            for mut outcome in started {
                outcome.hook.place = place;
                outcomes.push(outcome);
            }
        }
        outcomes
    }
}

/// Returns what the hooks decided, as those that follow read it.
fn summary(verdict: &Verdict) -> JsonObject {
    let mut summary = JsonObject::new();
    let decision = verdict.decision.map(Decision::name);
    summary.insert("decision".to_owned(), decision.into());
    if let Some(message) = &verdict.message {
        summary.insert("message".to_owned(), message.clone().into());
    }
    summary
}

impl Executor {
    /// Starts the hooks of `event` that nothing waits for, and no others;
    /// [`shutdown`](Self::shutdown) waits for them.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub fn start_background(&self, event: Event, input: &Input) {
        let input = self.complete(event, input).into_owned();
        let plan = self.plan(event);
        let followers = plan.followers(&plan.matching(&input), &input, &self.shared());
        let span = spans::of_event(event, &input);
        self.start(event, followers, input, Some(&span));
    }

    /// Returns values for an input of this executor's hooks.
    fn shared(&self) -> Shared {
        Shared::new(Memo::new(self.describer))
    }

    /// Starts hooks, or leaves them to another process, and returns the outcome of each.
    fn start(
        &self,
        event: Event,
        followers: Vec<usize>,
        input: Input,
        span: Option<&Span>,
    ) -> Vec<Outcome> {
        if tokio::runtime::Handle::try_current().is_err() && self.handed_over.is_none() {
            return Vec::new();
        }
        let input = Arc::new(input);
        let mut outcomes = Vec::new();
        let mut are_handed_over = false;
        for index in followers {
            let bound = &self.plan(event).hooks[index];
            let is_observer = bound.hook.phase == Phase::Observe;
            let mut outcome = if self.handed_over.is_some() && !is_observer {
                are_handed_over = true;
                started()
            } else {
                self.start_one(event, bound, &input, span)
            };
            outcome.hook.index = index;
            outcomes.push(outcome);
        }
        if are_handed_over && let Some(handed_over) = &self.handed_over {
            locked(handed_over).push((event, Arc::unwrap_or_clone(input)));
        }
        outcomes
    }

    /// Starts one hook. A notification to a process is handed over at once, so that notifications stay in
    /// order.
    fn start_one(
        &self,
        event: Event,
        bound: &Bound,
        input: &Arc<Input>,
        span: Option<&Span>,
    ) -> Outcome {
        let mut begun = None;
        let span = spans::of_hook(bound, span);
        if bound.hook.phase == Phase::Observe {
            let work = follow(event, bound.clone(), Arc::clone(input), None, self.shared());
            let mut work: BoxFuture<'static, _> = Box::pin(work.instrument(span.clone()));
            if let Some(warnings) = (&mut work).now_or_never() {
                return Outcome { warnings, ..Outcome::none() };
            }
            begun = Some(work);
        }
        let (hook, shown, shared) = (bound.clone(), Arc::clone(input), self.shared());
        let spawned = self.capacity.spawn_background(bound.rank(), |seat| async move {
            match begun {
                Some(work) => work.await,
                None => follow(event, hook, shown, Some(seat), shared).instrument(span).await,
            };
        });
        if spawned {
            return started();
        }
        let contract = event.contract();
        let interpreter = Interpreter { contract, bound, input, may_approve_with_arguments: false };
        let mut failed = interpreter.failed(BACKGROUND_FULL);
        failed.put_under_mode_of(bound);
        failed
    }
}

fn started() -> Outcome {
    Outcome { status: HookStatus::Background, ..Outcome::none() }
}

/// Calls a hook that nothing waits for, and returns its remarks. A failure is a warning in the log.
async fn follow(
    event: Event,
    bound: Bound,
    input: Arc<Input>,
    seat: Option<Seat>,
    shared: Shared,
) -> Vec<String> {
    let until = Deadlines::new(std::iter::empty(), None).until(&bound, None);
    let shown = (&*input, &shared);
    let place = match &seat {
        Some(seat) => Place::Background { seat },
        None => Place::Free,
    };
    match run(&bound, event, &input, shown, until, place).await.0 {
        Ok(Ran::Answered(result)) => result.warnings,
        Ok(Ran::NotForInput | Ran::Limited(_)) => Vec::new(),
        Err(error) => {
            Span::current().record("hookexec.error", error.message.as_str());
            tracing::warn!(hook = %bound.title(), %event, "background hook failed: {error}");
            vec![error.message]
        }
    }
}
