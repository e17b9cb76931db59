//! `hookexec approve allow`, `deny` and `show`: what a person says in another terminal.

use hookexec::internal::receiver_socket;
use serde::{Deserialize, Serialize};

use super::screen::Screen;
use crate::consent::refuse_agents;
use crate::error::CommandError;
use crate::runtime::Runtime;
use crate::server;

/// An answer in a terminal.
#[derive(Debug, Clone, clap::Subcommand)]
pub(super) enum Answer {
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

/// What such an answer tells the process that holds the questions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    pub(super) act: Act,
    pub(super) id: String,
    pub(super) reason: String,
    /// How wide a row of the terminal may be.
    pub(super) columns: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    Allow,
    Deny,
    Show,
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) is_done: bool,
    pub(super) text: String,
}

impl Answer {
    /// Sends the answer, and shows what became of it.
    pub(super) fn send(&self) -> Result<(), CommandError> {
        refuse_agents()?;
        let screen = Screen::of_person()?;
        let (act, id, reason) = match self {
            Self::Allow { id } => (Act::Allow, id, String::new()),
            Self::Deny { id, reason } => (Act::Deny, id, reason.join(" ")),
            Self::Show { id } => (Act::Show, id, String::new()),
        };
        let order = Order { act, id: id.clone(), reason, columns: screen.columns() };
        let path = receiver_socket().ok_or_else(no_home)?;
        let line = serde_json::to_vec(&order).unwrap_or_default();
        let said = Runtime::new()?.run(server::exchange(&path, line))?;
        let said = said.map_err(|problem| {
            CommandError::usage(problem).hint("`hookexec approve` must run in another terminal")
        })?;
        let reply: Reply = serde_json::from_slice(&said)
            .map_err(|error| CommandError::internal(format!("the answer is not valid: {error}")))?;
        if !reply.is_done {
            return Err(CommandError::usage(reply.text));
        }
        screen.say(&reply.text);
        Ok(())
    }
}

pub(super) fn no_home() -> CommandError {
    CommandError::usage("the socket needs a home directory").hint("set HOME")
}
