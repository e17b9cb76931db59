//! Explains which hooks run on an event and why, and how they decided.

use std::sync::Arc;

use serde::Serialize;

use super::dispatch::Executor;
use super::evaluate::Evaluation;
use super::outcome::Outcome;
use super::versions::Version;
use crate::config::Hook;
use crate::config::condition::Trace;
use crate::describe::Memo;
use crate::event::Event;
use crate::wire::{Decision, HookStatus, Input};

/// Why one configured hook would run for an input, or would not.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The hook's name, or what it runs.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is configured.
    pub source: String,
    /// The event that it is configured for; for a failed file, the event that it fails.
    pub event: Event,
    /// Its matcher, on an event matched by tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its condition with the values of the input, if it has one that was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Trace>,
    /// Whether it would run, and why not.
    pub selection: Selection,
    /// The hook itself.
    #[serde(skip)]
    pub hook: Arc<Hook>,
}

/// Whether a hook would run.
///
/// This holds for the input as it comes. A hook that rewrites may change what matches after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Selection {
    /// It would run.
    Runs,
    /// It would fail, for this reason: its file can't be loaded, or a person must approve it.
    Untrusted(String),
    /// It is configured for another event.
    OtherEvent(Event),
    /// `enabled: false`.
    Disabled,
    /// Its matcher matches neither the tool's name nor its kind.
    NotMatched,
    /// Its condition does not hold.
    ConditionFails,
    /// An identical hook is configured before it, at this place.
    DuplicateOf(String),
}

impl Executor {
    /// Returns for every configured hook, in config order, whether `dispatch` would run it, and why
    /// not. Nothing is run.
    pub fn explain(&self, event: Event, input: &Input) -> Vec<Explanation> {
        let input = self.complete(event, input);
        // Failed files come first, as in the plan. They are not configured hooks.
        let mut explanations = Vec::new();
        for hook in self.failures(event).into_iter().chain(&self.configured) {
            let (selection, condition) = self.select(hook, event, &input);
            let is_matched = hook.event.contract().tool_matched;
            explanations.push(Explanation {
                name: hook.label(),
                kind: hook.kind.clone(),
                source: hook.location.to_string(),
                event: hook.event,
                matcher: if is_matched { Some(hook.matcher.to_string()) } else { None },
                condition,
                selection,
                hook: Arc::clone(hook),
            });
        }
        explanations
    }

    /// Returns how many files fail `event`: their explanations come first.
    pub fn failed_files(&self, event: Event) -> usize {
        self.failures(event).len()
    }

    /// Returns the hooks that stand for the files that fail `event`.
    fn failures(&self, event: Event) -> Vec<&Arc<Hook>> {
        let mut failures = Vec::new();
        for bound in &self.plan(event).hooks {
            if bound.hook.is_failed_file() {
                failures.push(&bound.hook);
            }
        }
        failures
    }

    /// Returns whether a hook would run, and its condition if that was evaluated.
    fn select(&self, hook: &Arc<Hook>, event: Event, input: &Input) -> (Selection, Option<Trace>) {
        if hook.event != event {
            return (Selection::OtherEvent(hook.event), None);
        }
        let plan = &self.plans[event.index()];
        let Some(index) = plan.hooks.iter().position(|bound| Arc::ptr_eq(&bound.hook, hook)) else {
            return (Selection::Disabled, None);
        };
        let identity = plan.hooks[index].identity;
        let matched = plan.matching(input);
        match matched.iter().find(|other| plan.hooks[**other].identity == identity) {
            Some(first) if *first == index => {}
            Some(first) if *first < index && plan.matches(index, input) => {
                let place = plan.hooks[*first].hook.location.to_string();
                return (Selection::DuplicateOf(place), None);
            }
            _ => return (Selection::NotMatched, None),
        }
        let memo = Memo::new(self.describer);
        let condition = hook.when.as_ref().map(|when| when.explain(input, &memo));
        let selection = match (&condition, &hook.untrusted) {
            (Some(trace), _) if !trace.holds => Selection::ConditionFails,
            (_, Some(why)) => Selection::Untrusted(why.cause.to_string()),
            (_, None) => Selection::Runs,
        };
        (selection, condition)
    }
}

/// How the hooks of a moment decided. Inputs have numbers: 1 is the one that came.
#[derive(Debug, Clone, Serialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The number of the input that its answer made.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub(super) left: Option<Version>,
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
        Some(Course {
            inputs: self.moment.versions.all(),
            steps,
            final_input: self.judged().number(),
        })
    }

    fn step(&self, taken: &Taken, kept: bool) -> Step {
        let answer = &self.answers[taken.answer];
        let bound = self.moment.bound(answer.hook);
        let withheld = answer.made.filter(|_| answer.withholds);
        let made = taken.left.or(withheld).filter(|made| *made != answer.version);
        Step {
            round: taken.round,
            role: if taken.left.is_some() { Role::Turn } else { Role::Judge },
            hook: bound.hook.label(),
            source: bound.hook.location.text(),
            event: bound.hook.event,
            input: answer.version.number(),
            repeated: answer.repeated,
            kept,
            decision: answer.unenforced.as_ref().unwrap_or(&answer.output).decision,
            made: made.map(Version::number),
            remarks: if kept { Vec::new() } else { self.remarks(answer) },
        }
    }

    /// Returns why an answer, or a part of it, does not count.
    fn remarks(&self, before: &Outcome) -> Vec<String> {
        let mut settled = self.settled(before.clone());
        let mut remarks = settled.warnings.split_off(before.warnings.len());
        let lead = format!("hook {}: ", self.moment.bound(before.hook).title());
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
