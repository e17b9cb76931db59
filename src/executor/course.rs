//! How an evaluation went, for a person who wants to know how a verdict came about.

use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use super::ask::Answer;
use super::evaluate::Evaluation;
use crate::event::Event;
use crate::wire::{Decision, HookStatus, Input};

/// How the hooks of a moment decided. Inputs have numbers: 1 is the one that came.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Course {
    /// All inputs, from number 1 on.
    pub inputs: Vec<Input>,
    /// Each answer, in the order in which they were taken.
    pub steps: Vec<Step>,
    /// The number of the final input.
    pub final_input: usize,
}

/// One answer of a hook.
#[skip_serializing_none]
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The round, from 1 on.
    pub round: usize,
    /// Whether the hook took its turn or judged.
    pub role: Role,
    /// The hook's name, or what it runs.
    pub hook: String,
    /// Where it is configured.
    pub source: String,
    /// The event that it is configured for.
    pub event: Event,
    /// The number of the input that it was asked about. If no step made this input, it is the final
    /// one under the tool's first name.
    pub input: usize,
    /// Whether its input had `"repeated": true`.
    pub repeated: bool,
    /// Whether the hook was not called, because it had answered to this input before.
    pub kept: bool,
    /// Its decision.
    pub decision: Option<Decision>,
    /// The number of the input that its answer made.
    pub made: Option<usize>,
    /// Why the answer, or a part of it, does not count.
    pub remarks: Vec<String>,
}

/// Why a hook was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// It was its turn to rewrite.
    Turn,
    /// It judged.
    Judge,
}

/// An answer that was taken: its number, in which round, and the version that its turn left.
pub(super) struct Taken {
    pub(super) answer: usize,
    pub(super) round: usize,
    pub(super) left: Option<usize>,
}

impl Evaluation<'_> {
    /// Returns how the evaluation went, if the caller wants to know it.
    pub(super) fn course(&self) -> Option<Course> {
        let taken = self.taken.as_ref()?;
        let mut steps = Vec::with_capacity(taken.len());
        for (number, entry) in taken.iter().enumerate() {
            let kept = taken[..number].iter().any(|earlier| earlier.answer == entry.answer);
            steps.push(self.step(entry, kept));
        }
        Some(Course { inputs: self.moment.versions.all(), steps, final_input: self.judged() + 1 })
    }

    fn step(&self, taken: &Taken, kept: bool) -> Step {
        let answer = &self.answers[taken.answer];
        let Answer { hook, version, outcome, .. } = answer;
        let bound = self.moment.bound(*hook);
        let withheld = answer.made.filter(|_| outcome.withholds);
        let made = taken.left.or(withheld).filter(|made| made != version);
        Step {
            round: taken.round,
            role: if taken.left.is_some() { Role::Turn } else { Role::Judge },
            hook: bound.hook.label(),
            source: bound.hook.location.text(),
            event: bound.hook.event,
            input: version + 1,
            repeated: answer.repeated,
            kept,
            decision: outcome.unenforced.as_ref().unwrap_or(&outcome.output).decision,
            made: made.map(|made| made + 1),
            remarks: if kept { Vec::new() } else { self.remarks(answer) },
        }
    }

    /// Returns why an answer, or a part of it, does not count.
    fn remarks(&self, answer: &Answer) -> Vec<String> {
        let before = &answer.outcome;
        let mut settled = self.settled(answer.clone());
        let mut remarks = settled.warnings.split_off(before.warnings.len());
        let lead = format!("hook {}: ", self.moment.bound(answer.hook).title());
        for notice in settled.notices.split_off(before.notices.len()) {
            remarks.push(notice.trim_start_matches(&lead).to_owned());
        }
        if before.unenforced.is_some() {
            remarks.push("its `mode` keeps its answer from counting".to_owned());
        }
        if before.status == HookStatus::Skipped {
            remarks.extend(before.error.clone());
        } else if before.has_failed() {
            remarks.push("it failed: its `on_error` decides, or else the event".to_owned());
        }
        remarks
    }
}
