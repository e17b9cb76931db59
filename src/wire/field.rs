//! The kinds of fields of a JSON object that crosses a boundary: each is read and shown in one way.
//!
//! `serde_json::Value` reads an object differently if its first key is one of the library's private
//! names: `$serde_json::private::Number` as a number, `$serde_json::private::RawValue` as the JSON in
//! its text. A model, or a server of tools, can write such a key. Every type that crosses a boundary
//! reads its values as they are written, with the functions named `exact`, and every text is read by
//! [`parse_strict`].

use std::borrow::Cow;

use hookexec_files::json::{deserialize_exact, parse_json};
use serde::de::Error as _;
use serde::{Deserializer, Serialize};
use serde_json::Value;

use super::{ApprovalQuestion, JsonObject, is_empty};
use crate::event::{Event, UnknownEvent};
use crate::suggest;

/// The remaining entries of an object: those that no field has taken.
pub(super) struct Fields(pub(super) JsonObject);

impl Fields {
    /// Takes the field `key`, where `null` counts as absent.
    pub(super) fn take<F: Field>(&mut self, key: &'static str) -> Result<F, WireError> {
        match self.0.remove(key).filter(|value| !value.is_null()) {
            None => Ok(F::default()),
            Some(value) => F::read(value)
                .map_err(|wrong| WireError { key: Some(key), problem: format!("it {wrong}") }),
        }
    }
}

/// A kind of field; its default is what an absent one means.
pub(crate) trait Field: Default + PartialEq + Serialize {
    /// Reads a value, and says what is wrong with it.
    fn read(value: Value) -> Result<Self, WrongType>;

    /// Returns the field as JSON, or `None` if it is not set.
    fn show(&self) -> Option<Cow<'_, Value>> {
        if self.is_left_out() { None } else { Some(shown(self)) }
    }

    /// Returns whether it does not appear in the JSON of all fields.
    fn is_left_out(&self) -> bool {
        is_empty(self)
    }
}

fn shown(value: &impl Serialize) -> Cow<'static, Value> {
    // Texts, numbers, flags and JSON values, which always serialise.
    Cow::Owned(serde_json::to_value(value).unwrap_or_default())
}

/// A value of the wrong type.
#[derive(Debug, thiserror::Error)]
#[error("must be {expected}, not {found}")]
pub(crate) struct WrongType {
    pub(crate) expected: &'static str,
    found: String,
}

impl WrongType {
    pub(super) fn new(expected: &'static str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => format!("the boolean {flag}"),
            Value::Number(number) => format!("the number {number}"),
            Value::String(_) => "a string".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        Self { expected, found }
    }
}

/// A kind that `Option` adds to, so that its absence differs from every value.
pub(crate) trait Present: PartialEq + Serialize + Sized {
    /// Reads a value.
    fn of(value: Value) -> Result<Self, WrongType>;

    fn shown(&self) -> Cow<'_, Value> {
        shown(self)
    }
}

impl<P: Present> Field for Option<P> {
    fn read(value: Value) -> Result<Self, WrongType> {
        Ok(Some(P::of(value)?))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        Some(self.as_ref()?.shown())
    }
}

macro_rules! present {
    ($($type:ty: $expected:literal, $variant:path;)*) => {$(
        impl Present for $type {
            fn of(value: Value) -> Result<Self, WrongType> {
                match value {
                    $variant(inner) => Ok(inner),
                    other => Err(WrongType::new($expected, &other)),
                }
            }
        }
    )*};
}

present! {
    String: "a string", Value::String;
    JsonObject: "an object", Value::Object;
    Vec<Value>: "an array", Value::Array;
    bool: "true or false", Value::Bool;
}

impl Present for u64 {
    fn of(value: Value) -> Result<Self, WrongType> {
        value.as_u64().ok_or_else(|| WrongType::new("a whole number", &value))
    }
}

impl Present for Value {
    fn of(value: Value) -> Result<Self, WrongType> {
        Ok(value)
    }

    fn shown(&self) -> Cow<'_, Value> {
        Cow::Borrowed(self)
    }
}

