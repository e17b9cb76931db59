//! `hookexec help`: the subcommands, or everything about one of them.

use crate::console::output;
use crate::{Cli, CommandError};

/// Prints the subcommands, or everything about one of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec help --all")]
pub(crate) struct Args {
    /// The subcommand, such as `trust add`
    command: Vec<String>,

    /// Lists the subcommands for programs and for many machines, too
    #[arg(long, conflicts_with = "command")]
    all: bool,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let mut root = Cli::listing(self.all);
        root.build();
        let mut command = &mut root;
        for name in &self.command {
            let Some(subcommand) = command.find_subcommand_mut(name) else {
                let hint = "`hookexec help --all` lists the subcommands";
                return Err(CommandError::usage(format!("unknown subcommand `{name}`")).hint(hint));
            };
            command = subcommand;
        }
        // As `--help` does, which is short for a command without a long text.
        let text =
            if self.command.is_empty() { root.render_help() } else { command.render_long_help() };
        output::print_data(&text.ansi().to_string())
    }
}
