//! Why something from outside can't be read.

use hookexec_files::json::parse_json;
use serde_json::Value;

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

/// Reads one JSON document and refuses duplicate keys at any depth.
///
/// # Errors
/// When `text` is not exactly one JSON document, has a key twice in one object, nests deeper than
/// 127 levels, or holds more than 500,000 values and keys.
pub fn parse_strict(text: &str) -> Result<Value, WireError> {
    parse_json(text).map_err(|error| WireError::new(error.to_string()))
}
