//! Records of the log of decisions, and what they say in numbers, for people.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use hookexec::Decision;
use hookexec::wire::HookStatus;
use hookexec_files::text::shortened;
use hookexec_project::log::Record;
use hookexec_workbench::records::{Statistics, about, shown, word};

use crate::console::report::{BAD, DIM, DOUBTFUL, GOOD, PLAIN, counted};
use crate::console::table::Table;
use crate::plain;

/// Returns a record as a line, and one more for each hook that failed.
pub(crate) fn record(record: &Record) -> String {
    let mut text = head(record);
    if let Some(answer) = record.approval.as_ref().filter(|answer| answer.decision.is_some()) {
        let by = answer.by.as_deref().map(|by| format!(" by {}", one_line(by)));
        let channel = one_line(answer.channel.as_deref().unwrap_or_default());
        let _ = write!(text, "  answered{} over {channel}", by.unwrap_or_default());
    }
    if let Some(message) = &record.message {
        let _ = write!(text, "  {}", one_line(message));
    }
    for hook in record.deciding() {
        let _ = write!(text, " [{}]", one_line(&hook.name));
    }
    if let Some(about) = about(record) {
        let _ = write!(text, "  {DIM}{}{DIM:#}", one_line(&shortened(&about, 200)));
    }
    text.push('\n');
    for hook in &record.hooks {
        if let (HookStatus::Error | HookStatus::Failed, Some(error)) = (hook.status, &hook.error) {
            let (name, source, error) =
                (one_line(&hook.name), shown(&hook.source), one_line(error));
            let _ = writeln!(text, "    {BAD}failed{BAD:#} {name} ({source}): {error}");
        }
    }
    text
}

/// Returns what hooks that do not count would have changed about a record; mostly nothing.
pub(crate) fn shadow(record: &Record) -> String {
    let mut text = String::new();
    for hook in record.would_change() {
        let would = hook.decision.map(|decision| decision.to_string()).unwrap_or_default();
        let reason = hook.reason.as_deref().map(one_line).unwrap_or_default();
        let (head, name, source) = (head(record), one_line(&hook.name), shown(&hook.source));
        let would = format!("{DOUBTFUL}would {would}{DOUBTFUL:#}");
        let _ = writeln!(text, "{head}  {would}: {name} ({source}) {reason}");
    }
    text
}

fn head(record: &Record) -> String {
    let style = match record.decision {
        Some(Decision::Deny) => BAD,
        Some(Decision::Ask) => DOUBTFUL,
        Some(Decision::Allow) => GOOD,
        None => PLAIN,
    };
    let word = word(record.decision);
    let tool = one_line(record.tool.as_deref().unwrap_or_default());
    let rewritten = if record.rewritten.is_empty() { "" } else { " (rewritten)" };
    let agent = record.agent.as_deref().map(|agent| format!(" ({})", one_line(agent)));
    let (time, event, agent) = (&record.time, record.event, agent.unwrap_or_default());
    let decision = format!("{style}{word:5}{style:#}");
    let line = format!("{DIM}{time}{DIM:#} {decision} {event} {tool}{agent}{rewritten}");
    line.trim_end().to_owned()
}

fn one_line(text: &str) -> String {
    plain::line(&text.trim().replace('\n', " / "))
}

/// Returns the numbers of a log as tables.
pub(crate) fn numbers(numbers: &Statistics) -> String {
    let mut text =
        format!("{}: {}\n", counted(numbers.records, "record"), listed(&numbers.decisions));
    let _ = writeln!(text, "events: {}", listed(&numbers.events));
    let _ = writeln!(text, "went on although a hook failed: {}", numbers.failed_open);
    let mut table = Table::new([
        "hook", "at", "ran", "deny", "ask", "allow", "failed", "open", "p50 ms", "p99 ms",
    ]);
    let mut remarks = String::new();
    for hook in &numbers.hooks {
        let (name, source) = (one_line(&hook.name), &hook.source);
        if hook.ran == 0 {
            let _ = writeln!(remarks, "{DOUBTFUL}never ran{DOUBTFUL:#}: {name} ({source})");
            continue;
        }
        if hook.would_change > 0 {
            let verdicts = counted(hook.would_change, "verdict");
            let _ = writeln!(remarks, "{name} ({source}) would have changed {verdicts}");
        }
        let [denied, asked, allowed] = ["deny", "ask", "allow"]
            .map(|word| hook.decisions.get(word).copied().unwrap_or_default().to_string());
        table.row([
            name,
            source.clone(),
            hook.ran.to_string(),
            denied,
            asked,
            allowed,
            hook.failed.to_string(),
            hook.failed_open.to_string(),
            format!("{:.1}", hook.p50_ms),
            format!("{:.1}", hook.p99_ms),
        ]);
    }
    if table.rows.len() > 1 {
        let _ = write!(text, "\n{}", table.text());
    }
    text + &remarks
}

fn listed<T: Display>(counts: &BTreeMap<T, usize>) -> String {
    let mut parts = Vec::new();
    for (what, count) in counts {
        parts.push(format!("{count} {what}"));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}
