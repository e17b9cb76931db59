//! Reads the decision log.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::{Span, SpanRelativeTo, Timestamp};

use crate::run::event_name;
use crate::testing::DecisionWord;
use hookexec::event::Event;
use hookexec::internal::audit::{BEGINNING, Record, numbered};
use hookexec_files::kinds::Words;

/// The most full files that are looked for.
const MAX_KEPT: usize = 100;

/// A record; `None` for a line that is not one: it was cut, or another program wrote it.
pub(crate) type LogLine = Option<Box<Record>>;

/// Which records are wanted; what is not set matches all.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only records of this event
    #[arg(long, value_parser = event_name(), hide_possible_values = true)]
    pub(crate) event: Option<Event>,

    /// Only records of this decision; `none` if no hook had an opinion
    #[arg(long, value_parser = decision())]
    pub(crate) decision: Option<DecisionWord>,

    /// Only records in which this hook ran; by name, or as `hooks.yaml:5`
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Only records from this time on: `2026-03-21T10:00:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
}

/// Reads the word for a decision, as in test cases.
fn decision() -> impl TypedValueParser<Value = DecisionWord> {
    let words = PossibleValuesParser::new(DecisionWord::WORDS.iter().map(|(word, _)| *word));
    words.try_map(|said| {
        let known = DecisionWord::WORDS.iter().find(|(word, _)| *word == said);
        known.map(|(_, decision)| *decision).ok_or("unknown")
    })
}

fn since(text: &str) -> Result<Timestamp, &'static str> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(ago) = text.parse::<Span>()
        && let Ok(ago) = ago.to_duration(SpanRelativeTo::days_are_24_hours())
        && let Ok(time) = Timestamp::now().checked_sub(ago)
    {
        return Ok(time);
    }
    Err("write a time (`2026-03-21T10:00:00Z`), or how long ago: `30m`, `2h`, `7d`")
}

/// Returns whether a hook is the one that the user names: by its name, or by its place, as
/// `hooks.yaml:5` from any directory.
fn is_wanted(name: &str, source: &str, wanted: &str) -> bool {
    name == wanted || source == wanted || source.ends_with(&format!("/{wanted}"))
}

impl Filter {
    /// Returns whether not all records are wanted.
    pub(crate) fn is_set(&self) -> bool {
        let Self { event, decision, hook, since } = self;
        event.is_some() || decision.is_some() || hook.is_some() || since.is_some()
    }

    /// Returns whether a record is wanted.
    pub(crate) fn wants(&self, record: &Record) -> bool {
        if self.event.is_some_and(|event| event != record.event)
            || self.decision.is_some_and(|wanted| wanted.0 != record.decision)
        {
            return false;
        }
        if let Some(since) = self.since {
            let time = record.time.parse::<Timestamp>();
            if time.is_err() || time.is_ok_and(|time| time < since) {
                return false;
            }
        }
        let Some(wanted) = &self.hook else { return true };
        record.hooks.iter().any(|hook| is_wanted(&hook.name, &hook.source, wanted))
    }
}

/// Returns the files of the log at `path` with the full files that were kept, oldest first.
///
/// # Errors
/// When there is none.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for number in 1..=MAX_KEPT {
        let file = numbered(path, &number.to_string());
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
pub(crate) const STDIN: &str = "-";

/// Reads the log at `path`, or on stdin, line after line, and calls `each` with it.
///
/// # Errors
/// When there is none, or a file can't be read.
pub(crate) fn read(path: &Path, mut each: impl FnMut(LogLine)) -> io::Result<()> {
    if path == Path::new(STDIN) {
        return read_lines(io::stdin().lock(), &mut each);
    }
    for file in files(path)? {
        read_lines(BufReader::new(File::open(file)?), &mut each)?;
    }
    Ok(())
}

fn read_lines(lines: impl io::BufRead, each: &mut impl FnMut(LogLine)) -> io::Result<()> {
    for line in lines.split(b'\n') {
        for found in parse(&line?) {
            each(found);
        }
    }
    Ok(())
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
    if let Some(place) = text.rfind(BEGINNING).filter(|place| *place > 0)
        && let Ok(record) = serde_json::from_str(&text[place..])
    {
        found.push(Some(Box::new(record)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookexec::internal::builtins::secrets::Redactor;
    use hookexec::wire::{Input, Verdict};

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
    fn filters_look_at_everything_that_is_set() {
        let record: Record = serde_json::from_str(&line("a")).unwrap();
        let mut filter = Filter::default();
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:00Z".parse().unwrap());
        filter.decision = Some(DecisionWord(None));
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:01Z".parse().unwrap());
        assert!(!filter.wants(&record));
        filter.since = None;
        filter.hook = Some("x".into());
        assert!(!filter.wants(&record));
    }
}
