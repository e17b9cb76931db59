//! `hookexec test`: cases in YAML against the hooks files they are for, and recorded events against
//! a candidate.

mod log;
pub(crate) mod past;
pub(crate) mod report;
mod save;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) use hookexec_workbench::testing::Results;
use hookexec_workbench::testing::{ENDING, Suite};

use crate::console::output;
use crate::console::output::PlainFormat;
use crate::error::OrCommandError as _;
use crate::runtime::Runtime;
use crate::{CommandError, Exit, config, registry};
use log::LogArgs;

/// Runs the test cases of hooks files, and says what no case reached
///
/// A file of cases, `hooks.test.yaml`, stands beside the `hooks.yaml` that it is for. The hooks
/// run, also those of a file that is not approved, except those that a case gives a stub. Exits with
/// 0 when all cases passed, with 1 when one failed or the coverage is below `--min-coverage`, with 78
/// when a file is broken.
///
/// With `--log` each event of a log is a case for other hooks files: it passes if the same comes out.
/// Exits with 0 when all passed, with 1 when one failed or could not run.
///
/// With `--past` it reads the transcripts of an agent, and says what the hooks files would have done
/// with its calls. Rules and builtins that only look run, and, for calls of this project, programs with
/// `side_effects: none` or `idempotent`; everything else does not. Nothing leaves this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec test --min-coverage 90 hooks.test.yaml")]
pub(crate) struct Args {
    /// Files of cases, or directories of them [default: `*.test.yaml` here and in `.hookexec`]
    files: Vec<PathBuf>,

    /// Only the cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// How to write the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Fails when less than this percentage of hooks and conditions was reached
    #[arg(long, value_name = "PERCENT", conflicts_with = "filter",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,

    /// The project: where hooks run [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    #[command(flatten)]
    recorded: LogArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One object, for programs
    Json,
    /// Annotations of GitHub Actions
    Github,
}

impl Format {
    /// Returns the format of results that stand in no file.
    fn plain(self) -> Result<PlainFormat, CommandError> {
        match self {
            Self::Text => Ok(PlainFormat::Text),
            Self::Json => Ok(PlainFormat::Json),
            Self::Github => {
                Err(CommandError::usage("`--log` and `--past` write `text` and `json` only"))
            }
        }
    }
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if let Some(exit) = self.recorded.run(self.cwd.as_deref(), self.format)? {
            return Ok(exit);
        }
        let filter = self.filter.as_deref();
        let mut results = run_cases(&self.paths()?, filter, self.cwd.as_deref())?;
        if filter.is_some() && results.passed + results.failed == 0 {
            let hint = "the filter is a part of a case's name; without it all cases run";
            return Err(CommandError::usage("no case has such a name").hint(hint));
        }
        if filter.is_some() {
            // The cases that are left out may reach the rest.
            results.coverage.clear();
        }
        if let Some(percent) = self.min_coverage {
            results.demand(percent);
        }
        match self.format {
            Format::Text => output::print(&report::text(&results))?,
            Format::Json => output::print_json(&results)?,
            Format::Github => output::print_data(&report::github(&results))?,
        }
        let passed = results.failed == 0 && results.enough_coverage;
        Ok(if passed { Exit::SUCCESS } else { Exit::NEGATIVE })
    }

    fn paths(&self) -> Result<Vec<PathBuf>, CommandError> {
        let mut paths = Vec::new();
        if self.files.is_empty() {
            paths.extend(cases_in(Path::new(""))?);
            paths.extend(cases_in(Path::new(".hookexec"))?);
        }
        for path in &self.files {
            if !path.is_dir() {
                paths.push(path.clone());
                continue;
            }
            let found = cases_in(path)?;
            if found.is_empty() {
                let message = format!("{} holds no `*.test.yaml`", path.display());
                return Err(CommandError::usage(message));
            }
            paths.extend(found);
        }
        if paths.is_empty() {
            let hint = "go to the directory of `hooks.test.yaml`, or write one beside `hooks.yaml`; \
                        `hookexec docs testing` shows one";
            return Err(CommandError::usage("no test cases were found here").hint(hint));
        }
        Ok(paths)
    }
}

/// Runs the cases of these files whose name contains `filter`; the hooks run in `project`.
pub(crate) fn run_cases(
    paths: &[PathBuf],
    filter: Option<&str>,
    project: Option<&Path>,
) -> Result<Results, CommandError> {
    config::not_too_deep()?;
    for path in paths {
        // A named pipe would wait for a writer that never comes.
        if path.exists() && !path.is_file() {
            let message = format!("{} is not a regular file", path.display());
            return Err(CommandError::usage(message).hint("move it away, or give it another name"));
        }
    }
    let (suite, project) = (Suite::load(paths)?, config::project_directory(project)?);
    let results = Runtime::new()?.run(suite.run(filter, &project, &registry::all()))?;
    results.map_err(CommandError::from)
}

/// Returns the files of cases in a directory, by name; none when it is not there.
fn cases_in(directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let place = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = match place.read_dir() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => {
            entries.or_usage(format_args!("can't look for test cases in {}", place.display()))?
        }
    };
    let mut paths = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let Some(text) = name.to_str() else { continue };
        if !text.starts_with('.') && text.ends_with(ENDING) {
            paths.push(directory.join(name));
        }
    }
    paths.sort();
    Ok(paths)
}
