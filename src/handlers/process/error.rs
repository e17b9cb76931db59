//! Why a process gave no answer.

use std::time::Duration;

use super::connection::{CallError, End};
use crate::handler::{Failure, HandlerError};

/// A process that gave no answer, and why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(super) struct ProcessError {
    pub(super) failure: Failure,
    pub(super) message: String,
    /// The last lines on its stderr.
    pub(super) stderr: String,
}

impl ProcessError {
    pub(super) fn new(failure: Failure, message: impl Into<String>) -> Self {
        Self { failure, message: message.into(), stderr: String::new() }
    }

    /// Returns the failure of a call that the process ended too early for.
    pub(super) fn unsent(process: &str, method: &str, end: &End) -> Self {
        Self {
            failure: Failure::Other,
            message: format!("process `{process}` ended before `{method}` could be sent: {end}"),
            stderr: end.stderr.clone(),
        }
    }

    /// Returns the failure of a call; `limit` is the time it had.
    pub(super) fn of_call(process: &str, method: &str, error: CallError, limit: Duration) -> Self {
        // What is left of it when the call begins is a little less than what was given.
        let limit =
            Duration::from_millis(limit.as_micros().div_ceil(1000).try_into().unwrap_or(u64::MAX));
        let who = format!("process `{process}`");
        let (failure, message) = match &error {
            CallError::Unreadable(problem) => (
                Failure::Protocol,
                format!("the reply of {who} to `{method}` can't be read: {problem}"),
            ),
            CallError::TimedOut(_) => {
                let told = error.told(&who, method, limit);
                (Failure::TimedOut, format!("{told}; raise the `timeout` if it needs longer"))
            }
            _ => (Failure::Other, error.told(&who, method, limit)),
        };
        let stderr = match error {
            CallError::Ended(end) => end.stderr.clone(),
            _ => String::new(),
        };
        Self { failure, message, stderr }
    }
}

impl From<ProcessError> for HandlerError {
    fn from(error: ProcessError) -> Self {
        Self::new(error.failure, error.message).with_stderr(error.stderr.into_bytes())
    }
}
