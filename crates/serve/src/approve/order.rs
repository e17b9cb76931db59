//! The orders of a person in another terminal.

use std::io;
use std::path::Path;

use hookexec::wire::parse_strict;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::server::{self, NoVerdict};

/// An order to the process that holds the questions.
#[derive(Debug, Deserialize)]
pub enum Order {
    /// Lets the call run.
    Allow {
        /// The ID of the question.
        id: String,
    },
    /// Denies the call.
    Deny {
        /// The ID of the question.
        id: String,
        /// Why; the model reads it.
        reason: Vec<String>,
    },
    /// Shows all of a call whose long texts were cut.
    Show {
        /// The ID of the question.
        id: String,
    },
}

/// The line that carries an order: the order, and how wide a row of the terminal may be. A question is
/// an object, so that none passes for an order.
pub(super) type Line = (Order, usize);

/// The answer to an order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It was obeyed, with this result.
    Done(String),
    /// It was not obeyed, for this reason.
    Refused(String),
}

/// Why an order has no answer.
#[derive(Debug, Error)]
pub enum OrderError {
    /// There is none. The text goes on from the name of the process and its path.
    #[error(transparent)]
    NoAnswer(#[from] NoVerdict),
    /// It can't be read.
    #[error("the answer is not valid: {0}")]
    NotValid(io::Error),
}

/// Sends an [`Order`] to the process that listens at `path`, and returns its answer.
pub async fn send(
    path: &Path,
    order: &impl Serialize,
    columns: usize,
) -> Result<Reply, OrderError> {
    let mut line = serde_json::to_vec(&(order, columns)).unwrap_or_default();
    line.push(b'\n');
    let answer = server::exchange(path, &line).await?;
    read(&answer).map_err(OrderError::NotValid)
}

/// Reads a line of this conversation.
pub(super) fn read<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    let text = std::str::from_utf8(line).map_err(io::Error::other)?;
    let value = parse_strict(text).map_err(io::Error::other)?;
    Ok(T::deserialize(value)?)
}
