//! Values of the file that is read, and of the hooks file that is made of it. Each knows its place.

use std::ops::Range;

use hookexec_files::node::{Node, Value};
use serde_json::Value as Json;

/// The entries of a mapping.
pub(super) type Entries<'n> = Vec<(Node<'n>, Node<'n>)>;

/// The place of a value that stands for nothing in the file.
pub(super) const NOWHERE: Range<usize> = 0..0;

/// Returns a value that is made for what stands at `place`.
pub(super) fn made(value: impl Into<Json>, place: &Range<usize>) -> Node<'static> {
    let value = match value.into() {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => Value::Number(number),
        Json::String(text) => Value::Text(text.into()),
        Json::Array(items) => {
            Value::List(items.into_iter().map(|item| made(item, place)).collect())
        }
        Json::Object(members) => {
            let mut entries = Vec::new();
            for (key, value) in members {
                entries.push((made(key, &NOWHERE), made(value, place)));
            }
            Value::Map(entries)
        }
    };
    // The file has another value there, which a number or a truth value would be written as.
    let is_written_there = matches!(value, Value::Bool(_) | Value::Number(_));
    Node { value, span: if is_written_there { NOWHERE } else { place.clone() } }
}

/// Returns a mapping that is made for what stands at `place`.
pub(super) fn mapping(place: &Range<usize>) -> Node<'static> {
    Node { value: Value::Map(Vec::new()), span: place.clone() }
}

/// Adds a key to a mapping.
pub(super) fn put<'n>(mapping: &mut Node<'n>, key: &str, value: Node<'n>) {
    if let Value::Map(entries) = &mut mapping.value {
        entries.push((made(key, &NOWHERE), value));
    }
}

/// Adds a key with a value that is made for what stands at the place of the mapping.
pub(super) fn set(mapping: &mut Node<'_>, key: &str, value: impl Into<Json>) {
    let value = made(value, &mapping.span);
    put(mapping, key, value);
}

pub(super) fn list_of(items: Vec<Node<'_>>) -> Node<'_> {
    Node { value: Value::List(items), span: NOWHERE }
}
