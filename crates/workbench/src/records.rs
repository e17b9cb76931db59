//! Reads the decision log: its records, counts of them, and the data of one page about them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hookexec::config::Hook;
use hookexec::wire::{HookReport, HookStatus, Mode};
use hookexec::{Decision, Event};
use hookexec_calls::tools;
use hookexec_files::platform::system::canonical;
use hookexec_project::log::{BEGINNING, Record};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

/// A record; `None` for a line that is not one: it was cut, or another program wrote it.
pub type LogLine = Option<Box<Record>>;

/// Returns the files of the log at `path` with the full files that were kept, oldest first.
///
/// # Errors
/// When there is none.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // The most full files that are looked for.
    for number in 1..=100 {
        let file = path.with_added_extension(number.to_string());
        if !file.exists() {
            break;
        }
        files.push(file);
    }
    files.reverse();
    if path.exists() {
        files.push(path.to_owned());
    }
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the file does not exist"));
    }
    Ok(files)
}

/// The name of the log that stdin is.
pub const STDIN: &str = "-";

/// Reads the log at `path`, or on stdin, line after line.
///
/// # Errors
/// When there is none, or a file can't be read.
pub fn read(path: &Path) -> io::Result<impl Iterator<Item = io::Result<LogLine>>> {
    let mut readers: Vec<Box<dyn BufRead>> = Vec::new();
    if path == Path::new(STDIN) {
        readers.push(Box::new(io::stdin().lock()));
    } else {
        for file in files(path)? {
            readers.push(Box::new(BufReader::new(File::open(file)?)));
        }
    }
    let lines = readers.into_iter().flat_map(|reader| reader.split(b'\n'));
    Ok(lines.flat_map(|line| match line {
        Ok(line) => parse(&line).into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// Reads a line: a record, or one that was cut and perhaps another that was appended to it.
fn parse(bytes: &[u8]) -> Vec<LogLine> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if let Ok(record) = serde_json::from_str(text) {
        return vec![Some(Box::new(record))];
    }
    let mut found = vec![None];
    if let Some(place) = text.rfind(BEGINNING)
        && place > 0
        && let Ok(record) = serde_json::from_str(&text[place..])
    {
        found.push(Some(Box::new(record)));
    }
    found
}

/// Counts over the records of a log.
#[derive(Debug, Default, Serialize)]
pub struct Statistics {
    /// How many records there are.
    pub records: usize,
    /// How many lines are not records.
    pub unreadable: usize,
    /// Events by their decision, `none` for no opinion.
    pub decisions: BTreeMap<&'static str, usize>,
    /// Events by name.
    pub events: BTreeMap<Event, usize>,
    /// Events that went on although a hook ended in an error or failed.
    pub failed_open: usize,
    /// The hooks that ran, by name, and then enabled hooks that no record has.
    pub hooks: Vec<HookStatistics>,
}

/// Counts of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HookStatistics {
    /// Its name.
    pub name: String,
    /// Where it is configured.
    pub source: String,
    /// Its mode when it ran last.
    pub mode: Mode,
    /// How often it ran.
    pub ran: usize,
    /// Its answers by decision, `none` for no opinion.
    pub decisions: BTreeMap<&'static str, usize>,
    /// How often it ended in an error or failed.
    pub failed: usize,
    /// How often the event went on although it did.
    pub failed_open: usize,
    /// How often its answer, which did not count, would have made the verdict stricter.
    pub would_change: usize,
    /// The time that half of its runs stayed below, in milliseconds.
    pub p50_ms: f64,
    /// The time that 99 of 100 runs stayed below, in milliseconds.
    pub p99_ms: f64,
    #[serde(skip)]
    durations: Vec<f64>,
}

impl Statistics {
    /// Begins with the hooks that may run.
    pub fn of_hooks(hooks: &[Hook]) -> Self {
        let mut statistics = Self::default();
        for hook in hooks {
            if hook.enabled {
                let _ = statistics.counts_of(&hook.label(), &hook.location.absolute());
            }
        }
        statistics
    }

    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        self.records += 1;
        *self.decisions.entry(word(record.decision)).or_default() += 1;
        *self.events.entry(record.event).or_default() += 1;
        self.failed_open += usize::from(!record.failed_open.is_empty());
        for report in &record.hooks {
            if report.status != HookStatus::Skipped {
                self.counts_of(&report.name, &report.source).add(record, report);
            }
        }
    }

    fn counts_of(&mut self, name: &str, source: &str) -> &mut HookStatistics {
        let source = shown(source);
        let known = self.hooks.iter().position(|hook| hook.name == name && hook.source == source);
        let place = known.unwrap_or(self.hooks.len());
        if known.is_none() {
            let (name, source) = (name.to_owned(), source.to_owned());
            self.hooks.push(HookStatistics { name, source, ..HookStatistics::default() });
        }
        &mut self.hooks[place]
    }

    /// Computes what needs all records.
    pub fn complete(&mut self) {
        self.hooks
            .sort_by(|one, other| (one.ran == 0, &one.name).cmp(&(other.ran == 0, &other.name)));
        for hook in &mut self.hooks {
            hook.durations.sort_by(f64::total_cmp);
            hook.p50_ms = percentile(&hook.durations, 50);
            hook.p99_ms = percentile(&hook.durations, 99);
        }
    }
}

impl HookStatistics {
    fn add(&mut self, record: &Record, report: &HookReport) {
        self.mode = report.mode.unwrap_or_default();
        self.ran += 1;
        *self.decisions.entry(word(report.decision)).or_default() += 1;
        let failed = matches!(report.status, HookStatus::Error | HookStatus::Failed);
        self.failed += usize::from(failed);
        self.failed_open += usize::from(failed && record.failed_open.contains(&report.name));
        let would_change = record.would_change().any(|other| std::ptr::eq(other, report));
        self.would_change += usize::from(would_change);
        if report.status != HookStatus::Background {
            self.durations.push(report.duration_ms);
        }
    }
}

/// Returns a hook's place as it is shown: below the current directory from there.
pub fn shown(source: &str) -> &str {
    static HERE: LazyLock<String> = LazyLock::new(|| {
        let here = std::env::current_dir().and_then(canonical);
        here.map_or_else(|_| "/".to_owned(), |path| format!("{}/", path.display()))
    });
    source.strip_prefix(HERE.as_str()).unwrap_or(source)
}

/// Returns the word of a decision.
pub fn word(decision: Option<Decision>) -> &'static str {
    decision.map_or("none", Decision::name)
}

