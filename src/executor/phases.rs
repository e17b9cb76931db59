//! The phases of one event: rewriters in turn, all others at once, and once more on a new input.
//!
//! At the end every answer that could stop the event must be about the final input.

use std::cmp::Reverse;
use std::sync::Arc;

use super::fold::fold;
use super::outcome::Outcome;
use super::rewrite::{Current, changes, rewritten};
use super::select::Bound;
use super::stage::Stage;
use crate::config::Phase;
use crate::event::Event;
use crate::pattern::Budget;
use crate::wire::{Decision, Input, Output, Verdict};

/// The failure of a hook that rewrites when it is asked again.
const UNSETTLED: &str = "its rewrite does not settle: it rewrites what another hook has rewritten; \
                         set `mutates: true` on both hooks, so that one runs after the other";

/// The remark on a rewrite by a rewriter that runs again for its decision only.
const TURN_IS_OVER: &str = "it was asked again for its decision only: its rewrite is ignored";

/// The remark on a rewrite of something that an earlier hook withheld.
const WITHHELD: &str =
    "an earlier hook failed and withheld what it rewrites: its rewrite is ignored";

/// The failure for an unplanned rewrite that a hook of a higher layer could not follow.
const NOT_FOLLOWED: &str = "its rewrite is dropped: a hook of a higher layer would rewrite the \
                            result, or failed to; set `mutates: true`";

/// The failure for an unplanned rewrite beside one of a higher layer.
const OUTRANKED: &str = "its rewrite is dropped: a hook of a higher layer rewrites at the same time; \
                         set `mutates: true`";

/// The remark on a rewrite that corrects an unplanned one, which is dropped.
const CORRECTED: &str = "it corrects a rewrite of a lower layer, which is dropped instead";

/// The hooks without `mutates` that rewrote the input all the same.
#[derive(Debug, Clone)]
pub(super) struct Unplanned {
    /// The hooks, by index.
    pub(super) hooks: Vec<usize>,
    /// The rewrite order of the lowest of their layers.
    pub(super) order: usize,
    /// The input before they rewrote it.
    before: Box<Input>,
}

