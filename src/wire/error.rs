//! Why something from outside can't be read.

use std::fmt;

/// JSON from outside that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireError {
    /// The field of an input that has a wrong value.
    pub key: Option<&'static str>,
    /// What is wrong.
    pub problem: String,
}

impl WireError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { key: None, problem: problem.into() }
    }

    /// Returns the error of the field `key`.
    pub(super) fn of_field(key: &'static str, problem: impl Into<String>) -> Self {
        Self { key: Some(key), problem: problem.into() }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(key) = self.key {
            write!(formatter, "`{key}` can't be read: ")?;
        }
        formatter.write_str(&self.problem)
    }
}

impl std::error::Error for WireError {}
