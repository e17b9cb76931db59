//! Reads the JSON of an answer: exact keys, exact words, exact types.
//!
//! The keys are docker-agent's; the camelCase spellings of Claude Code are read too. A key of
//! `hook_specific_output` is also read at the top level, where Copilot CLI's hooks write it. If
//! several keys of one answer decide, the strictest decision counts.
//!
//! A key of neither spelling decides nothing, whatever it resembles. The key that was probably
//! meant is only named in messages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::field::{Present, WrongType};
use super::output::{Decision, InputChange, Output, Stop, StopScope, UnknownKey};
use super::output_keys::{SPECIFIC_KEYS, TOP_KEYS};
use super::{JsonObject, WireError};
use crate::suggest;
use crate::text::shortened;

/// How many unknown keys an answer may have. Each costs a search for a similar name.
const MAX_UNKNOWN: usize = 256;

/// Returns the error of a key that has a value of the wrong type.
pub(super) fn wrong_type(key: &str, expected: &'static str, found: &Value) -> WireError {
    WireError::new(format!("`{key}` {}", WrongType::new(expected, found)))
}

/// Returns the error of a key that is there in two spellings.
fn ambiguous(key: &str) -> WireError {
    WireError::new(format!("`{key}` is given twice with different values"))
}

/// Keys that only Claude Code understands; they are passed on to it unread.
const CLAUDE_KEYS: [&str; 9] = [
    "terminalSequence", "classifierContext", "retry", "sessionTitle", "suppressOriginalPrompt",
    "initialUserMessage", "watchPaths", "reloadSkills", "displayContent",
];

/// The words a decision may be given in.
pub(super) const WORDS: [(&str, Decision); 5] = [
    ("allow", Decision::Allow),
    ("approve", Decision::Allow),
    ("deny", Decision::Deny),
    ("block", Decision::Deny),
    ("ask", Decision::Ask),
];

/// Reads one answer, key by key.
#[derive(Default)]
pub(super) struct Reader {
    output: Output,
    /// Whether the turn goes on, as `continue` says.
    proceed: Option<bool>,
    stop_reason: Option<String>,
    decisions: Vec<(Decision, Option<String>)>,
    seen: BTreeMap<&'static str, Value>,
}

impl Reader {
    pub(super) fn read(mut self, object: JsonObject) -> Result<Output, WireError> {
        let (mut decision, mut reason) = (None, None);
        let (mut permission, mut permission_reason) = (None, None);
        for (key, value, in_specific) in flatten(object)? {
            let Some(name) = known(&key, in_specific) else {
                self.other(key, value, in_specific)?;
                continue;
            };
            if value.is_null() {
                self.output.response_is_null |= name == "updated_tool_response";
                continue;
            }
            if let Some(before) = self.seen.insert(name, value.clone())
                && before != value
            {
                return Err(ambiguous(name));
            }
            match name {
                "continue" => self.proceed = Some(value_as(&key, value)?),
                "stop_reason" => self.stop_reason = Some(value_as(&key, value)?),
                "suppress_output" => self.output.suppress_output = value_as(&key, value)?,
                "system_message" => self.output.system_message = Some(value_as(&key, value)?),
                "decision" => {
                    self.output.allows_at_top = value == "allow";
                    decision = Some(word(&key, &value)?);
                }
                "reason" => reason = Some(value_as(&key, value)?),
                "digest" => self.output.digest = Some(value_as(&key, value)?),
                "by" => self.output.by = Some(value_as(&key, value)?),
                // Claude Code leaves the call to its caller; every other agent must ask.
                "permission_decision" if value == "defer" => {
                    permission = Some(Decision::Ask);
                    self.output.claude_code.insert("permissionDecision".to_owned(), value);
                }
                "permission_decision" => permission = Some(word(&key, &value)?),
                "permission_decision_reason" => permission_reason = Some(value_as(&key, value)?),
                "hook_event_name" => self.output.hook_event_name = Some(value_as(&key, value)?),
                "additional_context" => {
                    self.output.additional_context = Some(value_as(&key, value)?);
                }
                "summary" => self.output.summary = Some(value_as(&key, value)?),
                "updated_tool_name" => self.output.updated_tool_name = Some(value_as(&key, value)?),
                "metadata" => self.output.metadata = value_as(&key, value)?,
                "updated_input" => {
                    let replaces = key == "updatedInput";
                    let change = if replaces { InputChange::Replace } else { InputChange::Patch };
                    self.change_input(change(value_as(&key, value)?))?;
                }
                "updated_messages" => self.output.updated_messages = Some(value_as(&key, value)?),
                "updated_request" => self.output.updated_request = Some(shaped(&key, value)?),
                "updated_response" => self.output.updated_response = Some(value),
                "updated_tool_response" => self.change_response(value)?,
                "respond" => self.output.respond = Some(shaped(&key, value)?),
                _ => self.unknown(&key)?,
            }
        }
        self.output.allows_at_top &= permission.is_none() && self.decisions.is_empty();
        // A reason belongs to the decision beside it, or else to the decision of the whole answer.
        if let Some(decision) = decision {
            self.decisions.push((decision, reason.clone()));
        }
        if let Some(permission) = permission {
            self.decisions.push((permission, permission_reason.or_else(|| reason.clone())));
        }
        Ok(self.finish(reason))
    }

