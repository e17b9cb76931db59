//! `hookexec test`: cases in YAML against the hooks files they are for, and recorded events against
//! a candidate.

mod log;
pub(crate) mod report;

use std::path::{Path, PathBuf};

use crate::testing::{Bench, CaseFile, CaseReport, CoverageReport};
use hookexec::Config;
use hookexec::config::Diagnostics;
use hookexec::internal::files;
use serde::Serialize;

use crate::error::OrCommandError as _;
use crate::output::PlainFormat;
use crate::runtime::Runtime;
use crate::{CommandError, Exit, config, output};
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

    /// Fails when less than this percentage of hooks, matchers and conditions was reached
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
    /// `JUnit` XML, for continuous integration
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

/// Everything that came out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Results {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) files: Vec<FileResults>,
    pub(crate) coverage: Vec<ConfigCoverage>,
    /// Whether everything that was demanded was reached.
    pub(crate) enough_coverage: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_coverage: Option<u8>,
}

/// The cases of one file.
#[derive(Debug, Serialize)]
pub(crate) struct FileResults {
    pub(crate) path: PathBuf,
    /// The hooks file; several are joined by commas.
    pub(crate) config: String,
    pub(crate) cases: Vec<CaseReport>,
}

/// What the cases reached of one hooks file.
#[derive(Debug, Serialize)]
pub(crate) struct ConfigCoverage {
    pub(crate) config: String,
    #[serde(flatten)]
    pub(crate) report: CoverageReport,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if let Some(log) = &self.recorded.log {
            let format = match self.format {
                Format::Text => PlainFormat::Text,
                Format::Json => PlainFormat::Json,
                Format::Junit | Format::Github => {
                    return Err(CommandError::usage("`--log` writes `text` and `json` only"));
                }
            };
            return self.recorded.run(log, self.cwd.as_deref(), format);
        }
        let filter = self.filter.as_deref();
        let mut results = run_cases(&self.paths()?, filter, self.cwd.as_deref())?;
        results.min_coverage = self.min_coverage;
        results.enough_coverage = self.min_coverage.is_none_or(|wanted| {
            results.coverage.iter().all(|one| one.report.percent >= f64::from(wanted))
        });
        if self.filter.is_some() && results.passed + results.failed == 0 {
            let hint = "the filter is a part of a case's name; without it all cases run";
            return Err(CommandError::usage("no case has such a name").hint(hint));
        }
        match self.format {
            Format::Text => output::print(&report::text(&results))?,
            Format::Json => output::print_json(&results)?,
            Format::Junit => output::print_data(&report::junit(&results))?,
            Format::Github => output::print_data(&report::github(&results))?,
        }
        let passed = results.failed == 0 && results.enough_coverage;
        Ok(if passed { Exit::Success } else { Exit::Negative })
    }

    fn paths(&self) -> Result<Vec<PathBuf>, CommandError> {
        let mut paths = Vec::new();
        if self.files.is_empty() {
            paths.extend(cases_in(Path::new(""))?);
            paths.extend(cases_in(Path::new(".hookexec"))?);
        }
        for path in &self.files {
            if path.is_dir() {
                let found = cases_in(path)?;
                if found.is_empty() {
                    let message = format!("{} holds no `*.test.yaml`", path.display());
                    return Err(CommandError::usage(message));
                }
                paths.extend(found);
            } else {
                paths.push(path.clone());
            }
        }
        if paths.is_empty() {
            let hint = "write `hooks.test.yaml` beside `hooks.yaml`; docs/testing.md shows one";
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
    let files = case_files(paths)?;
    let mut benches = benches(&files, &config::project(project)?)?;
    Runtime::new()?.run(run(&files, filter, &mut benches))?
}

async fn run(
    files: &[CaseFile],
    filter: Option<&str>,
    benches: &mut [Tested],
) -> Result<Results, CommandError> {
    let wanted = |name: &str| filter.is_none_or(|part| name.contains(part));
    let mut results = Results::default();
    for file in files {
        let bench = find(benches, &file.configs);
        let bench = bench.ok_or_else(|| CommandError::internal("a hooks file is not loaded"))?;
        let mut cases = Vec::new();
        for case in file.cases.iter().filter(|case| wanted(&case.name)) {
            cases.push(bench.run(case).await.map_err(CommandError::config)?);
        }
        let passed = cases.iter().filter(|case| case.passed).count();
        results.passed += passed;
        results.failed += cases.len() - passed;
        let (path, config) = (file.path.clone(), joined(&file.configs));
        results.files.push(FileResults { path, config, cases });
    }
    let coverage = |Tested { configs, bench, .. }: &Tested| ConfigCoverage {
        config: joined(configs),
        report: bench.coverage(),
    };
    results.coverage = benches.iter().map(coverage).collect();
    Ok(results)
}

fn case_files(paths: &[PathBuf]) -> Result<Vec<CaseFile>, CommandError> {
    let (mut files, mut problems) = (Vec::new(), Diagnostics::default());
    for path in paths {
        // A named pipe would wait for a writer that never comes.
        if path.exists() && !path.is_file() {
            let message = format!("{} is not a regular file", path.display());
            return Err(CommandError::usage(message).hint("move it away, or give it another name"));
        }
        match CaseFile::load(path) {
            Ok(file) => files.push(file),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(files) } else { Err(CommandError::config(problems)) }
}

/// Hooks files that are tested together.
struct Tested {
    /// The real paths, by which the same files are recognized.
    identity: Vec<PathBuf>,
    configs: Vec<PathBuf>,
    bench: Bench,
}

/// Loads the hooks files of all cases, each once, and finds the mistakes of all before anything runs.
fn benches(files: &[CaseFile], working_dir: &Path) -> Result<Vec<Tested>, CommandError> {
    let (mut benches, mut problems) = (Vec::new(), Diagnostics::default());
    for CaseFile { configs, cases, .. } in files {
        if find(&mut benches, configs).is_none() {
            let config = Config::load_files(configs);
            match config.and_then(|config| Bench::new(config, working_dir)) {
                Ok(bench) => {
                    let (identity, configs) = (identity(configs), configs.clone());
                    benches.push(Tested { identity, configs, bench });
                }
                Err(found) => problems.extend(found),
            }
        }
        if let Some(bench) = find(&mut benches, configs) {
            problems.extend(cases.iter().flat_map(|case| bench.problems(case)));
        }
    }
    if problems.has_errors() { Err(CommandError::config(problems)) } else { Ok(benches) }
}

/// Returns the bench for these hooks files.
fn find<'b>(benches: &'b mut [Tested], configs: &[PathBuf]) -> Option<&'b mut Bench> {
    let identity = identity(configs);
    benches.iter_mut().find(|one| one.identity == identity).map(|one| &mut one.bench)
}

fn identity(configs: &[PathBuf]) -> Vec<PathBuf> {
    configs.iter().map(|path| files::real(path)).collect()
}

/// Returns the hooks files that are tested together, as they are shown.
fn joined(configs: &[PathBuf]) -> String {
    configs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the files of cases in a directory, by name; none when it is not there.
fn cases_in(directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let place = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = match place.read_dir() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        failed => {
            failed.or_usage(format_args!("can't look for test cases in {}", place.display()))?
        }
    };
    let is_cases = |name: &str| name.ends_with(".test.yaml") || name.ends_with(".test.yml");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .filter(|name| name.to_str().is_some_and(|name| !name.starts_with('.') && is_cases(name)))
        .map(|name| directory.join(name))
        .collect();
    paths.sort();
    Ok(paths)
}
