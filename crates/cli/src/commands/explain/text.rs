//! An explanation for people: a tree with a branch for each hook, then how they decided: turns, inputs
//! and judgements, from the top.

use std::collections::HashSet;
use std::fmt::Write as _;

use hookexec::executor::{Course, Explanation, Role, Selection, Step};
use hookexec::{Decision, Input, Verdict};
use hookexec_workbench::explain::{Effect, Explained, ExplainedHook};
use serde_json::Value;

use crate::console::report::{
    self, DIM, GOOD, counted, decision, extras, push_diff, push_labelled, why_not_run,
};
use crate::{Exit, plain};

/// Returns the tree of an event.
pub(super) fn event(explained: &Explained) -> String {
    let mut text = explained.event.to_string();
    if let (Some(native), Some(agent)) = (explained.native, &explained.agent) {
        let events: Vec<&str> = explained.events.iter().map(|event| event.name()).collect();
        text = format!("{native} of {agent} ({})", events.join(", "));
    }
    if let Some(tool) = &explained.tool {
        let _ = write!(text, ", tool `{}`", plain::line(tool));
    }
    text.push('\n');
    // Rules say nothing of a call that none fits.
    let is_undecided = matches!(&explained.verdict, Some(verdict) if verdict.decision.is_none());
    if is_undecided && !explained.commands.is_empty() {
        let commands: Vec<String> = explained.commands.iter().map(|one| plain::line(one)).collect();
        let _ = writeln!(text, "{DIM}it runs `{}`{DIM:#}", commands.join("`, `"));
    }
    let told = told(explained);
    for (index, hook) in explained.hooks.iter().enumerate() {
        let is_last = index + 1 == explained.hooks.len();
        push_branch(&mut text, is_last, &hook_lines(hook, explained, &told));
    }
    if explained.hooks.is_empty() {
        text.push_str("  no hook is configured for this event\n");
    }
    if explained.of_other_events > 0 {
        let hooks = counted(explained.of_other_events, "hook");
        let are = if explained.of_other_events == 1 { "is" } else { "are" };
        let _ = writeln!(text, "{DIM}{hooks} {are} configured for other events{DIM:#}");
    }
    if let Some(course) = &explained.course {
        text.push_str(&self::course(course, explained.events.len() > 1));
    }
    match &explained.verdict {
        Some(verdict) => push_verdict(&mut text, verdict, explained.agent.as_deref()),
        None => text.push_str("nothing was run (`--no-run`)\n"),
    }
    text
}

/// Writes the lines of a hook as a branch of the tree.
fn push_branch(text: &mut String, is_last: bool, lines: &[String]) {
    let (mut lead, next) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    for line in lines {
        let _ = writeln!(text, "{DIM}{lead}{DIM:#}{line}");
        lead = next;
    }
}

fn hook_lines(hook: &ExplainedHook, explained: &Explained, told: &str) -> Vec<String> {
    let Explanation { name, kind, source, selection, event, condition, .. } = &hook.explanation;
    let was_run = explained.verdict.is_some();
    let mut lines = if let Some(report) = &hook.report {
        report::hook(report, told)
    } else {
        let would_run = *selection == Selection::Runs && !was_run;
        let end = if would_run { (GOOD, "would run") } else { (DIM, "not run") };
        vec![report::title(end, name, kind, source)]
    };
    lines[0].push_str(match hook.effect {
        Some(Effect::Decides) => ", which is the verdict",
        Some(Effect::Overruled) => ", which a stricter answer overrules",
        Some(Effect::NotEnforced) => ", which its `mode` keeps from counting",
        None => "",
    });
    // Hooks of several events run at one moment of an agent.
    if explained.events.len() > 1 {
        let _ = write!(lines[0], " {DIM}{event}{DIM:#}");
    }
    if hook.report.is_some() {
        if !matches!(selection, Selection::Runs | Selection::Untrusted(_)) {
            lines
                .push("it did not match the input as it came, but does after a rewrite".to_owned());
        }
    } else if *selection == Selection::Runs && was_run {
        lines.push("a rewrite by an earlier hook left it out, or the event had ended".to_owned());
    } else if *selection != Selection::Runs || condition.is_some() {
        lines.extend(selection_lines(&hook.explanation, explained.tool.as_deref()));
    }
    lines
}

