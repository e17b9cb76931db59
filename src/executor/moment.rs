//! Events that fire together: all of them judge one input, and a rewrite of a lower layer counts only
//! if the rewriters of higher layers have seen the result.
//!
//! Before something happens, the rewriters of all events run first, from the lowest layer to the
//! highest, and then all other hooks judge the result, event by event. A response is judged layer by
//! layer, from the highest down: no guard waits for what a lower layer makes of it.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::dispatch::{DispatchOptions, Executor};
use super::fold::fold_moment;
use super::outcome::Outcome;
use super::phases::{Among, Unplanned};
use super::rewrite::{Current, rewritten};
use super::select::Bound;
use super::stage::{Stage, StageRecord};
use super::time::Deadlines;
use crate::config::Layer;
use crate::event::{Event, Rewrite};
use crate::wire::{Input, Output, Verdict};

/// Every position in the order of rewriting.
pub(super) const ALL_LAYERS: Range<usize> = 0..Layer::REWRITE_STEPS;

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
    /// How many layers have judged a response, and are not asked again.
    layers_done: usize,
    /// What is returned to if a rewriter fails on what was rewritten since.
    before: Option<Before>,
}

/// What one step of rewriting led to.
#[derive(Debug, Default)]
struct Step {
    /// The index of the stage whose denial ends the moment for the layer.
    ended: Option<usize>,
    /// A rewriter that failed, and why.
    failure: Option<String>,
}

