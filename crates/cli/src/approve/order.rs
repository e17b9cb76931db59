//! `hookexec approve allow`, `deny` and `show`: the orders of a person in another terminal.

use hookexec::internal::receiver_socket;
use hookexec::wire::parse_strict;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::screen::Screen;
use crate::consent::refuse_agents;
use crate::error::{CommandError, OrCommandError as _};
use crate::runtime::Runtime;
use crate::server;

/// An order to the process that holds the questions.
#[derive(Debug, Clone, clap::Subcommand, Serialize, Deserialize)]
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

/// The line that carries an order: the order, and how wide a row of the terminal may be. A question is
/// an object, so that none passes for an order.
pub(super) type Line = (Order, usize);

/// The answer to an order: what became of it, or why nothing did.
pub(super) type Reply = Result<String, String>;

impl Order {
    /// Sends the order, and shows what became of it.
    pub(super) fn send(&self) -> Result<(), CommandError> {
        refuse_agents()?;
        let screen = Screen::of_person()?;
        let path = receiver_socket().ok_or_else(no_home)?;
        let mut line = serde_json::to_vec(&(self, screen.columns())).unwrap_or_default();
        line.push(b'\n');
        let answer = Runtime::new()?.run(server::exchange(&path, &line))?;
        let answer = answer.map_err(|problem| {
            let problem = format!("`hookexec approve` at {} {problem}", path.display());
            CommandError::usage(problem).hint("`hookexec approve` must run in another terminal")
        })?;
        let reply: Reply = read(&answer).or_internal("the answer is not valid")?;
        screen.say(&format!("{}\n", reply.map_err(CommandError::usage)?.trim_end()));
        Ok(())
    }
}

/// Reads a line of this conversation.
pub(super) fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let value = parse_strict(text).map_err(|error| error.to_string())?;
    T::deserialize(value).map_err(|error| error.to_string())
}

pub(super) fn no_home() -> CommandError {
    CommandError::usage("the socket needs a home directory").hint("set HOME")
}
