//! `hookexec init`: a hooks file and its tests to begin with.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::error::CommandError;
use super::exit::Exit;
use super::{config, output, starter};

/// Writes a commented `hooks.yaml` and `hooks.test.yaml` for what is found in the project
///
/// Looks for git, for languages and for coding agents. Nothing that is there is written over.
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
        let files =
            [("hooks.yaml", starter::hooks(&found)), ("hooks.test.yaml", starter::cases(&found))];
        // Looked at before anything is written: half a start would be neither.
        for (name, _) in &files {
            let path = project.join(name);
            if path.symlink_metadata().is_ok() {
                let message = format!("{} is there already; nothing was written", path.display());
                return Err(CommandError::usage(message).hint("move it away to begin anew"));
            }
        }
        for (name, text) in &files {
            create(&project.join(name), text)?;
        }
        output::print(&format!(
            "wrote hooks.yaml and hooks.test.yaml for {}\n\n\
             next:\n  \
             hookexec test                  run the tests\n  \
             hookexec trust add hooks.yaml  let its hooks run\n  \
             hookexec list                  see what is configured\n",
            found.listed()
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