/// Returns the smallest value that `percent` of all do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use hookexec::{Event, Input, Verdict};
    use hookexec_builtins::secrets::Redactor;

    fn line(session: &str) -> String {
        let input = Input::default().with_session(session);
        let verdict = Verdict::no_opinion(Event::Stop);
        let time = "2026-03-01T10:00:00.000Z".to_owned();
        let record = Record::new(time, &input, &verdict, 0.0);
        String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap()
    }

    fn sessions(found: &[LogLine]) -> Vec<&str> {
        found
            .iter()
            .map(|line| line.as_ref().map_or("?", |record| record.session.as_str()))
            .collect()
    }

    #[test]
    fn a_record_that_was_cut_costs_itself_alone() {
        let (first, second) = (line("a"), line("b"));
        let cut = &first[..first.len() / 2];
        let glued = parse(format!("{cut}{second}").as_bytes());
        assert_eq!(sessions(&glued), ["?", "b"]);
        assert_eq!(sessions(&parse(cut.as_bytes())), ["?"]);
        assert_eq!(sessions(&parse(second.as_bytes())), ["b"]);
        assert!(parse(b"\n").is_empty());
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert!((percentile(&hundred, 50) - 50.0).abs() < f64::EPSILON);
        assert!((percentile(&hundred, 99) - 99.0).abs() < f64::EPSILON);
        assert!((percentile(&[7.0], 99) - 7.0).abs() < f64::EPSILON);
        assert!(percentile(&[], 50).abs() < f64::EPSILON);
    }
}
