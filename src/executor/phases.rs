//! The phases of one event: rewriters in turn, all others at once, and once more on a new input.
//!
//! At the end every answer that could stop the event must be about the final input.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::{Arc, OnceLock, PoisonError};

use super::dispatch::{Executor, Observer};
use super::fold::fold;
use super::interpret::Interpreter;
use super::outcome::Outcome;
use super::parallel::{Slots, run_all};
use super::rewrite::{Current, rewritten};
use super::run::run;
use super::select::{Bound, Condition, Plan};
use super::time::Deadlines;
use crate::config::Phase;
use crate::event::{Event, Rewrite};
use crate::handler::{BoxFuture, Room, Shared};
use crate::pattern::Budget;
use crate::wire::{Decision, HookStatus, Input, Output, Verdict};

/// The error of a hook whose condition was not evaluated.
const TOO_MUCH_WORK: &str = "its `when` is too much work on an input of this size; match a smaller field, or a shorter pattern";
/// The error of a hook that rewrites after its turn to rewrite.
const UNSETTLED: &str = "its rewrite does not settle: it rewrites what another hook has rewritten; \
                         set `mutates: true` on both hooks, so that one runs after the other";

/// The remark on a rewrite by a hook that runs again after its turn to rewrite.
const TURN_IS_OVER: &str = "it was asked again for its decision only: its rewrite is ignored";

/// The remark on a rewrite of something that an earlier hook withheld.
const WITHHELD: &str =
    "an earlier hook failed and withheld what it rewrites: its rewrite is ignored";

/// One event on its way to a verdict.
pub(super) struct Dispatch<'e> {
    executor: &'e Executor,
    plan: &'e Plan,
    event: Event,
    deadlines: Deadlines<'e>,
    observer: Option<&'e dyn Observer>,
    /// At most one for each hook.
    outcomes: Vec<Outcome>,
    /// The hooks that were called, by index.
    asked: Vec<bool>,
    /// What is left for the answers of each rank of layers.
    rooms: [OnceLock<Arc<Room>>; 3],
}

/// A hook to call.
#[derive(Clone, Copy)]
struct Chosen<'e> {
    bound: &'e Bound,
    condition: Condition,
    /// Whether it was called before.
    repeated: bool,
}

impl<'e> Dispatch<'e> {
    pub(super) fn new(
        executor: &'e Executor,
        event: Event,
        deadlines: Deadlines<'e>,
        observer: Option<&'e dyn Observer>,
    ) -> Self {
        let plan = executor.plan(event);
        let asked = vec![false; plan.hooks.len()];
        let rooms = Default::default();
        Self { executor, plan, event, deadlines, observer, outcomes: Vec::new(), asked, rooms }
    }

    /// Runs the hooks that match.
    pub(super) async fn run(mut self, input: Cow<'_, Input>) -> Verdict {
        let mut current = Current::new(self.plan, input);
        let rewrites = self.plan.contract.rewrite != Rewrite::None;
        if !rewrites {
            self.start_background(&current);
        }
        let goes_on = self.rewrite_in_turn(0, &mut current).await;
        if rewrites {
            // Not earlier: a redactor may be among the rewriters.
            self.start_background(&current);
        }
        if goes_on {
            self.judge(&mut current).await;
            self.ask_rewriters_again(&mut current).await;
            self.tell_observers(&current).await;
        } else {
            self.skip_rest(&current);
        }
        self.verdict(current)
    }

    /// Lets every hook that matches fail with the reason `why`.
    pub(super) fn fail(mut self, input: Option<&Input>, why: &str) -> Verdict {
        let mut current = match input {
            Some(input) => Current::new(self.plan, Cow::Borrowed(input)),
            None => Current::unknown(self.plan),
        };
        for index in Arc::clone(&current.matching).iter() {
            let bound = &self.plan.hooks[*index];
            if bound.hook.phase.is_answered() {
                let outcome = self.interpreter(bound, current.input()).failed(why);
                self.take_rewrite(outcome.under_mode_of(bound), &mut current);
            }
        }
        self.verdict(current)
    }

    fn verdict(mut self, current: Current<'_>) -> Verdict {
        self.outcomes.sort_by_key(|outcome| outcome.index);
        self.drop_outdated_permissions(&current);
        let mut verdict = fold(self.event, &self.plan.hooks, &self.outcomes);
        current.report(&mut verdict);
        verdict
    }

