//! The reasons of denials, and the newest records, each to be opened.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookexec::internal::audit::Record;
use hookexec::wire::{HookReport, HookStatus};
use serde_json::Value;

use super::super::decisions::shown;
use super::super::markup::escaped;
use super::super::report::status;
use super::hooks::milliseconds;
use super::{DECISIONS, Reason, rank, section_of_shares};

/// How many reasons are shown, the most frequent first.
const REASONS: usize = 15;
/// How much of a text stands in a line, in characters.
const LINE: usize = 300;

pub(super) fn denials(page: &mut String, reasons: &BTreeMap<String, Reason>) {
    if reasons.is_empty() {
        return;
    }
    let all = reasons.values().map(|reason| reason.events).sum();
    let mut ranked: Vec<(&String, &Reason)> = reasons.iter().collect();
    // Those that are as frequent stay in the order of the alphabet.
    ranked.sort_by_key(|(_, reason)| std::cmp::Reverse(reason.events));
    let row = |(text, reason): &(&String, &Reason)| {
        let hooks: Vec<&str> = reason.hooks.iter().map(String::as_str).collect();
        ((line(text), hooks.join(", ")), reason.events)
    };
    let mut rows: Vec<_> = ranked.iter().take(REASONS).map(row).collect();
    let rest: usize = ranked.iter().skip(REASONS).map(|(_, reason)| reason.events).sum();
    if rest > 0 {
        rows.push(((format!("{} other reasons", ranked.len() - REASONS), String::new()), rest));
    }
    section_of_shares(page, "denials", "Top denials", &["reason", "events"], &rows, all);
}

/// Writes records, the newest first, of which there are `all`.
pub(super) fn section<'r>(
    page: &mut String,
    records: impl ExactSizeIterator<Item = &'r Record>,
    all: usize,
) {
    let title = match records.len() {
        count if count < all => format!("The newest {count} of {all} events"),
        _ => "Every event".to_owned(),
    };
    let _ = writeln!(page, "<section class=\"records\">\n<h2>{title}</h2>");
    // Each choice stands before what it shows and hides, so that no script is needed.
    let choices = [("all", "all")].into_iter().chain(DECISIONS).chain([("open", "a hook failed")]);
    for (word, _) in choices.clone() {
        let checked = if word == "all" { " checked" } else { "" };
        let _ = write!(page, "<input type=\"radio\" name=\"only\" id=\"only-{word}\"{checked}>");
    }
    page.push_str("\n<p class=\"choices\">");
    for (word, label) in choices {
        let _ = write!(page, "<label for=\"only-{word}\">{label}</label> ");
    }
    page.push_str("</p>\n<div id=\"records\">\n");
    records.for_each(|record| one(page, record));
    page.push_str("</div>\n</section>\n");
}

fn one(page: &mut String, record: &Record) {
    let (word, label) = DECISIONS[rank(record.decision)];
    let failed = record
        .hooks
        .iter()
        .any(|hook| matches!(hook.status, HookStatus::Error | HookStatus::Failed));
    let open = if failed { " open" } else { "" };
    let time = record.time.split(['T', '.', 'Z']).take(2).collect::<Vec<_>>().join(" ");
    let (time, event) = (escaped(&time), record.event);
    let _ = write!(
        page,
        "<details class=\"record {word}{open}\"><summary><time>{time}</time> \
         <span class=\"dot {word}\">{label}</span> <span class=\"event\">{event}"
    );
    if let Some(tool) = &record.tool {
        let _ = write!(page, " <b>{}</b>", escaped(tool));
    }
    page.push_str("</span> <span class=\"what\">");
    if let Some(message) = &record.message {
        let _ = write!(page, "<span class=\"said\">{}</span> ", escaped(&line(message)));
    }
    if let Some(about) = about(record) {
        let _ = write!(page, "<code>{}</code>", escaped(&line(&about)));
    }
    page.push_str("</span></summary>\n");
    hooks(page, &record.hooks);
    let json = serde_json::to_string_pretty(record).unwrap_or_default();
    let _ = writeln!(page, "<pre>{}</pre></details>", escaped(&json));
}

/// Writes what each hook of a record did.
fn hooks(page: &mut String, reports: &[HookReport]) {
    if reports.is_empty() {
        return;
    }
    page.push_str("<table class=\"ran\"><tbody>");
    for report in reports {
        let (_, status) = status(report);
        let decision = report.decision.map(|decision| decision.to_string()).unwrap_or_default();
        let said = report.reason.as_ref().or(report.error.as_ref());
        let (name, source) = (escaped(&report.name), escaped(shown(&report.source)));
        let time = milliseconds(report.duration_ms);
        let said = said.map(|said| escaped(said)).unwrap_or_default();
        let _ = write!(
            page,
            "<tr><th scope=\"row\"><span class=\"said\">{name}</span><small>{source}</small></th>\
             <td>{status}</td><td>{decision}</td><td class=\"n\">{time} ms</td>\
             <td class=\"said\">{said}</td></tr>"
        );
    }
    page.push_str("</tbody></table>\n");
}

/// Returns what an event was about: the command, the path, or all arguments of the tool.
fn about(record: &Record) -> Option<String> {
    let input = record.input.as_ref()?;
    let Some(arguments) = input.get("tool_input") else {
        return input.get("prompt").and_then(Value::as_str).map(str::to_owned);
    };
    let tool = input.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    let found = arguments
        .as_object()
        .and_then(|arguments| hookexec::internal::tools::subject(tool, arguments));
    Some(found.map_or_else(|| arguments.to_string(), str::to_owned))
}

/// Returns the beginning of a text, on one line.
fn line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
