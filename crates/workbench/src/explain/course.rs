//! How the hooks of an event decided: turns, inputs and judgements.

use hookexec::Input;
use hookexec::executor::{Course, Step};
use hookexec::wire::JsonObject;
use serde::Serialize;
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

/// The fields of an input that hooks can rewrite.
const REWRITABLE: [&str; 8] = [
    "tool_name", "tool_input", "tool_response", "messages", "response", "model_id", "tools",
    "options",
];

/// How the hooks decided.
#[derive(Debug, Serialize)]
pub struct ExplainedCourse {
    /// The answers, one after the other.
    pub steps: Vec<ExplainedStep>,
    /// The number of the input that the tool gets.
    pub final_input: usize,
}

/// An answer, and what differs between the input that it made and the one that it is about.
#[derive(Debug, Serialize)]
pub struct ExplainedStep {
    /// The answer.
    #[serde(flatten)]
    pub step: Step,
    /// The differences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// A difference between two inputs at one place.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub struct Change {
    /// The path, such as `tool_input.command`.
    pub field: String,
    /// The value before, if there is one.
    pub before: Option<Value>,
    /// The value after, if there is one.
    pub after: Option<Value>,
}

impl ExplainedStep {
    /// Returns whether the hook answered about the input as it was, and all of the answer counts.
    pub fn is_plain(&self) -> bool {
        self.step.made.is_none() && self.step.remarks.is_empty()
    }
}

impl ExplainedCourse {
    pub(crate) fn new(course: Course) -> Self {
        let Course { inputs, steps, final_input, .. } = course;
        let mut explained = Vec::with_capacity(steps.len());
        for step in steps {
            let mut changes = Vec::new();
            if let Some(made) = step.made {
                compare_inputs(&inputs[step.input - 1], &inputs[made - 1], &mut changes);
            }
            explained.push(ExplainedStep { step, changes });
        }
        Self { steps: explained, final_input }
    }
}

fn compare_inputs(before: &Input, after: &Input, found: &mut Vec<Change>) {
    let (mut before, mut after) = (fields(before), fields(after));
    for field in REWRITABLE {
        compare(field.to_owned(), before.remove(field), after.remove(field), found);
    }
}

fn fields(input: &Input) -> JsonObject {
    match serde_json::to_value(input) {
        Ok(Value::Object(fields)) => fields,
        _ => JsonObject::new(),
    }
}

/// Adds what differs between two values: of two objects, key by key.
fn compare(field: String, before: Option<Value>, after: Option<Value>, found: &mut Vec<Change>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(mut before)), Some(Value::Object(after))) => {
            for (key, value) in after {
                compare(format!("{field}.{key}"), before.remove(&key), Some(value), found);
            }
            for (key, value) in before {
                compare(format!("{field}.{key}"), Some(value), None, found);
            }
        }
        (before, after) => found.push(Change { field, before, after }),
    }
}
