//! The command line: one file per subcommand, each of them thin. It parses arguments, calls the
//! library and prints; stdout is data, stderr is talk.
//!
//! A new subcommand is a file with an `Args` and its `execute`, a variant of [`Command`], and an
//! arm of [`Command::execute`].

mod agents;
mod check;
mod completions;
mod config;
mod error;
mod events;
mod exit;
mod input;
mod list;
mod log;
mod output;
mod report;
mod run;
mod runtime;
mod schema;
mod table;

use std::panic;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CommandError;
use exit::Exit;

/// Deterministic control over AI agents: runs the hooks of a hooks.yaml at each event and folds
/// their answers into one verdict.
#[derive(Debug, Parser)]
#[command(name = "hookexec", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes of `run`: 0 allowed, 2 denied, 3 ask, 64 usage, 65 unusable input, 70 internal, 78 config.
Take anything but 0 for \"not allowed\".";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Check(check::Args),
    List(list::Args),
    Events(events::Args),
    Agents(agents::Args),
    Schema(schema::Args),
    Completions(completions::Args),
}

impl Command {
    fn execute(self) -> Result<Exit, CommandError> {
        match self {
            Self::Run(args) => args.execute(),
            Self::Check(args) => args.execute(),
            Self::List(args) => args.execute(),
            Self::Events(args) => args.execute(),
            Self::Agents(args) => args.execute(),
            Self::Schema(args) => args.execute(),
            Self::Completions(args) => args.execute(),
        }
    }
}

/// Runs the command and returns what the process exits with.
pub(crate) fn main() -> ExitCode {
    panic::set_hook(Box::new(error::remember_panic));
    guarded(|| match Cli::try_parse() {
        Ok(cli) => cli.command.execute().unwrap_or_else(|error| error.report()),
        Err(error) => error::usage(&error),
    })
    .into()
}

/// Does `work`; a panic in it ends in [`Exit::Internal`], where the runtime's own exit code would
/// be 101. Nothing that goes wrong may look like an answer.
fn guarded(work: impl FnOnce() -> Exit + panic::UnwindSafe) -> Exit {
    panic::catch_unwind(work).unwrap_or_else(|_| error::panicked().report())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_panic_is_no_answer() {
        assert_eq!(guarded(|| panic!("oh no")), Exit::Internal);
        assert_eq!(guarded(|| Exit::Success), Exit::Success);
    }
}
