//! An explanation for people: a tree with a branch for each hook.

use std::fmt::Write as _;

use hookexec::internal::{Explanation, Selection};
use hookexec::wire::HookReport;
use hookexec::{Decision, Event, Verdict};

use super::{Effect, Explained, ExplainedHook, course};
use crate::moment::Moment;
use crate::report::{DIM, GOOD, counted, decision, extras, status, tokens, why_not_run};
use crate::{Exit, plain};

/// Returns the tree of an event.
pub(super) fn event(explained: &Explained) -> String {
    let mut text = match (explained.native, &explained.agent) {
        (Some(native), Some(agent)) => {
            format!("{native} of {agent} ({})", listed(&explained.events))
        }
        _ => explained.event.to_string(),
    };
    if let Some(tool) = &explained.tool {
        let _ = write!(text, ", tool `{}`", plain::line(tool));
    }
    text.push('\n');
    let ran = explained.verdict.is_some();
    for (index, hook) in explained.hooks.iter().enumerate() {
        let last = index + 1 == explained.hooks.len();
        branch(&mut text, last, &hook_lines(hook, explained, ran));
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
        text.push_str(&course::text(course, explained.events.len() > 1));
    }
    match &explained.verdict {
        Some(verdict) => text.push_str(&verdict_lines(verdict, explained)),
        None => text.push_str("nothing was run (`--no-run`)\n"),
    }
    text
}

fn listed(events: &[Event]) -> String {
    events.iter().map(|event| event.name()).collect::<Vec<_>>().join(", ")
}

