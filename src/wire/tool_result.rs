//! A tool's result, as PicoClaw's hooks write it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonObject;

/// The result of a tool call, given by a hook in the tool's place or handed to one for rewriting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ToolResult {
    /// What the model reads.
    pub for_llm: String,
    /// The text for the user; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub for_user: String,
    /// Whether `for_user` is not shown.
    pub silent: bool,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether the tool goes on in the background.
    #[serde(rename = "async")]
    pub is_async: bool,
    /// References to media, such as `media://abc123`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<String>,
    /// Paths of artifacts on this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifact_tags: Vec<String>,
    /// Whether the user's request is answered and the turn may end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub response_handled: bool,
    /// Keys of a host's own.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub extra: JsonObject,
}

impl ToolResult {
    /// Returns a result that the model reads as `text`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { for_llm: text.into(), ..Self::default() }
    }

    /// Returns an error result that the model reads as `text`.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

impl From<ToolResult> for Value {
    fn from(result: ToolResult) -> Self {
        // A struct of strings, booleans and JSON always serialises.
        serde_json::to_value(result).unwrap_or_default()
    }
}
