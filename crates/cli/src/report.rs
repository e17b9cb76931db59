//! A verdict for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use hookexec::internal::{Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus, Mode, Usage};
use hookexec::{Decision, Verdict};

use super::plain::{self, plain};

pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const PLAIN: Style = Style::new();
pub(super) const DIM: Style = Style::new().dimmed();

/// Returns a verdict as text: the decision, what comes with it, and what each hook did.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let mut text = String::new();
    let (style, word) = decision(verdict);
    let _ = write!(text, "{style}{word}{style:#}");
    if let Some(message) = &verdict.message {
        let _ = write!(text, ": {}", indented(&once(message, &verdict.hooks)));
    }
    text.push('\n');
    for (name, value) in extras(verdict) {
        let _ = writeln!(text, "{name}: {}", indented(&once(&value, &verdict.hooks)));
    }
    let told: Vec<&str> =
        verdict.message.as_deref().into_iter().chain(verdict.system_message.as_deref()).collect();
    let told = told.join("\n");
    text.extend(verdict.hooks.iter().map(|report| line(report, &told)));
    text
}

/// Returns a text of a hook, its further lines indented deeper than the lines of hooks: none of
/// them can pass for one.
fn indented(text: &str) -> String {
    plain(text).replace('\n', "\n      ")
}

/// Returns `text`, of a line for each failure, with what is the cause of several said at the first,
/// which the others name.
fn once(text: &str, reports: &[HookReport]) -> String {
    const FAILED: &str = " failed: ";
    let mut said: Vec<(&str, &str)> = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let causes = reports.iter().filter_map(|report| report.error.as_deref());
        let mut failures = causes.filter_map(|cause| Some((line.strip_suffix(cause)?, cause)));
        let failure = failures.find(|(lead, _)| lead.ends_with(FAILED));
        let first = failure.and_then(|(_, cause)| said.iter().find(|(known, _)| *known == cause));
        lines.push(match (failure, first) {
            (Some((lead, _)), Some((_, first))) => {
                format!("{lead}as {}", first.trim_end_matches(FAILED))
            }
            _ => line.to_owned(),
        });
        said.extend(failure.filter(|_| first.is_none()).map(|(lead, cause)| (cause, lead)));
    }
    lines.join("\n")
}

/// Returns a line for each hook that ran.
pub(crate) fn hooks(reports: &[HookReport]) -> String {
    reports.iter().map(|report| line(report, "")).collect()
}

/// Returns how many there are of something.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns a line for each hook of the event that would not run, with why.
pub(crate) fn not_run(explanations: &[Explanation]) -> String {
    let mut text = String::new();
    for explanation in explanations {
        let Some(why) = why_not_run(explanation, None) else { continue };
        let (name, source) = (plain::line(&explanation.name), plain::line(&explanation.source));
        let _ = writeln!(text, "  {DIM}{:10}{DIM:#} {name} ({source}): {why}", "not run");
    }
    text
}

/// Returns why a hook of the event would not run.
pub(super) fn why_not_run(hook: &Explanation, tool: Option<&str>) -> Option<String> {
    Some(match &hook.selection {
        Selection::Disabled => "it is switched off: `enabled: false`".to_owned(),
        Selection::NotMatched => {
            let matcher = plain::line(hook.matcher.as_deref().unwrap_or_default());
            let tool = tool.map(|tool| format!(" `{}`", plain::line(tool))).unwrap_or_default();
            format!("its matcher `{matcher}` does not match the tool{tool}")
        }
        Selection::ConditionFails => "its `when` does not hold".to_owned(),
        Selection::DuplicateOf(source) => {
            format!("the same hook stands at {source}; it runs once")
        }
        _ => return None,
    })
}

pub(super) fn decision(verdict: &Verdict) -> (Style, &'static str) {
    match (verdict.decision, verdict.allowed) {
        (Some(Decision::Ask), _) => (DOUBTFUL, "ask"),
        (_, false) | (Some(Decision::Deny), _) => (BAD, "deny"),
        (Some(Decision::Allow), true) => (GOOD, "allow"),
        (None, true) => (GOOD, "no opinion, it may go on"),
    }
}

/// Returns what the verdict carries beside its decision, by name.
pub(super) fn extras(verdict: &Verdict) -> Vec<(String, String)> {
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

/// Returns how a hook ended, in a word and its style.
pub(super) fn status(report: &HookReport) -> (Style, &'static str) {
    match report.status {
        HookStatus::Ok => (GOOD, "ok"),
        HookStatus::Blocked => (BAD, "blocked"),
        HookStatus::Error => (DOUBTFUL, "error"),
        HookStatus::Failed => (BAD, "failed"),
        HookStatus::Skipped => (DIM, "skipped"),
        HookStatus::Background => (PLAIN, "background"),
        _ => (PLAIN, "?"),
    }
}

/// Returns what a model used, in words.
pub(super) fn tokens(usage: Usage) -> String {
    let cost = usage.cost.map(|cost| format!(" for {cost}")).unwrap_or_default();
    format!("{} tokens read, {} written{cost}", usage.input_tokens, usage.output_tokens)
}

/// Returns what a hook did; without the causes of a failure that stand in `message` already.
fn line(report: &HookReport, message: &str) -> String {
    let (style, word) = status(report);
    let (name, source) = (plain::line(&report.name), plain::line(&report.source));
    let time = format!("{DIM}{:.1} ms{DIM:#}", report.duration_ms);
    let mut text = format!("  {style}{word:10}{style:#} {name} ({source}) {time}");
    if let Some(decision) = report.decision {
        let _ = write!(text, ", {decision}");
    }
    if report.rewrote {
        text.push_str(", rewrites");
    }
    text.extend(report.usage.map(|usage| format!(", {}", tokens(usage))));
    match report.mode {
        Some(Mode::Warn) => text.push_str(", warns only"),
        Some(Mode::Shadow) => text.push_str(", in the shadow"),
        _ => {}
    }
    let told = match &report.error {
        Some(error) if message.contains(&**error) => message,
        _ => "",
    };
    let mut said: Vec<&str> = vec![told];
    // The reason of a failure holds its error, and so does the warning of one that lets go on.
    let error = report.error.as_deref().filter(|error| !error.is_empty()).unwrap_or("\0");
    let warnings = report.warnings.iter().filter(|warning| !warning.ends_with(error));
    let remarks = report.reason.iter().chain(&report.error).chain(warnings);
    for remark in remarks.chain(&report.stderr).chain(&report.stdout) {
        let remark = remark.trim_end();
        // What a program wrote is often also its reason, or the cause of its error.
        if !remark.is_empty() && !said.iter().any(|before| before.contains(remark)) {
            said.push(remark);
            text += &format!("\n{}", plain(remark)).replace('\n', "\n             ");
        }
    }
    text + "\n"
}
