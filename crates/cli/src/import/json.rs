//! Reads JSON with comments as the tree that hooks files are, with the same messages.

use hookexec::internal::reading::{Fields, Node, Reader, Value};
use jsonc_parser::ast::{ObjectProp, Value as Json};
use jsonc_parser::common::Ranged;

/// Returns a value as a tree, without the keys that people write comments under.
pub(super) fn tree<'t>(json: &Json<'t>) -> Node<'t> {
    let entry = |member: &ObjectProp<'t>| {
        let name = Value::Text(member.name.as_str().to_owned().into());
        (node(name, &member.name), tree(&member.value))
    };
    let value = match json {
        Json::StringLit(text) => Value::Text(text.value.clone()),
        Json::NumberLit(number) => number.value.parse().map_or(Value::Null, Value::Number),
        Json::BooleanLit(truth) => Value::Bool(truth.value),
        Json::Array(list) => Value::List(list.elements.iter().map(tree).collect()),
        Json::Object(object) => {
            let members = object.properties.iter();
            let members = members.filter(|member| !is_comment(member.name.as_str()));
            Value::Map(members.map(entry).collect())
        }
        Json::NullKeyword(_) => Value::Null,
    };
    node(value, json)
}

fn node<'t>(value: Value<'t>, place: &impl Ranged) -> Node<'t> {
    let range = place.range();
    Node { value, span: range.start..range.end }
}

/// Returns whether a key is one of those that people write comments under.
fn is_comment(key: &str) -> bool {
    key.starts_with("//") || key.starts_with(['$', '_', '#'])
}

/// Reads an object in which every key stands once: agents differ in which of two they use.
pub(super) fn object<'n>(
    reader: &mut Reader,
    node: &'n Node<'n>,
    what: &str,
) -> Option<Fields<'n>> {
    let errors = reader.errors();
    let fields = reader.open_fields(node, what)?;
    (reader.errors() == errors).then_some(fields)
}

/// Reads a list; an empty one in the place of anything else.
pub(super) fn list<'n>(reader: &mut Reader, node: &'n Node<'n>, what: &str) -> &'n [Node<'n>] {
    reader.list(node, what).unwrap_or_default()
}

/// Reads a string. A number is not one.
pub(super) fn string(reader: &mut Reader, node: &Node<'_>, what: &str) -> Option<String> {
    match node.as_text() {
        Some(text) => Some(text.to_owned()),
        None => reader.expected(what, "a string", node),
    }
}

/// Returns the text of a key that must be there; `what` is the object at `node`.
pub(super) fn required(
    reader: &mut Reader,
    node: &Node<'_>,
    fields: &Fields<'_>,
    key: &str,
    what: &str,
) -> Option<String> {
    match fields.get(key) {
        Some(value) => string(reader, value, &format!("`{key}`")),
        None => reader.refuse(node, format!("{what} needs a `{key}`")),
    }
}
