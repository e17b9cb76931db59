//! `hookexec log`: reads the log of decisions.

pub(crate) mod page;
mod text;

use std::path::{Path, PathBuf};

use hookexec::{Config, Event};
use hookexec_project::log::Record;
use hookexec_workbench::records::{self, Report, Statistics, word};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

use crate::Exit;
use crate::commands::run::event_name;
use crate::config::ConfigArgs;
use crate::console::output::{self, PlainFormat};
use crate::console::report::counted;
use crate::error::{CommandError, OrCommandError as _, warn};

/// Shows what was decided: the records of the decision log, or their counts
///
/// A hooks file switches the log on with `audit: { path: FILE }`. Full files that were kept are
/// read, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec log --decision deny --since 2h")]
pub(crate) struct Args {
    /// The log, or `-` for standard input, as in `tail -F FILE | hookexec log -` [default: that of the
    /// hooks files]
    file: Option<PathBuf>,

    #[command(flatten)]
    filter: Filter,

    /// Counts: decisions and times of each hook, failures that let an event go on, hooks that never
    /// ran
    #[arg(long)]
    stats: bool,

    /// Shows what hooks in `mode: shadow` or `warn` would have changed
    #[arg(long, conflicts_with = "stats")]
    shadow: bool,

    /// Writes everything to one HTML file without external resources
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stats", "shadow", "format"])]
    html: Option<PathBuf>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,

    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let counts = self.stats || self.html.is_some();
        let mut config = Config::default();
        if counts || self.file.is_none() {
            config = self.config.shown()?;
        }
        let path = self.path(&config)?;
        // The writer may keep it open, as `tail -F` does.
        let at_once = path == Path::new(records::STDIN);
        let mut report = Report::new(Statistics::of_hooks(&config.hooks));
        let (mut rows, mut is_empty) = (String::new(), true);
        for line in records::read(path).or_usage(unreadable(path))? {
            match line.or_usage(unreadable(path))? {
                None => report.numbers.unreadable += 1,
                Some(record) if !self.filter.wants(&record) => {}
                Some(record) if self.html.is_some() => report.add(&record, true),
                Some(record) if counts => report.numbers.add(&record),
                Some(record) => {
                    rows.push_str(&self.row(&record));
                    is_empty &= rows.is_empty();
                    if at_once || rows.len() > 1 << 16 {
                        self.print(&std::mem::take(&mut rows))?;
                    }
                }
            }
        }
        let unreadable = report.numbers.unreadable;
        if let Some(file) = &self.html {
            let is_filtered = self.filter != Filter::default();
            let remark = if is_filtered { ", only the records that the filters chose" } else { "" };
            page::draw(file, &mut report, remark)?;
        } else if counts {
            report.numbers.complete();
            self.format.show(&report.numbers, || text::numbers(&report.numbers))?;
        } else {
            self.print(&rows)?;
            if is_empty {
                output::talk("no record of the log matches\n");
            }
        }
        if unreadable > 0 {
            let lines = counted(unreadable, "line");
            warn(&format!("{lines} of the log can't be read: they are cut off, or not records"));
        }
        Ok(Exit::SUCCESS)
    }

    fn print(&self, rows: &str) -> Result<(), CommandError> {
        match self.format {
            PlainFormat::Json => output::print_data(rows),
            PlainFormat::Text => output::print(rows),
        }
    }

    /// Returns a record as it is shown; nothing when it has nothing to show.
    fn row(&self, record: &Record) -> String {
        match self.format {
            PlainFormat::Text if self.shadow => text::shadow(record),
            PlainFormat::Text => text::record(record),
            PlainFormat::Json if self.shadow && record.would_change().next().is_none() => {
                String::new()
            }
            PlainFormat::Json => serde_json::to_string(record).unwrap_or_default() + "\n",
        }
    }

    /// Returns the log that is named, or else that of the hooks files.
    fn path<'p>(&'p self, config: &'p Config) -> Result<&'p Path, CommandError> {
        match (&self.file, config.audit.first()) {
            (Some(path), _) => Ok(path),
            (None, Some(settings)) => Ok(&settings.path),
            (None, None) => {
                Err(CommandError::usage("which log? No hooks file that is in use says `audit:`")
                    .hint("name the log, or add `audit: { path: audit.jsonl }` to the hooks file"))
            }
        }
    }
}

pub(crate) fn unreadable(path: &Path) -> String {
    format!("can't read the log {}", path.display())
}

/// Which records are wanted; what is not set matches all.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub(crate) struct Filter {
    /// Only records of this event
    #[arg(long, value_parser = event_name(), hide_possible_values = true)]
    pub(crate) event: Option<Event>,

    /// Only records of this decision; `none` if no hook had an opinion
    #[arg(long, value_parser = ["allow", "ask", "deny", "none"])]
    pub(crate) decision: Option<String>,

    /// Only records in which this hook ran; by name, or as `hooks.yaml:5`
    #[arg(long, value_name = "HOOK")]
    pub(crate) hook: Option<String>,

    /// Only records from this time on: `2026-03-21`, `2026-03-21T10:00:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
}

/// Reads a time, or how long ago it was.
pub(crate) fn since(text: &str) -> Result<Timestamp, &'static str> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(day) = text.parse::<Date>()
        && let Ok(begin) = day.to_zoned(TimeZone::system())
    {
        return Ok(begin.timestamp());
    }
    if let Ok(ago) = text.parse::<Span>()
        && let Ok(ago) = ago.to_duration(SpanRelativeTo::days_are_24_hours())
        && let Ok(time) = Timestamp::now().checked_sub(ago)
    {
        return Ok(time);
    }
    Err(
        "write a day (`2026-03-21`), a time (`2026-03-21T10:00:00Z`), or how long ago: `30m`, `2h`, `7d`",
    )
}

/// Returns whether a hook is the one that the user names: by its name, or by its place, as
/// `hooks.yaml:5` from any directory.
fn is_wanted(name: &str, source: &str, wanted: &str) -> bool {
    name == wanted || source == wanted || source.ends_with(&format!("/{wanted}"))
}

impl Filter {
    /// Returns whether a record is wanted.
    pub(crate) fn wants(&self, record: &Record) -> bool {
        if self.event.is_some_and(|event| event != record.event)
            || self.decision.as_ref().is_some_and(|wanted| wanted != word(record.decision))
        {
            return false;
        }
        if let Some(since) = self.since {
            match record.time.parse::<Timestamp>() {
                Ok(time) if time >= since => {}
                _ => return false,
            }
        }
        let Some(wanted) = &self.hook else { return true };
        record.hooks.iter().any(|hook| is_wanted(&hook.name, &hook.source, wanted))
    }
}

#[cfg(test)]
mod tests {
    use hookexec::{Input, Verdict};

    use super::*;

    #[test]
    fn filters_look_at_everything_that_is_set() {
        let (input, verdict) = (Input::default(), Verdict::no_opinion(Event::Stop));
        let record = Record::new("2026-03-01T10:00:00.000Z".to_owned(), &input, &verdict, 0.0);
        let mut filter = Filter::default();
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:00Z".parse().unwrap());
        filter.decision = Some("none".into());
        assert!(filter.wants(&record));
        filter.since = Some("2026-03-01T10:00:01Z".parse().unwrap());
        assert!(!filter.wants(&record));
        filter.since = Some(since("2026-02-28").unwrap());
        filter.decision = None;
        assert!(filter.wants(&record));
        filter.since = Some(since("2026-03-03").unwrap());
        assert!(!filter.wants(&record));
        filter.since = None;
        filter.hook = Some("x".into());
        assert!(!filter.wants(&record));
    }
}
