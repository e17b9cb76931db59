//! The kinds of fields of a JSON object that crosses a boundary: each is read and shown in one way.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::output_reader::kind;
use super::{ApprovalQuestion, JsonObject, WireError};
use crate::event::{Event, UnknownEvent};

/// The remaining entries of an object: those that no field has taken.
pub(super) struct Fields(pub(super) JsonObject);

impl Fields {
    /// Takes the field `key`, where `null` counts as absent.
    pub(super) fn take<F: Field>(&mut self, key: &'static str) -> Result<F, WireError> {
        match self.0.remove(key).filter(|value| !value.is_null()) {
            None => Ok(F::default()),
            Some(value) => F::read(value)
                .map_err(|error| WireError { key: Some(key), problem: error.to_string() }),
        }
    }
}

/// A kind of field; its default is what an absent one means.
pub(crate) trait Field: Default {
    /// Reads a value, and says what is wrong with it.
    fn read(value: Value) -> Result<Self, FieldError>;

    /// Returns the field as JSON, or `None` if it is not set.
    fn show(&self) -> Option<Cow<'_, Value>>;
}

/// Why a value can't be the value of a field.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FieldError {
    /// It has another type.
    #[error("it must be {expected}, not {found}")]
    Type { expected: &'static str, found: String },
    /// It is not the name of an event.
    #[error(transparent)]
    Event(#[from] UnknownEvent),
}

pub(super) fn must_be(expected: &'static str, found: &Value) -> FieldError {
    FieldError::Type { expected, found: kind(found) }
}

/// A kind that `Option` adds to, so that its absence differs from every value.
pub(crate) trait Present: Serialize + Sized {
    const EXPECTED: &'static str;

    /// Returns a value of the wrong type unchanged.
    fn of(value: Value) -> Result<Self, Value>;

    fn shown(&self) -> Cow<'_, Value> {
        // Texts, numbers, flags and JSON values, which always serialise.
        Cow::Owned(serde_json::to_value(self).unwrap_or_default())
    }
}

impl<P: Present> Field for Option<P> {
    fn read(value: Value) -> Result<Self, FieldError> {
        P::of(value).map(Some).map_err(|value| must_be(P::EXPECTED, &value))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        self.as_ref().map(P::shown)
    }
}

macro_rules! present {
    ($($type:ty: $expected:literal, $variant:path;)*) => {$(
        impl Present for $type {
            const EXPECTED: &'static str = $expected;

            fn of(value: Value) -> Result<Self, Value> {
                match value {
                    $variant(inner) => Ok(inner),
                    other => Err(other),
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
    const EXPECTED: &'static str = "a whole number";

    fn of(value: Value) -> Result<Self, Value> {
        value.as_u64().ok_or(value)
    }
}

impl Present for Value {
    const EXPECTED: &'static str = "a value";

    fn of(value: Value) -> Result<Self, Value> {
        Ok(value)
    }

    fn shown(&self) -> Cow<'_, Value> {
        Cow::Borrowed(self)
    }
}

impl Present for Box<ApprovalQuestion> {
    const EXPECTED: &'static str = "an approval question";

    fn of(value: Value) -> Result<Self, Value> {
        serde::Deserialize::deserialize(&value).map_err(|_: serde_json::Error| value)
    }
}

/// A text that is always there.
impl Field for String {
    fn read(value: Value) -> Result<Self, FieldError> {
        Self::of(value).map_err(|value| must_be(Self::EXPECTED, &value))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        Some(self.shown())
    }
}

/// A flag of which only `true` is written.
impl Field for bool {
    fn read(value: Value) -> Result<Self, FieldError> {
        Self::of(value).map_err(|value| must_be(Self::EXPECTED, &value))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        if *self { Some(self.shown()) } else { None }
    }
}

/// Texts, of which an empty list is not written.
impl Field for Vec<String> {
    fn read(value: Value) -> Result<Self, FieldError> {
        let texts = match value {
            Value::Array(items) => items.into_iter().map(String::of).collect(),
            other => Err(other),
        };
        texts.map_err(|value| must_be("an array of strings", &value))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        if self.is_empty() { None } else { Some(Cow::Owned(Value::from(self.clone()))) }
    }
}

impl Field for Option<Event> {
    fn read(value: Value) -> Result<Self, FieldError> {
        Ok(Some(String::read(value)?.parse()?))
    }

    fn show(&self) -> Option<Cow<'_, Value>> {
        self.map(|event| Cow::Owned(event.name().into()))
    }
}
