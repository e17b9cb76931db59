//! Why a policy can't be built, read, fetched or put in force.

use std::fmt::Display;

use hookexec::config::{Diagnostic, Diagnostics};

/// Why a policy can't be built, read, fetched or put in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyFailure {
    /// A step failed.
    #[error("{what}: {cause}")]
    Step {
        /// The step.
        what: String,
        /// Its failure.
        cause: String,
    },
    /// The policy is refused.
    #[error("{0}")]
    Refused(String),
    /// Its hooks files have mistakes.
    #[error("{0}")]
    Hooks(Diagnostics),
}

impl PolicyFailure {
    pub(crate) fn refused(problem: impl Into<String>) -> Self {
        Self::Refused(problem.into())
    }

    /// Another user could have written the state or a file.
    pub(crate) fn unsafe_file(problem: Diagnostic) -> Self {
        Self::Refused(problem.message)
    }
}

/// Turns a failure into that of a step.
pub(super) trait OrFailure<T> {
    fn or_failure(self, what: impl Display) -> Result<T, PolicyFailure>;
}

impl<T, E: Display> OrFailure<T> for Result<T, E> {
    fn or_failure(self, what: impl Display) -> Result<T, PolicyFailure> {
        match self {
            Ok(value) => Ok(value),
            Err(cause) => {
                Err(PolicyFailure::Step { what: what.to_string(), cause: cause.to_string() })
            }
        }
    }
}
