//! The log of decisions as one HTML page, which needs no script and nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use hookexec::Decision;
use hookexec::audit::Record;
use jiff::Timestamp;

use super::decisions::Numbers;

/// How many records can be opened; the newest.
const RECORDS: usize = 500;
/// How many bars the time is cut into.
const BARS: i64 = 60;
/// How many reasons are shown, the most frequent first.
const REASONS: usize = 15;

const STYLE: &str = "\
:root{color-scheme:light dark;--deny:#c0392b;--ask:#b9770e;--allow:#1e8449;--none:#85929e}\
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}\
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #8885;overflow-wrap:anywhere}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
svg{width:100%;height:160px;border-bottom:1px solid #8888}\
.deny{color:var(--deny);fill:var(--deny)}.ask{color:var(--ask);fill:var(--ask)}\
.allow{color:var(--allow);fill:var(--allow)}.none{color:var(--none);fill:var(--none)}\
details{border-bottom:1px solid #8885;padding:.2rem 0}summary{cursor:pointer}\
pre{overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}";

/// What is kept of the records for the page.
#[derive(Default)]
pub(super) struct Page {
    /// Time in seconds and decision of every record.
    times: Vec<(i64, Option<Decision>)>,
    reasons: BTreeMap<String, usize>,
    newest: VecDeque<Record>,
}

impl Page {
    /// Takes a record in.
    pub(super) fn add(&mut self, record: Record) {
        if let Ok(time) = record.time.parse::<Timestamp>() {
            self.times.push((time.as_second(), record.decision));
        }
        if record.decision == Some(Decision::Deny) {
            let reason = record.message.clone().unwrap_or_else(|| "no reason given".to_owned());
            *self.reasons.entry(reason).or_default() += 1;
        }
        if self.newest.len() == RECORDS {
            self.newest.pop_front();
        }
        self.newest.push_back(record);
    }

    /// Returns the page.
    pub(super) fn html(&self, numbers: &Numbers) -> String {
        let statistics = &numbers.statistics;
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>hookexec: decisions</title>\
             <style>{STYLE}</style></head><body>\n<h1>Decisions</h1>\n<p>{} records",
            statistics.records
        );
        if numbers.unreadable > 0 {
            let _ = write!(page, ", {} lines that can't be read", numbers.unreadable);
        }
        page.push_str("</p>\n");
        let mut rows: Vec<[String; 2]> = statistics
            .decisions
            .iter()
            .map(|(word, count)| [(*word).to_owned(), count.to_string()])
            .collect();
        rows.push(["went on although a hook failed".into(), statistics.failed_open.to_string()]);
        table(&mut page, ["decision", "events"], &rows);
        self.chart(&mut page);
        hooks(&mut page, numbers);
        self.top_denials(&mut page);
        self.records(&mut page);
        page + "</body></html>\n"
    }

    /// Draws the decisions over time, a bar for each stretch of it.
    fn chart(&self, page: &mut String) {
        let times = || self.times.iter().map(|(time, _)| *time);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return };
        let width = (last - first) / BARS + 1;
        let mut bars: BTreeMap<i64, [u32; 4]> = BTreeMap::new();
        for (time, decision) in &self.times {
            bars.entry((time - first) / width).or_default()[rank(*decision)] += 1;
        }
        let highest = bars.values().map(|bar| bar.iter().sum::<u32>()).max().unwrap_or(1).max(1);
        let label = |second: i64| {
            Timestamp::from_second(second).map(|time| time.to_string()).unwrap_or_default()
        };
        let _ = write!(
            page,
            "<h2>Over time</h2>\n<svg role=\"img\" aria-label=\"decisions over time\" viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\">",
            BARS * 10
        );
        for (at, bar) in &bars {
            let mut top = 100.0;
            for (count, word) in bar.iter().zip(["deny", "ask", "allow", "none"]) {
                if *count == 0 {
                    continue;
                }
                let height = f64::from(*count) * 100.0 / f64::from(highest);
                top -= height;
                let _ = write!(
                    page,
                    "<rect class=\"{word}\" x=\"{}\" y=\"{top:.2}\" width=\"9\" height=\"{height:.2}\"><title>{}: {count} {word}</title></rect>",
                    at * 10,
                    label(first + at * width)
                );
            }
        }
        let _ = writeln!(
            page,
            "</svg>\n<p>{} to {}; at most {highest} events in {width} s. <span class=\"deny\">deny</span> <span class=\"ask\">ask</span> <span class=\"allow\">allow</span> <span class=\"none\">no opinion</span></p>",
            label(first),
            label(last)
        );
    }

    fn top_denials(&self, page: &mut String) {
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
        let rows: Vec<[String; 2]> = reasons
            .into_iter()
            .take(REASONS)
            .map(|(reason, count)| [reason.clone(), count.to_string()])
            .collect();
        page.push_str("<h2>Top denials</h2>\n");
        table(page, ["reason", "events"], &rows);
    }

    fn records(&self, page: &mut String) {
        let _ = writeln!(page, "<h2>The newest {} records</h2>", self.newest.len());
        for record in self.newest.iter().rev() {
            let word = word(record.decision);
            let tool = record.tool.as_deref().unwrap_or_default();
            let message = record.message.as_deref().unwrap_or_default();
            let json = serde_json::to_string_pretty(record).unwrap_or_default();
            let _ = writeln!(
                page,
                "<details><summary>{} <b class=\"{word}\">{word}</b> {} {} {}</summary><pre>{}</pre></details>",
                escaped(&record.time),
                record.event,
                escaped(tool),
                escaped(message),
                escaped(&json)
            );
        }
    }
}

