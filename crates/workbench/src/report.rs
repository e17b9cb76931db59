//! The records of the decision log as the data of one page.

use std::collections::{BTreeMap, BTreeSet};

use hookexec::Decision;
use hookexec_calls::tools;
use hookexec_project::log::Record;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::records::{Statistics, shown, word};

/// The parts of the records that a page shows.
#[derive(Default)]
pub struct Report {
    /// The numbers of all records.
    pub numbers: Statistics,
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

impl Report {
    /// Returns a report that begins with these numbers.
    pub fn new(numbers: Statistics) -> Self {
        Self { numbers, ..Self::default() }
    }

    /// Takes a record in, and shows it by itself if it is one of the newest.
    pub fn add(&mut self, record: &Record, is_shown: bool) {
        self.numbers.add(record);
        if let Ok(time) = record.time.parse::<Timestamp>() {
            let minute = self.minutes.entry(time.as_second().div_euclid(60)).or_default();
            *minute.entry(word(record.decision)).or_default() += 1;
        }
        if record.decision == Some(Decision::Deny) {
            let text = record.message.as_deref().unwrap_or("no reason given").to_owned();
            let reason = self.reasons.entry(text).or_default();
            reason.events += 1;
            for hook in record.deciding() {
                reason.hooks.insert(hook.name.clone());
            }
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

    /// Returns all of it for a script, with a remark on what it is about.
    pub fn data(&mut self, remark: &str) -> Value {
        self.numbers.complete();
        json!({
            "remark": remark,
            "numbers": self.numbers,
            "minutes": self.minutes.iter().collect::<Vec<_>>(),
            "reasons": self.reasons.iter().collect::<Vec<_>>(),
            "shown": self.shown,
            "records": self.newest.values().rev().collect::<Vec<_>>(),
        })
    }
}

/// Returns a record as it can be opened.
fn row(record: &Record) -> Value {
    let mut sources = Vec::new();
    for hook in &record.hooks {
        sources.push(shown(&hook.source));
    }
    // As text: a script would round its numbers.
    let json = serde_json::to_string_pretty(record).unwrap_or_default();
    json!({ "about": about(record), "sources": sources, "json": json })
}

/// Returns what an event was about: its call, or its prompt.
pub fn about(record: &Record) -> Option<String> {
    let input = record.input.as_ref()?;
    let Some(arguments) = input.get("tool_input") else {
        return Some(input.get("prompt")?.as_str()?.to_owned());
    };
    Some(about_call(input["tool_name"].as_str().unwrap_or_default(), arguments))
}

/// Returns what a call is about: the command, the path, or all arguments of the tool.
pub fn about_call(tool: &str, arguments: &Value) -> String {
    if let Some(fields) = arguments.as_object()
        && let Some(subject) = tools::subject(tool, fields)
    {
        return subject.to_owned();
    }
    arguments.to_string()
}
