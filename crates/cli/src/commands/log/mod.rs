//! `hookexec log`: reads the log of decisions.

mod filter;
pub(crate) mod page;
mod text;

use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec_project::log::Record;
use hookexec_workbench::records::{self, Report, Statistics};

use crate::Exit;
use crate::config::ConfigArgs;
use crate::console::output::{self, PlainFormat};
use crate::console::report::counted;
use crate::error::{CommandError, OrCommandError as _, warn};
use filter::Filter;
pub(crate) use filter::since;

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
        let mut rows = String::new();
        for line in records::read(path).or_usage(unreadable(path))? {
            match line.or_usage(unreadable(path))? {
                None => report.numbers.unreadable += 1,
                Some(record) if !self.filter.wants(&record) => {}
                Some(record) if self.html.is_some() => report.add(&record, true),
                Some(record) if counts => report.numbers.add(&record),
                Some(record) => {
                    rows.push_str(&self.row(&record));
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
