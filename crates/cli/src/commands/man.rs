//! `hookexec man`: the manual pages that packages carry.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::error::{OrCommandError as _, unwritable};
use crate::{Cli, CommandError};

/// Writes a manual page for each command into a directory
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// The directory, which must exist
    directory: PathBuf,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        clap_mangen::generate_to(Cli::command(), &self.directory)
            .or_internal(unwritable(&self.directory))
    }
}