fn hooks(page: &mut String, numbers: &Numbers) {
    page.push_str("<h2>Hooks</h2>\n");
    let mut rows = Vec::new();
    for hook in &numbers.hooks {
        let count = |word| hook.decisions.get(word).copied().unwrap_or_default().to_string();
        rows.push([
            hook.name.clone(),
            hook.source.clone(),
            hook.ran.to_string(),
            count("deny"),
            count("ask"),
            count("allow"),
            hook.failed.to_string(),
            hook.failed_open.to_string(),
            hook.would_change.to_string(),
            format!("{:.1}", hook.p50_ms),
            format!("{:.1}", hook.p99_ms),
        ]);
    }
    let headings = [
        "hook",
        "at",
        "ran",
        "deny",
        "ask",
        "allow",
        "failed",
        "failed open",
        "would change",
        "p50 ms",
        "p99 ms",
    ];
    table(page, headings, &rows);
    if !numbers.never_ran.is_empty() {
        let rows: Vec<[String; 2]> =
            numbers.never_ran.iter().map(|hook| [hook.name.clone(), hook.source.clone()]).collect();
        page.push_str("<h2>Hooks that never ran</h2>\n");
        table(page, ["hook", "at"], &rows);
    }
}

fn table<const COLUMNS: usize>(
    page: &mut String,
    headings: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) {
    let class = |text: &str| {
        if text.parse::<f64>().is_ok() { " class=\"n\"" } else { "" }
    };
    page.push_str("<table><thead><tr>");
    for (column, heading) in headings.iter().enumerate() {
        let class = rows.first().map_or("", |row| class(&row[column]));
        let _ = write!(page, "<th{class}>{heading}</th>");
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            let _ = write!(page, "<td{}>{}</td>", class(cell), escaped(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
}

fn rank(decision: Option<Decision>) -> usize {
    match decision {
        Some(Decision::Deny) => 0,
        Some(Decision::Ask) => 1,
        Some(Decision::Allow) => 2,
        None => 3,
    }
}

fn word(decision: Option<Decision>) -> &'static str {
    ["deny", "ask", "allow", "none"][rank(decision)]
}

/// Returns a text that is nothing but text on a page: what is logged was written by models.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}
