//! Why something from outside can't be read.

/// JSON from outside that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", key.map(|key| format!("`{key}` can't be read: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct WireError {
    /// The field of an input that has a wrong value.
    pub key: Option<&'static str>,
    /// The mistake.
    pub problem: String,
}

impl WireError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { key: None, problem: problem.into() }
    }
}
