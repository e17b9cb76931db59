//! The answer of a hook.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::output_reader::{Reader, wrong_type};
use super::{Input, JsonObject, ToolResult, WireError, field, parse_strict};
use crate::suggest;
use crate::text::shortened;

/// The decision of a hook; a later variant outranks an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the three answers are the contract of every host")]
pub enum Decision {
    /// It may go on.
    Allow,
    /// The user must be asked; a denial that an approval can lift.
    Ask,
    /// It must not go on.
    Deny,
}

impl Decision {
    /// Returns its word in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// How far a stop reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopScope {
    /// The turn ends.
    Turn,
    /// The session ends.
    Session,
}

/// A hook's request to end the turn or the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stop {
    /// How far it reaches.
    pub scope: StopScope,
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Stop {
    /// Returns a stop of the given scope.
    pub fn new(scope: StopScope, reason: impl Into<String>) -> Self {
        Self { scope, reason: reason.into() }
    }
}

/// A change of a tool's arguments.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputChange {
    /// The keys given replace those of the arguments; the others stay (`updated_input`).
    Patch(JsonObject),
    /// The arguments given replace all (`updatedInput`, as Claude Code does).
    Replace(JsonObject),
}

/// A change of a model request beside its messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RequestChange {
    /// The model to call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool definitions.
    #[serde(deserialize_with = "field::exact", skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// The options.
    #[serde(deserialize_with = "field::exact", skip_serializing_if = "Option::is_none")]
    pub options: Option<JsonObject>,
}

impl RequestChange {
    /// Returns whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The answer of one hook. `Output::default()` means "no opinion".
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Output {
    /// The decision; `None` means "no opinion".
    pub decision: Option<Decision>,
    /// Why it was decided so.
    pub reason: Option<String>,
    /// A request to end the turn or session (`continue: false` in JSON); a denial comes with it.
    pub stop: Option<Stop>,
    /// Whether the hook's output is kept from the transcript.
    pub suppress_output: bool,
    /// A warning for the user.
    pub system_message: Option<String>,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// A changed tool name.
    pub updated_tool_name: Option<String>,
    /// Changed tool arguments.
    pub updated_input: Option<InputChange>,
    /// The whole new message list of a model request.
    pub updated_messages: Option<Vec<Value>>,
    /// Changes of a model request beside its messages.
    pub updated_request: Option<RequestChange>,
    /// The whole new model response.
    pub updated_response: Option<Value>,
    /// The whole new tool response; an empty string clears it.
    pub updated_tool_response: Option<Value>,
    /// The summary of a compaction.
    pub summary: Option<String>,
    /// Data for the approval request.
    pub metadata: JsonObject,
    /// A result given in the tool's place.
    pub respond: Option<ToolResult>,
    /// The digest of the call that is allowed (`approval`).
    pub digest: Option<String>,
    /// Who answered (`approval`).
    pub by: Option<String>,
    /// The event that the answer says it is for.
    pub hook_event_name: Option<String>,
    /// Keys of Claude Code that only Claude Code understands, as they were written.
    pub claude_code: JsonObject,
    /// Whether the only allow is `{"decision": "allow"}`, which is not an answer of Claude Code's.
    pub allows_at_top: bool,
    /// Keys that are not part of any answer.
    pub(crate) unknown_keys: Vec<UnknownKey>,
    /// Whether the new tool response is `null`, which is none.
    pub(crate) response_is_null: bool,
}

/// A key that is not part of any answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownKey {
    /// The key as written.
    pub(crate) key: String,
    /// The key probably meant.
    pub(crate) suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key may be as long as the hook's whole output.
        let key = shortened(&self.key, 64);
        write!(formatter, "unknown key `{key}`{}", suggest::did_you_mean(self.suggestion))
    }
}

impl Output {
    /// Returns an answer that allows.
    pub fn allow() -> Self {
        Self { decision: Some(Decision::Allow), ..Self::default() }
    }

