//! The log of decisions as one HTML page: a static one, whose script shows the data in it.

use std::collections::{BTreeMap, BTreeSet};

use hookexec::Decision;
use hookexec_builtins::tools;
use hookexec_files::files;
use hookexec_files::template::filled;
use hookexec_project::log::Record;
use hookexec_workbench::records::{Statistics, shown, word};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::console::STYLE;
use crate::error::{CommandError, OrCommandError as _};

const PAGE: &str = include_str!("report.html");
const OWN_STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// By this a page is known again.
pub(crate) const TITLE: &str = "<title>hookexec: decisions</title>";

/// The parts of the records that the page shows.
#[derive(Default)]
pub(crate) struct Page {
    /// The numbers of all records.
    pub(crate) numbers: Statistics,
    /// How many events of each decision a minute has.
    minutes: BTreeMap<i64, BTreeMap<&'static str, usize>>,
    reasons: BTreeMap<String, Reason>,
    /// How many records can be shown.
    shown: usize,
    /// The newest of them, by time and number.
    newest: BTreeMap<(String, usize), Value>,
}

/// Denials for one reason.
#[derive(Default, Serialize)]
struct Reason {
    events: usize,
    /// The hooks that gave it.
    hooks: BTreeSet<String>,
}

impl Page {
    /// Returns a page that begins with these numbers.
    pub(crate) fn new(numbers: Statistics) -> Self {
        Self { numbers, ..Self::default() }
    }

    /// Takes a record in, and shows it by itself if it is one of the newest.
    pub(crate) fn add(&mut self, record: &Record, is_shown: bool) {
        self.numbers.add(record);
        if let Ok(time) = record.time.parse::<Timestamp>() {
            let minute = self.minutes.entry(time.as_second().div_euclid(60)).or_default();
            *minute.entry(word(record.decision)).or_default() += 1;
        }
        if record.decision == Some(Decision::Deny) {
            let text = record.message.clone().unwrap_or_else(|| "no reason given".to_owned());
            let reason = self.reasons.entry(text).or_default();
            reason.events += 1;
            reason.hooks.extend(record.deciding().map(|hook| hook.name.clone()));
        }
        if is_shown {
            self.shown += 1;
            self.newest.insert((record.time.clone(), self.shown), row(record));
        }
        // How many records can be opened.
        if self.newest.len() > 500 {
            self.newest.pop_first();
        }
    }

    /// Returns the page, with a remark on what it is about.
    pub(crate) fn html(&mut self, remark: &str) -> Result<String, CommandError> {
        self.numbers.complete();
        let data = json!({
            "remark": remark,
            "numbers": self.numbers,
            "minutes": self.minutes.iter().collect::<Vec<_>>(),
            "reasons": self.reasons.iter().collect::<Vec<_>>(),
            "shown": self.shown,
            "records": self.newest.values().rev().collect::<Vec<_>>(),
        });
        // What was logged may hold the end of the element that it stands in.
        let data = data.to_string().replace('<', "\\u003c");
        let nonce = files::random_id().or_internal("the system has no random numbers")?;
        let style = format!("{STYLE}{OWN_STYLE}");
        let values = [
            ("title", TITLE),
            ("nonce", &nonce),
            ("style", &style),
            ("data", &data),
            ("script", SCRIPT),
        ];
        Ok(filled(PAGE, &values))
    }
}

/// Returns a record as it can be opened.
fn row(record: &Record) -> Value {
    let sources: Vec<&str> = record.hooks.iter().map(|hook| shown(&hook.source)).collect();
    // As text: a script would round its numbers.
    let json = serde_json::to_string_pretty(record).unwrap_or_default();
    json!({ "about": about(record), "sources": sources, "json": json })
}

/// Returns what an event was about: its call, or its prompt.
pub(super) fn about(record: &Record) -> Option<String> {
    let input = record.input.as_ref()?;
    let Some(arguments) = input.get("tool_input") else {
        return Some(input.get("prompt")?.as_str()?.to_owned());
    };
    let tool = input.get("tool_name").and_then(Value::as_str).unwrap_or_default();
    Some(about_call(tool, arguments))
}

/// Returns what a call is about: the command, the path, or all arguments of the tool.
pub(crate) fn about_call(tool: &str, arguments: &Value) -> String {
    let subject = arguments.as_object().and_then(|arguments| tools::subject(tool, arguments));
    subject.map_or_else(|| arguments.to_string(), str::to_owned)
}
