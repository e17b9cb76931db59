//! A configuration file as a tree of values that know where they were written.

use std::ops::Range;

use serde_json::Number;

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) value: Value,
    /// In bytes of the file's text.
    pub(super) span: Range<usize>,
}

/// A value as YAML knows it.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// Digits as written: nothing goes through a float.
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file, duplicates included.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Returns what the value is, for "expected X, found Y".
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_map(&self) -> Option<&[(Node, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the items of a list, or the value itself as a list of one.
    pub(super) fn one_or_many(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}
