//! How the JSON of an answer is read.
//!
//! The keys are docker-agent's; the camelCase spellings of Claude Code are read too. A key of
//! `hook_specific_output` is also read at the top level, where Copilot CLI's hooks write it. What
//! several keys of one answer say is folded on the spot: the strictest decision counts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::JsonObject;
use super::denial::denies;
use super::output::{Decision, InputChange, Output, Stop, StopScope, UnknownKey};
use super::strict::StrictJsonError;
use crate::suggest;

/// How many keys that nobody knows an answer may have: what each might mean takes time to find out.
const MAX_UNKNOWN: usize = 256;

/// Why an answer can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The text is not one unambiguous JSON document.
    #[error("its output is not valid JSON: {0}")]
    Json(StrictJsonError),
    /// A key has a value of the wrong type.
    #[error("`{key}` must be {expected}, not {found}")]
    Type {
        /// The key.
        key: String,
        /// The type wanted.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// A verdict word that nobody knows.
    #[error("`{key}` can't be `{found}`{}", suggest::did_you_mean(suggestion.as_deref()))]
    Word {
        /// The key.
        key: String,
        /// The word found.
        found: String,
        /// The word probably meant.
        suggestion: Option<String>,
    },
    /// More keys that nobody knows than any answer has.
    #[error("it has more than {MAX_UNKNOWN} keys that nobody knows, `{key}` among them")]
    Unknown {
        /// One of them.
        key: String,
    },
    /// One thing said twice, in two spellings, and differently.
    #[error("`{key}` is given twice with different values")]
    Ambiguous {
        /// The key.
        key: String,
    },
}

impl OutputError {
    pub(super) fn type_of(key: impl Into<String>, expected: &'static str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => format!("the boolean {flag}"),
            Value::Number(number) => format!("the number {number}"),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Self::Type { key: key.into(), expected, found }
    }
}

/// The keys of an answer, in our spelling. Claude Code's is derived.
pub(super) const TOP_KEYS: [&str; 7] = [
    "continue",
    "stop_reason",
    "suppress_output",
    "system_message",
    "decision",
    "reason",
    "hook_specific_output",
];

/// The keys of `hook_specific_output`, in our spelling.
pub(super) const SPECIFIC_KEYS: [&str; 13] = [
    "hook_event_name",
    "permission_decision",
    "permission_decision_reason",
    "updated_input",
    "additional_context",
    "summary",
    "metadata",
    "updated_messages",
    "updated_request",
    "updated_response",
    "updated_tool_response",
    "updated_tool_name",
    "respond",
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
    seen: BTreeMap<String, Value>,
}

