//! Reads the decision log.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::{Span, SpanRelativeTo, Timestamp};

use super::statistics::word;
use crate::run::event_name;
use crate::testing::Expected;
use hookexec::event::Event;
use hookexec::internal::audit::{BEGINNING, Record, numbered};
use hookexec::internal::reading::Words;
use hookexec::wire::{Decision, HookReport};

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
    pub(crate) decision: Option<Expected<Decision>>,

    /// Only records in which this hook ran; by name, or as `hooks.yaml:5`
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Only records from this time on: `2026-03-21T10:00:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
}

/// Reads the word for a decision, as in test cases.
fn decision() -> impl TypedValueParser<Value = Expected<Decision>> {
    let words = <Expected<Decision> as Words>::WORDS;
    let decision_of = |said: String| words.iter().find(|(word, _)| *word == said).map(|it| it.1);
    let known = PossibleValuesParser::new(words.iter().map(|(word, _)| *word));
    known.try_map(move |said| decision_of(said).ok_or("unknown"))
}

fn since(text: &str) -> Result<Timestamp, String> {
    let time = || {
        let ago = text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours());
        Timestamp::now().checked_sub(ago.ok()?).ok()
    };
    text.parse().ok().or_else(time).ok_or_else(|| {
        "write a time (`2026-03-21T10:00:00Z`), or how long ago: `30m`, `2h`, `7d`".into()
    })
}

/// Returns whether a hook is the one that the user names: by its name, or by its place, as
/// `hooks.yaml:5` from any directory.
pub(crate) fn is_wanted(name: &str, source: &str, wanted: &str) -> bool {
    name == wanted || source == wanted || source.ends_with(&format!("/{wanted}"))
}

impl Filter {
    /// Returns which records are wanted, in words of the command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let decision = self.decision.as_ref().map(|decision| word(decision.value().copied()));
        [
            self.event.map(|event| format!("--event {event}")),
            decision.map(|word| format!("--decision {word}")),
            self.hook.as_ref().map(|hook| format!("--hook {hook}")),
            self.since.map(|since| format!("--since {since:.0}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns whether a record is wanted.
    pub(crate) fn wants(&self, record: &Record) -> bool {
        self.event.is_none_or(|event| record.event == event)
            && self.decision.is_none_or(|wanted| wanted.value().copied() == record.decision)
            && self.hook.as_ref().is_none_or(|wanted| {
                let is_it = |hook: &HookReport| is_wanted(&hook.name, &hook.source, wanted);
                record.hooks.iter().any(is_it)
            })
            && self.since.is_none_or(|since| {
                record.time.parse::<Timestamp>().is_ok_and(|time| time >= since)
            })
    }
}

/// Returns the files of the log at `path` with the full files that were kept, oldest first.
///
/// # Errors
/// When there is none.
pub(super) fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = (1..=MAX_KEPT)
        .map(|number| numbered(path, &number.to_string()))
        .take_while(|file| file.exists())
        .collect();
    files.reverse();
    if path.exists() {
        files.push(path.to_owned());
    }
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the file does not exist"));
    }
    Ok(files)
}

/// Reads the log at `path` line after line, and calls `each` with it.
///
/// # Errors
/// When there is none, or a file can't be read.
pub(crate) fn read(path: &Path, mut each: impl FnMut(LogLine)) -> io::Result<()> {
    for file in files(path)? {
        for line in BufReader::new(File::open(file)?).split(b'\n') {
            parse(&line?).into_iter().for_each(&mut each);
        }
    }
    Ok(())
}

/// Reads a line: a record, or one that was cut and perhaps another that was appended to it.
pub(crate) fn parse(bytes: &[u8]) -> Vec<LogLine> {
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
        filter.decision = Some(Expected::Nothing);
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:01Z".parse().unwrap());
        assert!(!filter.wants(&record));
        filter.since = None;
        filter.hook = Some("x".into());
        assert!(!filter.wants(&record));
    }
}
