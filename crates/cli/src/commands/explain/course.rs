//! How the hooks of an event decided: turns, inputs and judgements, from the top.

use std::collections::HashSet;
use std::fmt::Write as _;

use hookexec::executor::{Role, Step};
use hookexec_workbench::explain::{Change, ExplainedCourse, ExplainedStep};
use serde_json::Value;

use crate::console::report::DIM;
use crate::console::report::push_diff;
use crate::plain;

/// Returns how the hooks decided. One line says it if all judged the input as it came, and all that
/// they answered counts.
pub(super) fn text(course: &ExplainedCourse, several_events: bool) -> String {
    let Some(last) = course.steps.last() else { return String::new() };
    if last.step.round == 1 && course.steps.iter().all(ExplainedStep::is_plain) {
        return "all hooks judged the input as it came\n".to_owned();
    }
    let mut text = "how the hooks decided:\n  input 1: as it came\n".to_owned();
    let mut known = HashSet::from([1]);
    let mut round = 1;
    for ExplainedStep { step, changes } in &course.steps {
        if step.round != round {
            round = step.round;
            let _ = writeln!(text, "  round {round}: the turns begin again with input 1");
        }
        if known.insert(step.input) {
            let input = step.input;
            let _ = writeln!(text, "  input {input}: the final input under the tool's first name");
        }
        let _ = writeln!(text, "  {}", step_line(step, several_events));
        if step.made.is_some_and(|made| known.insert(made)) {
            for change in changes {
                push_change(&mut text, change);
            }
        }
        for remark in &step.remarks {
            let _ = writeln!(text, "    {}", plain::line(remark));
        }
    }
    let _ = writeln!(text, "  final: input {}", course.final_input);
    text
}

/// Returns who was asked about which input, and the answer.
fn step_line(step: &Step, several_events: bool) -> String {
    let mut answer = Vec::new();
    if step.kept {
        answer.push("its answer from before".to_owned());
    }
    if step.repeated {
        answer.push("asked once more".to_owned());
    }
    if let Some(made) = step.made {
        answer.push(format!("made input {made}"));
    }
    if let Some(decision) = step.decision {
        answer.push(format!("said {decision}"));
    } else if step.made.is_none() {
        answer.push("no opinion".to_owned());
    }
    let role = if step.role == Role::Turn { "turn on" } else { "judged" };
    let (input, hook, source) = (step.input, plain::line(&step.hook), plain::line(&step.source));
    let event = if several_events { format!(", {}", step.event) } else { String::new() };
    let answer = answer.join(", ");
    format!("{role} input {input}: {hook} {DIM}({source}{event}){DIM:#}: {answer}")
}

/// Adds a change as a diff.
fn push_change(text: &mut String, change: &Change) {
    let _ = writeln!(text, "    {}:", plain::visible_line(&change.field));
    let (before, after) = (lines_of(change.before.as_ref()), lines_of(change.after.as_ref()));
    push_diff(text, "      ", &before, &after);
}

/// Returns a value as lines: a text as it is, anything else as JSON.
fn lines_of(value: Option<&Value>) -> String {
    let mut lines = match value {
        None => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    lines.push('\n');
    lines
}
