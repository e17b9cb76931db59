//! An explanation for people: a tree with a branch for each hook, then how they decided: turns, inputs
//! and judgements, from the top.

use std::collections::HashSet;
use std::fmt::Write as _;

use hookexec::executor::{Course, Explanation, Role, Selection, Step};
use hookexec::wire::HookReport;
use hookexec::{Decision, Input, Verdict};
use hookexec_workbench::explain::{Effect, Explained, ExplainedHook, why_no_opinion};
use serde_json::Value;

use crate::console::report::{
    DIM, GOOD, counted, decision, extras, push_diff, remarks, status, tokens, why_not_run,
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
    for (index, hook) in explained.hooks.iter().enumerate() {
        let is_last = index + 1 == explained.hooks.len();
        push_branch(&mut text, is_last, &hook_lines(hook, explained));
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
        Some(verdict) => push_verdict(&mut text, verdict, explained),
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

fn hook_lines(hook: &ExplainedHook, explained: &Explained) -> Vec<String> {
    let Explanation { name, kind, source, selection, event, condition, .. } = &hook.explanation;
    let was_run = explained.verdict.is_some();
    let (style, word) = match (&hook.report, selection) {
        (Some(report), _) => status(report),
        (None, Selection::Runs) if !was_run => (GOOD, "would run"),
        (None, _) => (DIM, "not run"),
    };
    // Hooks of several events run at one moment of an agent.
    let several = explained.events.len() > 1;
    let event = if several { format!(", {event}") } else { String::new() };
    let (name, source) = (plain::line(name), plain::line(source));
    let mut title = format!("{style}{word:10}{style:#} {name} {DIM}{kind}, {source}{event}{DIM:#}");
    let mut lines = Vec::new();
    if let Some(report) = &hook.report {
        let _ = write!(title, " {DIM}{:.1} ms{DIM:#}", report.duration_ms);
        push_report(&mut lines, hook, report, explained);
    } else if *selection == Selection::Runs && was_run {
        lines.push("a rewrite by an earlier hook left it out, or the event had ended".to_owned());
    } else if *selection != Selection::Runs || condition.is_some() {
        lines.extend(selection_lines(&hook.explanation, explained.tool.as_deref()));
    }
    lines.insert(0, title);
    lines
}

/// Adds what a hook did.
fn push_report(
    lines: &mut Vec<String>,
    hook: &ExplainedHook,
    report: &HookReport,
    explained: &Explained,
) {
    if !matches!(hook.explanation.selection, Selection::Runs | Selection::Untrusted(_)) {
        lines.push("it did not match the input as it came, but does after a rewrite".to_owned());
    }
    if let Some(usage) = report.usage {
        lines.push(tokens(usage));
    }
    if let (Some(decision), Some(effect)) = (report.decision, hook.effect) {
        lines.push(match effect {
            Effect::Decides => format!("said {decision}, which is the verdict"),
            Effect::Overruled => format!("said {decision}, which a stricter answer overrules"),
            Effect::NotEnforced => format!("said {decision}, which its `mode` keeps from counting"),
        });
    }
    if let Some(why) = why_no_opinion(report) {
        push_labelled(lines, "no opinion", why);
    }
    if report.rewrote {
        lines.push("rewrote what it was given".to_owned());
    }
    // A hook that could not give an answer has none: -1.
    if let Some(code) = report.exit_code.filter(|code| *code > 0) {
        lines.push(format!("exit code {code}"));
    }
    for (label, remark) in remarks(report) {
        if label != "warning" || !is_told(remark, explained) {
            push_labelled(lines, label, remark);
        }
    }
}

/// Returns whether the verdict or the course of the evaluation shows a warning.
fn is_told(warning: &str, explained: &Explained) -> bool {
    if let Some(verdict) = &explained.verdict
        && let Some(told) = &verdict.system_message
        && told.contains(warning)
    {
        return true;
    }
    let Some(course) = &explained.course else { return false };
    course.steps.iter().any(|step| step.remarks.iter().any(|remark| remark == warning))
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

/// Adds a text behind its label, further lines below the first.
fn push_labelled(lines: &mut Vec<String>, label: &str, text: &str) {
    let mut lead = format!("{label}: ");
    for line in text.trim_end().split('\n') {
        lines.push(format!("{lead}{line}"));
        lead = " ".repeat(label.len() + 2);
    }
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

fn push_verdict(text: &mut String, verdict: &Verdict, explained: &Explained) {
    let (style, word) = decision(verdict);
    let does = done_by_run(verdict, explained.agent.as_deref());
    let _ = writeln!(text, "verdict: {style}{word}{style:#} {DIM}({does}){DIM:#}");
    let mut deciding = Vec::new();
    for hook in &explained.hooks {
        if hook.effect == Some(Effect::Decides) {
            deciding.push(format!("`{}`", plain::line(&hook.explanation.name)));
        }
    }
    let mut lines = Vec::new();
    if !deciding.is_empty() {
        lines.push(format!("decided by {}", deciding.join(", ")));
    }
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
