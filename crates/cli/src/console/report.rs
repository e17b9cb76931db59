//! A verdict for people.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use hookexec::executor::{Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus, Mode, Usage};
use hookexec::{Decision, Verdict};
use hookexec_workbench::explain::why_no_opinion;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::plain::{self, plain};

pub(crate) use hookexec_files::text::counted;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const PLAIN: Style = Style::new();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Returns a verdict as text: the decision, what comes with it, and what each hook did.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let (style, word) = decision(verdict);
    let mut text = format!("{style}{word}{style:#}");
    let mut told = String::new();
    if let Some(message) = &verdict.message {
        let _ = write!(text, ": {}", indented(message));
        told.push_str(message);
    }
    text.push('\n');
    for (name, value) in extras(verdict) {
        let _ = writeln!(text, "{name}: {}", indented(&value));
    }
    if let Some(message) = &verdict.system_message {
        told.push_str(message);
    }
    text + &hooks(&verdict.hooks, &told)
}

/// Returns a text of a hook, its further lines indented deeper than the lines of hooks: none of
/// them can pass for one.
fn indented(text: &str) -> String {
    plain(text).replace('\n', "\n      ")
}

/// Returns the lines about each hook that ran; without the cause of a failure that is in `told` already.
pub(crate) fn hooks(reports: &[HookReport], told: &str) -> String {
    let mut text = String::new();
    for report in reports {
        let mut lead = "  ";
        for line in hook(report, told) {
            let _ = writeln!(text, "{lead}{line}");
            lead = "             ";
        }
    }
    text
}

/// Returns the lines about a hook that ran: how it ended, its answer, and its remarks.
pub(crate) fn hook(report: &HookReport, told: &str) -> Vec<String> {
    let mut title = title(status(report), &report.name, &report.kind, &report.source);
    let _ = write!(title, " {DIM}{:.1} ms{DIM:#}", report.duration_ms);
    if let Some(decision) = report.decision {
        let _ = write!(title, ", {decision}");
    }
    if report.rewrote {
        title.push_str(", rewrites");
    }
    if let Some(Usage { input_tokens, output_tokens, .. }) = report.usage {
        let _ = write!(title, ", {input_tokens} tokens read, {output_tokens} written");
    }
    match report.mode {
        Some(Mode::Warn) => title.push_str(", warns only"),
        Some(Mode::Shadow) => title.push_str(", in the shadow"),
        _ => {}
    }
    let mut lines = vec![title];
    for (label, remark) in remarks(report) {
        let is_repeated = ["error", "warning"].contains(&label) && told.contains(remark);
        if !is_repeated {
            push_labelled(&mut lines, label, remark);
        }
    }
    lines
}

/// Returns the first line about a hook: its end in a word, its name, type and place.
pub(crate) fn title((style, word): (Style, &str), name: &str, kind: &str, source: &str) -> String {
    let (name, source) = (plain::line(name), plain::line(source));
    format!("{style}{word:10}{style:#} {name} {DIM}{kind}, {source}{DIM:#}")
}

/// Adds a text behind its label, further lines below the first.
pub(crate) fn push_labelled(lines: &mut Vec<String>, label: &str, text: &str) {
    let mut lead = format!("{label}: ");
    for line in plain(text.trim_end()).split('\n') {
        lines.push(format!("{lead}{line}"));
        lead = " ".repeat(label.len() + 2);
    }
}

/// Returns a line for each hook of the event that would not run, with why.
pub(crate) fn not_run(explanations: &[Explanation]) -> String {
    let mut text = String::new();
    for explanation in explanations {
        let Some(why) = why_not_run(explanation, None) else { continue };
        let Explanation { name, kind, source, .. } = explanation;
        let _ = writeln!(text, "  {}: {why}", title((DIM, "not run"), name, kind, source));
    }
    text
}