    /// Returns an answer that denies, with a reason for the model.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// Returns an answer that asks the user.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask), reason: Some(reason.into()), ..Self::default() }
    }

    /// Returns an answer that gives the model context.
    pub fn context(text: impl Into<String>) -> Self {
        Self { additional_context: Some(text.into()), ..Self::default() }
    }

    /// Returns an answer that changes the given keys of the tool's arguments.
    pub fn patch_input(keys: JsonObject) -> Self {
        Self { updated_input: Some(InputChange::Patch(keys)), ..Self::default() }
    }

    /// Returns an answer that replaces all arguments of the tool.
    pub fn replace_input(arguments: JsonObject) -> Self {
        Self { updated_input: Some(InputChange::Replace(arguments)), ..Self::default() }
    }

    /// Returns an answer that replaces the messages to the model.
    pub fn messages(messages: Vec<Value>) -> Self {
        Self { updated_messages: Some(messages), ..Self::default() }
    }

    /// Returns an answer that adds tool definitions to those of the request to the model.
    pub fn add_tools(request: &Input, tools: impl IntoIterator<Item = Value>) -> Self {
        let mut all = request.tools.clone().unwrap_or_default();
        all.extend(tools);
        let change = RequestChange { tools: Some(all), ..RequestChange::default() };
        Self { updated_request: Some(change), ..Self::default() }
    }

    /// Returns an answer that replaces the model's response.
    pub fn response(response: impl Into<Value>) -> Self {
        Self { updated_response: Some(response.into()), ..Self::default() }
    }

    /// Returns an answer that replaces the tool's response.
    pub fn tool_response(response: impl Into<Value>) -> Self {
        Self { updated_tool_response: Some(response.into()), ..Self::default() }
    }

    /// Returns an answer given in the tool's place.
    pub fn respond(result: ToolResult) -> Self {
        Self { respond: Some(result), ..Self::default() }
    }

    /// Adds a warning for the user.
    pub fn with_system_message(mut self, text: impl Into<String>) -> Self {
        self.system_message = Some(text.into());
        self
    }

    /// Returns a message for each key that is not part of any answer.
    pub fn unknown_keys(&self) -> impl Iterator<Item = String> {
        self.unknown_keys.iter().map(ToString::to_string)
    }

    /// Returns whether the answer changes what the event is about.
    pub fn rewrites(&self) -> bool {
        self.updated_tool_name.is_some()
            || self.updated_input.is_some()
            || self.updated_messages.is_some()
            || self.updated_request.is_some()
            || self.updated_response.is_some()
            || self.updated_tool_response.is_some()
    }

    /// Removes all that changes what the event is about.
    pub(crate) fn drop_rewrite(&mut self) {
        (self.updated_tool_name, self.updated_input) = (None, None);
        (self.updated_messages, self.updated_request) = (None, None);
        (self.updated_response, self.updated_tool_response) = (None, None);
    }

    /// Returns whether the answer decides, stops, rewrites, adds or reports anything. A reason, the
    /// name of the event and `continue: true` alone do not count.
    pub(crate) fn says_something(&self) -> bool {
        self.decision.is_some()
            || self.stop.is_some()
            || self.rewrites()
            || self.respond.is_some()
            || self.system_message.is_some()
            || self.additional_context.is_some()
            || self.summary.is_some()
            || !self.metadata.is_empty()
            || !self.claude_code.is_empty()
    }

    /// Returns whether the answer has a reason for nothing.
    pub(crate) fn has_only_a_reason(&self) -> bool {
        let has_reason = self.reason.as_ref().is_some_and(|reason| !reason.is_empty());
        has_reason && !self.says_something() && self.unknown_keys.is_empty()
    }

    /// Returns whether the answer denies, asks or stops. It counts at any exit code.
    pub(crate) fn denies_or_asks(&self) -> bool {
        self.decision > Some(Decision::Allow) || self.stop.is_some()
    }

    /// Returns what is wrong with an answer that has unknown keys and no known one. An answer with no
    /// other keys than the hook's `input`, as `tee` prints it back, has no opinion.
    pub(crate) fn lacks_an_answer(&self, input: &Input) -> Option<String> {
        if self.says_something() {
            return None;
        }
        if input.approval.is_none() && (self.digest.is_some() || self.by.is_some()) {
            return Some("its JSON answers nothing: it has a `digest` or `by` alone".to_owned());
        }
        let is_printed_back = self.hook_event_name.is_some()
            && self.unknown_keys.iter().any(|unknown| unknown.key == "session_id");
        let mut unknown: Vec<&UnknownKey> = self.unknown_keys.iter().collect();
        unknown.retain(|unknown| !is_printed_back || !input.may_have_key(&unknown.key));
        if unknown.is_empty() {
            return None;
        }
        let shown: Vec<String> = unknown.iter().take(3).map(ToString::to_string).collect();
        Some(format!("its JSON answers nothing: {}", shown.join(", ")))
    }

    /// Reads an answer from a hook's stdout.
    ///
    /// # Errors
    /// When `text` is not exactly one unambiguous JSON object, or a key that decides has an unknown
    /// word as its value.
    pub fn parse(text: &str) -> Result<Self, WireError> {
        match parse_strict(text) {
            Ok(value) => Self::from_value(value),
            Err(error) => Err(WireError::new(format!("its output is not valid JSON: {error}"))),
        }
    }

    /// Reads an answer from a JSON value.
    ///
    /// # Errors
    /// See [`Output::parse`].
    pub fn from_value(value: Value) -> Result<Self, WireError> {
        let Value::Object(object) = value else {
            return Err(wrong_type("the answer", "an object", &value));
        };
        Reader::default().read(object)
    }
}