/// The moment before a rewrite that rewriters of higher layers have yet to see.
#[derive(Debug, Clone)]
struct Before {
    /// The position in the order of rewriting of the lowest layer that keeps its answers.
    above: usize,
    /// Whether all redactors keep theirs.
    is_redacted: bool,
    input: Box<Input>,
    generation: usize,
    sealed: bool,
    /// The outcomes of each stage.
    outcomes: Vec<Vec<Outcome>>,
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
            stage.response_stands = options.response_stands;
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
        self.fail_rest(why, false);
        self.stages[0].verdict()
    }

    /// Starts the hooks in the background of the first event, in some layers.
    pub(super) fn start_background(&mut self, layers: &Range<usize>) {
        self.stages[0].start_background(layers);
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
            first.start_background(&ALL_LAYERS);
        }
        if !self.stages.iter().all(|stage| stage.plan.contract.denial_prevents()) {
            self.judge_response().await;
        } else if let ControlFlow::Break(index) = self.rewrite().await {
            self.reached = index;
            self.stages[index].start_background(&ALL_LAYERS);
            self.stages[index].skip(&ALL_LAYERS);
        } else {
            self.judge(ALL_LAYERS).await;
        }
        self.tell_observers().await;
    }

    /// Has the layers judge a response from the highest down. Where no layer below rewrites, several
    /// judge at once.
    async fn judge_response(&mut self) {
        let mut left = Layer::REWRITE_STEPS;
        for order in (0..Layer::REWRITE_STEPS).rev() {
            if self.stages.iter().any(|stage| stage.has_rewriters(order)) {
                self.judge(order + 1..left).await;
                left = order + 1;
                // No other hook of the layer sees what its redactors take out.
                self.rewrite_response(order, true).await;
                self.rewrite_response(order, false).await;
            }
        }
        self.judge(0..left).await;
    }

    /// Runs all hooks of some layers but the rewriters, event by event.
    async fn judge(&mut self, layers: Range<usize>) {
        for index in 0..self.stages.len() {
            if !self.stages[index].awake {
                continue;
            }
            self.reached = self.reached.max(index);
            let among = self.among(&self.left_of(&layers));
            let stage = &mut self.stages[index];
            if stage.refusal().is_some() {
                return;
            }
            // Not before: a redactor may be among those that rewrite.
            stage.start_background(&down_to(&layers));
            stage.skip(&(layers.start..among.layers.start));
            let started = Instant::now();
            let answers = stage.ask_others(&among).await;
            // Where no hook rewrites, it does not matter who outranks whom.
            let unplanned = if answers.iter().any(|answer| answer.output.rewrites()) {
                let highest = [false, true].map(|of_any_tool| {
                    self.stages.iter().filter_map(|stage| stage.highest(of_any_tool)).max()
                });
                self.stages[index].take_answers(answers, highest)
            } else {
                stage.add_outcomes(answers);
                None
            };
            self.after_step(index, started);
            if let Some(unplanned) = unplanned {
                self.judge_again(index, unplanned, &layers).await;
            }
            if self.is_over(index + 1, &layers) {
                break;
            }
        }
        self.ask_rewriters_again(&layers).await;
        self.progress.layers_done = Layer::REWRITE_STEPS - layers.start;
    }

    /// Asks the rewriters of some layers again that have not seen the input as it is now.
    async fn ask_rewriters_again(&mut self, layers: &Range<usize>) {
        for index in 0..=self.reached {
            let among = self.among(&self.left_of(layers));
            if !among.layers.is_empty() && self.stages[index].awake {
                let started = Instant::now();
                let judged_from = self.progress.judged_from;
                self.stages[index].ask_rewriters_again(judged_from, &among).await;
                self.after_step(index, started);
            }
        }
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

    /// Runs the rewriters from the lowest layer to the highest: a wrapper wraps once. Breaks with the index
    /// of the stage whose denial ends the moment.
    async fn rewrite(&mut self) -> ControlFlow<usize> {
        let mut denied_at = None;
        for order in ALL_LAYERS {
            let step = self.rewrite_step(order, |_| true).await;
            denied_at = step.ended.or(denied_at);
        }
        match denied_at {
            Some(index) if self.is_over(0, &ALL_LAYERS) => ControlFlow::Break(index),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Runs the redactors of one layer, or its other rewriters. What they rewrite is shown to the
    /// redactors of the layer and to all rewriters above it, and falls if one of these fails.
    async fn rewrite_response(&mut self, order: usize, redactors: bool) {
        let chosen = |event| is_redaction(event) == redactors;
        if !self.stages.iter().any(|stage| chosen(stage.event) && stage.has_rewriters(order)) {
            return;
        }
        let sees = |above: usize, event: Event| above > order || !redactors && is_redaction(event);
        let is_seen = |stage: &Stage<'_>| {
            let mut layers = order..Layer::REWRITE_STEPS;
            layers.any(|above| sees(above, stage.event) && stage.has_rewriters(above))
        };
        if self.stages.iter().any(is_seen) {
            let input = self.stages[0].current.input().clone();
            self.progress.before = Some(self.before(order + 1, !redactors, input));
        }
        let generation = self.progress.generation;
        self.rewrite_step(order, chosen).await;
        let mut failure = None;
        if self.progress.generation != generation && !self.progress.sealed {
            for above in order..Layer::REWRITE_STEPS {
                let step = self.rewrite_step(above, |event| sees(above, event)).await;
                failure = failure.or(step.failure);
            }
        }
        self.settle(failure);
    }

    /// Runs the rewriters at position `order` of the `chosen` events, one after another.
    async fn rewrite_step(&mut self, order: usize, chosen: impl Fn(Event) -> bool) -> Step {
        let mut step = Step::default();
        for index in 0..self.stages.len() {
            let stage = &self.stages[index];
            let takes_part = chosen(stage.event) && stage.awake && stage.has_rewriters(order);
            if !takes_part || stage.refusal().is_some() {
                continue;
            }
            let rewrote = self.lowest_rewriter();
            let before = self.progress.before.as_ref().map(|before| &*before.input);
            let stage = &mut self.stages[index];
            let started = Instant::now();
            let (ended, failure) = stage.rewrite(order, rewrote, before).await;
            step.failure = step.failure.or(failure);
            self.after_step(index, started);
            if ended {
                step.ended = Some(index);
                break;
            }
        }
        step
    }

    fn before(&self, above: usize, is_redacted: bool, input: Input) -> Before {
        let outcomes = self.stages.iter().map(|stage| stage.record.outcomes.clone()).collect();
        let Progress { generation, sealed, .. } = self.progress;
        Before { above, is_redacted, input: Box::new(input), generation, sealed, outcomes }
    }

    /// Ends a rewrite that others had to see. If one of them failed, returns to the moment before it.
    fn settle(&mut self, failure: Option<String>) {
        let (Some(before), Some(failure)) = (self.progress.before.take(), failure) else { return };
        let why = format!("its rewrite is dropped: {failure}");
        self.stages[0].set(*before.input);
        self.stages[0].current.sealed = before.sealed;
        self.spread(0);
        for (index, outcomes) in before.outcomes.into_iter().enumerate() {
            let stage = &mut self.stages[index];
            let is_redacted = before.is_redacted && is_redaction(stage.event);
            let above = if is_redacted { 0 } else { before.above };
            stage.take_back(above, before.generation, outcomes, &why);
            self.spread(index);
        }
    }

    /// Hooks without `mutates` rewrote the input at the stage `index`: shows the result to the redactors
    /// of their layer, and to every other hook of the `layers` that has not seen it.
    async fn judge_again(&mut self, index: usize, unplanned: Unplanned, layers: &Range<usize>) {
        let merged = self.progress.generation;
        let Unplanned { hooks, order, input, generation } = unplanned;
        let before = Before { generation, ..self.before(order + 1, true, *input) };
        self.progress.before = Some(before);
        let failure = self.rewrite_step(order, is_redaction).await.failure;
        self.settle(failure);
        let overruled = self.progress.generation != merged;
        let judged_from = self.progress.judged_from;
        for other in 0..=index {
            if !self.stages[other].awake {
                continue;
            }
            let (started, among) = (Instant::now(), self.among(layers));
            let stage = &mut self.stages[other];
            stage.start_background(&down_to(layers));
            let hooks = if other == index { &hooks[..] } else { &[] };
            stage.judge_again(judged_from, (hooks, overruled), &among).await;
            self.after_step(other, started);
            if self.is_over(other + 1, layers) {
                break;
            }
        }
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
            // A guard of a response that stands has seen all that it will see.
            if !is_redaction(changed.event) && !changed.response_stands {
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

    /// Returns those of `layers` for which no hook ended the moment: a denial of a lower layer keeps no hook
    /// of a higher one from being asked.
    fn left_of(&self, layers: &Range<usize>) -> Range<usize> {
        let ended = self.stages.iter().filter_map(Stage::ended_for).max();
        layers.start.max(ended.map_or(0, |order| order + 1))..layers.end
    }

    /// Returns whether a hook ended the moment, and none of those that are left of `layers` has hooks at the
    /// stages from `next` on. An event that can't be denied does not happen after a denial.
    fn is_over(&self, next: usize, layers: &Range<usize>) -> bool {
        let left = self.left_of(layers);
        let mut stages = self.stages[next..].iter().filter(|stage| stage.awake);
        left != *layers && !stages.any(|it| it.plan.contract.may_stop() && it.has_hooks(&left))
    }

    fn among(&self, layers: &Range<usize>) -> Among {
        Among { layers: layers.clone(), rewrote: self.lowest_rewriter() }
    }

    /// Returns the lowest layer that rewrote the input, as a position in the order of rewriting.
    fn lowest_rewriter(&self) -> Option<usize> {
        let rewrites = |(bound, outcome): (&Bound, &Outcome)| {
            let rewrote = (outcome.rewrote || outcome.output.rewrites()) && !outcome.denied();
            (rewrote && outcome.generation > 0).then(|| bound.rewrite_order())
        };
        self.stages.iter().flat_map(Stage::outcomes).filter_map(rewrites).min()
    }

    /// Fails every hook that has not answered, with the reason `why`: they are late, or could not be
    /// asked.
    pub(super) fn fail_rest(&mut self, why: &str, late: bool) {
        self.withhold_unseen(why);
        let Progress { judged_from, layers_done, .. } = self.progress;
        let open = 0..Layer::REWRITE_STEPS - layers_done;
        let rewrote = self.lowest_rewriter();
        for index in 0..self.stages.len() {
            if self.stages[index].awake {
                self.stages[index].fail_rest((judged_from, &open), rewrote, (why, late));
                self.reached = index;
                self.spread(index);
            }
        }
    }

    /// Withholds a response that was rewritten, if rewriters have yet to see the result.
    fn withhold_unseen(&mut self, why: &str) {
        let Some(before) = self.progress.before.take() else { return };
        if self.progress.generation == before.generation || self.progress.sealed {
            return;
        }
        let input = self.stages[0].current.input();
        let withheld = |now: &Option<Value>| {
            now.as_ref().map(|_| format!("withheld by hookexec: {why}").into())
        };
        let output = Output {
            updated_response: withheld(&input.response),
            updated_tool_response: withheld(&input.tool_response),
            ..Output::default()
        };
        if let Some(next) = rewritten(input, &output) {
            self.stages[0].set(next);
            self.stages[0].current.sealed = true;
            self.spread(0);
        }
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

/// Returns `layers` and all above them.
fn down_to(layers: &Range<usize>) -> Range<usize> {
    layers.start..Layer::REWRITE_STEPS
}

/// Returns whether `event` is there to take secrets out of a response.
fn is_redaction(event: Event) -> bool {
    event == Event::ToolResponseTransform
}
