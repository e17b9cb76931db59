//! `hookexec approve allow`, `deny` and `show`: the orders of a person in another terminal.

use hookexec_remote::receiver_socket;
use hookexec_serve::approve::{self, OrderError, Reply};
use serde::Serialize;

use super::screen::Screen;
use crate::console::consent::refuse_agents;
use crate::error::CommandError;
use crate::runtime::Runtime;

/// An order to the process that holds the questions, which reads it as [`approve::Order`].
#[derive(Debug, Serialize, clap::Subcommand)]
pub(super) enum Order {
    /// Lets the call run
    Allow {
        /// The ID of the question
        id: String,
    },
    /// Denies the call
    Deny {
        /// The ID of the question
        id: String,
        /// Why; the model reads it
        #[arg(trailing_var_arg = true)]
        reason: Vec<String>,
    },
    /// Shows all of a call whose long texts were cut
    Show {
        /// The ID of the question
        id: String,
    },
}

impl Order {
    /// Sends the order, and shows what became of it.
    pub(super) fn send(&self) -> Result<(), CommandError> {
        refuse_agents()?;
        let screen = Screen::of_person()?;
        let path = receiver_socket().ok_or_else(no_home)?;
        let sent = approve::send(&path, self, screen.columns());
        let reply = Runtime::new()?.run(sent)?.map_err(|error| match error {
            OrderError::NoAnswer(problem) => {
                let problem = format!("`hookexec approve` at {} {problem}", path.display());
                CommandError::usage(problem).hint("`hookexec approve` must run in another terminal")
            }
            OrderError::NotValid(_) => CommandError::internal(error.to_string()),
        })?;
        match reply {
            Reply::Done(done) => screen.say(&format!("{}\n", done.trim_end())),
            Reply::Refused(problem) => return Err(CommandError::usage(problem)),
        }
        Ok(())
    }
}

pub(super) fn no_home() -> CommandError {
    CommandError::usage("the socket needs a home directory").hint("set HOME")
}
