//! The phases of one event: rewriters in turn, all others at once, and once more on a new input.
//!
//! At the end every answer that could stop the event must be about the final input.

use std::ops::Range;
use std::sync::Arc;

use tokio::time::timeout_at;

use super::fold::fold;
use super::outcome::Outcome;
use super::rewrite::{Current, changes, rewritten};
use super::select::Bound;
use super::stage::{Chosen, Stage, is_for_input};
use crate::event::{Contract, Event};
use crate::handler::Shared;
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

/// The failure for a rewrite by a hook without `mutates` where a higher layer has hooks, too.
const OUTRANKED: &str = "its rewrite is dropped: hooks of a higher layer are for this event, too; \
                         set `mutates: true`";

/// The hooks without `mutates` that rewrote the input all the same: they are of one layer.
#[derive(Debug, Clone)]
pub(super) struct Unplanned {
    /// The hooks, by index.
    pub(super) hooks: Vec<usize>,
    /// The position of their layer in the order of rewriting.
    pub(super) order: usize,
    /// The input before they rewrote it, and its generation.
    pub(super) input: Box<Input>,
    pub(super) generation: usize,
}

/// The hooks that are asked: those of some layers.
pub(super) struct Among {
    /// By the position in the order of rewriting.
    pub(super) layers: Range<usize>,
    /// The lowest layer that rewrote the input.
    pub(super) rewrote: Option<usize>,
}

impl<'e> Stage<'e> {
    /// Fails every hook that has no answer about the last input, with the reason `why`. An answer
    /// counts from generation `judged_from` on, and always in a layer that is not `open` any more.
    pub(super) fn fail_rest(
        &mut self,
        (judged_from, open): (usize, &Range<usize>),
        rewrote: Option<usize>,
        (why, late): (&str, bool),
    ) {
        for index in Arc::clone(&self.current.matching).iter() {
            let bound = &self.plan.hooks[*index];
            let judges = !bound.is_rewriter() || self.plan.contract.may_stop();
            let is_open = open.contains(&bound.rewrite_order());
            let since = if judges && is_open { judged_from } else { 0 };
            let is_due = |it: &Outcome| !it.denied() && it.generation < since;
            let answered = self.record.outcomes.iter().find(|it| it.index == *index);
            if bound.hook.phase.is_answered() && answered.is_none_or(is_due) {
                let mut outcome = self.interpreter(bound).failed(why);
                outcome.put_under_mode_of(bound, self.session());
                outcome.is_late = late;
                self.deny_if_lower_layer_interfered(&mut outcome, rewrote);
                self.take_rewrite(outcome);
            }
        }
    }

    /// Denies for a hook that failed on what a lower layer rewrote, and for a late hook if a lower layer
    /// has a file, whatever its `on_error` says. Without that layer it may have denied, or rewritten.
    fn deny_if_lower_layer_interfered(&self, outcome: &mut Outcome, rewrote: Option<usize>) {
        let bound = &self.plan.hooks[outcome.index];
        let cause =
            if outcome.error.is_some() && rewrote.is_some_and(|it| it < bound.rewrite_order()) {
                "failed on a rewrite of a lower layer"
            } else if outcome.is_late && bound.rank() < self.executor.lowest_rank {
                "is late, and a lower layer may have used its time"
            } else {
                return;
            };
        let contract = self.plan.contract;
        // A late hook keeps no model at work: it may be late each time.
        let is_denied = contract.denial_prevents() && contract.may_block;
        if outcome.unenforced.is_none() && is_denied {
            // A hook that asked before it was late could still have denied.
            let error = outcome.error.as_deref().unwrap_or("it was not done when it had answered");
            let reason = format!("hook {} {cause}: {error}", bound.title());
            outcome.drop_rewrite(reason.as_str());
            if !outcome.denied() {
                outcome.output.reason = None;
            }
            outcome.output.decision = Some(Decision::Deny);
            outcome.output.reason.get_or_insert(reason);
            (outcome.failed_open, outcome.withholds) = (false, false);
        }
    }

