//! Events that fire together: all of them judge one input, and no rewrite of a lower layer comes
//! after one of a higher layer.
//!
//! The rewriters of all events run first, layer by layer from the lowest to the highest, and within a
//! layer in the order of the events. Then all other hooks run, event by event, on the result.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::dispatch::{DispatchOptions, Executor};
use super::fold::fold_moment;
use super::phases::Unplanned;
use super::rewrite::Current;
use super::select::Bound;
use super::stage::{Stage, StageRecord};
use super::time::Deadlines;
use crate::config::Layer;
use crate::event::{Event, Rewrite};
use crate::wire::{Input, Verdict};

/// What is known of a moment. It outlives a run that is dropped.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// What the hooks of all events together decided, once all have answered.
    pub verdict: Option<Verdict>,
    /// The input, once a hook rewrote it.
    pub rewritten: Option<Input>,
    records: Vec<(Event, StageRecord)>,
    progress: Progress,
}

#[derive(Debug, Clone, Default)]
struct Progress {
    generation: usize,
    sealed: bool,
    /// Answers about an older generation must be given again. Redactions do not raise it.
    judged_from: usize,
    /// The last rewrite by hooks without `mutates`.
    late: Option<UnplannedRewrite>,
}

/// A rewrite by hooks without `mutates`, after the rewriters.
#[derive(Debug, Clone)]
struct UnplannedRewrite {
    /// The index of the stage.
    index: usize,
    late: Unplanned,
    /// The generation of the input that it led to.
    merged: usize,
}

/// Events that fire together, on their way to their verdicts.
pub(super) struct Moment<'e> {
    event: Event,
    stages: Vec<Stage<'e>>,
    progress: Progress,
    /// The index of the last stage whose hooks were asked.
    reached: usize,
}

impl<'e> Moment<'e> {
    pub(super) fn new(
        executor: &'e Executor,
        events: &[Event],
        input: &'e Input,
        options: &DispatchOptions<'e>,
        deadlines: &'e Deadlines,
    ) -> Self {
        let stage = |event: &Event| {
            let input = executor.complete(*event, input);
            let current = Current::new(executor.plan(*event), input, options.describe_tool);
            let mut stage = Stage::new(executor, *event, current, deadlines, options.observer);
            stage.awake = !options.once_rewritten.contains(event);
            if let Some(down_to) = options.down_to {
                stage.keep_down_to(down_to);
            }
            stage
        };
        Self {
            event: events.first().copied().unwrap_or(Event::Notification),
            stages: events.iter().map(stage).collect(),
            progress: Progress::default(),
            reached: 0,
        }
    }

    /// Returns the moment of an event whose input could not be read: every hook may be for it.
    pub(super) fn unknown(executor: &'e Executor, event: Event, deadlines: &'e Deadlines) -> Self {
        let current = Current::unknown(executor.plan(event));
        let stage = Stage::new(executor, event, current, deadlines, None);
        Self { event, stages: vec![stage], progress: Progress::default(), reached: 0 }
    }

    /// Returns the verdict of the only event after failing all of its hooks, with the reason `why`.
    pub(super) fn failed(mut self, why: &str) -> Verdict {
        self.fail_rest(why);
        self.stages[0].verdict()
    }

    /// Starts the hooks in the background of the first event.
    pub(super) fn start_background(&mut self) {
        self.stages[0].start_background();
    }

    /// Goes on from what was known of the moment.
    pub(super) fn restore(&mut self, standing: &Standing) {
        self.progress = standing.progress.clone();
        for stage in &mut self.stages {
            if let Some((_, record)) =
                standing.records.iter().find(|(event, _)| *event == stage.event)
            {
                stage.record = record.clone();
            }
            if let Some(input) = &standing.rewritten {
                stage.current.follow(input, self.progress.generation);
                stage.awake = true;
            }
            stage.current.sealed = self.progress.sealed;
        }
    }

    /// Runs the hooks.
    pub(super) async fn run(&mut self) {
        let rewrites = self.stages.iter().any(|stage| stage.plan.contract.rewrite != Rewrite::None);
        if !rewrites && let Some(first) = self.stages.first_mut() {
            first.start_background();
        }
        if let ControlFlow::Break(index) = self.rewrite(|_, _| true).await {
            self.reached = index;
            self.stages[index].start_background();
            self.tell_observers().await;
            self.stages[index].skip_rest();
            return;
        }
        for index in 0..self.stages.len() {
            if !self.stages[index].awake {
                continue;
            }
            self.reached = index;
            let stage = &mut self.stages[index];
            if stage.refusal().is_some() {
                return;
            }
            // Not before: a redactor may be among those that rewrite.
            stage.start_background();
            let started = Instant::now();
            let late = stage.judge().await;
            self.after_step(index, started);
            if let Some(late) = late {
                self.judge_again(index, late).await;
            }
            if self.is_over() {
                break;
            }
        }
        for index in 0..=self.reached {
            if !self.is_over() && self.stages[index].awake {
                let started = Instant::now();
                self.stages[index].ask_rewriters_again(self.progress.judged_from).await;
                self.after_step(index, started);
            }
        }
        self.tell_observers().await;
    }

