//! `hookexec completions`: shell completions.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::console::output;
use crate::{Cli, CommandError};

/// Prints a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Example: hookexec completions bash > ~/.local/share/bash-completion/completions/hookexec"
)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "hookexec", &mut script);
        output::print_data(&String::from_utf8_lossy(&script))
    }
}
