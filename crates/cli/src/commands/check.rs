//! `hookexec check`: all that is wrong with the hooks files.

use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::config::Diagnostic;
use hookexec::executor::ProcessCheck;
use hookexec::lifecycle::DeclaredEvents;
use hookexec_agents::events_of_host;
use hookexec_project::Check;
use hookexec_setup::lints;
use serde_json::json;

use crate::config::{ConfigArgs, Purpose, not_too_deep};
use crate::console::output::{self, PlainFormat};
use crate::console::report::counted;
use crate::error::NO_FILES;
use crate::runtime::{Runtime, finish};
use crate::{CommandError, Exit, registry};

/// Checks the hooks files: every problem of every file at once
///
/// Exits with 0 when nothing is wrong or there are warnings only, and with 78 when there are errors
/// or no hooks file is found. Files with errors fail at every event. A file that is not approved is
/// a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec check hooks.yaml")]
pub(crate) struct Args {
    /// Only these hooks files, and the managed ones; does not look whether they are approved
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Warn about hooks that this host never calls, and about those with a longer `timeout` than it
    /// waits. HOST is a coding agent, `docker-agent` or `picoclaw`
    #[arg(long, value_name = "HOST", value_parser = events_of_host)]
    host: Option<DeclaredEvents>,

    /// If nothing else is wrong, start every process and check that it completes the handshake
    #[arg(long)]
    start: bool,

    /// How to write the problems
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let config = self.config.clone().with_named_files(&self.files);
        let options = config.options(Purpose::Run)?;
        let mut check = hookexec_project::check(&options, registry::all());
        if check.files.is_empty() && check.problems.is_empty() {
            return Err(CommandError::no_files());
        }
        if check.files.is_empty() && !check.problems.has_errors() {
            // All files are gone, or have another name: warnings alone would pass as checked.
            check.add([Diagnostic::error(NO_FILES)]);
        }
        let project = options.working_dir.unwrap_or_default();
        check.add(lints::warnings(&check, self.host.as_ref(), &project));
        let mut processes = Vec::new();
        if self.start && !check.problems.has_errors() {
            processes = start(&config)?;
            check.add(processes.iter().filter_map(refusal));
        }
        self.show(&check, &processes)?;
        Ok(if check.problems.has_errors() { Exit::CONFIG } else { Exit::SUCCESS })
    }

    /// Writes what was found.
    fn show(&self, check: &Check, processes: &[ProcessCheck]) -> Result<(), CommandError> {
        if self.format == PlainFormat::Text && !check.problems.is_empty() {
            output::talk(&check.problems.render(true));
        }
        let (mut rows, mut text) = (Vec::new(), String::new());
        for ProcessCheck { name, elapsed, problem, .. } in processes {
            let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            rows.push(json!({ "name": name, "ok": problem.is_none(), "elapsed_ms": millis }));
            if problem.is_none() {
                let time = format!("{elapsed:.0?}");
                let _ = writeln!(text, "process `{name}` completed the handshake within {time}");
            }
        }
        let files: Vec<_> = check.files.iter().map(|path| path.to_string_lossy()).collect();
        let errors = check.problems.iter().filter(|problem| problem.is_error()).count();
        let warnings = check.problems.iter().count() - errors;
        let found = json!({
            "files": files,
            "hooks": check.hooks,
            "errors": errors,
            "warnings": warnings,
            "problems": check.problems,
            "processes": rows,
        });
        self.format.show(&found, || {
            let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
            let (hooks, files) = (counted(check.hooks, "hook"), counted(files.len(), "file"));
            format!("{text}{hooks} in {files}: {errors}, {warnings}\n")
        })
    }
}

/// Starts every process, and stops it again.
fn start(config: &ConfigArgs) -> Result<Vec<ProcessCheck>, CommandError> {
    not_too_deep()?;
    let loaded = config.load(Purpose::Run)?;
    loaded.notices.warn();
    let executor = loaded.executor()?;
    Runtime::new()?.run(async {
        let checks = executor.check_processes().await;
        finish(&executor).await;
        checks
    })
}

/// Returns the problem of a process that can't serve.
fn refusal(process: &ProcessCheck) -> Option<Diagnostic> {
    let problem = process.problem.as_ref()?;
    Some(Diagnostic::error(problem).at(process.location.clone()))
}
