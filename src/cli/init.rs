//! `hookexec init`: a hooks file and its tests to begin with.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::error::CommandError;
use super::exit::Exit;
use super::{config, existing, output, starter};

const HOOKS: &str = "hooks.yaml";
const CASES: &str = "hooks.test.yaml";

/// Writes a commented `hooks.yaml` and `hooks.test.yaml` for what is found in the project
///
/// Looks for git, for languages and for coding agents. Nothing that is there is written over: beside a
/// `hooks.yaml` of yours only `hooks.test.yaml` is written, with a case for each of its matchers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec init && hookexec test")]
pub(crate) struct Args {
    /// The project [default: the current directory]
    directory: Option<PathBuf>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let project = config::project(self.directory.as_deref())?;
        let found = starter::Found::in_project(&project);
        let is_there = |name: &str| project.join(name).symlink_metadata().is_ok();
        let hooks_are_there = is_there(HOOKS);
        if is_there(CASES) {
            let path = project.join(CASES);
            let message = format!("{} is there already; nothing was written", path.display());
            return Err(CommandError::usage(message).hint("move it away to begin anew"));
        }
        let said = if hooks_are_there {
            // Read before anything is written.
            create(&project.join(CASES), &existing::cases(&project.join(HOOKS))?)?;
            format!("left {HOOKS} as it is, and wrote {CASES} for the hooks in it")
        } else {
            create(&project.join(HOOKS), &starter::hooks(&found))?;
            create(&project.join(CASES), &starter::cases(&found))?;
            format!("wrote {HOOKS} and {CASES} for {}", found.listed())
        };
        output::print(&format!(
            "{said}\n\n\
             next:\n  \
             hookexec test                  run the tests\n  \
             hookexec trust add hooks.yaml  let its hooks run\n  \
             hookexec list                  see what is configured\n"
        ))?;
        Ok(Exit::Success)
    }
}

fn create(path: &Path, text: &str) -> Result<(), CommandError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| CommandError::usage(format!("can't write {}: {error}", path.display())))
}