/// Returns why hooks would not run, one after another.
pub(super) fn why_not(hooks: &[&Explanation], moment: &Moment) -> String {
    let (events, input) = (moment.events(), moment.input());
    let mut text = String::new();
    for hook in hooks {
        let _ = writeln!(text, "{} ({})", plain::line(&hook.name), plain::line(&hook.source));
        for line in selection_lines(hook, &events, input.tool_name.as_deref()) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// Writes the lines of a hook as a branch of the tree.
fn branch(text: &mut String, last: bool, lines: &[String]) {
    let (first, next) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    for (index, line) in lines.iter().enumerate() {
        let lead = if index == 0 { first } else { next };
        let _ = writeln!(text, "{DIM}{lead}{DIM:#}{line}");
    }
}

fn hook_lines(hook: &ExplainedHook, explained: &Explained, ran: bool) -> Vec<String> {
    let Explanation { name, kind, source, selection, event, .. } = &hook.explanation;
    // Hooks of several events run at one moment of an agent.
    let several = explained.events.len() > 1;
    let event = if several { format!(", {event}") } else { String::new() };
    let title = |style: anstyle::Style, word: &str| {
        let (name, source) = (plain::line(name), plain::line(source));
        format!("{style}{word:10}{style:#} {name} {DIM}{kind}, {source}{event}{DIM:#}")
    };
    if let Some(report) = &hook.report {
        let (style, word) = status(report);
        let time = format!("{DIM}{:.1} ms{DIM:#}", report.duration_ms);
        let mut lines = vec![format!("{} {time}", title(style, word))];
        lines.extend(report_lines(hook, report, explained));
        return lines;
    }
    let mut lines = match selection {
        Selection::Runs if !ran => vec![title(GOOD, "would run")],
        _ => vec![title(DIM, "not run")],
    };
    lines.extend(hook.rollout.as_ref().map(|rollout| format!("rollout {rollout}")));
    if *selection == Selection::Runs && ran {
        lines.push("a rewrite by an earlier hook left it out, or the event had ended".into());
    } else if *selection != Selection::Runs || hook.explanation.condition.is_some() {
        let tool = explained.tool.as_deref();
        lines.extend(selection_lines(&hook.explanation, &explained.events, tool));
    }
    lines
}

/// Returns what a hook did.
fn report_lines(hook: &ExplainedHook, report: &HookReport, explained: &Explained) -> Vec<String> {
    let verdict = explained.verdict.as_ref();
    let mut lines = Vec::new();
    if !matches!(hook.explanation.selection, Selection::Runs | Selection::Untrusted(_)) {
        lines.push("it did not match the input as it came, but does after a rewrite".into());
    }
    lines.extend(hook.rollout.as_ref().map(|rollout| format!("rollout {rollout}")));
    lines.extend(report.usage.map(tokens));
    if let Some(decision) = report.decision {
        let effect = match hook.effect {
            Some(Effect::Decides) => "which is the verdict",
            Some(Effect::Overruled) => "which a stricter answer overrules",
            Some(Effect::NotEnforced) if hook.rollout.is_some() => {
                "which its `rollout` keeps from counting"
            }
            Some(Effect::NotEnforced) => "which its `mode` keeps from counting",
            None => "",
        };
        lines.push(format!("said {decision}, {effect}"));
    }
    lines.extend(hook.no_opinion.iter().flat_map(|why| labelled("no opinion", why)));
    if report.rewrote {
        lines.push("rewrote what it was given".to_owned());
    }
    // A hook that could not give an answer has none: -1.
    if let Some(code) = report.exit_code.filter(|code| *code > 0) {
        lines.push(format!("exit code {code}"));
    }
    // The reason of a failure is its error and the hook's name, which stands here already. So is the
    // warning of one that lets the event go on. The verdict shows what the user is told.
    let has_error = |text: &str| report.error.as_ref().is_some_and(|error| text.contains(&**error));
    let told = verdict.and_then(|verdict| verdict.system_message.as_deref()).unwrap_or_default();
    // The course of the evaluation shows its remarks.
    let mut steps = explained.course.iter().flat_map(|course| &course.steps);
    let mut is_remark = |text: &String| steps.any(|one| one.step.remarks.contains(text));
    let is_new = |warning: &&String| {
        !has_error(warning) && !told.contains(&***warning) && !is_remark(warning)
    };
    for (label, said) in [
        ("reason", &report.reason.as_ref().filter(|reason| !has_error(reason)).cloned()),
        ("error", &report.error),
        ("stdout", &report.stdout),
        ("stderr", &report.stderr),
    ] {
        if let Some(said) = said.as_ref().filter(|said| !said.trim().is_empty()) {
            lines.extend(labelled(label, said));
        }
    }
    let warnings = report.warnings.iter().filter(is_new);
    lines.extend(warnings.flat_map(|warning| labelled("warning", warning)));
    lines
}

fn selection_lines(hook: &Explanation, events: &[Event], tool: Option<&str>) -> Vec<String> {
    let mut lines = match &hook.selection {
        Selection::Runs => vec!["it would run".to_owned()],
        Selection::ConditionFails => vec!["its `when` does not hold:".to_owned()],
        Selection::Untrusted(why) => vec![format!("it would fail, and not be started: {why}")],
        Selection::OtherEvent(own) => {
            vec![format!("it is configured for `{own}`, not `{}`", listed(events))]
        }
        _ => vec![why_not_run(hook, tool).unwrap_or_else(|| "it would not run".to_owned())],
    };
    if matches!(hook.selection, Selection::Runs | Selection::ConditionFails) {
        let condition = hook.condition.as_ref().map(ToString::to_string).unwrap_or_default();
        lines.extend(condition.lines().map(|line| format!("  {line}")));
    }
    lines
}

fn labelled(label: &str, text: &str) -> Vec<String> {
    let mut lines = text.trim_end().lines();
    let first = format!("{label}: {}", lines.next().unwrap_or_default());
    let indent = " ".repeat(label.len() + 2);
    std::iter::once(first).chain(lines.map(|line| format!("{indent}{line}"))).collect()
}

/// Returns what `run` does with the verdict.
fn done_by_run(verdict: &Verdict, agent: Option<&str>) -> String {
    let Some(agent) = agent else {
        return format!("`run` exits {}", Exit::of(verdict).code());
    };
    let does = match (verdict.decision, verdict.allowed) {
        (Some(Decision::Ask), _) => "has the user asked, or answers with a denial",
        (_, true) => "lets it go on",
        (_, false) => "answers with a denial",
    };
    format!("`run --from {agent}` {does}")
}

fn verdict_lines(verdict: &Verdict, explained: &Explained) -> String {
    let hooks = &explained.hooks;
    let (style, word) = decision(verdict);
    let does = done_by_run(verdict, explained.agent.as_deref());
    let mut text = format!("verdict: {style}{word}{style:#} {DIM}({does}){DIM:#}\n");
    let deciding: Vec<String> = hooks
        .iter()
        .filter(|hook| hook.effect == Some(Effect::Decides))
        .map(|hook| format!("`{}`", plain::line(&hook.explanation.name)))
        .collect();
    let overruled = hooks.iter().filter(|hook| hook.effect == Some(Effect::Overruled)).count();
    if !deciding.is_empty() {
        let _ = write!(text, "  decided by {}", deciding.join(", "));
        if overruled > 0 {
            let answers = counted(overruled, "answer");
            let _ = write!(text, "; {answers} overruled (deny before ask before allow)");
        }
        text.push('\n');
    }
    let message = verdict.message.iter().map(|message| ("message".to_owned(), message.clone()));
    for (label, said) in message.chain(extras(verdict)) {
        for line in labelled(&label, &said) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}
