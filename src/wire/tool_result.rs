//! A tool's result, as PicoClaw's hooks write it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::Fields;
use super::{JsonObject, WireError, field};

/// The result of a tool call, given by a hook in the tool's place or handed to one for rewriting.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
#[non_exhaustive]
pub struct ToolResult {
    /// The text for the model.
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
    pub fn text(text: impl Into<String>) -> Self {
        Self { for_llm: text.into(), ..Self::default() }
    }

    /// Returns the result that a JSON object describes. A field that is `null` counts as absent.
    fn from_json(object: JsonObject) -> Result<Self, WireError> {
        let mut fields = Fields(object);
        Ok(Self {
            for_llm: fields.take("for_llm")?,
            for_user: fields.take("for_user")?,
            silent: fields.take("silent")?,
            is_error: fields.take("is_error")?,
            is_async: fields.take("async")?,
            media: fields.take("media")?,
            artifact_tags: fields.take("artifact_tags")?,
            response_handled: fields.take("response_handled")?,
            extra: fields.0,
        })
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(field::exact_object(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl From<ToolResult> for Value {
    fn from(result: ToolResult) -> Self {
        // A struct of strings, booleans and JSON always serialises.
        serde_json::to_value(result).unwrap_or_default()
    }
}