/// Returns the warnings that the verdict and the course of the evaluation show.
fn told(explained: &Explained) -> String {
    let mut told = String::new();
    if let Some(verdict) = &explained.verdict {
        told.extend(verdict.system_message.clone());
    }
    if let Some(course) = &explained.course {
        for step in &course.steps {
            told.extend(step.remarks.iter().map(String::as_str));
        }
    }
    told
}

fn selection_lines(hook: &Explanation, tool: Option<&str>) -> Vec<String> {
    let first = match &hook.selection {
        Selection::Runs => "it would run".to_owned(),
        Selection::ConditionFails => "its `when` does not hold:".to_owned(),
        Selection::Untrusted(why) => format!("it would fail, and not be started: {why}"),
        _ => why_not_run(hook, tool).unwrap_or_else(|| "it would not run".to_owned()),
    };
    let mut lines = vec![first];
    if let (Selection::Runs | Selection::ConditionFails, Some(condition)) =
        (&hook.selection, &hook.condition)
    {
        for line in condition.to_string().lines() {
            lines.push(format!("  {line}"));
        }
    }
    lines
}

/// Returns what `run` does with the verdict.
fn done_by_run(verdict: &Verdict, agent: Option<&str>) -> String {
    let Some(agent) = agent else {
        return format!("`run` exits {}", Exit::of(verdict).0);
    };
    let does = match (verdict.decision, verdict.allowed) {
        (Some(Decision::Ask), _) => "has the user asked, or answers with a denial",
        (_, true) => "lets it go on",
        (_, false) => "answers with a denial",
    };
    format!("`run --from {agent}` {does}")
}

fn push_verdict(text: &mut String, verdict: &Verdict, agent: Option<&str>) {
    let (style, word) = decision(verdict);
    let does = done_by_run(verdict, agent);
    let _ = writeln!(text, "verdict: {style}{word}{style:#} {DIM}({does}){DIM:#}");
    let mut lines = Vec::new();
    if let Some(message) = &verdict.message {
        push_labelled(&mut lines, "message", message);
    }
    for (label, value) in extras(verdict) {
        push_labelled(&mut lines, &label, &value);
    }
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

/// Returns how the hooks decided. One line says it if all judged the input as it came, and all that
/// they answered counts.
fn course(course: &Course, several_events: bool) -> String {
    let Some(last) = course.steps.last() else { return String::new() };
    if last.round == 1 && course.steps.iter().all(is_plain) {
        return "all hooks judged the input as it came\n".to_owned();
    }
    let mut text = "how the hooks decided:\n  input 1: as it came\n".to_owned();
    let mut known = HashSet::from([1]);
    let mut round = 1;
    for step in &course.steps {
        if step.round != round {
            round = step.round;
            let _ = writeln!(text, "  round {round}: the turns begin again with input 1");
        }
        if known.insert(step.input) {
            let input = step.input;
            let _ = writeln!(text, "  input {input}: the final input under the tool's first name");
        }
        let _ = writeln!(text, "  {}", step_line(step, several_events));
        if let Some(made) = step.made
            && known.insert(made)
        {
            let (before, after) = (&course.inputs[step.input - 1], &course.inputs[made - 1]);
            push_diff(&mut text, "    ", &lines_of(before), &lines_of(after));
        }
        for remark in &step.remarks {
            let _ = writeln!(text, "    {}", plain::line(remark));
        }
    }
    let _ = writeln!(text, "  final: input {}", course.final_input);
    text
}

/// Returns whether the hook left the input as it was, and all of its answer counts.
fn is_plain(step: &Step) -> bool {
    step.made.is_none() && step.remarks.is_empty()
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

/// Returns an input with a line for each field, as `tool_input.command: ls`.
fn lines_of(input: &Input) -> String {
    let mut lines = String::new();
    push_fields(&mut lines, "", &serde_json::to_value(input).unwrap_or_default());
    lines
}

fn push_fields(lines: &mut String, path: &str, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() { key } else { &format!("{path}.{key}") };
                push_fields(lines, path, value);
            }
        }
        Value::String(text) => lines.extend([path, ": ", text, "\n"]),
        other => lines.extend([path, ": ", &other.to_string(), "\n"]),
    }
}
