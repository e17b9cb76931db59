//! Reads JSON without ambiguity, in one pass: one document, no duplicate key, bounded size.
//!
//! A parser that keeps the last of two equal keys reads `{"continue":false,"continue":true}` as
//! permission. Here that is an error.

mod same;

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    Deserialize as _, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde::{Serialize, Serializer};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

pub use same::same_json;

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// How many values and keys a document may hold. An object with one key takes some 650 bytes, so a
/// document of 60 MB could take gigabytes. At this bound `run` was measured at 340 MB.
const MAX_VALUES: usize = 500_000;

/// Why a text is not one unambiguous JSON document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StrictJsonError {
    /// The text is not JSON, or more than one document.
    #[error("{0}")]
    Syntax(String),
    /// A key appears twice in one object.
    #[error("key `{0}` appears twice in one object")]
    DuplicateKey(String),
    /// The document nests deeper than the parser allows: deeper than any real payload.
    #[error("nested deeper than 127 levels")]
    TooDeep,
    /// The document is another value than an object.
    #[error("it is not an object")]
    NotAnObject,
    /// The document holds too many values.
    #[error("more than {MAX_VALUES} values and keys")]
    TooMany,
}

/// Reads one JSON document and refuses duplicate keys at any depth.
///
/// # Errors
/// When `text` is not exactly one JSON document, has a key twice in one object, nests deeper than
/// 127 levels, or holds more than 500,000 values and keys.
pub fn parse_json(text: &str) -> Result<Value, StrictJsonError> {
    let limits = Limits { left: Cell::new(MAX_VALUES), problem: RefCell::default() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Strict(&limits).deserialize(&mut deserializer);
    let error = match read.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => return Ok(value),
        Err(error) => error.to_string(),
    };
    if let Some(problem) = limits.problem.take() {
        return Err(problem);
    }
    // The parser counts the levels itself, and this text is its only name for the error.
    let is_too_deep = error.starts_with("recursion limit");
    Err(if is_too_deep { StrictJsonError::TooDeep } else { StrictJsonError::Syntax(error) })
}

/// Reads a text that is one JSON object, or `null`.
///
/// # Errors
/// Why it is not.
pub fn parse_object(text: &str) -> Result<Option<JsonObject>, StrictJsonError> {
    match parse_json(text) {
        Ok(Value::Null) => Ok(None),
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(StrictJsonError::NotAnObject),
        Err(error) => Err(error),
    }
}

/// Returns JSON text without a byte order mark and without white space around it.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii();
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii()
}

/// Reads one value from any deserializer, as strictly as [`parse_json`]: for fields of types that are
/// read from outside.
///
/// # Errors
/// When the value holds more than [`parse_json`] reads, or a key twice.
pub fn deserialize_exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let limits = Limits { left: Cell::new(MAX_VALUES), problem: RefCell::default() };
    Strict(&limits).deserialize(deserializer)
}

/// How much a document may still hold, and its first problem.
struct Limits {
    left: Cell<usize>,
    problem: RefCell<Option<StrictJsonError>>,
}