    /// Runs the rewriters in turn, from the lowest layer up, beginning with turn `first`. Returns
    /// whether the event goes on.
    async fn rewrite_in_turn(&mut self, first: usize, current: &mut Current<'_>) -> bool {
        let (plan, mut budget) = (self.plan, Budget::new());
        let in_turn = plan.rewriters.iter().map(|index| &plan.hooks[*index]);
        for bound in in_turn.filter(|bound| bound.turn() >= first) {
            // Chosen one by one: an earlier rewriter may have renamed the tool.
            let Some(chosen) = self.choose(bound, current, &mut budget) else { continue };
            self.asked[bound.index] = true;
            let outcome = self.call(chosen, current).await;
            let denied = outcome.denied();
            self.take_rewrite(outcome, current);
            if denied && self.plan.contract.denial_prevents() {
                return false;
            }
        }
        true
    }

    /// Runs all other hooks at once. If one of them rewrites, the rewriters of higher layers run
    /// again on the result, and then the hooks that saw the old input.
    async fn judge(&mut self, current: &mut Current<'_>) {
        let judges = |bound: &Bound| !bound.is_rewriter();
        let selected = self.select(current, judges);
        let mut outcomes = self.call_all(selected, current).await;
        let rewriters = merge_rewrites(&mut outcomes, &self.plan.hooks, current);
        let turn = |place: &usize| self.plan.hooks[outcomes[*place].index].turn();
        let Some(lowest) = rewriters.iter().map(turn).min() else {
            self.outcomes.append(&mut outcomes);
            return;
        };
        // If only one hook rewrote the input, it has already seen the result. If several did, none of
        // them has seen the combination.
        if let [only] = rewriters[..] {
            outcomes[only].generation = current.generation;
        }
        let merged = current.generation;
        if !self.rewrite_in_turn(lowest + 1, current).await {
            self.outcomes.append(&mut outcomes);
            return;
        }
        // A hook that denied the call under its old name may accept the new one.
        let stays = |outcome: &Outcome| {
            let settled = outcome.generation == current.generation || outcome.withholds;
            settled || outcome.denied() && current.is_renamed()
        };
        let mut again = self.select(current, judges);
        again.retain(|chosen| {
            !outcomes.iter().any(|outcome| outcome.index == chosen.bound.index && stays(outcome))
        });
        let asked_again =
            |outcome: &Outcome| again.iter().any(|it| it.bound.index == outcome.index);
        // Messages beside a rewrite stay, and so does a failure without a second answer.
        let kept = outcomes.iter().enumerate().filter(|(place, outcome)| {
            stays(outcome)
                || rewriters.contains(place)
                || outcome.failed_open && !asked_again(outcome)
        });
        self.outcomes.extend(kept.map(|(_, outcome)| outcome.clone()));
        let overruled: Vec<usize> = if current.generation == merged {
            Vec::new()
        } else {
            rewriters.iter().map(|place| outcomes[*place].index).collect()
        };
        for mut outcome in self.call_all(again, current).await {
            if overruled.contains(&outcome.index) {
                drop_late_rewrite(&mut outcome, current);
            } else {
                outcome = self.settle(outcome, current);
            }
            self.take_last(outcome, current);
        }
    }

    /// Runs the rewriters that did not see the final input again, for their decision only.
    async fn ask_rewriters_again(&mut self, current: &mut Current<'_>) {
        // A second answer changes nothing at an event that can't be prevented.
        if !self.plan.contract.may_stop() || self.outcomes.iter().any(Outcome::denied) {
            return;
        }
        let generation = current.generation;
        let mut outdated = self.select(current, Bound::is_rewriter);
        outdated.retain(|chosen| {
            let index = chosen.bound.index;
            !self.outcomes.iter().any(|it| it.index == index && it.generation == generation)
        });
        for mut outcome in self.call_all(outdated, current).await {
            drop_late_rewrite(&mut outcome, current);
            self.take_last(outcome, current);
        }
    }

    /// Takes the answer of a rewriter in its turn.
    fn take_rewrite(&mut self, mut outcome: Outcome, current: &mut Current<'_>) {
        if let Some(next) = rewritten(current.input(), &outcome.output) {
            if current.sealed {
                outcome.drop_rewrite(WITHHELD);
            } else if !outcome.denied() {
                current.set(next);
            }
        }
        current.sealed |= outcome.withholds;
        outcome.generation = current.generation;
        self.note(outcome);
    }

    /// Takes the last answer of a hook. It can't rewrite any more, but what can't be checked is
    /// still withheld.
    fn take_last(&mut self, outcome: Outcome, current: &mut Current<'_>) {
        if outcome.withholds
            && !current.sealed
            && let Some(next) = rewritten(current.input(), &outcome.output)
        {
            current.set(next);
            current.sealed = true;
        }
        self.note(outcome);
    }

    /// Records the outcome of a hook, which may have answered before.
    fn note(&mut self, outcome: Outcome) {
        match self.outcomes.iter_mut().find(|first| first.index == outcome.index) {
            Some(first) => *first = outcome.after(first),
            None => self.outcomes.push(outcome),
        }
    }