    /// Reads a key that is not in our tables.
    fn other(&mut self, key: String, value: Value, specific: bool) -> Result<(), WireError> {
        match (key.as_str(), value) {
            // Claude Code's hooks decide a permission request with an object in this place.
            ("decision", Value::Object(object)) if specific => self.behavior(object),
            ("updatedToolOutput" | "updated_tool_output" | "updatedMCPToolOutput", value)
                if specific =>
            {
                self.change_response(value)
            }
            (name, value) if CLAUDE_KEYS.contains(&name) => {
                self.output.claude_code.insert(key, value);
                Ok(())
            }
            ("decision" | "continue", _) if specific => Err(WireError::new(format!(
                "`{key}` does not count here: move it out of `hook_specific_output`"
            ))),
            _ => self.unknown(&key),
        }
    }

    /// Reads `{behavior, message, updatedInput, updatedPermissions, interrupt}`.
    fn behavior(&mut self, object: JsonObject) -> Result<(), WireError> {
        let mut decision = None;
        let mut message = None;
        for (key, value) in object {
            if value.is_null() {
                continue;
            }
            let name = format!("decision.{key}");
            match key.as_str() {
                "behavior" => {
                    let words = [("allow", Decision::Allow), ("deny", Decision::Deny)];
                    decision = Some(one_of(&name, &value, BEHAVIORS, &words)?);
                }
                "message" => message = Some(value_as(&name, value)?),
                "updatedInput" => {
                    self.change_input(InputChange::Replace(value_as(&name, value)?))?;
                }
                "updatedPermissions" => drop(self.output.claude_code.insert(key, value)),
                "interrupt" => {
                    if value_as(&name, value)? {
                        self.output.stop = Some(Stop::new(StopScope::Turn, ""));
                    }
                }
                _ => self.unknown(&name)?,
            }
        }
        let Some(decision) = decision else {
            return Err(wrong_type("decision.behavior", BEHAVIORS, &Value::Null));
        };
        self.decisions.push((decision, message));
        Ok(())
    }

    fn change_response(&mut self, value: Value) -> Result<(), WireError> {
        set("updated_tool_response", &mut self.output.updated_tool_response, value)
    }

    fn change_input(&mut self, change: InputChange) -> Result<(), WireError> {
        set("updated_input", &mut self.output.updated_input, change)
    }

    /// Keeps the name of an unknown key for the report.
    fn unknown(&mut self, key: &str) -> Result<(), WireError> {
        if self.output.unknown_keys.len() == MAX_UNKNOWN {
            return Err(WireError::new(format!(
                "it has more than {MAX_UNKNOWN} unknown keys, `{key}` among them"
            )));
        }
        let suggestion = suggest::closest(key, TOP_KEYS.iter().chain(SPECIFIC_KEYS).copied());
        self.output.unknown_keys.push(UnknownKey { key: key.to_owned(), suggestion });
        Ok(())
    }

