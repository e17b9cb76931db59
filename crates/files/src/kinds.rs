//! The types of values that keys take.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::node::{Node, Value};
use super::reader::Reader;
use super::section::Kind;
use crate::suggest;

/// A text that is not blank.
#[derive(Clone)]
pub struct Filled(pub String);

/// A number from 1 to `MAX`.
pub struct Count<const MAX: usize>(pub usize);

/// A value, and where it is written.
#[derive(Clone)]
pub struct At<'n, T> {
    /// Its place.
    pub node: &'n Node<'n>,
    /// The value.
    pub value: T,
}

/// A type whose values are words.
pub trait Words: Copy + 'static {
    /// Each word and its value.
    const WORDS: &'static [(&'static str, Self)];
}

/// Declares what the words of a type mean.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($type:ty: $($word:literal => $value:expr),+ $(,)?) => {
        impl $crate::kinds::Words for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }
    };
}

/// Declares types of values that are read later: what they are, and their schema.
#[doc(hidden)]
#[macro_export]
macro_rules! later {
    ($($(#[$meta:meta])* $name:ident: $schema:expr;)*) => {$(
        $(#[$meta])*
        #[allow(dead_code, reason = "some are found by their key")]
        pub(crate) struct $name<'n>(pub(crate) &'n $crate::node::Node<'n>);

        impl<'n> $crate::section::Kind<'n> for $name<'n> {
            fn read(
                _: &mut $crate::reader::Reader,
                node: &'n $crate::node::Node<'n>,
                _: &str,
            ) -> Option<Self> {
                Some(Self(node))
            }

            fn schema() -> serde_json::Value {
                $schema
            }
        }
    )*};
}

/// Returns the schema that is defined as `name`.
pub fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/definitions/{name}") })
}

impl<'n, T: Kind<'n>> Kind<'n> for At<'n, T> {
    fn read(reader: &mut Reader, node: &'n Node<'n>, what: &str) -> Option<Self> {
        let value = T::read(reader, node, what)?;
        Some(Self { node, value })
    }

    fn schema() -> Json {
        T::schema()
    }
}

/// Returns the words of a type.
fn words<T: Words>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}

impl<T: Words> Kind<'_> for T {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let Some(text) = node.as_text() else {
            let expected = format!("one of {}", words::<T>().join(", "));
            return reader.expected(what, &expected, node);
        };
        if let Some((_, value)) = T::WORDS.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let hint = suggest::hint_or_list(text, words::<T>(), "one of");
        reader.refuse_with_hint(node, format!("unknown value `{text}` for {what}"), hint)
    }

    fn schema() -> Json {
        json!({ "enum": words::<T>() })
    }
}

/// A text; a number or a boolean stands for the text it was written as.
impl Kind<'_> for String {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/text" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = match &node.value {
            Value::Text(text) => text.to_string(),
            Value::Bool(_) | Value::Number(_) => reader.written(node).to_owned(),
            Value::Null if reader.written(node) == "~" => {
                let hint = "put quotes around it: `\"~\"`";
                return reader.refuse_with_hint(node, format!("{what} has no value"), hint);
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                return reader.expected(what, "text", node);
            }
        };
        if text.contains('\0') {
            return reader.refuse(node, format!("{what} contains a NUL character"));
        }
        Some(text)
    }
}

impl Kind<'_> for Filled {
    const SCHEMA: &'static str = r#"{ "type": "string", "pattern": "\\S" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = String::read(reader, node, what)?;
        if text.trim().is_empty() {
            return reader.refuse(node, format!("{what} is empty"));
        }
        Some(Self(text))
    }
}

impl Kind<'_> for Vec<String> {
    const SCHEMA: &'static str =
        r##"{ "type": "array", "items": { "$ref": "#/definitions/text" } }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let items = reader.list(node, what)?;
        let what = format!("an item of {what}");
        let texts: Self = items.iter().filter_map(|item| reader.value(item, &what)).collect();
        if texts.len() == items.len() { Some(texts) } else { None }
    }
}

impl<T: Words> Kind<'_> for Vec<T> {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let items = reader.list(node, what)?;
        Some(items.iter().filter_map(|item| reader.value(item, what)).collect())
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema() })
    }
}

impl Kind<'_> for bool {
    const SCHEMA: &'static str = r#"{ "type": "boolean" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match &node.value {
            Value::Bool(flag) => Some(*flag),
            _ => reader.expected(what, "`true` or `false`", node),
        }
    }
}

impl<const MAX: usize> Kind<'_> for Count<MAX> {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if let Some(count) = node.as_number().and_then(serde_json::Number::as_u64)
            && let Ok(count) = usize::try_from(count)
            && (1..=MAX).contains(&count)
        {
            return Some(Self(count));
        }
        reader.refuse(node, format!("{what} must be a number from 1 to {MAX}"))
    }

    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": MAX })
    }
}

impl Kind<'_> for i64 {
    const SCHEMA: &'static str = r#"{ "type": "integer" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let number = node.as_number().and_then(serde_json::Number::as_i64);
        if number.is_none() {
            reader.error(node, format!("{what} must be a whole number"));
        }
        number
    }
}

/// The variables of `env:`.
impl Kind<'_> for BTreeMap<String, String> {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/environment" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let fields = reader.open_fields(node, what)?;
        let mut variables = Self::new();
        for (name, key, value) in fields.iter() {
            if name.is_empty() || name.contains(['=', '\0']) {
                reader.error(key, format!("`{name}` can't be the name of an environment variable"));
            }
            if matches!(value.value, Value::Null) {
                let hint = "write `\"\"` for an empty text";
                reader.error_with_hint(value, format!("`{name}` has no value"), hint);
            } else if let Some(text) = reader.value(value, &format!("`{name}`")) {
                variables.insert(name.to_owned(), text);
            }
        }
        Some(variables)
    }
}

/// Any value, for code that reads it later.
impl Kind<'_> for Json {
    fn read(reader: &mut Reader, node: &Node, _: &str) -> Option<Self> {
        Some(match &node.value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::Text(text) => Self::String(text.to_string()),
            Value::List(items) => {
                items.iter().filter_map(|item| Self::read(reader, item, "")).collect()
            }
            Value::Map(_) => {
                let mut entries = serde_json::Map::new();
                for (name, _, value) in reader.open_fields(node, "the value")?.iter() {
                    entries.insert(name.to_owned(), Self::read(reader, value, "")?);
                }
                Self::Object(entries)
            }
        })
    }
}