    /// Returns a failure for a hook without `mutates` that rewrites again when it runs a second
    /// time, unless its answer is stricter than a failure.
    fn settle(&self, outcome: Outcome, current: &Current<'_>) -> Outcome {
        if outcome.denied()
            || outcome.withholds
            || rewritten(current.input(), &outcome.output).is_none()
        {
            return outcome;
        }
        let interpreter = self.interpreter(&self.plan.hooks[outcome.index], current.input());
        let failed =
            interpreter.failed_unless_stricter(&outcome.output, UNSETTLED).unwrap_or_else(|| {
                // Its ask stays, although the input that it asked about does not.
                let Output { decision, reason, .. } = outcome.output;
                let output = Output { decision, reason, ..Output::default() };
                Outcome { output, ..interpreter.failed(UNSETTLED) }
            });
        Outcome { duration: outcome.duration, generation: outcome.generation, ..failed }
    }

    /// Runs the hooks that only observe, once, with the final input.
    async fn tell_observers(&mut self, current: &Current<'_>) {
        for chosen in self.chosen(current, |bound| bound.hook.phase == Phase::Observe) {
            let outcome = self.call(chosen, current).await;
            self.outcomes.push(outcome);
        }
    }

    /// Starts the background hooks.
    pub(super) fn start_background(&mut self, current: &Current<'_>) {
        let selected = self.chosen(current, |bound| bound.hook.phase == Phase::Background);
        let started = |chosen: &Chosen<'_>| {
            let status = HookStatus::Background;
            Outcome { status, ..Outcome::none(chosen.bound.index) }
        };
        self.outcomes.extend(selected.iter().map(started));
        if let Some(events) = &self.executor.handed_over {
            if !selected.is_empty() {
                let input = current.input().clone();
                events.lock().unwrap_or_else(PoisonError::into_inner).push((self.event, input));
            }
            return;
        }
        for chosen in selected {
            let (bound, event) = (chosen.bound.clone(), self.event);
            let input = current.input().clone();
            let mut background =
                self.executor.background.lock().unwrap_or_else(PoisonError::into_inner);
            while background.try_join_next().is_some() {}
            background.spawn(async move {
                let (shared, until) = (Shared::default(), Deadlines::none().until(&bound));
                let room = OnceLock::new();
                let (result, _) = run(&bound, event, &input, (&input, &shared), until, None, &room).await;
                if let Err(error) = result {
                    tracing::warn!(hook = %bound.title(), %event, "background hook failed: {error}");
                }
            });
        }
    }

    async fn call_all(&mut self, chosen: Vec<Chosen<'e>>, current: &Current<'_>) -> Vec<Outcome> {
        for chosen in &chosen {
            self.asked[chosen.bound.index] = true;
        }
        if let [chosen] = chosen[..] {
            return vec![self.call(chosen, current).await];
        }
        // Without the box the compiler can't see that `dispatch` is `Send` for every lifetime.
        let calls = chosen.into_iter().map(|chosen| {
            let call: BoxFuture<'_, Outcome> = Box::pin(self.call(chosen, current));
            (Arc::clone(&chosen.bound.hook.limits), call)
        });
        let slots = Slots::new(self.executor.max_parallel);
        let mut outcomes = run_all(calls.collect(), slots).await;
        outcomes.sort_by_key(|outcome| outcome.index);
        outcomes
    }

    async fn call(&self, chosen: Chosen<'_>, current: &Current<'_>) -> Outcome {
        let Chosen { bound, condition, repeated } = chosen;
        if let Some(observer) = self.observer {
            observer.started(&bound.hook);
        }
        let interpreter = self.interpreter(bound, current.input());
        let mut outcome = if condition == Condition::TooMuchWork {
            interpreter.failed(TOO_MUCH_WORK)
        } else {
            let (original, shown) = (current.original(), current.shown(repeated));
            let until = self.deadlines.until(bound);
            let (stop, room) = (until.stop, &self.rooms[bound.hook.layer().rank()]);
            // A program that must end with its answer can't wait for background hooks.
            let background =
                self.executor.handed_over.is_none().then_some(&self.executor.background);
            let (result, duration) =
                run(bound, self.event, original, shown, until, background, room).await;
            let outcome = interpreter.read(result, stop).await;
            Outcome { duration, ..self.deny_impossible_name(outcome, current) }
        };
        outcome = outcome.under_mode_of(bound);
        outcome.generation = current.generation;
        tracing::debug!(
            event = %self.event,
            hook = %bound.hook.label(),
            source = %bound.hook.location,
            status = ?outcome.status,
            decision = ?outcome.output.decision,
            error = outcome.error.as_deref(),
            elapsed = ?outcome.duration,
            "hook ran"
        );
        if let Some(observer) = self.observer {
            observer.finished(&outcome.report(bound));
        }
        outcome
    }

    /// Denies a call that a hook renamed to an invalid tool name, because no guard matches such a
    /// name.
    fn deny_impossible_name(&self, mut outcome: Outcome, current: &Current<'_>) -> Outcome {
        if outcome.output.updated_tool_name.is_none() || outcome.denied() {
            return outcome;
        }
        let named = rewritten(current.input(), &outcome.output);
        if let Some(cause) = named.and_then(|named| self.plan.no_choice(&named)) {
            let bound = &self.plan.hooks[outcome.index];
            let reason = format!("hook {} renamed the tool: {cause}", bound.title());
            outcome.drop_rewrite(reason.as_str());
            outcome.output.decision = Some(Decision::Deny);
            outcome.output.reason = Some(reason);
            outcome.status = HookStatus::Blocked;
        }
        outcome
    }

    fn interpreter<'i>(&self, bound: &'i Bound, input: &'i Input) -> Interpreter<'i> {
        Interpreter { contract: self.plan.contract, bound, input }
    }

    /// Returns the foreground hooks of one kind that match `current`, in config order.
    fn select(&self, current: &Current<'_>, kind: impl Fn(&Bound) -> bool) -> Vec<Chosen<'e>> {
        self.chosen(current, |bound| bound.hook.phase.is_answered() && kind(bound))
    }

    /// Returns the hooks of one kind that match `current`, in config order.
    fn chosen(&self, current: &Current<'_>, kind: impl Fn(&Bound) -> bool) -> Vec<Chosen<'e>> {
        let (plan, mut budget) = (self.plan, Budget::new());
        let matching = current.matching.iter().map(|index| &plan.hooks[*index]);
        matching
            .filter(|bound| kind(bound))
            .filter_map(|bound| self.choose(bound, current, &mut budget))
            .collect()
    }

    /// Returns the hook if it matches `current`.
    fn choose(
        &self,
        bound: &'e Bound,
        current: &Current<'_>,
        budget: &mut Budget,
    ) -> Option<Chosen<'e>> {
        if current.matching.binary_search(&bound.index).is_err() {
            return None;
        }
        let repeated = self.asked[bound.index];
        let condition = self.plan.condition(bound.index, current.shown(repeated).0, budget);
        (condition != Condition::Fails).then_some(Chosen { bound, condition, repeated })
    }

    /// Records the hooks that did not run because the event was denied before.
    fn skip_rest(&mut self, current: &Current<'_>) {
        let seen = |index: usize| self.outcomes.iter().any(|outcome| outcome.index == index);
        let rest: Vec<Outcome> = current
            .matching
            .iter()
            .filter(|index| {
                !seen(**index) && self.plan.hooks[**index].hook.phase != Phase::Background
            })
            .map(|index| Outcome::skipped(*index, "an earlier hook denied the event"))
            .collect();
        self.outcomes.extend(rest);
    }

    /// Removes allows, and answers in the tool's place, that are not about the final input, or that
    /// come from hooks that match only an earlier name of the tool.
    fn drop_outdated_permissions(&mut self, current: &Current<'_>) {
        let named = current.is_renamed().then(|| self.plan.matching(current.input()));
        let permits = |it: &Outcome| {
            it.generation == current.generation
                && named.as_ref().is_none_or(|named| named.contains(&it.index))
        };
        for outcome in self.outcomes.iter_mut().filter(|it| !permits(it)) {
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

/// Ignores the rewrite of a hook that runs again for its decision only.
fn drop_late_rewrite(outcome: &mut Outcome, current: &Current<'_>) {
    if !outcome.withholds && rewritten(current.input(), &outcome.output).is_some() {
        outcome.drop_rewrite(TURN_IS_OVER);
    }
}

/// Applies the rewrites of hooks that ran at the same time, from the highest layer down, and
/// returns the places of those that changed the input. A rewrite that would undo an earlier one is
/// not applied: its hook sees the other's result when it runs again.
fn merge_rewrites(
    outcomes: &mut [Outcome],
    hooks: &[Bound],
    current: &mut Current<'_>,
) -> Vec<usize> {
    let mut merged: Vec<usize> = Vec::new();
    // A withheld value comes first, and nothing may replace it.
    let mut order: Vec<usize> = (0..outcomes.len()).collect();
    order.sort_by_key(|place| {
        let outcome = &outcomes[*place];
        (!outcome.withholds, Reverse(hooks[outcome.index].turn()))
    });
    order.retain(|place| !outcomes[*place].denied());
    for place in order {
        let Some(next) = rewritten(current.input(), &outcomes[place].output) else { continue };
        if current.sealed {
            outcomes[place].drop_rewrite(WITHHELD);
            continue;
        }
        let undone = |other: &usize| rewritten(&next, &outcomes[*other].output).is_some();
        if !merged.iter().any(undone) {
            current.set(next);
            current.sealed |= outcomes[place].withholds;
            merged.push(place);
        }
    }
    merged
}