    /// Returns the verdict of this event alone.
    pub(super) fn verdict(&mut self) -> Verdict {
        if let Some(cause) = self.refusal() {
            return Verdict::denied(self.event, cause);
        }
        self.record.outcomes.sort_by_key(|outcome| outcome.index);
        self.drop_outdated_permissions();
        self.drop_outranked_allows();
        let mut verdict = fold(self.event, &self.plan.hooks, &self.record.outcomes);
        if self.record.rewrote {
            self.current.report(&mut verdict);
        }
        if self.event == Event::Approval {
            self.conclude(&mut verdict);
        }
        verdict
    }

    /// Runs the rewriters at position `order`, one after another. Returns whether a denial ends the
    /// moment for their layer, and a failure, if there is one.
    pub(super) async fn rewrite(
        &mut self,
        order: usize,
        rewrote: Option<usize>,
        before: Option<&Input>,
    ) -> (bool, Option<String>) {
        let (mut budget, mut failure) = (Budget::here(), None);
        let rewriters: Vec<&Bound> = self.rewriters(order).collect();
        for bound in rewriters {
            // Chosen one by one: an earlier rewriter may have renamed the tool. A rewriter whose turn
            // comes once more must rewrite once more, so its `when` does not see `repeated`.
            let outcome = match self.choose(bound, &mut budget, false) {
                Some(chosen) => self.call(chosen).await,
                None => None,
            };
            let Some(mut outcome) = outcome else {
                if let Some(before) = before
                    && self.is_undone(bound, rewrote, before).await
                {
                    let lost = || {
                        format!(
                            "the `when` of hook {}, which had rewritten it, does not hold for the result",
                            bound.title()
                        )
                    };
                    failure.get_or_insert_with(lost);
                }
                continue;
            };
            self.record.asked[bound.index] = true;
            if outcome.unenforced.is_none()
                && let Some(error) = &outcome.error
            {
                let failed = || format!("hook {} failed on the result: {error}", bound.title());
                failure.get_or_insert_with(failed);
            }
            self.deny_if_lower_layer_interfered(&mut outcome, rewrote);
            let ends = self.ends(&outcome);
            self.take_rewrite(outcome);
            if ends {
                return (true, failure);
            }
        }
        (false, failure)
    }

    /// Returns whether a lower layer has made false the `when` of a rewriter, which held on the input
    /// `before`, as the rewriter had left it.
    async fn is_undone(&self, bound: &Bound, rewrote_below: Option<usize>, before: &Input) -> bool {
        let rewrote =
            |it: &Outcome| it.index == bound.index && (it.rewrote || it.output.rewrites());
        let is_above = rewrote_below.is_some_and(|lowest| lowest < bound.rewrite_order());
        if !is_above || !self.record.outcomes.iter().any(rewrote) {
            return false;
        }
        let stop = self.deadlines.until(bound).stop;
        let shared = Shared::default();
        let held = is_for_input(bound, (before, &shared), Vec::new());
        !matches!(timeout_at(stop.into(), held).await, Ok(Ok(false)))
    }

    /// Runs all hooks of some layers at once, but the rewriters.
    pub(super) async fn ask_others(&mut self, among: &Among) -> Vec<Outcome> {
        let selected = self.select(&among.layers, false);
        self.ask(selected, among).await
    }

    /// Runs hooks at once.
    async fn ask(&mut self, chosen: Vec<Chosen<'e>>, among: &Among) -> Vec<Outcome> {
        let mut outcomes = self.call_all(chosen).await;
        for outcome in &mut outcomes {
            self.deny_if_lower_layer_interfered(outcome, among.rewrote);
        }
        outcomes
    }

    /// Takes the answers of hooks some of which rewrote the input without being rewriters, and
    /// returns these.
    ///
    /// Their rewrites count only in the `highest` layer that has hooks for this moment: by the tool's
    /// name, and for a hook that gives the tool another name, by any. So no hook of a higher layer has
    /// to run after them.
    pub(super) fn take_answers(
        &mut self,
        mut outcomes: Vec<Outcome>,
        highest: [Option<usize>; 2],
    ) -> Option<Unplanned> {
        let generation = self.current.generation;
        for outcome in &mut outcomes {
            let renames = outcome.output.updated_tool_name.is_some();
            let order = self.plan.hooks[outcome.index].rewrite_order();
            if Some(order) < highest[usize::from(renames)] && self.may_rewrite(outcome) {
                *outcome = self.without_rewrite(outcome.clone(), OUTRANKED);
                outcome.generation = generation;
            }
        }
        let input = Box::new(self.current.input().clone());
        let rewriters = merge_rewrites(&mut outcomes, &mut self.current, self.plan.contract);
        self.record.rewrote |= self.current.generation > generation;
        // If only one hook rewrote the input, it has already seen the result. If several did, none of
        // them has seen the combination.
        if let [only] = rewriters[..] {
            outcomes[only].generation = self.current.generation;
        }
        let hooks: Vec<usize> = rewriters.iter().map(|place| outcomes[*place].index).collect();
        self.record.unplanned.extend(&hooks);
        self.add_outcomes(outcomes);
        let order = self.plan.hooks[*hooks.first()?].rewrite_order();
        Some(Unplanned { hooks, order, input, generation })
    }

