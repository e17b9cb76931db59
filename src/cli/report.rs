//! A verdict for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use hookexec::config::Hook;
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Decision, Executor, Input, Verdict};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();

/// Returns a verdict as text: the decision, what comes with it, and what each hook did.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let mut text = String::new();
    let (style, word) = decision(verdict);
    let _ = write!(text, "{style}{word}{style:#}");
    if let Some(message) = &verdict.message {
        let _ = write!(text, ": {message}");
    }
    text.push('\n');
    for (name, value) in extras(verdict) {
        let _ = writeln!(text, "{name}: {value}");
    }
    text + &hooks(&verdict.hooks)
}

/// Returns a line for each hook that ran.
pub(crate) fn hooks(reports: &[HookReport]) -> String {
    reports.iter().map(line).collect()
}

/// Returns a line for each configured hook of the event that did not run, with why.
pub(crate) fn not_run(executor: &Executor, verdict: &Verdict, input: &Input) -> String {
    let mut text = String::new();
    for hook in executor.hooks().filter(|hook| hook.event == verdict.event) {
        if let Some(why) = why_not(hook, input) {
            let _ = writeln!(
                text,
                "  {DIM}{:10}{DIM:#} {} ({}): {why}",
                "not run",
                hook.label(),
                hook.location
            );
        }
    }
    text
}

fn why_not(hook: &Hook, input: &Input) -> Option<String> {
    if !hook.enabled {
        return Some("it is not enabled".to_owned());
    }
    let kind = input.tool_kind.as_deref();
    let matches = |name| hook.matcher.matches(name);
    if hook.event.contract().tool_matched && !matches(input.tool()) && !kind.is_some_and(matches) {
        return Some(format!("matcher `{}` does not match tool `{}`", hook.matcher, input.tool()));
    }
    let condition = hook.when.as_ref()?;
    (!condition.holds(input)).then(|| "its `when` does not hold".to_owned())
}

fn decision(verdict: &Verdict) -> (Style, &'static str) {
    match (verdict.decision, verdict.allowed) {
        (Some(Decision::Ask), _) => (DOUBTFUL, "ask"),
        (_, false) | (Some(Decision::Deny), _) => (BAD, "deny"),
        (Some(Decision::Allow), true) => (GOOD, "allow"),
        (None, true) => (GOOD, "no opinion, it may go on"),
    }
}

/// Returns what the verdict carries beside its decision, by name.
fn extras(verdict: &Verdict) -> Vec<(String, String)> {
    // The JSON knows the names and leaves out what is empty.
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(verdict) else {
        return Vec::new();
    };
    let shown = ["event", "decision", "allowed", "hooks", "message", "exit_code", "stderr"];
    let extras = fields.into_iter().filter(|(name, _)| !shown.contains(&name.as_str()));
    extras
        .map(|(name, value)| match value {
            serde_json::Value::String(text) => (name, text),
            other => (name, other.to_string()),
        })
        .collect()
}

fn line(report: &HookReport) -> String {
    let (style, word) = match report.status {
        HookStatus::Ok => (GOOD, "ok"),
        HookStatus::Blocked => (BAD, "blocked"),
        HookStatus::Error => (DOUBTFUL, "error"),
        HookStatus::Failed => (BAD, "failed"),
        HookStatus::Skipped => (DIM, "skipped"),
        HookStatus::Background => (PLAIN, "background"),
        _ => (PLAIN, "?"),
    };
    let mut text = format!(
        "  {style}{word:10}{style:#} {} ({}) {DIM}{:.1} ms{DIM:#}",
        report.name, report.source, report.duration_ms
    );
    if let Some(decision) = report.decision {
        let _ = write!(text, ", {decision}");
    }
    let said = report.error.iter().chain(&report.reason).chain(&report.warnings);
    for remark in said {
        let _ =
            write!(text, "\n             {}", remark.trim_end().replace('\n', "\n             "));
    }
    text + "\n"
}
