//! The course of an evaluation, for people: each version of the input, and who was asked about it.

use serde::Serialize;
use serde_json::Value;

use super::ask::Answer;
use super::evaluate::Evaluation;
use super::versions::ORIGINAL;
use crate::event::Event;
use crate::wire::{Decision, Input};

/// The course of the evaluation of one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Course {
    /// For each version of the input, what differs from the input as it came.
    pub inputs: Vec<Vec<Difference>>,
    /// The number of the final input.
    pub last: usize,
    /// Each answer, in the order in which they were given.
    pub steps: Vec<Step>,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The field: `tool_input.command`.
    pub field: String,
    /// Its value in the input that came.
    pub before: Option<Value>,
    /// Its value in this version.
    pub after: Option<Value>,
}

/// One answer of a hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The hook's name.
    pub name: String,
    /// Where it is configured.
    pub source: String,
    /// Its event.
    pub event: Event,
    /// Whether it took a turn; else it judged.
    pub in_turn: bool,
    /// The number of the input that it was asked about.
    pub input: usize,
    /// What it decided.
    pub decision: Option<Decision>,
    /// The number of the input that it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<usize>,
    /// Why its answer, or a part of it, does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl Evaluation<'_> {
    /// Returns the course until now.
    pub(super) fn course(&self) -> Course {
        let versions = &self.moment.versions;
        let mut course = Course { last: self.last, ..Course::default() };
        for number in ORIGINAL..versions.count() {
            let differences = differences(versions.input(ORIGINAL), versions.input(number));
            course.inputs.push(differences);
        }
        for answer in &self.answers {
            course.steps.push(self.step(answer));
        }
        course
    }

    fn step(&self, answer: &Answer) -> Step {
        let bound = self.moment.bound(answer.hook);
        let given = &answer.outcome;
        let settled = self.settled(answer.clone());
        let mut ignored = settled.warnings[given.warnings.len()..].to_vec();
        ignored.extend_from_slice(&settled.notices[given.notices.len()..]);
        Step {
            name: bound.hook.label(),
            source: bound.hook.location.to_string(),
            event: bound.hook.event,
            in_turn: answer.in_turn,
            input: answer.version,
            decision: given.output.decision,
            made: answer.made,
            ignored,
        }
    }
}

/// Returns what hooks changed between two inputs; of arguments, key by key.
fn differences(before: &Input, after: &Input) -> Vec<Difference> {
    const FIELDS: [&str; 8] = [
        "tool_name", "tool_input", "tool_response", "messages", "response", "model_id", "tools",
        "options",
    ];
    let mut found = Vec::new();
    for field in FIELDS {
        let [before, after] = [before, after].map(|input| input.field(field));
        let [before, after] = [before, after].map(|value| value.map(std::borrow::Cow::into_owned));
        add_differences(&mut found, field, before, after);
    }
    found
}

fn add_differences(
    found: &mut Vec<Difference>,
    field: &str,
    before: Option<Value>,
    after: Option<Value>,
) {
    if before == after {
        return;
    }
    let (Some(Value::Object(old)), Some(Value::Object(new))) = (&before, &after) else {
        found.push(Difference { field: field.to_owned(), before, after });
        return;
    };
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let (before, after) = (old.get(key).cloned(), new.get(key).cloned());
        if before != after {
            found.push(Difference { field: format!("{field}.{key}"), before, after });
        }
    }
}