    fn finish(mut self, reason: Option<String>) -> Output {
        if self.proceed == Some(false) {
            let why = self.stop_reason.or_else(|| reason.clone());
            self.output.stop = Some(Stop::new(StopScope::Turn, why.clone().unwrap_or_default()));
            self.decisions.push((Decision::Deny, why));
        }
        self.output.decision = self.decisions.iter().map(|(word, _)| *word).max();
        let mut reasons: Vec<String> = Vec::new();
        for (word, reason) in self.decisions {
            if let Some(reason) = reason
                && Some(word) == self.output.decision
                && !reason.is_empty()
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
        }
        self.output.reason = if reasons.is_empty() { reason } else { Some(reasons.join("\n")) };
        self.output
    }
}

/// Sets what `key` gives, which another key may have given as well.
fn set<T: PartialEq>(key: &str, field: &mut Option<T>, value: T) -> Result<(), WireError> {
    let before = field.replace(value);
    if before.is_some() && before != *field { Err(ambiguous(key)) } else { Ok(()) }
}

/// Returns every key with its value and whether it was in `hook_specific_output`.
fn flatten(object: JsonObject) -> Result<Vec<(String, Value, bool)>, WireError> {
    let mut keys = Vec::with_capacity(object.len() + 4);
    let mut specific_seen = false;
    for (key, value) in object {
        if known(&key, false) != Some("hook_specific_output") {
            keys.push((key, value, false));
            continue;
        }
        if value.is_null() {
            continue;
        }
        if std::mem::replace(&mut specific_seen, true) {
            return Err(ambiguous("hook_specific_output"));
        }
        for (inner, value) in value_as::<JsonObject>(&key, value)? {
            keys.push((inner, value, true));
        }
    }
    Ok(keys)
}

/// Returns our spelling of `key`: `stop_reason` for Claude Code's `stopReason`.
fn known(key: &str, in_specific: bool) -> Option<&'static str> {
    let top: &[&str] = if in_specific { &[] } else { TOP_KEYS };
    let wanted = snake_case(key);
    SPECIFIC_KEYS.iter().chain(top).copied().find(|name| *name == wanted)
}

/// Returns a key in camelCase as `snake_case`. One with a `_` stays as it is.
fn snake_case(key: &str) -> Cow<'_, str> {
    if key.contains('_') || !key.contains(|letter: char| letter.is_ascii_uppercase()) {
        return key.into();
    }
    let mut snake = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake.into()
}

fn value_as<P: Present>(key: &str, value: Value) -> Result<P, WireError> {
    P::of(value).map_err(|wrong| WireError::new(format!("`{key}` {wrong}")))
}

fn shaped<T: serde::de::DeserializeOwned>(key: &str, value: Value) -> Result<T, WireError> {
    serde_json::from_value(value).map_err(|error| {
        WireError::new(format!("`{key}` must be of the documented shape, not this: {error}"))
    })
}

const DECISIONS: &str = "`allow`, `approve`, `deny`, `block` or `ask`";
const BEHAVIORS: &str = "`allow` or `deny`";

fn word(key: &str, value: &Value) -> Result<Decision, WireError> {
    one_of(key, value, DECISIONS, &WORDS)
}

fn one_of(
    key: &str,
    value: &Value,
    words: &'static str,
    known: &[(&str, Decision)],
) -> Result<Decision, WireError> {
    let found = value.as_str().ok_or_else(|| wrong_type(key, words, value))?;
    for (word, decision) in known {
        if *word == found {
            return Ok(*decision);
        }
    }
    // A word may be as long as the hook's whole output.
    let found = shortened(found, 64);
    Err(WireError::new(format!("`{key}` can't be `{found}`: use {words}")))
}

#[cfg(test)]
mod tests;
