//! Denials, in whatever words: what a broken answer still says.
//!
//! A denial counts whatever else is wrong with the answer around it, and in whichever dialect it is
//! written. An allow has to be spelt right.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::output_reader::{SPECIFIC_KEYS, TOP_KEYS};
use super::{Decision, Output, repair_lone_surrogates};
use crate::suggest;

/// Keys that carry a decision in other dialects.
const FOREIGN_KEYS: [&str; 11] = [
    "permission",
    "verdict",
    "action",
    "behavior",
    "approved",
    "allow",
    "allowed",
    "deny",
    "denied",
    "block",
    "blocked",
];

/// Words that deny, in any case.
const WORDS: [&str; 15] = [
    "deny",
    "denied",
    "block",
    "blocked",
    "reject",
    "rejected",
    "refuse",
    "refused",
    "forbid",
    "forbidden",
    "disallow",
    "disallowed",
    "deny_tool",
    "abort_turn",
    "hard_abort",
];

/// Returns whether `value` under `key`, which may be misspelt, reads like a denial.
pub(crate) fn denies(key: &str, value: &Value) -> bool {
    let (word, truth) = (value.as_str().is_some_and(is_word), truth(value));
    // To find out what a key means takes longer than to see that nothing of the kind denies.
    let may_be_reason = value.is_string() && FOREIGN_KEYS.contains(&key);
    if !(word || truth.is_some() || may_be_reason || value.is_object()) {
        return false;
    }
    let known = TOP_KEYS.into_iter().chain(SPECIFIC_KEYS).chain(FOREIGN_KEYS);
    let Some(meant) = suggest::closest(key, known) else { return false };
    match (meant, value) {
        ("hook_specific_output" | "decision" | "permission" | "verdict", Value::Object(inner)) => {
            inner.iter().any(|(key, value)| denies(key, value))
        }
        ("decision" | "permission_decision" | "permission" | "verdict", _) => {
            word || truth == Some(false)
        }
        ("action" | "behavior", _) => word,
        ("continue" | "approved" | "allow" | "allowed", _) => truth == Some(false),
        // Some write the reason there.
        ("deny" | "denied" | "block" | "blocked", _) => {
            truth.unwrap_or(key == meant && value.as_str().is_some_and(|text| !text.is_empty()))
        }
        _ => false,
    }
}

/// Returns the denial in a text that is, or once began as, one JSON object.
pub(crate) fn denial_within(text: &str) -> Option<Output> {
    let mut entries = Vec::new();
    // JavaScript writes half a letter where it cut a text.
    let mut bytes = text.as_bytes().to_vec();
    repair_lone_surrogates(&mut bytes);
    // What stood before a mistake counts.
    let _ = Entries(&mut entries).deserialize(&mut serde_json::Deserializer::from_slice(&bytes));
    if !entries.iter().any(|(key, value)| denies(key, value)) {
        return None;
    }
    let inner = entries.iter().filter_map(|(_, value)| value.as_object()).flatten();
    let reason =
        entries.iter().map(|(key, value)| (key, value)).chain(inner).find_map(|(key, value)| {
            let text = value.as_str()?;
            let meant = suggest::closest(key, TOP_KEYS.into_iter().chain(SPECIFIC_KEYS))?;
            matches!(meant, "reason" | "permission_decision_reason" | "stop_reason").then_some(text)
        });
    let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
    Some(Output { decision: Some(Decision::Deny), reason, ..Output::default() })
}

fn is_word(text: &str) -> bool {
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(text.trim()))
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Collects the entries of an object as they come, equal keys included.
struct Entries<'e>(&'e mut Vec<(String, Value)>);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(entry) = map.next_entry()? {
            self.0.push(entry);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_heard_in_any_words_and_whatever_stands_around_it() {
        for text in [
            r#"{"decision":"deny","reason":["a"]}"#,
            r#"{"decision":"Deny"}"#,
            r#"{"decison":"block"}"#,
            r#"{"decision":"allow","decision":"deny"}"#,
            r#"{"decision":"deny",}"#,
            r#"{"decision":"deny","reason":"cut he"#,
            r#"{"decision":"deny""#,
            r#"{"continue":"false"}"#,
            r#"{"continue":false,"suppressOutput":"yes"}"#,
            r#"{"hookSpecificOuput":{"permissionDecision":"deny"}}"#,
            r#"{"HookSpecificOutput":{"permissionDecision":"denied"}}"#,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#,
            r#"{"permission":"deny"}"#,
            r#"{"action":"hard_abort","action":5}"#,
            r#"{"approved":false}"#,
            r#"{"blocked":true}"#,
            r#"{"blocked":"yes"}"#,
            r#"{"blocked":1}"#,
            r#"{"approved":"No "}"#,
            r#"{"allow":0}"#,
            r#"{"deny":"rm is dangerous"}"#,
            r#"{"permission":"refused"}"#,
            r#"{"verdict":{"decision":"deny"}}"#,
            r#"{"permission":false}"#,
            r#"{"verdict":"no"}"#,
            r#"{"permissionDecision":false}"#,
            r#"{"allowed":0.0}"#,
        ] {
            assert!(denial_within(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_denies_nothing_is_no_denial() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"decision":"allow"}"#,
            r#"{"continue":true}"#,
            r#"{"status":"blocked"}"#,
            r#"{"approved":true,"deny":false}"#,
            r#"{"approved":"yes","deny":"no","blocked":0,"block":"","clock":"12:00"}"#,
            r#"{"tool_input":{"decision":"deny"}}"#,
        ] {
            assert_eq!(denial_within(text), None, "{text}");
        }
    }

    #[test]
    fn the_reason_is_kept() {
        let text = r#"{"hookSpecificOutput":{"permissionDecision":"Deny","permissionDecisionReason":"no"}}"#;
        assert_eq!(denial_within(text), Some(Output::deny("no")));
    }
}
