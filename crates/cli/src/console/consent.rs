//! Asks a person, and only a person, for consent.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};

use hookexec_agents::agent_variable;

use crate::error::OrCommandError as _;
use crate::{CommandError, plain, system};

/// How a person consents.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ConsentArgs {
    /// Answers the question with yes, for images and CI; refused where a coding agent runs
    #[arg(long)]
    pub(crate) yes: bool,
}

impl ConsentArgs {
    /// Checks that a person can be asked, before there is anything to ask.
    pub(crate) fn check(self) -> Result<(), CommandError> {
        refuse_agents()?;
        if self.yes || std::io::stdin().is_terminal() {
            return Ok(());
        }
        Err(CommandError::usage(
            "a person must confirm this in a terminal: stdin is not a terminal",
        )
        .hint(
            "run it in a terminal, or with `--yes` where no agent runs, as in a build of an image",
        ))
    }

    /// Returns whether a person at the terminal types `yes` in answer to `question`.
    pub(crate) fn ask(self, question: &str) -> Result<bool, CommandError> {
        self.check()?;
        if self.yes {
            return Ok(true);
        }
        ask_at_terminal(question).or_usage("can't ask at the terminal")
    }
}

/// Asks at the terminal itself, and not at the file that stands in for it on stdin.
fn ask_at_terminal(question: &str) -> std::io::Result<bool> {
    let (keyboard, mut screen) = system::terminal()?;
    write!(screen, "{} Type `yes`: ", plain::plain(question))?;
    screen.flush()?;
    let mut line = String::new();
    BufReader::new(keyboard).read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

/// Fails if a coding agent runs this command: its model can't give a person's consent.
pub(crate) fn refuse_agents() -> Result<(), CommandError> {
    let Some(name) = agent_variable() else { return Ok(()) };
    let message = format!("a coding agent runs this command (`{name}` is set)");
    let hint = "a person must run it, in a terminal outside of the agent";
    Err(CommandError::usage(message).hint(hint))
}
