//! `hookexec check`: all that is wrong with the hooks files.

use hookexec::config::{Diagnostic, Severity};
use hookexec::executor::Check;
use hookexec::lifecycle::DeclaredEvents;
use hookexec::{Executor, Registry};
use serde::Serialize;

use super::config::ConfigArgs;
use super::error::CommandError;
use super::exit::Exit;
use super::output;

/// Checks the hooks files: every problem of every file at once
///
/// Exits with 0 when nothing is wrong or there are warnings only, and with 78 when there are errors:
/// then nothing would run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec check --config hooks.yaml")]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,

    /// Warn about hooks that this host never calls: a coding agent, docker-agent, picoclaw
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<DeclaredEvents>,

    /// How to write the problems
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// With the lines they stand on, for people
    Text,
    /// One object, for programs
    Json,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let mut check = Executor::check(&self.config.options()?, Registry::with_shipped_builtins());
        if check.files.is_empty() && check.problems.is_empty() {
            return Err(CommandError::no_files());
        }
        if let Some(host) = &self.host {
            let unfired = host.unfired(check.configured());
            check.add(unfired.into_iter().map(Diagnostic::from));
        }
        let count =
            |severity| check.problems.iter().filter(|problem| problem.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        match self.format {
            Format::Json => output::print_json(&Report::of(&check, errors, warnings))?,
            Format::Text => {
                if !check.problems.is_empty() {
                    output::talk(&check.problems.render(true));
                }
                output::print(&format!(
                    "{} in {}: {}, {}\n",
                    counted(check.hooks, "hook"),
                    counted(check.files.len(), "file"),
                    counted(errors, "error"),
                    counted(warnings, "warning"),
                ))?;
            }
        }
        Ok(if errors > 0 { Exit::Config } else { Exit::Success })
    }
}

fn host(name: &str) -> Result<DeclaredEvents, String> {
    DeclaredEvents::of_host(name).map_err(|error| {
        let known: Vec<&str> = DeclaredEvents::known_hosts().collect();
        format!("{error}; known hosts: {}", known.join(", "))
    })
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[derive(Serialize)]
struct Report<'c> {
    files: Vec<String>,
    hooks: usize,
    errors: usize,
    warnings: usize,
    problems: Vec<Problem<'c>>,
}

#[derive(Serialize)]
struct Problem<'c> {
    severity: &'static str,
    message: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'c str>,
    #[serde(flatten)]
    place: Option<Place>,
}

/// From 1, in characters, as editors count.
#[derive(Serialize)]
struct Place {
    file: String,
    line: usize,
    column: usize,
}

impl<'c> Report<'c> {
    fn of(check: &'c Check, errors: usize, warnings: usize) -> Self {
        Self {
            files: check.files.iter().map(|path| path.display().to_string()).collect(),
            hooks: check.hooks,
            errors,
            warnings,
            problems: check.problems.iter().map(Problem::of).collect(),
        }
    }
}

impl<'c> Problem<'c> {
    fn of(diagnostic: &'c Diagnostic) -> Self {
        Self {
            severity: match diagnostic.severity {
                Severity::Warning => "warning",
                _ => "error",
            },
            message: &diagnostic.message,
            hint: diagnostic.hint.as_deref(),
            place: diagnostic.location.as_ref().map(|location| Place {
                file: location.path().display().to_string(),
                line: location.line(),
                column: location.column(),
            }),
        }
    }
}