impl Limits {
    /// Counts one value or key.
    fn count<E: serde::de::Error>(&self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| self.refuse(StrictJsonError::TooMany))?);
        Ok(())
    }

    /// Keeps the problem, because the parser's error can't carry it.
    fn refuse<E: serde::de::Error>(&self, problem: StrictJsonError) -> E {
        let error = E::custom(&problem);
        self.problem.replace(Some(problem));
        error
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Strict<'l>(&'l Limits);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.0.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u128<E: serde::de::Error>(self, number: u128) -> Result<Value, E> {
        number.to_string().parse().map(Value::Number).map_err(E::custom)
    }

    fn visit_i128<E: serde::de::Error>(self, number: i128) -> Result<Value, E> {
        number.to_string().parse().map(Value::Number).map_err(E::custom)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            let Some(key) = key else {
                let digits: String = map.next_value()?;
                return digits.parse::<Number>().map(Value::Number).map_err(A::Error::custom);
            };
            self.0.count()?;
            match object.entry(key) {
                Entry::Vacant(place) => drop(place.insert(map.next_value_seed(self)?)),
                Entry::Occupied(twice) => {
                    let key = twice.key().clone();
                    return Err(self.0.refuse(StrictJsonError::DuplicateKey(key)));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// The parser's own name for a number with all its digits, which it hands over as a map of one entry.
const NUMBER: &str = "$serde_json::private::Number";

/// Reads the key of an entry; `None` when the digits of a number follow. An object whose key is spelt
/// like [`NUMBER`] is an object all the same.
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // The parser passes this request on to the keys of real objects only. Other formats may hand
        // over any key directly.
        deserializer.deserialize_newtype_struct("Key", self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        Ok(Some(String::deserialize(key)?))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(if key == NUMBER { None } else { Some(key.to_owned()) })
    }
}

/// Returns a value as canonical JSON (RFC 8785), but for numbers, which keep the digits that they were
/// written with.
pub fn canonical(value: &Value) -> String {
    // A value has no key but text, and so it always has JSON.
    serde_json::to_string(&Canonical(value)).unwrap_or_default()
}

struct Canonical<'v>(&'v Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                entries
                    .sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
                serializer
                    .collect_map(entries.into_iter().map(|(key, value)| (key, Canonical(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            // `serde_json` escapes exactly what RFC 8785 wants to be escaped.
            plain => plain.serialize(serializer),
        }
    }
}

/// Returns whether the JSON of a value has more than `bytes`.
pub fn is_longer_than(value: &impl Serialize, bytes: usize) -> bool {
    serde_json::to_writer(&mut vec![0; bytes][..], value).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
            assert_eq!(parse_json(text), Err(StrictJsonError::DuplicateKey("a".into())), "{text}");
        }
    }

    #[test]
    fn a_second_document_is_refused() {
        assert!(matches!(parse_json("{} {}"), Err(StrictJsonError::Syntax(_))));
        assert!(matches!(parse_json(""), Err(StrictJsonError::Syntax(_))));
    }

    #[test]
    fn numbers_leave_as_they_came() {
        let text = r#"{"big":123456789012345678901234567890,"precise":0.10000000000000000001}"#;
        assert_eq!(parse_json(text).unwrap().to_string(), text);
    }

    #[test]
    fn an_object_spelt_like_the_parsers_numbers_is_an_object() {
        let text = r#"{"$serde_json::private::Number":"1"}"#;
        assert!(parse_json(text).unwrap().is_object());
        let text = r#"{"$serde_json::private::RawValue":"1"}"#;
        assert!(parse_json(text).unwrap().is_object());
    }

    #[test]
    fn a_document_of_too_many_values_is_refused() {
        let items = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert!(parse_json(&items(MAX_VALUES - 1)).is_ok());
        assert!(parse_json(&items(MAX_VALUES)) == Err(StrictJsonError::TooMany));
        let objects = format!("[{}{{}}]", r#"{"a":1},"#.repeat(MAX_VALUES / 3 + 1));
        assert!(parse_json(&objects) == Err(StrictJsonError::TooMany), "keys count");
    }

    #[test]
    fn each_value_is_read_once() {
        // Read level by level, the values would be counted a hundred times over.
        let items = "0,".repeat(MAX_VALUES - 200) + "0";
        let text = "[".repeat(127) + &items + &"]".repeat(127);
        assert!(parse_json(&text).is_ok());
    }

    #[test]
    fn deep_nesting_is_refused_without_a_stack_overflow() {
        let text = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(parse_json(&text), Err(StrictJsonError::TooDeep));
        let most = "[".repeat(127) + &"]".repeat(127);
        assert!(parse_json(&most).is_ok());
    }
}
