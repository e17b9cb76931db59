//! Values of the file that is read, and of the hooks file that is made of it. Each knows its place.

use std::ops::Range;

use hookexec_files::node::{Node, Value};
use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;

/// The entries of a mapping.
pub(super) type Entries<'n> = Vec<(Node<'n>, Node<'n>)>;

/// The place of a value that stands for nothing in the file.
pub(super) const NOWHERE: Range<usize> = 0..0;

/// Returns JSON as a tree.
pub(super) fn of_json<'t>(json: &Json<'t>) -> Node<'t> {
    let value = match json {
        Json::StringLit(text) => Value::Text(text.value.clone()),
        Json::NumberLit(number) => number.value.parse().map_or(Value::Null, Value::Number),
        Json::BooleanLit(truth) => Value::Bool(truth.value),
        Json::NullKeyword(_) => Value::Null,
        Json::Array(list) => Value::List(list.elements.iter().map(of_json).collect()),
        Json::Object(object) => {
            let mut entries = Vec::new();
            for member in &object.properties {
                let name = member.name.as_str().to_owned();
                let key = Node { value: Value::Text(name.into()), span: span(&member.name) };
                entries.push((key, of_json(&member.value)));
            }
            Value::Map(entries)
        }
    };
    Node { value, span: span(json) }
}

fn span(value: &impl Ranged) -> Range<usize> {
    value.range().start..value.range().end
}

/// Returns a value that is made for what stands at `place`.
pub(super) fn made(value: impl Into<serde_json::Value>, place: &Range<usize>) -> Node<'static> {
    use serde_json::Value as Made;
    let value = match value.into() {
        Made::Null => Value::Null,
        Made::Bool(truth) => Value::Bool(truth),
        Made::Number(number) => Value::Number(number),
        Made::String(text) => Value::Text(text.into()),
        Made::Array(items) => {
            Value::List(items.into_iter().map(|item| made(item, place)).collect())
        }
        Made::Object(members) => {
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
pub(super) fn set(mapping: &mut Node<'_>, key: &str, value: impl Into<serde_json::Value>) {
    let value = made(value, &mapping.span);
    put(mapping, key, value);
}

pub(super) fn list_of(items: Vec<Node<'_>>) -> Node<'_> {
    Node { value: Value::List(items), span: NOWHERE }
}
