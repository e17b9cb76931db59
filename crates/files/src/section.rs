//! Keys of a file, and the macro that turns a table of keys into a reader of them.

use serde_json::{Map, Value, json};

use super::node::Node;
use super::reader::Reader;

/// One key of a mapping, as the schema and the documentation show it.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The value that holds without it; `an error` if the mapping can't do without it.
    pub default: &'static str,
    /// The meaning, in Markdown.
    pub doc: &'static str,
    /// The schema of its value.
    pub schema: fn() -> Value,
}

/// The default of a key that must be there.
const REQUIRED: &str = "an error";

/// A type of values: how one is read, described and checked by an editor.
pub trait Kind<'n>: Sized {
    /// The JSON schema of the values, unless [`schema`](Self::schema) makes it.
    const SCHEMA: &'static str = "{}";

    /// Reads the value of the key that messages call `what`; `None` when it is broken, which is
    /// reported.
    fn read(reader: &mut Reader, node: &'n Node<'n>, what: &str) -> Option<Self>;

    /// Returns the JSON schema of the values.
    fn schema() -> Value {
        serde_json::from_str(Self::SCHEMA).unwrap_or_default()
    }
}

/// Returns the schema of a mapping that has these keys and no others.
pub fn object(keys: &[Key]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for key in keys {
        properties.insert(key.name.to_owned(), key.described());
        if key.default == REQUIRED {
            required.push(key.name);
        }
    }
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Adds a description; beside a `$ref` draft 7 reads nothing, so that one is wrapped.
pub fn described(text: &str, schema: Value) -> Value {
    let mut schema =
        if schema.get("$ref").is_some() { json!({ "allOf": [schema] }) } else { schema };
    schema["description"] = text.into();
    schema
}

impl Key {
    /// Returns the schema of the value, with what the key means.
    pub fn described(&self) -> Value {
        // An editor shows `[text](address)` as it is.
        let mut parts = self.doc.split("](");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.split_once(')').map_or(part, |(_, rest)| rest);
            text.push_str(rest);
        }
        let mut text = text.replace('[', "");
        if let Some(first) = text.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        described(&format!("{text}."), (self.schema)())
    }
}

/// Declares the keys of one mapping, each a row: field, name, type, the value that holds without it
/// (or the error and its hint), the meaning.
///
/// The struct has a field for each key, `None` when the key is missing or its value is broken. With a
/// lifetime it also has `fields`: the keys that are written.
#[doc(hidden)]
#[macro_export]
macro_rules! section {
    ($(#[$meta:meta])* $visible:vis $name:ident<$life:lifetime>, $($rows:tt)*) => {
        $crate::section! { @keys $(#[$meta])* $visible $name [<$life>] $life [fields], $($rows)* }
    };
    ($(#[$meta:meta])* $visible:vis $name:ident, $($rows:tt)*) => {
        $crate::section! { @keys $(#[$meta])* $visible $name [] 'n [], $($rows)* }
    };
    (@keys $(#[$meta:meta])* $visible:vis $name:ident [$($generics:tt)*] $life:lifetime
     [$($written:ident)?], $what:literal:
     $($field:ident $key:literal: $kind:ty, $default:literal $(($needed:literal, $hint:expr))?,
       $doc:literal;)*) => {
        $(#[$meta])*
        #[derive(Default)]
        $visible struct $name $($generics)* {
            $(
                /// The keys that are written.
                #[allow(dead_code, reason = "not every mapping looks into them")]
                $visible $written: $crate::reader::Fields<$life>,
            )?
            $(#[doc = $doc] $visible $field: Option<$kind>,)*
        }

        impl<$life> $name $($generics)* {
            /// The keys in the order of the documentation.
            $visible const KEYS: &'static [$crate::section::Key] = &[
                $($crate::section::Key {
                    name: $key,
                    default: $default,
                    doc: $doc,
                    schema: <$kind as $crate::section::Kind>::schema,
                },)*
            ];

            /// The names of the keys.
            $visible const NAMES: &'static [&'static str] = &[$($key),*];

            /// Reads the values of a mapping.
            $visible fn of(
                reader: &mut $crate::reader::Reader,
                fields: $crate::reader::Fields<$life>,
            ) -> Self {
                let mut section = Self::default();
                for (name, _, node) in fields.iter() {
                    match name {
                        $($key => section.$field = $crate::section::Kind::read(
                            reader, node, concat!("`", $key, "`"),
                        ),)*
                        _ => {}
                    }
                }
                $(section.$written = fields;)?
                section
            }
        }

        impl<$life> $crate::section::Kind<$life> for $name $($generics)* {
            /// Reads a mapping; every unknown or repeated key is reported.
            fn read(
                reader: &mut $crate::reader::Reader,
                node: &$life $crate::node::Node<$life>,
                _: &str,
            ) -> Option<Self> {
                let fields = reader.fields(node, $what, Self::NAMES)?;
                $($(
                    if fields.lacks($key) {
                        reader.error_with_hint(node, $needed, $hint);
                    }
                )?)*
                Some(Self::of(reader, fields))
            }

            fn schema() -> serde_json::Value {
                $crate::section::object(Self::KEYS)
            }
        }
    };
}