impl Stage<'_> {
    /// Fails every hook that has no answer about the last input, with the reason `why`. An answer
    /// counts from generation `judged_from` on; for rewriters that were due again, from `due_since` on.
    pub(super) fn fail_rest(
        &mut self,
        judged_from: usize,
        due_since: impl Fn(&Bound) -> Option<usize>,
        why: &str,
    ) {
        for index in Arc::clone(&self.current.matching).iter() {
            let bound = &self.plan.hooks[*index];
            let is_due = |outcome: &Outcome| {
                if outcome.denied() {
                    return false;
                }
                let judges = !bound.is_rewriter() || self.plan.contract.may_stop();
                let since = if judges { judged_from } else { 0 };
                outcome.generation < since.max(due_since(bound).unwrap_or(0))
            };
            let answered = self.record.outcomes.iter().find(|it| it.index == *index);
            if bound.hook.phase.is_answered() && answered.is_none_or(is_due) {
                let outcome = self.interpreter(bound).failed(why).under_mode_of(bound);
                self.take_rewrite(outcome);
            }
        }
    }

    /// Returns the verdict of this event alone.
    pub(super) fn verdict(&mut self) -> Verdict {
        if let Some(cause) = self.refusal() {
            return Verdict::denied(self.event, cause);
        }
        self.record.outcomes.sort_by_key(|outcome| outcome.index);
        self.drop_outdated_permissions();
        let mut verdict = fold(self.event, &self.plan.hooks, &self.record.outcomes);
        if self.record.rewrote {
            self.current.report(&mut verdict);
        }
        if self.event == Event::Approval {
            self.conclude(&mut verdict);
        }
        verdict
    }

    /// Runs the rewriters at position `order`, one after another. Returns whether the event goes on.
    pub(super) async fn rewrite(&mut self, order: usize) -> bool {
        let (plan, mut budget) = (self.plan, Budget::new());
        let rewriters = plan.rewriters.iter().map(|index| &plan.hooks[*index]);
        for bound in rewriters.filter(|bound| bound.rewrite_order() == order) {
            // Chosen one by one: an earlier rewriter may have renamed the tool. A rewriter whose turn
            // comes once more must rewrite once more, so its `when` does not see `repeated`.
            let Some(chosen) = self.choose(bound, &mut budget, false) else { continue };
            self.record.asked[bound.index] = true;
            let outcome = self.call(chosen).await;
            let ends = self.ends(&outcome);
            self.take_rewrite(outcome);
            if ends {
                return false;
            }
        }
        true
    }

    /// Runs all other hooks at once. Returns those that rewrote the input all the same.
    pub(super) async fn judge(&mut self) -> Option<Unplanned> {
        let selected = self.select(|bound| !bound.is_rewriter());
        let mut outcomes = self.call_all(selected).await;
        let generation = self.current.generation;
        let any_rewrites = outcomes.iter().any(|outcome| outcome.output.rewrites());
        let before = any_rewrites.then(|| Box::new(self.current.input().clone()));
        for outranked in outranked(&outcomes, &self.plan.hooks, &self.current) {
            let failed = self.without_rewrite(outcomes[outranked].clone(), OUTRANKED);
            outcomes[outranked] = Outcome { generation, ..failed };
        }
        let rewriters = merge_rewrites(&mut outcomes, &self.plan.hooks, &mut self.current);
        self.record.rewrote |= self.current.generation > generation;
        // If only one hook rewrote the input, it has already seen the result. If several did, none of
        // them has seen the combination.
        if let [only] = rewriters[..] {
            outcomes[only].generation = self.current.generation;
        }
        let hooks: Vec<usize> = rewriters.iter().map(|place| outcomes[*place].index).collect();
        // The list itself, where there is none yet: appending would allocate another.
        if self.record.outcomes.is_empty() {
            self.record.outcomes = outcomes;
        } else {
            self.record.outcomes.append(&mut outcomes);
        }
        let order = hooks.iter().map(|index| self.plan.hooks[*index].rewrite_order()).min()?;
        Some(Unplanned { hooks, order, before: before? })
    }

    /// Takes back what `late` hooks made of the input: they have failed.
    pub(super) fn take_back(&mut self, late: Unplanned) {
        self.set(*late.before);
        let generation = self.current.generation;
        for place in 0..self.record.outcomes.len() {
            let outcome = &self.record.outcomes[place];
            if late.hooks.contains(&outcome.index) {
                let failed = self.without_rewrite(outcome.clone(), NOT_FOLLOWED);
                self.record.outcomes[place] = Outcome { generation, ..failed };
            }
        }
    }

    /// Asks the hooks again whose answers are about a generation before `judged_from`. The hooks in
    /// `late` rewrote the input; if they were `overruled`, they may not rewrite it back.
    ///
    /// A denial stays unless the same hook answers again. A hook whose `when` no longer holds is not
    /// asked.
    ///
    /// Returns whether a hook above `lowest`, the lowest layer that rewrote, would rewrite the result.
    /// The caller then takes the rewrite back.
    pub(super) async fn judge_again(
        &mut self,
        judged_from: usize,
        lowest: Option<usize>,
        late: &[usize],
        overruled: bool,
    ) -> bool {
        let mut is_corrected = false;
        let mut again = self.select(|bound| !bound.is_rewriter());
        // A hook that denied the call under its old name may have nothing against the new one, so its
        // denial stays, and it is not asked.
        let is_renamed = self.current.is_renamed();
        let stays = |outcome: &Outcome| {
            outcome.generation >= judged_from || outcome.withholds || outcome.denied() && is_renamed
        };
        again.retain(|chosen| {
            let mut outcomes = self.record.outcomes.iter();
            !outcomes.any(|outcome| outcome.index == chosen.bound.index && stays(outcome))
        });
        for mut outcome in self.call_all(again).await {
            let is_late = late.contains(&outcome.index);
            let first = self.record.outcomes.iter().position(|it| it.index == outcome.index);
            // The messages that a late hook gave with its rewrite stay; other first answers go.
            if let Some(first) = first.filter(|_| !is_late) {
                outcome.keep_denial_of(&self.record.outcomes.remove(first));
            }
            // The lowest layer was overruled from above: drop its second rewrite. A higher layer may
            // have been undone from below: its second rewrite fails the hook.
            let order = self.plan.hooks[outcome.index].rewrite_order();
            if overruled && is_late && lowest == Some(order) {
                drop_late_rewrite(&mut outcome, &self.current);
            } else if !is_late
                && lowest.is_some_and(|lowest| lowest < order)
                && self.may_rewrite(&outcome)
            {
                is_corrected = true;
                outcome.drop_rewrite(CORRECTED);
            } else {
                outcome = self.settle(outcome);
            }
            self.take_last(outcome);
        }
        is_corrected
    }

    /// Returns whether an answer would change the input, and nothing stands in its way.
    fn may_rewrite(&self, outcome: &Outcome) -> bool {
        !outcome.denied()
            && !outcome.withholds
            && !self.current.sealed
            && changes(self.current.input(), &outcome.output)
    }

    /// Asks the rewriters again whose answers are about a generation before `judged_from`, for their
    /// decision only.
    pub(super) async fn ask_rewriters_again(&mut self, judged_from: usize) {
        // Where nothing can be prevented, a second answer is of no use.
        if !self.plan.contract.may_stop() {
            return;
        }
        let mut outdated = self.select(Bound::is_rewriter);
        outdated.retain(|chosen| {
            let index = chosen.bound.index;
            let is_last = |it: &Outcome| it.generation >= judged_from || it.denied();
            !self.record.outcomes.iter().any(|it| it.index == index && is_last(it))
        });
        for mut outcome in self.call_all(outdated).await {
            drop_late_rewrite(&mut outcome, &self.current);
            self.take_last(outcome);
        }
    }

    /// Takes the answer of a hook whose turn it is to rewrite.
    fn take_rewrite(&mut self, mut outcome: Outcome) {
        if let Some(next) = rewritten(self.current.input(), &outcome.output) {
            if self.current.sealed {
                outcome.drop_rewrite(WITHHELD);
            } else if !outcome.denied() {
                self.set(next);
            }
        }
        self.current.sealed |= outcome.withholds;
        outcome.generation = self.current.generation;
        self.note(outcome);
    }

    /// Takes the last answer of a hook. It rewrites nothing, but a redactor that failed still replaces
    /// what it could not check.
    fn take_last(&mut self, outcome: Outcome) {
        if outcome.withholds
            && !self.current.sealed
            && let Some(next) = rewritten(self.current.input(), &outcome.output)
        {
            self.set(next);
            self.current.sealed = true;
        }
        self.note(outcome);
    }

    fn set(&mut self, next: Input) {
        self.current.set(next);
        self.record.rewrote = true;
    }

    /// Notes what became of a hook, which may have answered before.
    fn note(&mut self, outcome: Outcome) {
        match self.record.outcomes.iter_mut().find(|first| first.index == outcome.index) {
            Some(first) => *first = outcome.merged_with(first),
            None => self.record.outcomes.push(outcome),
        }
    }

    /// A hook without `mutates` that rewrites even what it is asked again about has failed, unless its
    /// answer is stricter than a failure.
    fn settle(&self, outcome: Outcome) -> Outcome {
        if outcome.denied() || outcome.withholds || !changes(self.current.input(), &outcome.output)
        {
            return outcome;
        }
        self.without_rewrite(outcome, UNSETTLED)
    }

    /// Fails a hook because of its rewrite. A stricter decision of it stays, although the input that
    /// it was about does not.
    fn without_rewrite(&self, outcome: Outcome, why: &str) -> Outcome {
        let interpreter = self.interpreter(&self.plan.hooks[outcome.index]);
        let failed =
            interpreter.failed_unless_stricter(&outcome.output, why).unwrap_or_else(|| {
                let Output { decision, reason, .. } = outcome.output;
                let output = Output { decision, reason, ..Output::default() };
                Outcome { output, ..interpreter.failed(why) }
            });
        Outcome { duration: outcome.duration, generation: outcome.generation, ..failed }
    }

    /// Notes the hooks that did not run because the event was denied before.
    pub(super) fn skip_rest(&mut self) {
        let seen = |index: usize| self.record.outcomes.iter().any(|outcome| outcome.index == index);
        let rest: Vec<Outcome> = self
            .current
            .matching
            .iter()
            .filter(|index| {
                !seen(**index) && self.plan.hooks[**index].hook.phase != Phase::Background
            })
            .map(|index| Outcome::skipped(*index, "an earlier hook denied the event"))
            .collect();
        self.record.outcomes.extend(rest);
    }

    /// Drops every allow and every answer in the tool's place that is not about the final input, or
    /// that comes from a hook chosen by an earlier name of the tool.
    pub(super) fn drop_outdated_permissions(&mut self) {
        let current = &self.current;
        let named = current.is_renamed().then(|| self.plan.matching(current.input()));
        let permits = |it: &Outcome| {
            it.generation == current.generation
                && named.as_ref().is_none_or(|named| named.contains(&it.index))
        };
        for outcome in self.record.outcomes.iter_mut().filter(|it| !permits(it)) {
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
    if !outcome.withholds && changes(current.input(), &outcome.output) {
        outcome.drop_rewrite(TURN_IS_OVER);
    }
}

/// Returns which hooks rewrote the input at the same time as one of a higher layer: only the rewrites of
/// the highest layer count, so that no lower one stands beside them or takes them along when it falls.
fn outranked(outcomes: &[Outcome], hooks: &[Bound], current: &Current<'_>) -> Vec<usize> {
    let order = |place: &usize| hooks[outcomes[*place].index].rewrite_order();
    let rewrites = |place: &usize| {
        let outcome = &outcomes[*place];
        !outcome.denied() && !outcome.withholds && changes(current.input(), &outcome.output)
    };
    let mut rewriting: Vec<usize> = (0..outcomes.len()).filter(rewrites).collect();
    let highest = rewriting.iter().map(order).max();
    rewriting.retain(|place| Some(order(place)) != highest);
    rewriting
}

/// Applies the rewrites of hooks that ran at the same time, from the highest layer down, and returns
/// the indexes of the outcomes that changed the input. A rewrite that would undo an earlier one is not
/// applied: its hook sees the other's result when it runs again.
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
        (!outcome.withholds, Reverse(hooks[outcome.index].rewrite_order()))
    });
    order.retain(|place| !outcomes[*place].denied());
    for place in order {
        let Some(next) = rewritten(current.input(), &outcomes[place].output) else { continue };
        if current.sealed {
            outcomes[place].drop_rewrite(WITHHELD);
            continue;
        }
        let undone = |other: &usize| changes(&next, &outcomes[*other].output);
        if !merged.iter().any(undone) {
            current.set(next);
            current.sealed |= outcomes[place].withholds;
            merged.push(place);
        }
    }
    merged
}
