//! `hookexec log`: reads the log of decisions.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use crate::records::{self, Filter, Follower, HookStatistics, Statistics};
use hookexec::internal::Loaded;
use hookexec::internal::audit::Record;
use hookexec::internal::shell::quoted;
use hookexec::internal::system;
use serde::Serialize;

use super::config::{ConfigArgs, Purpose};
use super::error::{CommandError, OrCommandError as _, unwritable, warn, with_hint};
use super::output::{self, PlainFormat};
use super::page::{self, Page};
use super::report::counted;
use super::runtime::{self, Runtime};
use super::{Exit, decisions_text, plain};

/// How often a log that is followed is looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows what was decided: the records of the decision log, or their counts
///
/// A hooks file switches the log on with `audit: { path: FILE }`. Full files that were kept are
/// read, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec log --decision deny --since 2h")]
pub(crate) struct Args {
    /// The log [default: that of the hooks files]
    file: Option<PathBuf>,

    /// Keeps running and shows new records, until a signal ends it
    #[arg(short, long, conflicts_with_all = ["stats", "shadow"])]
    follow: bool,

    #[command(flatten)]
    filter: Filter,

    /// Counts: decisions and times of each hook, failures that let an event go on, hooks that never
    /// ran
    #[arg(long)]
    stats: bool,

    /// What hooks in `mode: shadow` or `warn` would have changed
    #[arg(long, conflicts_with = "stats")]
    shadow: bool,

    /// Writes everything to one HTML file without external resources
    #[arg(long, value_name = "FILE", conflicts_with_all = ["follow", "stats", "shadow", "format"])]
    html: Option<PathBuf>,

    /// How to write it
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,

    #[command(flatten)]
    config: ConfigArgs,
}

/// The numbers of a log.
#[derive(Debug, Serialize)]
pub(super) struct Numbers {
    #[serde(flatten)]
    pub(super) statistics: Statistics,
    pub(super) hooks: Vec<HookStatistics>,
    /// Enabled hooks of the hooks files that no record has.
    pub(super) never_ran: Vec<Named>,
    pub(super) unreadable: usize,
}

