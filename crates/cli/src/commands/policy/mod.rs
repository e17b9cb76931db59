//! `hookexec policy`: hooks files as one signed file, for many machines.

mod build;
mod refresh;
mod tested;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use hookexec_files::files;
use hookexec_project::policy::{Archive, MAX_ARCHIVE, scratch};

use crate::Exit;
use crate::commands::test::report;
use crate::console::output;
use crate::console::verbose::LogArgs;
use crate::error::{CommandError, OrCommandError as _, unreadable, warn};

/// Builds, tests and fetches a policy for many machines
///
/// A policy is a tar archive of a directory with hooks files, their scripts and their test cases. The
/// same directory makes the same bytes everywhere. `hookexec docs fleet` shows all steps.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec policy build policy --name guards --version 7")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes an archive of a directory: its `hooks.yaml`, its `hooks.d`, and every other file in it that
    /// is not hidden
    ///
    /// Sign it with `minisign -S -s fleet.key -m guards-7.tar`.
    #[command(after_help = "Example: hookexec policy build policy --name guards --version 7")]
    Build(build::Args),
    /// Unpacks a policy, and runs its test cases, `*.test.yaml`, in an empty project; exit code 1 when
    /// one fails
    #[command(after_help = "Example: hookexec policy test guards-7.tar")]
    Test {
        /// The archive, or the directory that one is built of
        policy: PathBuf,
    },
    /// Fetches each policy that `policy:` names in your own or in the administrator's hooks file, and
    /// puts it in force. Exit code 1 when one could not be fetched
    #[command(after_help = "Example: hookexec policy refresh")]
    Refresh,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        LogArgs::default().start();
        match &self.action {
            Action::Build(args) => args.execute(),
            Action::Test { policy } => test(policy),
            Action::Refresh => refresh::execute(),
        }
    }
}

fn test(path: &Path) -> Result<Exit, CommandError> {
    let archive = if path.is_dir() {
        build::archive(path, "tested", 0)?
    } else {
        let bytes = files::read_regular(path, MAX_ARCHIVE).or_usage(unreadable(path))?;
        Archive::read(&bytes).map_err(|problem| {
            CommandError::negative(format!("{} is not a valid policy: {problem}", path.display()))
        })?
    };
    if archive.test_files().is_empty() {
        warn("the policy has no test cases");
    }
    let scratch = scratch(&std::env::temp_dir())?;
    let mut results = tested::test(&archive, scratch.path())?;
    // They ran in a copy, which is removed.
    for file in &mut results.files {
        let name = file.path.file_name().unwrap_or_default();
        file.path = if path.is_dir() { path.join(name) } else { name.into() };
    }
    output::print(&report::text(&results))?;
    Ok(if results.failed == 0 { Exit::Success } else { Exit::Negative })
}