impl Reader {
    pub(super) fn read(mut self, object: JsonObject) -> Result<Output, OutputError> {
        let mut decision = None;
        let mut reason = None;
        let mut permission = None;
        let mut permission_reason = None;
        for (key, value, in_specific) in flatten(object)? {
            let name = canonical(&key);
            let known = SPECIFIC_KEYS.contains(&name.as_str())
                || (!in_specific && TOP_KEYS.contains(&name.as_str()));
            if !known {
                // Claude Code's PermissionRequest hooks decide with an object in this place.
                if in_specific && name == "decision" && value.is_object() {
                    self.behavior(&value)?;
                } else if in_specific && name == "updated_tool_output" {
                    self.output.updated_tool_response = Some(value);
                } else {
                    self.unknown(&key, &value)?;
                }
                continue;
            }
            if value.is_null() {
                continue;
            }
            if let Some(before) = self.seen.insert(name.clone(), value.clone())
                && before != value
            {
                return Err(OutputError::Ambiguous { key: name });
            }
            match name.as_str() {
                "continue" => self.proceed = Some(boolean(&key, &value)?),
                "stop_reason" => self.stop_reason = text(&key, value)?,
                "suppress_output" => self.output.suppress_output = boolean(&key, &value)?,
                "system_message" => self.output.system_message = text(&key, value)?,
                "decision" => decision = word(&key, &value)?,
                "reason" => reason = text(&key, value)?,
                "permission_decision" => permission = word(&key, &value)?,
                "permission_decision_reason" => permission_reason = text(&key, value)?,
                "hook_event_name" => self.output.hook_event_name = text(&key, value)?,
                "additional_context" => self.output.additional_context = text(&key, value)?,
                "summary" => self.output.summary = text(&key, value)?,
                "updated_tool_name" => self.output.updated_tool_name = text(&key, value)?,
                "metadata" => self.output.metadata = map(&key, value)?.into_iter().collect(),
                "updated_input" => {
                    let replaces = key == "updatedInput";
                    let object = map(&key, value)?;
                    self.change_input(if replaces {
                        InputChange::Replace(object)
                    } else {
                        InputChange::Patch(object)
                    })?;
                }
                "updated_messages" => self.output.updated_messages = Some(list(&key, value)?),
                "updated_request" => self.output.updated_request = Some(shaped(&key, value)?),
                "updated_response" => self.output.updated_response = Some(value),
                "updated_tool_response" => self.output.updated_tool_response = Some(value),
                "respond" => self.output.respond = Some(shaped(&key, value)?),
                _ => self.unknown(&key, &value)?,
            }
        }
        // A reason belongs to the decision beside it; without one it belongs to whatever was decided.
        self.decisions.extend(decision.map(|word| (word, reason.clone())));
        let spoken = permission_reason.or_else(|| reason.clone());
        self.decisions.extend(permission.map(|word| (word, spoken)));
        Ok(self.finish(reason))
    }

    /// Reads `{behavior, message, updatedInput, interrupt}`.
    fn behavior(&mut self, value: &Value) -> Result<(), OutputError> {
        let at = |key: &str| value.get(key).filter(|found| !found.is_null());
        let key = "decision.behavior";
        let Some(found) = at("behavior") else {
            return Err(OutputError::type_of(key, "`allow` or `deny`", &Value::Null));
        };
        let message = at("message").cloned().map(|found| text("decision.message", found));
        if let Some(decision) = word(key, found)? {
            self.decisions.push((decision, message.transpose()?.flatten()));
        }
        // Beside an allow may stand a denial in other words.
        if denies("decision", value) {
            self.decisions.push((Decision::Deny, None));
        }
        if let Some(found) = at("updatedInput") {
            let object = map("decision.updatedInput", found.clone())?;
            self.change_input(InputChange::Replace(object))?;
        }
        if let Some(found) = at("interrupt")
            && boolean("decision.interrupt", found)?
        {
            self.output.stop = Some(Stop::new(StopScope::Turn, ""));
        }
        Ok(())
    }

