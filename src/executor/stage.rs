//! One event of a moment: which of its hooks are for the input, and how they are called.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::dispatch::{Executor, Observer};
use super::fold::fold;
use super::interpret::Interpreter;
use super::moment::ALL_LAYERS;
use super::outcome::Outcome;
use super::parallel::{Slots, run_all};
use super::rewrite::{Current, rewritten};
use super::run::{IsForInput, NotRun, run};
use super::select::{Bound, Condition, Plan, holds_elsewhere};
use super::time::Deadlines;
use crate::config::{Layer, Phase};
use crate::event::Event;
use crate::handler::{BACKGROUND_FULL, BoxFuture, Place, Room, Shared};
use crate::locks::locked;
use crate::pattern::Budget;
use crate::wire::{Decision, HookStatus, Input};

/// One event of a moment: its hooks, their answers, and the input as they see it.
pub(super) struct Stage<'e> {
    pub(super) executor: &'e Executor,
    pub(super) plan: &'e Plan,
    pub(super) event: Event,
    pub(super) deadlines: &'e Deadlines,
    observer: Option<&'e dyn Observer>,
    /// Whether it takes part: some do only once the input is rewritten.
    pub(super) awake: bool,
    /// Whether the caller can't replace a response.
    pub(super) response_stands: bool,
    /// What is left for the answers of each rank of layers.
    rooms: [OnceLock<Arc<Room>>; Layer::RANKS],
    pub(super) current: Current<'e>,
    pub(super) record: StageRecord,
}

/// What became of the hooks of one stage. It outlives a dispatch that is dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct StageRecord {
    /// At most one for each hook.
    pub(super) outcomes: Vec<Outcome>,
    /// The hooks that were called and have an outcome, by index.
    pub(super) asked: Vec<bool>,
    /// The hooks that rewrote the input without being rewriters: from then on they are.
    pub(super) unplanned: Vec<usize>,
    /// Of how many layers, from the highest down, the hooks in the background were started.
    background: usize,
    /// Whether a hook of this event rewrote the input.
    pub(super) rewrote: bool,
    /// How long its hooks took.
    pub(super) took: Duration,
}

/// A hook that is to be called.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'e> {
    pub(super) bound: &'e Bound,
    /// Whether its `when` was too much work to look at before.
    is_unknown: bool,
    /// Whether it was called before.
    repeated: bool,
}

impl<'e> Stage<'e> {
    pub(super) fn new(
        executor: &'e Executor,
        event: Event,
        current: Current<'e>,
        deadlines: &'e Deadlines,
        observer: Option<&'e dyn Observer>,
    ) -> Self {
        let plan = executor.plan(event);
        let record = StageRecord { asked: vec![false; plan.hooks.len()], ..StageRecord::default() };
        let rooms = Default::default();
        Self {
            executor,
            plan,
            event,
            deadlines,
            observer,
            awake: true,
            response_stands: false,
            rooms,
            current,
            record,
        }
    }