    pub(super) fn add_outcomes(&mut self, mut outcomes: Vec<Outcome>) {
        // The list itself, where there is none yet: appending would allocate another.
        if self.record.outcomes.is_empty() {
            self.record.outcomes = outcomes;
        } else {
            self.record.outcomes.append(&mut outcomes);
        }
    }

    /// Takes back what hooks below `above` rewrote since `generation`: they have failed. Hooks from
    /// `above` on have the `earlier` outcomes again, which are about the input that counts now.
    pub(super) fn take_back(
        &mut self,
        above: usize,
        generation: usize,
        mut earlier: Vec<Outcome>,
        why: &str,
    ) {
        let is_above = |it: &Outcome| self.plan.hooks[it.index].rewrite_order() >= above;
        earlier.retain(is_above);
        let now = std::mem::take(&mut self.record.outcomes);
        self.record.outcomes = earlier;
        for outcome in now.into_iter().filter(|it| !is_above(it)) {
            if outcome.output.rewrites() && outcome.generation > generation {
                let failed = self.without_rewrite(outcome, why);
                self.take_rewrite(failed);
            } else {
                self.record.outcomes.push(outcome);
            }
        }
        for outcome in &mut self.record.outcomes {
            if outcome.generation == generation {
                outcome.generation = self.current.generation;
            }
        }
    }

    /// Asks the hooks of some layers again whose answers are about a generation before `judged_from`.
    /// The hooks in `unplanned` rewrote the input; if they were `overruled`, they may not rewrite it back.
    ///
    /// A denial stays unless the same hook answers again. A hook whose `when` no longer holds is not
    /// asked.
    pub(super) async fn judge_again(
        &mut self,
        judged_from: usize,
        (unplanned, overruled): (&[usize], bool),
        among: &Among,
    ) {
        let mut again = self.select(&among.layers, false);
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
        let stays = self.denials_stay();
        for mut outcome in self.ask(again, among).await {
            let is_unplanned = unplanned.contains(&outcome.index);
            let first = self.record.outcomes.iter().position(|it| it.index == outcome.index);
            // A second answer replaces the first, but not what a hook said with its rewrite.
            if let Some(first) = first.filter(|_| !is_unplanned) {
                outcome.keep_denial_of(&self.record.outcomes.remove(first), stays);
            }
            if overruled && is_unplanned {
                drop_second_rewrite(&mut outcome, &self.current);
            } else {
                outcome = self.settle(outcome);
            }
            self.take_last(outcome);
        }
    }

    /// Returns whether a denial stays when the same hook answers again: what a hook says of a response on
    /// seeing less of it takes nothing back.
    fn denials_stay(&self) -> bool {
        !self.plan.contract.denial_prevents()
    }

    /// Returns whether an answer would change the input, and nothing stands in its way.
    fn may_rewrite(&self, outcome: &Outcome) -> bool {
        rewrite_counts(self.plan.contract, outcome)
            && !outcome.withholds
            && !self.current.sealed
            && changes(self.current.input(), &outcome.output)
    }

    /// Asks the rewriters of some layers again whose answers are about a generation before
    /// `judged_from`, for their decision only.
    pub(super) async fn ask_rewriters_again(&mut self, judged_from: usize, among: &Among) {
        // Where nothing can be prevented, a second answer is of no use.
        if !self.plan.contract.may_stop() {
            return;
        }
        let mut outdated = self.select(&among.layers, true);
        outdated.retain(|chosen| {
            let index = chosen.bound.index;
            let is_last = |it: &Outcome| it.generation >= judged_from || it.denied();
            !self.record.outcomes.iter().any(|it| it.index == index && is_last(it))
        });
        for mut outcome in self.ask(outdated, among).await {
            drop_second_rewrite(&mut outcome, &self.current);
            self.take_last(outcome);
        }
    }