/// A hook, and where it stands.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) source: String,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let path = log_path(self.file.as_deref(), &self.config)?;
        if self.follow {
            return self.follow(&path);
        }
        let (mut numbers, mut printed) = (self.numbers()?, Ok(()));
        let (mut rows, mut page) = (String::new(), Page::default());
        records::read(&path, |line| match line {
            Some(record) if !self.filter.wants(&record) => {}
            Some(record) if self.counts() => {
                numbers.statistics.add(&record);
                if self.html.is_some() {
                    page.add(*record);
                }
            }
            Some(record) => {
                rows.push_str(&self.row(&record));
                if rows.len() > 1 << 16 && printed.is_ok() {
                    printed = self.print(&std::mem::take(&mut rows));
                }
            }
            None => numbers.unreadable += 1,
        })
        .or_usage(unreadable(&path))?;
        printed?;
        if self.counts() {
            numbers.hooks = numbers.statistics.take_hooks();
            for ran in &mut numbers.hooks {
                ran.source = shown(&ran.source).to_owned();
                let is_other = |hook: &Named| hook.name != ran.name || hook.source != ran.source;
                numbers.never_ran.retain(is_other);
            }
            match (&self.html, self.format) {
                (Some(file), _) => write_page(file, &page.html(&numbers, &self.filter.words())?)?,
                (None, format) => format.show(&numbers, || decisions_text::numbers(&numbers))?,
            }
        } else {
            self.print(&rows)?;
        }
        if numbers.unreadable > 0 {
            let lines = counted(numbers.unreadable, "line");
            warn(&format!("{lines} of the log can't be read: they are cut off, or not records"));
        }
        Ok(Exit::Success)
    }

    fn print(&self, rows: &str) -> Result<(), CommandError> {
        match self.format {
            PlainFormat::Json => output::print_data(rows),
            PlainFormat::Text => output::print(rows),
        }
    }

    fn follow(&self, path: &Path) -> Result<Exit, CommandError> {
        let mut follower = Follower::at_end(path).or_usage(unreadable(path))?;
        let following = async {
            loop {
                let mut lost = 0;
                for line in follower.next_lines().or_usage(unreadable(path))? {
                    match line {
                        Some(record) if self.filter.wants(&record) => {
                            self.print(&self.row(&record))?;
                        }
                        Some(_) => {}
                        None => lost += 1,
                    }
                }
                if lost > 0 {
                    warn(&format!("{} of the log can't be read", counted(lost, "line")));
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        Runtime::new()?.block_on(async {
            // A signal is how it ends.
            let mut signals = runtime::listen()?;
            tokio::select! {
                (_, number) = signals.next() => Ok(Exit::Interrupted(number)),
                ended = following => ended,
            }
        })?
    }

    /// Returns a record as it is shown; nothing when it has nothing to show.
    fn row(&self, record: &Record) -> String {
        match self.format {
            PlainFormat::Text if self.shadow => decisions_text::shadow(record),
            PlainFormat::Text => decisions_text::record(record),
            PlainFormat::Json if self.shadow && !record.would_change().any(|_| true) => {
                String::new()
            }
            PlainFormat::Json => serde_json::to_string(record).unwrap_or_default() + "\n",
        }
    }

    /// Returns whether records are counted rather than shown.
    fn counts(&self) -> bool {
        self.stats || self.html.is_some()
    }

    /// Returns numbers of nothing yet, with every hook that is configured.
    fn numbers(&self) -> Result<Numbers, CommandError> {
        let mut never_ran = Vec::new();
        if self.counts() {
            let loaded = self.config.load(Purpose::Show)?;
            loaded.notices.warn_untold("");
            let hooks = loaded.found.config.hooks;
            for hook in hooks.iter().filter(|hook| hook.enabled) {
                let source = shown(&hook.location.absolute()).to_owned();
                never_ran.push(Named { name: hook.label(), source });
            }
        }
        let statistics = Statistics::default();
        Ok(Numbers { statistics, hooks: Vec::new(), never_ran, unreadable: 0 })
    }
}

/// Returns the log at `file`, or else that of the hooks files.
pub(super) fn log_path(file: Option<&Path>, config: &ConfigArgs) -> Result<PathBuf, CommandError> {
    if let Some(path) = file {
        return Ok(path.to_owned());
    }
    let loaded = config.load(Purpose::Show)?;
    loaded.notices.warn_untold("");
    let Loaded { config, project_files, .. } = &loaded.found;
    if let Some(settings) = config.audit.first() {
        return Ok(settings.path.clone());
    }
    // A warning has said what to do about the hooks file.
    let unapproved = project_files.iter().find_map(|file| {
        let log = file.unapproved_audit.as_ref()?;
        Some((file.path.display(), log))
    });
    if let Some((path, log)) = unapproved {
        let text =
            format!("{path} has `audit:` and is not approved: it records nothing until it is");
        let hint = format!("to read what it recorded before, {}", naming(log));
        return Err(CommandError::usage(text).hint(hint));
    }
    Err(no_log(&loaded.found))
}

/// Returns the error that no log is known. It names the first file that may have named one.
fn no_log(loaded: &Loaded) -> CommandError {
    let Loaded { config, project_files, .. } = loaded;
    // The content of a file that is only not approved was looked at.
    let is_known =
        |cause: &str| project_files.iter().any(|file| file.problem().as_deref() == Some(cause));
    let failed = config.failed.iter().find(|file| !is_known(&file.cause));
    let place = failed.map(|file| &file.location);
    let left_out = config.left_out.iter().find(|problem| problem.location.is_some());
    let place = place.or(left_out.and_then(|problem| problem.location.as_ref()));
    let Some(place) = place else {
        return CommandError::usage("which log? No hooks file says `audit:`")
            .hint("name the log, or add `audit: { path: audit.jsonl }` to the hooks file");
    };
    let why = match failed {
        None => "is not used",
        Some(_) if place.path().exists() => "can't be loaded",
        Some(_) => "is gone",
    };
    let path = place.path().display();
    let beside = place.directory().join("audit.jsonl");
    let mut error =
        CommandError::usage(format!("which log? {path} {why}, so its `audit:` is not known"));
    let naming = if beside.is_file() { naming(&beside) } else { BY_NAME.to_owned() };
    error = error.hint(naming);
    if let Some(problem) = left_out {
        error = error.hint(with_hint(problem));
    }
    error
}

const BY_NAME: &str = "name the log as an argument";

/// Returns how to name the log at `path`.
fn naming(path: &Path) -> String {
    format!("{BY_NAME}: {}", quoted(&plain::line(shown(&path.to_string_lossy()))))
}

/// Returns a hook's place as it is shown: below the current directory from there.
pub(super) fn shown(source: &str) -> &str {
    static HERE: LazyLock<String> = LazyLock::new(|| {
        let here = std::env::current_dir().and_then(dunce::canonicalize);
        here.map_or_else(|_| "/".to_owned(), |path| format!("{}/", path.display()))
    });
    source.strip_prefix(HERE.as_str()).unwrap_or(source)
}

pub(super) fn unreadable(path: &Path) -> String {
    format!("can't read the log {}", path.display())
}

/// Writes the page for its owner alone: it may hold inputs. Never replaces a file that is not such
/// a page, for example the log or the hooks file.
fn write_page(file: &Path, page: &str) -> Result<(), CommandError> {
    let failed = unwritable(file);
    if file.is_file() {
        let old = std::fs::read(file).or_usage(&failed)?;
        let ours = String::from_utf8_lossy(&old[..old.len().min(1024)]).contains(page::TITLE);
        if !ours && !old.is_empty() {
            let problem = format!("{} exists and is not a page of `hookexec log`", file.display());
            return Err(
                CommandError::usage(problem).hint("name another file: `--html report.html`")
            );
        }
        std::fs::remove_file(file).or_usage(&failed)?;
    }
    let mut options = OpenOptions::new();
    system::private(options.write(true).create(true))
        .open(file)
        .and_then(|mut opened| opened.write_all(page.as_bytes()))
        .or_usage(&failed)
}