    fn change_input(&mut self, change: InputChange) -> Result<(), OutputError> {
        match self.output.updated_input.replace(change) {
            Some(before) if Some(&before) != self.output.updated_input.as_ref() => {
                Err(OutputError::Ambiguous { key: "updated_input".to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Nobody reads the key; should its value deny, that counts all the same.
    fn unknown(&mut self, key: &str, value: &Value) -> Result<(), OutputError> {
        if self.output.unknown_keys.len() == MAX_UNKNOWN {
            return Err(OutputError::Unknown { key: key.to_owned() });
        }
        if denies(key, value) {
            self.decisions.push((Decision::Deny, None));
        }
        let name = canonical(key);
        let suggestion = suggest::closest(&name, TOP_KEYS.into_iter().chain(SPECIFIC_KEYS));
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
            let Some(reason) = reason.filter(|text| !text.is_empty()) else { continue };
            if Some(word) == self.output.decision && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        self.output.reason = (!reasons.is_empty()).then(|| reasons.join("\n")).or(reason);
        self.output
    }
}

/// Returns every key with its value and whether it stood in `hook_specific_output`.
fn flatten(object: JsonObject) -> Result<Vec<(String, Value, bool)>, OutputError> {
    let mut keys = Vec::with_capacity(object.len() + 4);
    let mut specific_seen = false;
    for (key, value) in object {
        if canonical(&key) != "hook_specific_output" {
            keys.push((key, value, false));
            continue;
        }
        if value.is_null() {
            continue;
        }
        if std::mem::replace(&mut specific_seen, true) {
            return Err(OutputError::Ambiguous { key: "hook_specific_output".to_owned() });
        }
        for (inner, value) in map(&key, value)? {
            keys.push((inner, value, true));
        }
    }
    Ok(keys)
}

/// Returns `key` in our spelling: `stopReason` is `stop_reason`. A key that is in neither spelling
/// stays as it is, so that `Continue` is not taken for `continue`.
fn canonical(key: &str) -> String {
    if key.starts_with(|first: char| first.is_ascii_uppercase()) {
        return key.to_owned();
    }
    let mut name = String::with_capacity(key.len() + 4);
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn boolean(key: &str, value: &Value) -> Result<bool, OutputError> {
    value.as_bool().ok_or_else(|| OutputError::type_of(key, "true or false", value))
}

fn text(key: &str, value: Value) -> Result<Option<String>, OutputError> {
    match value {
        Value::String(text) => Ok(Some(text)),
        other => Err(OutputError::type_of(key, "a string", &other)),
    }
}

fn map(key: &str, value: Value) -> Result<JsonObject, OutputError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(OutputError::type_of(key, "an object", &other)),
    }
}

fn list(key: &str, value: Value) -> Result<Vec<Value>, OutputError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(OutputError::type_of(key, "an array", &other)),
    }
}

fn shaped<T: serde::de::DeserializeOwned>(key: &str, value: Value) -> Result<T, OutputError> {
    serde_json::from_value(value).map_err(|error| OutputError::Type {
        key: key.to_owned(),
        expected: "of the documented shape",
        found: format!("this: {error}"),
    })
}

fn word(key: &str, value: &Value) -> Result<Option<Decision>, OutputError> {
    let Value::String(found) = value else {
        return Err(OutputError::type_of(key, "`allow`, `deny` or `ask`", value));
    };
    if found.is_empty() {
        return Ok(None);
    }
    WORDS.iter().find(|(word, _)| word == found).map(|(_, decision)| Some(*decision)).ok_or_else(
        || OutputError::Word {
            key: key.to_owned(),
            found: found.clone(),
            suggestion: suggest::closest(found, WORDS.map(|(word, _)| word)).map(str::to_owned),
        },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Output {
        Output::from_value(value).unwrap()
    }

    #[test]
    fn an_answer_of_keys_that_nobody_knows_is_none() {
        let of = |count: usize| {
            let keys = (0..count).map(|number| (format!("zz{number}"), json!(1)));
            Output::from_value(Value::Object(keys.collect()))
        };
        assert_eq!(of(MAX_UNKNOWN).unwrap().unknown_keys.len(), MAX_UNKNOWN);
        let error = of(MAX_UNKNOWN + 1).unwrap_err().to_string();
        assert!(error.starts_with("it has more than 256 keys that nobody knows, `zz"), "{error}");
    }

    #[test]
    fn both_spellings_say_the_same() {
        let snake = json!({
            "continue": true, "stop_reason": "s", "suppress_output": true, "system_message": "m",
            "decision": "block", "reason": "r",
            "hook_specific_output": {
                "hook_event_name": "pre_tool_use", "permission_decision": "ask",
                "permission_decision_reason": "p", "additional_context": "c"
            }
        });
        let camel = json!({
            "continue": true, "stopReason": "s", "suppressOutput": true, "systemMessage": "m",
            "decision": "block", "reason": "r",
            "hookSpecificOutput": {
                "hookEventName": "pre_tool_use", "permissionDecision": "ask",
                "permissionDecisionReason": "p", "additionalContext": "c"
            }
        });
        let output = read(snake);
        assert_eq!(output, read(camel));
        assert_eq!(output.decision, Some(Decision::Deny));
        assert_eq!(output.reason.as_deref(), Some("r"));
        assert_eq!(output.unknown_keys, []);
    }

    #[test]
    fn one_spelling_patches_the_input_and_the_other_replaces_it() {
        let keys = json!({"cmd": "ls"}).as_object().cloned().unwrap();
        let patch = read(json!({"hook_specific_output": {"updated_input": keys}}));
        assert_eq!(patch.updated_input, Some(InputChange::Patch(keys.clone())));
        let replace = read(json!({"hookSpecificOutput": {"updatedInput": keys}}));
        assert_eq!(replace.updated_input, Some(InputChange::Replace(keys)));
    }

    #[test]
    fn the_words_of_a_decision_are_read_and_no_others() {
        for (word, decision) in WORDS {
            assert_eq!(read(json!({ "decision": word })).decision, Some(decision), "{word}");
        }
        assert_eq!(read(json!({ "decision": "" })).decision, None);
        let error = Output::parse(r#"{"decision":"denny"}"#).unwrap_err();
        assert_eq!(error.to_string(), "`decision` can't be `denny`; did you mean `deny`?");
        assert!(Output::parse(r#"{"decision":"Block"}"#).is_err());
        assert!(Output::parse(r#"{"decision":true}"#).is_err());
    }

    #[test]
    fn the_strictest_of_several_decisions_counts_and_keeps_its_reasons() {
        let output = read(json!({
            "continue": false, "stop_reason": "stop", "decision": "block", "reason": "why",
            "hook_specific_output": {"permission_decision": "allow"}
        }));
        assert_eq!(output.decision, Some(Decision::Deny));
        assert_eq!(output.reason.as_deref(), Some("why\nstop"));
        let same = read(json!({
            "decision": "block", "reason": "R",
            "hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "R"}
        }));
        assert_eq!(same.reason.as_deref(), Some("R"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for text in [
            r#"{"continue":false,"continue":true}"#,
            r#"{"stop_reason":"a","stopReason":"b"}"#,
            r#"{"hook_specific_output":{},"hookSpecificOutput":{}}"#,
            r#"{"permission_decision":"allow","hook_specific_output":{"permission_decision":"deny"}}"#,
            r#"{"decision":"allow"} {"decision":"deny"}"#,
            r#"{"decision":"deny""#,
            r#"{"continue":"false"}"#,
            r#"{"updated_input":{"a":1},"updatedInput":{"a":1}}"#,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":3}},"updatedInput":{"a":2}}}"#,
            "[]",
            "null",
        ] {
            assert!(Output::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_nobody_reads_is_named_with_the_one_meant() {
        let output = read(
            json!({"Continue": false, "hook_specific_output": {"permision_decision": "deny"}}),
        );
        assert_eq!(output.decision, Some(Decision::Deny), "a denial counts however it is spelt");
        assert_eq!(
            output.unknown_keys.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "unknown key `Continue`; did you mean `continue`?",
                "unknown key `permision_decision`; did you mean `permission_decision`?"
            ]
        );
    }

    #[test]
    fn the_answer_of_a_permission_request_in_claude_codes_form_is_read() {
        let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "no", "interrupt": true}}});
        let output = read(answer);
        assert_eq!(output.decision, Some(Decision::Deny));
        assert_eq!(output.reason.as_deref(), Some("no"));
        assert_eq!(output.stop, Some(Stop::new(StopScope::Turn, "")));
        let both =
            json!({"hookSpecificOutput": {"decision": {"behavior": "allow", "denied": true}}});
        assert_eq!(read(both).decision, Some(Decision::Deny));
        let nothing = json!({"hookSpecificOutput": {"decision": {"message": "x"}}});
        assert!(Output::from_value(nothing).is_err());
    }
}