    async fn tell_observers(&mut self) {
        for index in 0..=self.reached {
            if self.stages[index].awake {
                let started = Instant::now();
                self.stages[index].tell_observers().await;
                self.after_step(index, started);
            }
        }
    }

    /// Runs the rewriters for which `chosen(order, event)` holds. Breaks with the index of the stage
    /// that denied, if any.
    ///
    /// Redactors run first, so that no other hook sees what they take out, and again after each layer
    /// that rewrote.
    async fn rewrite(&mut self, chosen: impl Fn(usize, Event) -> bool) -> ControlFlow<usize> {
        for order in 0..Layer::REWRITE_STEPS {
            self.rewrite_step(order, |event| is_redaction(event) && chosen(order, event)).await?;
        }
        for order in 0..Layer::REWRITE_STEPS {
            let before = self.progress.generation;
            self.rewrite_step(order, |event| !is_redaction(event) && chosen(order, event)).await?;
            if self.progress.generation != before {
                self.redact_from(order).await?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Runs the redactors at position `order` and after it, on what was rewritten there.
    async fn redact_from(&mut self, order: usize) -> ControlFlow<usize> {
        for order in order..Layer::REWRITE_STEPS {
            self.rewrite_step(order, is_redaction).await?;
        }
        ControlFlow::Continue(())
    }

    /// Runs the rewriters at position `order` of the `chosen` events, one after another.
    async fn rewrite_step(
        &mut self,
        order: usize,
        chosen: impl Fn(Event) -> bool,
    ) -> ControlFlow<usize> {
        for index in 0..self.stages.len() {
            let stage = &mut self.stages[index];
            if !chosen(stage.event) || !stage.awake || stage.refusal().is_some() {
                continue;
            }
            let started = Instant::now();
            let goes_on = stage.rewrite(order).await;
            self.after_step(index, started);
            if !goes_on {
                return ControlFlow::Break(index);
            }
        }
        ControlFlow::Continue(())
    }

    /// Hooks without `mutates` rewrote the input at the stage `index`: asks every hook again that has
    /// not seen the result.
    async fn judge_again(&mut self, index: usize, late: Unplanned) {
        let merged = self.progress.generation;
        self.progress.late = Some(UnplannedRewrite { index, late: late.clone(), merged });
        let rewritten_at = late.order;
        if self.rewrite(|order, event| runs_again(order, rewritten_at, event)).await.is_break() {
            return;
        }
        self.take_back_unfollowed();
        let overruled = self.progress.generation != merged;
        let is_corrected = self.judge_stages_again(index, Some(&late), overruled).await;
        if is_corrected && !self.is_over() {
            self.take_back(index, late);
            self.judge_stages_again(index, None, false).await;
        }
    }

    /// Asks the hooks of the stages up to `index`, and returns whether one of a higher layer corrects
    /// the `late` rewrite.
    async fn judge_stages_again(
        &mut self,
        index: usize,
        late: Option<&Unplanned>,
        overruled: bool,
    ) -> bool {
        let judged_from = self.progress.judged_from;
        let lowest = late.map(|late| late.order);
        let mut is_corrected = false;
        for other in 0..=index {
            if !self.stages[other].awake {
                continue;
            }
            let started = Instant::now();
            let stage = &mut self.stages[other];
            stage.start_background();
            let hooks = late.filter(|_| other == index).map_or(&[][..], |late| &late.hooks);
            is_corrected |= stage.judge_again(judged_from, lowest, hooks, overruled).await;
            self.after_step(other, started);
            if self.stages[other].is_over() {
                break;
            }
        }
        is_corrected
    }

    /// Takes the last late rewrite back if a rewriter of a higher layer had rewritten the input before
    /// it, and failed when it ran again: its first rewrite must not be lost.
    fn take_back_unfollowed(&mut self) {
        let Some(UnplannedRewrite { index, late, .. }) = &self.progress.late else { return };
        let (index, rewritten_at) = (*index, late.order);
        let is_lost = |stage: &Stage<'_>| {
            let mut outcomes = stage.outcomes();
            outcomes.any(|(bound, outcome)| {
                let is_due = bound.is_rewriter()
                    && runs_again(bound.rewrite_order(), rewritten_at, stage.event);
                is_due && outcome.rewrote && outcome.error.is_some() && !outcome.withholds
            })
        };
        if !self.progress.sealed && self.stages.iter().any(is_lost) {
            let late = late.clone();
            self.take_back(index, late);
        }
    }

    fn take_back(&mut self, index: usize, late: Unplanned) {
        self.stages[index].take_back(late);
        self.spread(index);
    }

    /// Counts the time that the stage `index` took since `started`, and gives its rewrites to the
    /// other stages.
    fn after_step(&mut self, index: usize, started: Instant) {
        self.stages[index].record.took += started.elapsed();
        self.spread(index);
    }

    /// Gives the rewrites of the stage `index` to the other stages.
    fn spread(&mut self, index: usize) {
        let changed = &mut self.stages[index];
        let (generation, sealed) = (changed.current.generation, changed.current.sealed);
        self.progress.sealed = sealed;
        if generation != self.progress.generation {
            if !is_redaction(changed.event) {
                self.progress.judged_from = generation;
            }
            self.progress.generation = generation;
            self.stages.iter_mut().for_each(|stage| stage.awake = true);
            if self.stages.len() > 1 {
                let next = self.stages[index].current.input().clone();
                for stage in self.stages.iter_mut().filter(|it| it.current.generation != generation)
                {
                    stage.current.follow(&next, generation);
                }
            }
        }
        for stage in &mut self.stages {
            stage.current.sealed = sealed;
        }
    }

    fn is_over(&self) -> bool {
        self.stages.iter().any(Stage::is_over)
    }

    /// Fails every hook that has not answered, with the reason `why`.
    pub(super) fn fail_rest(&mut self, why: &str) {
        let judged_from = self.progress.judged_from;
        let late = self.progress.late.as_ref().map(|it| (it.late.order, it.merged));
        for index in 0..self.stages.len() {
            if self.stages[index].awake {
                let stage = &mut self.stages[index];
                let event = stage.event;
                let due_since = |bound: &Bound| {
                    let (rewritten_at, merged) = late?;
                    let again = bound.is_rewriter()
                        && runs_again(bound.rewrite_order(), rewritten_at, event);
                    again.then_some(merged)
                };
                stage.fail_rest(judged_from, due_since, why);
                self.reached = index;
                self.spread(index);
            }
        }
        self.take_back_unfollowed();
    }

    /// Returns the verdict of the only event, and how long its hooks took.
    pub(super) fn only_verdict(&mut self) -> (Verdict, Duration) {
        let stage = &mut self.stages[0];
        (stage.verdict(), stage.record.took)
    }

    /// Returns the verdict of each event that was reached, and how long its hooks took.
    pub(super) fn verdicts(&mut self) -> Vec<(Verdict, Duration)> {
        let mut verdicts = Vec::new();
        for (index, stage) in self.stages.iter_mut().enumerate() {
            let reached = stage.awake && index <= self.reached;
            if reached || !stage.record.outcomes.is_empty() {
                verdicts.push((stage.verdict(), stage.record.took));
            }
        }
        verdicts
    }

    /// Returns the verdict of all events together; `verdicts` are those of the single events.
    pub(super) fn whole<'v>(&self, verdicts: impl Iterator<Item = &'v Verdict>) -> Verdict {
        let outcomes: Vec<_> = self.stages.iter().flat_map(Stage::outcomes).collect();
        let mut whole = fold_moment(self.event, &outcomes);
        for stage in self.stages.iter().filter(|stage| stage.record.rewrote) {
            stage.current.report(&mut whole);
        }
        // Events that no hook could be asked about.
        for verdict in verdicts.filter(|verdict| verdict.hooks.is_empty() && !verdict.allowed) {
            whole.absorb(verdict.clone());
        }
        whole
    }

    pub(super) fn into_standing(mut self, verdict: Option<Verdict>) -> Standing {
        // A run that was dropped may not have handed on the last rewrite.
        let last = (0..self.stages.len()).max_by_key(|it| self.stages[*it].current.generation);
        if let Some(index) = last {
            self.spread(index);
        }
        let rewritten = self.stages.iter_mut().find_map(|stage| stage.current.take_rewritten());
        let records = self.stages.into_iter().map(|stage| (stage.event, stage.record)).collect();
        Standing { verdict, rewritten, records, progress: self.progress }
    }
}

/// Returns whether rewriters at position `order` run again after an unplanned rewrite at position
/// `rewritten_at`: those of higher layers, and the redactors of the same one.
fn runs_again(order: usize, rewritten_at: usize, event: Event) -> bool {
    order > rewritten_at || order == rewritten_at && is_redaction(event)
}

/// Returns whether `event` is there to take secrets out of a response.
fn is_redaction(event: Event) -> bool {
    event == Event::ToolResponseTransform
}
