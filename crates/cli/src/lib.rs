//! The command line: one file per subcommand, each of them thin. It parses arguments, calls the
//! library and prints; stdout is data, stderr is talk.
//!
//! A new subcommand is a file with an `Args` and its `execute`, and a row of `commands!`.

#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::return_self_not_must_use,
    reason = "the modules are for the command and its tests"
)]

mod agents;
mod approve;
mod builtins;
mod check;
mod codex;
mod completions;
mod config;
mod connect;
mod consent;
mod decisions;
mod decisions_text;
mod docs;
mod doctor;
mod error;
mod events;
mod existing;
mod exit;
mod explain;
mod explain_course;
mod explain_text;
mod from;
#[cfg(test)]
#[path = "generated/tests.rs"]
mod generated;
mod import;
mod init;
mod input;
mod install;
mod list;
mod log;
mod man;
mod markup;
mod matchers;
mod mcp;
mod moment;
mod output;
mod page;
mod plain;
mod policy;
mod program;
mod records;
mod replay;
mod report;
mod run;
mod runtime;
mod schema;
mod scripts;
mod serve;
pub mod server;
mod settings;
mod shell_texts;
mod starter;
mod status;
mod stops;
mod summary;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
mod table;
mod test;
mod test_report;
mod testing;
mod trust;
mod uninstall;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use error::CommandError;
use exit::Exit;
use from::Caller;
use table::{SCREEN, wrap};

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
Treat anything but 0 as \"not allowed\". With `--from`, the agent's rules for exit codes apply.";

/// Defines the subcommands, in groups by task: a variant for each module, whose `Args` it executes.
macro_rules! commands {
    ($($task:literal: $($(#[$only:meta])* $name:ident = $module:ident),+;)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($($(#[$only])* $name($module::Args)),+),+
        }

        impl Command {
            /// The names of the subcommands by task.
            const TASKS: &[(&str, &[&str])] = &[$(($task, &[$(stringify!($name)),+])),+];

            fn execute(self) -> Result<Exit, CommandError> {
                match self {
                    $($($(#[$only])* Self::$name(args) => args.execute().map(Exit::from)),+),+
                }
            }
        }
    };
}

commands! {
    "Set up": Init = init, Import = import, Install = install, Uninstall = uninstall, Trust = trust;
    "Write and test hooks": Check = check, List = list, Explain = explain, Test = test, Replay = replay;
    "Watch": Doctor = doctor, Status = status, Log = decisions, Approve = approve;
    "Many machines": Policy = policy;
    "Called by agents and programs": Run = run, Serve = serve, Mcp = mcp;
    "Reference": Docs = docs, Events = events, Agents = agents, Builtins = builtins, Schema = schema,
        Completions = completions, Man = man;
}

impl Cli {
    /// Reads the command line.
    fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        if let [_, command, words @ ..] = words
            && command == "run"
            && let Some(args) = run::Args::plain(words)
        {
            return Ok(Self { command: Command::Run(args) });
        }
        let mut command = Self::command_by_task();
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Returns the command line with a help text that groups the subcommands by task.
    fn command_by_task() -> clap::Command {
        let command = Self::command();
        let mut tasks = String::new();
        for (task, names) in Command::TASKS {
            let _ = writeln!(tasks, "{task}:");
            for name in *names {
                let name = name.to_lowercase();
                let shown = command.find_subcommand(&name).filter(|it| !it.is_hide_set());
                let Some(subcommand) = shown else { continue };
                let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
                let mut lines = wrap(&about, SCREEN - INDENT).into_iter();
                let _ = writeln!(tasks, "  {name:12}{}", lines.next().unwrap_or_default());
                for line in lines {
                    let _ = writeln!(tasks, "{:INDENT$}{line}", "");
                }
            }
            tasks.push('\n');
        }
        command.help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{tasks}Options:\n{{options}}{{after-help}}"
        ))
    }
}

/// Where the descriptions of the subcommands begin.
const INDENT: usize = 14;

/// Runs the command and returns what the process exits with.
pub fn main() -> ExitCode {
    panic::set_hook(Box::new(error::remember_panic));
    // An agent takes every exit code but its own words for permission.
    let words: Vec<OsString> = std::env::args_os().collect();
    let caller = Caller::of(&words);
    let answers = |command: &OsString| ["run", "serve", "mcp"].iter().any(|name| command == *name);
    if words.get(1).is_some_and(answers) {
        output::never_block_on_stderr();
    }
    guarded(caller.as_ref(), || match (Cli::read(&words), &caller) {
        (Ok(cli), _) => cli.command.execute().unwrap_or_else(|error| error.report()),
        (Err(error), Some(caller)) if error.use_stderr() => caller.fail(&error.to_string()),
        (Err(error), _) => error::usage(&error),
    })
    .into()
}

/// Does `work`; a panic in it ends in [`Exit::Internal`], where the runtime's own exit code would
/// be 101, or in an answer to the agent. Nothing that goes wrong may look like permission.
fn guarded(caller: Option<&Caller>, work: impl FnOnce() -> Exit) -> Exit {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let error = error::panicked();
        caller.map_or_else(|| error.report(), |caller| caller.fail(&error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_subcommand_with_what_it_does() {
        let mut command = Cli::command_by_task();
        let help = command.render_help().to_string();
        assert!(!help.contains("  man "), "it is hidden: {help}");
        for subcommand in Cli::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            let about = subcommand.get_about().unwrap().to_string();
            let begin: String = about.split(' ').take(3).collect::<Vec<_>>().join(" ");
            let line = format!("  {:12}{begin}", subcommand.get_name());
            assert!(help.contains(&line), "{line}\n{help}");
        }
    }

    #[test]
    fn a_panic_is_no_answer() {
        assert_eq!(guarded(None, || panic!("oh no")), Exit::Internal);
        assert_eq!(guarded(None, || Exit::Success), Exit::Success);
        let caller = Caller::of("hookexec run --from windsurf".split(' '));
        assert_eq!(guarded(caller.as_ref(), || panic!("oh no")), Exit::Denied);
    }
}
