//! JSON read without ambiguity: one document, no key twice.
//!
//! A parser that keeps the last of two equal keys reads `{"continue":false,"continue":true}` as
//! permission. Here that is an error.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// How deep a document may nest; deeper than any real payload, shallow enough for every stack.
const MAX_DEPTH: usize = 128;

/// Why a text is not one unambiguous JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrictJsonError {
    /// The text is not JSON, or more than one document.
    #[error("{0}")]
    Syntax(String),
    /// A key stands twice in one object.
    #[error("key `{0}` stands twice in one object")]
    DuplicateKey(String),
    /// The document nests too deep.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads one JSON document and refuses duplicate keys at any depth.
///
/// # Errors
/// When `text` is not exactly one JSON document, holds a key twice in one object, or nests deeper
/// than 128 levels.
pub fn parse_strict(text: &str) -> Result<Value, StrictJsonError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(syntax)?;
    value(raw, 0)
}

fn value(raw: &RawValue, depth: usize) -> Result<Value, StrictJsonError> {
    if depth > MAX_DEPTH {
        return Err(StrictJsonError::TooDeep);
    }
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let entries: Entries<'_> = serde_json::from_str(text).map_err(syntax)?;
            let mut seen = HashSet::with_capacity(entries.0.len());
            if let Some((key, _)) = entries.0.iter().find(|(key, _)| !seen.insert(key.as_ref())) {
                return Err(StrictJsonError::DuplicateKey(key.to_string()));
            }
            entries
                .0
                .into_iter()
                .map(|(key, raw)| Ok((key.into_owned(), value(raw, depth + 1)?)))
                .collect::<Result<_, _>>()
                .map(Value::Object)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(syntax)?;
            items
                .into_iter()
                .map(|raw| value(raw, depth + 1))
                .collect::<Result<_, _>>()
                .map(Value::Array)
        }
        _ => serde_json::from_str(text).map_err(syntax),
    }
}

fn syntax(error: impl std::fmt::Display) -> StrictJsonError {
    StrictJsonError::Syntax(error.to_string())
}

/// The entries of one object as they stand, duplicates included.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    entries.push((entry.0.0, entry.1));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// A key of an object, copied only when something in it is escaped.
#[derive(serde::Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
            assert_eq!(
                parse_strict(text),
                Err(StrictJsonError::DuplicateKey("a".into())),
                "{text}"
            );
        }
    }

    #[test]
    fn a_second_document_is_refused() {
        assert!(matches!(parse_strict("{} {}"), Err(StrictJsonError::Syntax(_))));
        assert!(matches!(parse_strict(""), Err(StrictJsonError::Syntax(_))));
    }

    #[test]
    fn numbers_leave_as_they_came() {
        let text = r#"{"big":123456789012345678901234567890,"precise":0.10000000000000000001}"#;
        assert_eq!(parse_strict(text).unwrap().to_string(), text);
    }

    #[test]
    fn deep_nesting_is_refused_without_a_stack_overflow() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(parse_strict(&text).is_err());
    }
}