    /// Returns the hooks that have an outcome, each with it.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (&Bound, &Outcome)> {
        self.record.outcomes.iter().map(|outcome| (&self.plan.hooks[outcome.index], outcome))
    }

    /// Returns why no hook can be chosen for the input, where it is denied for that.
    pub(super) fn refusal(&self) -> Option<String> {
        let may_choose = self.plan.hooks.is_empty() || !self.plan.contract.may_block;
        if may_choose { None } else { self.plan.why_no_choice(self.current.original()) }
    }

    /// Returns the highest layer for which a hook ended the moment, as a position in the order of
    /// rewriting. A denial after a tool or model call prevents nothing, so all hooks run.
    pub(super) fn ended_for(&self) -> Option<usize> {
        if self.plan.contract.may_continue {
            // Hooks say both that the model works on and that it does not.
            let verdict = fold(self.event, &self.plan.hooks, &self.record.outcomes);
            let is_over = verdict.decision == Some(Decision::Deny);
            return is_over.then_some(Layer::REWRITE_STEPS - 1);
        }
        let ending = self.outcomes().filter(|(_, outcome)| self.ends(outcome));
        ending.map(|(bound, _)| bound.rewrite_order()).max()
    }

    /// Returns whether hooks of some layers match the input.
    pub(super) fn has_hooks(&self, layers: &Range<usize>) -> bool {
        let mut matching = self.current.matching.iter().map(|index| &self.plan.hooks[*index]);
        matching.any(|bound| layers.contains(&bound.rewrite_order()))
    }

    /// Returns whether the outcome ends the moment for hooks of its own layer and of those below. A guard
    /// that is late, or a hook that can't run until a person approves it, denies, but does not keep
    /// others from running. After a late rewriter they would see what it has not rewritten.
    pub(super) fn ends(&self, outcome: &Outcome) -> bool {
        let bound = &self.plan.hooks[outcome.index];
        self.plan.contract.denial_prevents()
            && outcome.denied()
            && (!outcome.is_late || bound.is_rewriter())
            && bound.hook.untrusted.is_none()
    }

    /// Returns the highest layer with hooks that are for the input, or for `any_tool`, and waited for,
    /// as a position in the order of rewriting.
    pub(super) fn highest(&self, any_tool: bool) -> Option<usize> {
        let chosen = if any_tool { &self.plan.all } else { &self.current.matching };
        let bounds = chosen.iter().map(|index| &self.plan.hooks[*index]);
        bounds.filter(|bound| bound.hook.phase.is_answered()).map(Bound::rewrite_order).max()
    }

    /// Returns the rewriters of a layer, by its position in the order of rewriting.
    pub(super) fn rewriters(&self, order: usize) -> impl Iterator<Item = &'e Bound> {
        let plan = self.plan;
        let all = plan.rewriters.iter().chain(&self.record.unplanned);
        all.map(|index| &plan.hooks[*index]).filter(move |bound| bound.rewrite_order() == order)
    }

    /// Returns whether a layer has rewriters here.
    pub(super) fn has_rewriters(&self, order: usize) -> bool {
        self.rewriters(order).next().is_some()
    }

    /// Tells the hooks that only observe: once, and of the input that all others agreed on.
    pub(super) async fn tell_observers(&mut self) {
        let observes = |bound: &Bound| bound.hook.phase == Phase::Observe;
        for chosen in self.chosen(&ALL_LAYERS, observes) {
            let outcome = self.call(chosen).await;
            self.record.outcomes.extend(outcome);
        }
    }

    /// Starts the hooks of some layers that are not waited for, once.
    pub(super) fn start_background(&mut self, layers: &Range<usize>) {
        let layers = layers.start..layers.end.min(Layer::REWRITE_STEPS - self.record.background);
        if layers.is_empty() {
            return;
        }
        self.record.background = Layer::REWRITE_STEPS - layers.start;
        let is_due = |bound: &Bound| bound.hook.phase == Phase::Background;
        let selected = self.chosen(&layers, is_due);
        let started = |bound: &Bound| {
            let status = HookStatus::Background;
            Outcome { status, ..Outcome::none(bound.index) }
        };
        if let Some(events) = &self.executor.handed_over {
            if !selected.is_empty() {
                let input = self.current.input().clone();
                locked(events).push((self.event, layers, input));
            }
            self.record.outcomes.extend(selected.iter().map(|chosen| started(chosen.bound)));
            return;
        }
        for Chosen { bound, is_unknown, .. } in selected {
            let (hook, event, input) = (bound.clone(), self.event, self.current.input().clone());
            let names = if is_unknown {
                self.current.under_earlier_names(false).collect()
            } else {
                Vec::new()
            };
            let work = |seat| async move {
                let bound = hook;
                let (shared, until) = (Shared::default(), Deadlines::none().until(&bound));
                let room = Arc::new(Room::in_background());
                let shown = (&input, &shared);
                let condition = is_unknown.then(|| is_for_input(&bound, shown, names));
                let place = Place::Background { seat: &seat, room: &room };
                let (result, _) = run(&bound, event, &input, shown, condition, until, place).await;
                if let Err(error) = result {
                    tracing::warn!(hook = %bound.title(), %event, "background hook failed: {error}");
                }
            };
            let outcome = if self.executor.capacity.background.spawn(bound.rank(), work) {
                started(bound)
            } else {
                let mut failed = self.interpreter(bound).failed(BACKGROUND_FULL);
                failed.put_under_mode_of(bound, self.session());
                failed
            };
            self.record.outcomes.push(outcome);
        }
    }

    /// Calls hooks at once, and returns the outcomes of those that are for the input, in config order.
    pub(super) async fn call_all(&mut self, chosen: Vec<Chosen<'e>>) -> Vec<Outcome> {
        let outcomes = match chosen[..] {
            [] => Vec::new(),
            [chosen] => self.call(chosen).await.into_iter().collect(),
            _ => self.call_several(chosen).await,
        };
        for outcome in &outcomes {
            self.record.asked[outcome.index] = true;
        }
        outcomes
    }

    async fn call_several(&self, chosen: Vec<Chosen<'e>>) -> Vec<Outcome> {
        let mut left: Vec<usize> = chosen.iter().map(|chosen| chosen.bound.index).collect();
        // Boxed, or the compiler can't see that `dispatch` is `Send` for every lifetime.
        let calls = chosen.into_iter().map(|chosen| {
            let index = chosen.bound.index;
            let call: BoxFuture<'_, _> = Box::pin(async move { (index, self.call(chosen).await) });
            (&*chosen.bound.hook, call)
        });
        let slots = Slots::new(self.executor.max_parallel);
        let is_last = |(_, outcome): &(usize, Option<Outcome>)| {
            outcome.as_ref().is_some_and(|outcome| self.is_last_word(outcome))
        };
        let called = run_all(calls.collect(), slots, is_last).await;
        left.retain(|index| called.iter().all(|(called, _)| called != index));
        let mut outcomes: Vec<Outcome> =
            called.into_iter().filter_map(|(_, outcome)| outcome).collect();
        outcomes.extend(left.into_iter().map(Self::withdrawn));
        outcomes.sort_by_key(|outcome| outcome.index);
        outcomes
    }

    /// Returns the session, which no hook can change.
    pub(super) fn session(&self) -> &str {
        &self.current.original().session_id
    }

    /// Returns the input as a hook is shown it, and what is made of it at most once. A guard judges what
    /// the model will read.
    fn shown(&self, bound: &Bound, repeated: bool) -> (&Input, &Shared) {
        let rewrites = bound.is_rewriter() || self.record.unplanned.contains(&bound.index);
        if self.response_stands && bound.hook.phase.is_answered() && !rewrites {
            self.current.as_it_came()
        } else {
            self.current.shown(repeated)
        }
    }

    /// Calls a hook; `None` if its `when`, looked at only now, does not hold.
    pub(super) async fn call(&self, chosen: Chosen<'_>) -> Option<Outcome> {
        let current = &self.current;
        let Chosen { bound, is_unknown, repeated } = chosen;
        if let Some(observer) = self.observer {
            observer.started(&bound.hook);
        }
        let interpreter = self.interpreter(bound);
        let (original, shown) = (current.original(), self.shown(bound, repeated));
        let condition = is_unknown
            .then(|| is_for_input(bound, shown, current.under_earlier_names(repeated).collect()));
        let until = self.deadlines.until(bound);
        let (stop, may_be_late) = (until.stop, until.late_message.is_some());
        let place = Place::Event {
            capacity: &self.executor.capacity,
            rank: bound.rank(),
            room: &self.rooms[bound.rank()],
            // A program that must end with its answer waits for nothing in the background.
            may_leave: self.executor.handed_over.is_none(),
        };
        let (result, duration) =
            run(bound, self.event, original, shown, condition, until, place).await;
        let mut outcome = match result {
            Ok(ControlFlow::Break(NotRun::NotForInput)) => {
                if let Some(observer) = self.observer {
                    let skipped = Outcome::skipped(bound.index, "its `when` does not hold");
                    observer.finished(&skipped.report(bound));
                }
                return None;
            }
            Ok(ControlFlow::Break(NotRun::Limited(why))) => interpreter.limited(why),
            Ok(ControlFlow::Continue(result)) => interpreter.read(Ok(result), stop).await,
            Err(error) => interpreter.read(Err(error), stop).await,
        };
        outcome.is_late &= may_be_late;
        outcome.duration = duration;
        self.deny_impossible_name(&mut outcome);
        if self.deadlines.has_no_place_for(bound) && outcome.output.decision == Some(Decision::Ask)
        {
            // The place would be taken until a person has answered.
            outcome.output.decision = Some(Decision::Deny);
        }
        outcome.put_under_mode_of(bound, self.session());
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
        Some(outcome)
    }

    /// Denies a call that a hook gave a name that no tool can have, by which no guard could be chosen,
    /// or one name too many.
    fn deny_impossible_name(&self, outcome: &mut Outcome) {
        let Some(name) = outcome.output.updated_tool_name.as_deref() else { return };
        if outcome.denied() {
            return;
        }
        let named = rewritten(self.current.input(), &outcome.output);
        let cause = named.and_then(|named| self.plan.why_no_choice(&named));
        if let Some(cause) = cause.or_else(|| self.current.too_many_names(name)) {
            let bound = &self.plan.hooks[outcome.index];
            let reason = format!("hook {} renamed the tool: {cause}", bound.title());
            outcome.drop_rewrite(reason.as_str());
            outcome.output.decision = Some(Decision::Deny);
            outcome.output.reason = Some(reason);
            outcome.status = HookStatus::Blocked;
        }
    }

    pub(super) fn interpreter<'i>(&'i self, bound: &'i Bound) -> Interpreter<'i> {
        Interpreter { contract: self.plan.contract, bound, input: self.current.input() }
    }

    /// Returns the hooks of some layers that are for the input and waited for, in config order: the
    /// rewriters or all others.
    pub(super) fn select(&self, layers: &Range<usize>, rewriters: bool) -> Vec<Chosen<'e>> {
        let in_turn = |bound: &Bound| bound.hook.phase.is_answered() && bound.is_rewriter();
        let judges = |bound: &Bound| bound.hook.phase.is_answered() && !bound.is_rewriter();
        self.chosen(layers, if rewriters { in_turn } else { judges })
    }

    /// Returns the hooks of some layers and one kind that are for the input, in config order. Each layer
    /// has its own budget for conditions, so that none uses up that of another.
    fn chosen(&self, layers: &Range<usize>, kind: fn(&Bound) -> bool) -> Vec<Chosen<'e>> {
        let mut budgets = [const { Budget::here() }; Layer::REWRITE_STEPS];
        let chosen = self.current.matching.iter().filter_map(|index| {
            let bound = &self.plan.hooks[*index];
            let order = bound.rewrite_order();
            let is_asked = layers.contains(&order) && kind(bound);
            is_asked.then(|| self.choose(bound, &mut budgets[order], self.record.asked[*index]))?
        });
        chosen.collect()
    }

    /// Returns the hook if it is for the input. A hook that was for it by an earlier name of the tool
    /// still is, by its `when` as by its matcher. `repeated` is what its `when` sees.
    pub(super) fn choose(
        &self,
        bound: &'e Bound,
        budget: &mut Budget,
        repeated: bool,
    ) -> Option<Chosen<'e>> {
        if self.current.matching.binary_search(&bound.index).is_err() {
            return None;
        }
        let (plan, index) = (self.plan, bound.index);
        let mut condition = plan.condition(index, self.shown(bound, repeated), budget);
        if condition == Condition::Fails {
            for input in self.current.under_earlier_names(repeated) {
                condition = plan.condition(index, (&input, &Shared::default()), budget);
                if condition != Condition::Fails {
                    break;
                }
            }
        }
        let (is_unknown, repeated) =
            (condition == Condition::Unknown, self.record.asked[bound.index]);
        (condition != Condition::Fails).then_some(Chosen { bound, is_unknown, repeated })
    }
}

/// Looks on another thread whether a hook is for the input, as it is shown to it or `under_earlier_names`.
pub(super) fn is_for_input<'a>(
    bound: &'a Bound,
    shown: (&'a Input, &'a Shared),
    under_earlier_names: Vec<Input>,
) -> IsForInput<'a> {
    Box::pin(async move {
        let mut holds = holds_elsewhere(bound, shown).await?;
        for input in &under_earlier_names {
            holds = holds || holds_elsewhere(bound, (input, &Shared::default())).await?;
        }
        Ok(holds)
    })
}
