//! The command line: one file in `commands` per subcommand, each of them thin. It parses arguments,
//! calls the library and prints; stdout is data, stderr is talk.
//!
//! A new subcommand is a file with an `Args` and its `execute`, and a row of `commands!`.

#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::return_self_not_must_use,
    reason = "the modules are for the command and its tests"
)]

mod commands;
mod config;
mod console;
mod error;
#[cfg(test)]
#[path = "tests/generated.rs"]
mod generated;
mod input;
#[cfg(test)]
#[path = "tests/commands.rs"]
mod named_commands;
mod registry;
mod runtime;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hookexec::Registry;
use hookexec_files::plain;

use commands::run::from::Caller;
use console::output;
use error::{CommandError, Exit};

/// Deterministic control over AI agents: runs the hooks of a hooks.yaml at each event and folds
/// their answers into one verdict.
#[derive(Debug, Parser)]
#[command(
    name = "hookexec",
    version,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes of `run`: 0 allowed, 2 denied, 3 ask, 64 usage, 65 unusable input, 70 internal, 78 config.
Treat anything but 0 as \"not allowed\". With `--from`, the agent's rules for exit codes apply.";

/// Defines the subcommands: a variant for each module, whose `Args` it executes.
macro_rules! commands {
    ($($name:ident = $module:ident),+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name(commands::$module::Args)),+
        }

        impl Command {
            fn execute(self) -> Result<Exit, CommandError> {
                match self {
                    $(Self::$name(args) => args.execute().map(Exit::from)),+
                }
            }
        }
    };
}

commands! {
    Init = init, Install = install, Uninstall = uninstall, Trust = trust, Check = check,
    Test = test, Explain = explain, Doctor = doctor, Log = log, Approve = approve, Run = run,
    Docs = docs, Serve = serve, Mcp = mcp, Policy = policy, Completions = completions, Man = man
}

impl Cli {
    /// Reads the command line.
    fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        if let [_, command, words @ ..] = words
            && command == "run"
            && let Some(args) = commands::run::Args::plain(words)
        {
            return Ok(Self { command: Command::Run(args) });
        }
        Self::try_parse_from(words)
    }
}

/// Runs the command and returns what the process exits with.
pub fn main() -> ExitCode {
    run(|_| {}, std::env::args_os())
}

/// Runs the command in a program that has hook types, builtins or dialects of its own: its hooks
/// files name them, and `check`, `test`, `explain`, `trust` and `doctor` know them.
///
/// The first of the `words` is the name of the program; the others are those of the command. The
/// hook of the process for panics is replaced. What the first call registers, all have.
///
/// ```
/// use hookexec::{Builtin, Input, Output, Registry};
///
/// fn limit(input: &Input, _args: &[String]) -> Result<Option<Output>, std::io::Error> {
///     let is_over = input.iteration > Some(9);
///     Ok(if is_over { Some(Output::deny("too many calls")) } else { None })
/// }
///
/// fn register(registry: &mut Registry) {
///     registry.register_builtin("limit", Builtin::inline(limit));
/// }
///
/// # let file = std::env::temp_dir().join(format!("hooks-{}.yaml", std::process::id()));
/// # std::fs::write(&file, "pre_tool_use: [{ hooks: [{ type: builtin, command: limit }] }]")?;
/// # let file = file.as_os_str();
/// let code = hookexec_cli::run(register, ["myagent".as_ref(), "check".as_ref(), file]);
/// assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run<W: Into<OsString>>(
    register: fn(&mut Registry),
    words: impl IntoIterator<Item = W>,
) -> ExitCode {
    panic::set_hook(Box::new(error::remember_panic));
    registry::OWN.get_or_init(|| register);
    // An agent takes every exit code but its own words for permission.
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let caller = Caller::of(&words);
    if let Some(command) = words.get(1)
        && ["run", "serve", "mcp"].iter().any(|name| command == *name)
    {
        output::never_block_on_stderr();
    }
    guarded(caller.as_ref(), || match (Cli::read(&words), &caller) {
        (Ok(cli), _) => cli.command.execute().unwrap_or_else(|error| error.report()),
        (Err(error), Some(caller)) if error.use_stderr() => caller.fail(&error.to_string()),
        (Err(error), _) => error::report_arguments(&error),
    })
    .into()
}

/// Does `work`; a panic in it ends in [`Exit::INTERNAL`], where the runtime's own exit code would
/// be 101, or in an answer to the agent. Nothing that goes wrong may look like permission.
fn guarded(caller: Option<&Caller>, work: impl FnOnce() -> Exit) -> Exit {
    if let Ok(exit) = panic::catch_unwind(AssertUnwindSafe(work)) {
        return exit;
    }
    let error = error::panicked();
    match caller {
        Some(caller) => caller.fail(&error.to_string()),
        None => error.report(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_panic_is_no_answer() {
        assert_eq!(guarded(None, || panic!("oh no")), Exit::INTERNAL);
        assert_eq!(guarded(None, || Exit::SUCCESS), Exit::SUCCESS);
        let caller = Caller::of("hookexec run --from windsurf".split(' '));
        assert_eq!(guarded(caller.as_ref(), || panic!("oh no")), Exit::DENIED);
    }
}