/// Returns why a hook of the event would not run.
pub(crate) fn why_not_run(hook: &Explanation, tool: Option<&str>) -> Option<String> {
    Some(match &hook.selection {
        Selection::Disabled => "it is switched off: `enabled: false`".to_owned(),
        Selection::NotMatched => {
            let matcher = plain::line(hook.matcher.as_deref().unwrap_or_default());
            let tool = tool.map(|tool| format!(" `{}`", plain::line(tool)));
            format!("its matcher `{matcher}` does not match the tool{}", tool.unwrap_or_default())
        }
        Selection::ConditionFails => "its `when` does not hold".to_owned(),
        Selection::DuplicateOf(source) => {
            format!("the same hook stands at {source}; it runs once")
        }
        _ => return None,
    })
}

pub(crate) fn decision(verdict: &Verdict) -> (Style, &'static str) {
    match (verdict.decision, verdict.allowed) {
        (Some(Decision::Ask), _) => (DOUBTFUL, "ask"),
        (_, false) | (Some(Decision::Deny), _) => (BAD, "deny"),
        (Some(Decision::Allow), true) => (GOOD, "allow"),
        (None, true) => (GOOD, "no opinion, it may go on"),
    }
}

/// Returns what the verdict carries beside its decision, by name.
pub(crate) fn extras(verdict: &Verdict) -> Vec<(String, String)> {
    const SHOWN: [&str; 7] =
        ["event", "decision", "allowed", "hooks", "message", "exit_code", "stderr"];
    let mut extras = Vec::new();
    // The JSON knows the names and leaves out what is empty.
    if let Ok(Value::Object(fields)) = serde_json::to_value(verdict) {
        for (name, value) in fields {
            match value {
                _ if SHOWN.contains(&name.as_str()) => {}
                Value::String(text) => extras.push((name, text)),
                other => extras.push((name, other.to_string())),
            }
        }
    }
    extras
}

/// Returns how a hook ended, in a word and its style.
fn status(report: &HookReport) -> (Style, &'static str) {
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

/// Returns the texts of a report, each with its label and once: what a program wrote is often also
/// its reason, or the cause of its error.
fn remarks(report: &HookReport) -> Vec<(&'static str, &str)> {
    let reason = if why_no_opinion(report).is_some() { "no opinion" } else { "reason" };
    let mut texts = vec![("error", &report.error), (reason, &report.reason)];
    texts.extend([("stdout", &report.stdout), ("stderr", &report.stderr)]);
    let mut remarks: Vec<(&'static str, &str)> = Vec::new();
    for (label, text) in texts {
        push_remark(&mut remarks, label, text.as_deref().unwrap_or_default());
    }
    for warning in &report.warnings {
        push_remark(&mut remarks, "warning", warning);
    }
    remarks
}

fn push_remark<'r>(remarks: &mut Vec<(&'static str, &'r str)>, label: &'static str, text: &'r str) {
    let text = text.trim_end();
    for (known, before) in remarks.iter() {
        // The reason and the warning of a failure are its error behind the hook's name.
        if before.contains(text) || (*known == "error" && text.contains(before)) {
            return;
        }
    }
    if !text.is_empty() {
        remarks.push((label, text));
    }
}

/// Adds the lines that differ and those around them, each behind `indent` and its sign: `-` for a
/// line of `before`, `+` for a line of `after`, a space for a line of both.
pub(crate) fn push_diff(text: &mut String, indent: &str, before: &str, after: &str) {
    // How long a comparison may take before it becomes a rough one.
    let diff = TextDiff::configure().timeout(Duration::from_millis(200)).diff_lines(before, after);
    let (mut shown, mut left) = (0, 0);
    // How many common lines are shown around a change.
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        for line in hunk.iter_changes() {
            // How many lines of one comparison are shown.
            if shown == 60 {
                left += 1;
                continue;
            }
            shown += 1;
            let style = match line.tag() {
                ChangeTag::Delete => BAD,
                ChangeTag::Insert => GOOD,
                ChangeTag::Equal => DIM,
            };
            let (sign, line) =
                (line.tag(), plain::visible_line(line.value().trim_end_matches('\n')));
            let _ = writeln!(text, "{indent}{style}{sign} {line}{style:#}");
        }
    }
    if left > 0 {
        let _ = writeln!(text, "{indent}  ... and {} more", counted(left, "line"));
    }
}