impl Present for Box<ApprovalQuestion> {
    fn of(value: Value) -> Result<Self, WrongType> {
        let question: Result<Self, serde_json::Error> = serde::Deserialize::deserialize(&value);
        question.map_err(|_| WrongType::new("an approval question", &value))
    }
}

impl Present for Event {
    fn of(value: Value) -> Result<Self, WrongType> {
        let name = String::of(value)?;
        name.parse().map_err(|unknown: UnknownEvent| {
            let hint = suggest::did_you_mean(unknown.suggestion.as_deref());
            WrongType { expected: "the name of an event", found: format!("`{name}`{hint}") }
        })
    }
}

/// A text that is always there.
impl Field for String {
    fn read(value: Value) -> Result<Self, WrongType> {
        Self::of(value)
    }

    fn is_left_out(&self) -> bool {
        false
    }
}

/// A flag of which only `true` is written.
impl Field for bool {
    fn read(value: Value) -> Result<Self, WrongType> {
        Self::of(value)
    }
}

/// Texts, of which an empty list is not written.
impl Field for Vec<String> {
    fn read(value: Value) -> Result<Self, WrongType> {
        const EXPECTED: &str = "an array of strings";
        let Value::Array(items) = value else { return Err(WrongType::new(EXPECTED, &value)) };
        let mut texts = Self::new();
        for item in items {
            let Value::String(text) = item else { return Err(WrongType::new(EXPECTED, &item)) };
            texts.push(text);
        }
        Ok(texts)
    }
}

/// Reads an object.
pub(crate) fn exact_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<JsonObject, D::Error> {
    let object = JsonObject::of(deserialize_exact(deserializer)?);
    object.map_err(|wrong| D::Error::custom(format_args!("it {wrong}")))
}

/// Reads a field; `null` counts as absent.
pub(crate) fn exact<'de, D: Deserializer<'de>, F: Field>(deserializer: D) -> Result<F, D::Error> {
    match deserialize_exact(deserializer)? {
        Value::Null => Ok(F::default()),
        value => F::read(value).map_err(|wrong| D::Error::custom(format_args!("it {wrong}"))),
    }
}

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

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::event::Event;
    use crate::wire::{Input, RequestChange, ToolResult, Verdict};

    /// Reads `value` from its text and from a value of JSON, and returns what is read.
    fn again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> T {
        let text = serde_json::to_string(value).unwrap();
        let read: T = serde_json::from_str(&text).unwrap();
        assert_eq!(read, serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap());
        assert_eq!(read, T::deserialize(&serde_json::to_value(value).unwrap()).unwrap());
        read
    }

    #[test]
    fn a_value_with_a_private_name_of_the_parser_is_read_as_it_is_written() {
        for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
            for inner in [json!("1"), json!("{\"a\":1}"), json!("rm"), json!(1), json!({})] {
                let written = json!({ name: inner, "more": [{ name: inner }], "n": 1 });
                let object = written.as_object().unwrap();
                let list = vec![written.clone()];

                let mut input = Input::for_tool("shell", object.clone());
                input.tool_response = Some(written.clone());
                input.native = Some(written.clone());
                input.messages = Some(list.clone());
                input.extra.extend(object.clone());
                assert_eq!(again(&input), input);

                let result = ToolResult { extra: object.clone(), ..ToolResult::text("t") };
                assert_eq!(again(&result), result);

                let request = RequestChange {
                    tools: Some(list.clone()),
                    options: Some(object.clone()),
                    ..RequestChange::default()
                };
                assert_eq!(again(&request), request);

                let mut verdict = Verdict::no_opinion(Event::PreToolUse);
                verdict.updated_input = Some(object.clone());
                verdict.updated_messages = Some(list);
                verdict.updated_request = Some(request);
                verdict.updated_response = Some(written.clone());
                verdict.updated_tool_response = Some(written.clone());
                verdict.respond = Some(result);
                verdict.metadata = object.clone();
                verdict.claude_code = object.clone();
                assert_eq!(again(&verdict), verdict);
            }
        }
    }
}