    /// Takes the answer of a hook whose turn it is to rewrite.
    fn take_rewrite(&mut self, mut outcome: Outcome) {
        if let Some(next) = rewritten(self.current.input(), &outcome.output) {
            if self.current.sealed {
                outcome.drop_rewrite(WITHHELD);
            } else if rewrite_counts(self.plan.contract, &outcome) {
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

    pub(super) fn set(&mut self, next: Input) {
        self.current.set(next);
        self.record.rewrote = true;
    }

    /// Notes what became of a hook, which may have answered before.
    fn note(&mut self, outcome: Outcome) {
        let stays = self.denials_stay();
        match self.record.outcomes.iter_mut().find(|first| first.index == outcome.index) {
            Some(first) => *first = outcome.merged_with(first, stays),
            None => self.record.outcomes.push(outcome),
        }
    }

    /// A hook without `mutates` that rewrites even what it is asked again about has failed, unless its
    /// answer is stricter than a failure.
    fn settle(&self, outcome: Outcome) -> Outcome {
        if self.may_rewrite(&outcome) { self.without_rewrite(outcome, UNSETTLED) } else { outcome }
    }

    /// Fails a hook because of its rewrite. A stricter decision of it stays, although the input that
    /// it was about does not.
    fn without_rewrite(&self, outcome: Outcome, why: &str) -> Outcome {
        let interpreter = self.interpreter(&self.plan.hooks[outcome.index]);
        let failed =
            interpreter.failed_unless_stricter(&outcome.output, why).unwrap_or_else(|| {
                let Output { decision, reason, stop, .. } = *outcome.output;
                let mut failed = interpreter.failed(why);
                *failed.output = Output { decision, reason, stop, ..Output::default() };
                failed
            });
        Outcome { duration: outcome.duration, generation: outcome.generation, ..failed }
    }

    /// Notes the hooks of some layers that do not run because the event was denied before.
    pub(super) fn skip(&mut self, layers: &Range<usize>) {
        let mut skipped = Vec::new();
        for index in self.current.matching.iter() {
            let bound = &self.plan.hooks[*index];
            let is_due = bound.hook.phase.is_answered() && layers.contains(&bound.rewrite_order());
            if is_due && !self.record.outcomes.iter().any(|outcome| outcome.index == *index) {
                skipped.push(Outcome::skipped(*index, "an earlier hook denied the event"));
            }
        }
        self.record.outcomes.append(&mut skipped);
    }

    /// Drops every allow and every answer in the tool's place that is not about the final input, or
    /// that comes from a hook chosen by an earlier name of the tool.
    pub(super) fn drop_outdated_permissions(&mut self) {
        // A response needs no permission.
        if !self.plan.contract.denial_prevents() {
            return;
        }
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

/// Returns whether the rewrite of an answer counts. One that comes with a denial is of no use where the
/// denial prevents what it rewrites.
fn rewrite_counts(contract: &Contract, outcome: &Outcome) -> bool {
    !outcome.denied() || !contract.denial_prevents()
}

/// Ignores the rewrite of a hook that runs again for its decision only.
fn drop_second_rewrite(outcome: &mut Outcome, current: &Current<'_>) {
    if !outcome.withholds && changes(current.input(), &outcome.output) {
        outcome.drop_rewrite(TURN_IS_OVER);
    }
}

/// Applies the rewrites of hooks of one layer that ran at the same time, and returns the indexes of the
/// outcomes that changed the input. A rewrite that would undo an earlier one is not
/// applied: its hook sees the other's result when it runs again.
fn merge_rewrites(
    outcomes: &mut [Outcome],
    current: &mut Current<'_>,
    contract: &Contract,
) -> Vec<usize> {
    let mut merged: Vec<usize> = Vec::new();
    // A withheld value comes first, and nothing may replace it.
    let mut order: Vec<usize> = (0..outcomes.len()).collect();
    order.sort_by_key(|place| !outcomes[*place].withholds);
    order.retain(|place| rewrite_counts(contract, &outcomes[*place]));
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
