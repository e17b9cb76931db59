//! The log of decisions as one HTML page, which needs no script and nothing else.

mod chart;
mod hooks;
mod records;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use hookexec::Decision;
use hookexec::internal::audit::Record;
use hookexec::wire::Mode;
use jiff::Timestamp;

use super::decisions::Numbers;
use super::markup::escaped;
use super::records::word;
use super::report::counted;

/// How many records can be opened; the newest.
const RECORDS: usize = 500;

pub(super) const STYLE: &str = include_str!("style.css");

/// The decisions, the strictest first: the word of the log, and what a page says.
const DECISIONS: [(&str, &str); 4] =
    [("deny", "denied"), ("ask", "asked"), ("allow", "allowed"), ("none", "no opinion")];

/// What is kept of the records for the page.
#[derive(Default)]
pub(super) struct Page {
    /// Time in seconds and decision of every record.
    times: Vec<(i64, Option<Decision>)>,
    reasons: BTreeMap<String, Reason>,
    newest: VecDeque<Record>,
}

/// Denials for one reason.
#[derive(Default)]
struct Reason {
    events: usize,
    /// The hooks that gave it.
    hooks: BTreeSet<String>,
}

/// By this a page is known again.
pub(super) const TITLE: &str = "<title>hookexec: decisions</title>";

impl Page {
    /// Takes a record in.
    pub(super) fn add(&mut self, record: Record) {
        if let Ok(time) = record.time.parse::<Timestamp>() {
            self.times.push((time.as_second(), record.decision));
        }
        if record.decision == Some(Decision::Deny) {
            let text = record.message.clone().unwrap_or_else(|| "no reason given".to_owned());
            let reason = self.reasons.entry(text).or_default();
            reason.events += 1;
            let counts = |mode: Option<Mode>| mode.is_none_or(|mode| mode == Mode::Enforce);
            reason.hooks.extend(
                record
                    .hooks
                    .iter()
                    .filter(|hook| hook.decision == record.decision && counts(hook.mode))
                    .map(|hook| hook.name.clone()),
            );
        }
        if self.newest.len() == RECORDS {
            self.newest.pop_front();
        }
        self.newest.push_back(record);
    }

    /// Returns the page; `filters` say which records it is about, when it is not all.
    pub(super) fn html(&self, numbers: &Numbers, filters: &[String]) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             {TITLE}\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        );
        self.head(&mut page, numbers, filters);
        tiles(&mut page, numbers);
        chart::section(&mut page, &self.times);
        hooks::section(&mut page, numbers);
        records::denials(&mut page, &self.reasons);
        events(&mut page, numbers);
        records::section(&mut page, self.newest.iter().rev(), numbers.statistics.records);
        page + "</body>\n</html>\n"
    }

    fn head(&self, page: &mut String, numbers: &Numbers, filters: &[String]) {
        let times = || self.times.iter().map(|(time, _)| *time);
        let period = match (times().min(), times().max()) {
            (Some(first), Some(last)) => {
                let format = "%-d %B %Y, %H:%M";
                format!(" from {} to {} UTC", at(first, format), at(last, format))
            }
            _ => String::new(),
        };
        let records = counted(numbers.statistics.records, "event");
        let _ = write!(page, "<header>\n<h1>Decisions</h1>\n<p>{records}{period}");
        if !filters.is_empty() {
            let _ = write!(page, ", only <code>{}</code>", escaped(&filters.join(" ")));
        }
        page.push_str("</p>\n");
        if numbers.unreadable > 0 {
            let lines = counted(numbers.unreadable, "line");
            let _ = writeln!(page, "<p class=\"notice\">{lines} of the log can't be read</p>");
        }
        page.push_str("</header>\n");
    }
}

/// Writes the numbers that matter most.
fn tiles(page: &mut String, numbers: &Numbers) {
    let statistics = &numbers.statistics;
    page.push_str("<dl class=\"tiles\">\n");
    let mut tile = |class: &str, label: &str, count: usize| {
        let share = share(count, statistics.records);
        let _ = writeln!(
            page,
            "<div class=\"{class}\"><dt>{label}</dt><dd>{count} <small>{share}</small></dd></div>"
        );
    };
    for (word, label) in DECISIONS {
        tile(word, label, statistics.decisions.get(word).copied().unwrap_or_default());
    }
    tile("open", "went on past a failure", statistics.failed_open);
    page.push_str("</dl>\n");
}

fn events(page: &mut String, numbers: &Numbers) {
    let mut counts: Vec<_> = numbers.statistics.events.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rows = counts.iter().map(|(event, count)| ((event.to_string(), String::new()), **count));
    let (rows, all): (Vec<_>, _) = (rows.collect(), numbers.statistics.records);
    section_of_shares(page, "events", "Events", &["event", "events"], &rows, all);
}

/// Writes a table of texts, each with a count and its share of `all`.
fn section_of_shares(
    page: &mut String,
    id: &str,
    title: &str,
    headings: &[&str; 2],
    rows: &[((String, String), usize)],
    all: usize,
) {
    let [what, events] = headings;
    let _ = writeln!(
        page,
        "<section>\n<h2>{title}</h2>\n<table id=\"{id}\" class=\"shares\"><thead><tr>\
         <th scope=\"col\">{what}</th><th scope=\"col\" class=\"n\">{events}</th>\
         <th scope=\"col\" class=\"n\">share</th><td class=\"bars\"></td></tr></thead><tbody>"
    );
    for ((text, under), count) in rows {
        let small = if under.is_empty() {
            String::new()
        } else {
            format!("<small>{}</small>", escaped(under))
        };
        let share = share(*count, all);
        let width = portion(*count, all) * 100.0;
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\"><span class=\"said\">{}</span>{small}</th>\
             <td class=\"n\" data-label=\"{events}\">{count}</td>\
             <td class=\"n\" data-label=\"share\">{share}</td>\
             <td class=\"bars\" aria-hidden=\"true\"><span class=\"bar\"><i style=\"width:{width:.1}%\"></i></span></td></tr>",
            escaped(text)
        );
    }
    page.push_str("</tbody></table>\n</section>\n");
}

/// Returns a time in UTC; of one that no calendar has, nothing.
fn at(second: i64, format: &str) -> String {
    Timestamp::from_second(second)
        .map_or_else(|_| String::new(), |time| time.strftime(format).to_string())
}

/// Returns a part of all, as a percentage.
fn share(count: usize, all: usize) -> String {
    let percent = portion(count, all) * 100.0;
    if count == 0 || percent >= 9.95 || count == all {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
fn portion(count: usize, all: usize) -> f64 {
    count as f64 / all.max(1) as f64
}

/// Returns the place of a decision in [`DECISIONS`].
fn rank(decision: Option<Decision>) -> usize {
    DECISIONS.iter().position(|(name, _)| *name == word(decision)).unwrap_or_default()
}
