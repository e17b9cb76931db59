//! A configuration file as a tree of values that know where they were written.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Number;

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node<'t> {
    /// The value.
    pub value: Value<'t>,
    /// In bytes of the file's text.
    pub span: Range<usize>,
}

/// A value as YAML knows it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'t> {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Digits as written: nothing goes through a float.
    Number(Number),
    /// A text; a part of the file's text when it needs no unescaping.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Node<'t>>),
    /// In the order of the file, duplicates included.
    Map(Vec<(Node<'t>, Node<'t>)>),
}

/// Nodes are the same if their values are, wherever they are written.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Node<'_> {
    /// Returns a copy that outlives the text of the file.
    pub fn to_static(&self) -> Node<'static> {
        let value = match &self.value {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(*flag),
            Value::Number(number) => Value::Number(number.clone()),
            Value::Text(text) => Value::Text(Cow::Owned(text.clone().into_owned())),
            Value::List(items) => Value::List(items.iter().map(Node::to_static).collect()),
            Value::Map(entries) => {
                let entries = entries.iter();
                Value::Map(
                    entries.map(|(key, value)| (key.to_static(), value.to_static())).collect(),
                )
            }
        };
        Node { value, span: self.span.clone() }
    }

    /// Returns what the value is, for "expected X, found Y".
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Returns the value of a key of a mapping.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let (_, value) = self.as_map()?.iter().find(|(key, _)| key.as_text() == Some(name))?;
        Some(value)
    }

    /// Returns the text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the entries of a mapping.
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the items of a list, or the value itself as a list of one.
    pub fn one_or_many(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}
