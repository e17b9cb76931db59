//! The values of a file that is read, and those of the hooks file that is made of it.

use std::borrow::Cow;
use std::ops::Range;

use hookexec::internal::reading::{Fields, Kind, Node, Reader, Value};
use jsonc_parser::ast::{ObjectProp, Value as Json};
use jsonc_parser::common::Ranged;

/// How deep the keys of a hook are in an agent's settings. People write comments as keys down to there;
/// below are names of variables and arguments, which may be any.
pub(super) const DEPTH_OF_HOOKS: usize = 4;

/// Returns JSON as a tree. Keys of the outermost `commented` objects may be comments, and are left out.
pub(super) fn of_json<'t>(json: &Json<'t>, commented: usize) -> Node<'t> {
    let value = match json {
        Json::StringLit(text) => Value::Text(text.value.clone()),
        Json::NumberLit(number) => number.value.parse().map_or(Value::Null, Value::Number),
        Json::BooleanLit(truth) => Value::Bool(truth.value),
        Json::NullKeyword(_) => Value::Null,
        Json::Array(list) => {
            Value::List(list.elements.iter().map(|item| of_json(item, commented)).collect())
        }
        Json::Object(object) => {
            let is_comment = |member: &ObjectProp<'_>| {
                let key = member.name.as_str();
                commented > 0 && (key.starts_with("//") || key.starts_with(['$', '_', '#']))
            };
            let mut entries = Vec::new();
            for member in object.properties.iter().filter(|member| !is_comment(member)) {
                let name = Value::Text(member.name.as_str().to_owned().into());
                let value = of_json(&member.value, commented.saturating_sub(1));
                entries.push((Node { value: name, span: span(&member.name) }, value));
            }
            Value::Map(entries)
        }
    };
    Node { value, span: span(json) }
}

fn span(place: &impl Ranged) -> Range<usize> {
    place.range().start..place.range().end
}

/// Returns a value that is made for what stands at `place`.
pub(super) fn made(value: &serde_json::Value, place: &Range<usize>) -> Node<'static> {
    use serde_json::Value as Made;
    let value = match value {
        Made::Null => Value::Null,
        Made::Bool(truth) => Value::Bool(*truth),
        Made::Number(number) => Value::Number(number.clone()),
        Made::String(text) => Value::Text(text.clone().into()),
        Made::Array(items) => Value::List(items.iter().map(|item| made(item, place)).collect()),
        Made::Object(members) => {
            let mut mapping = Mapping::new(place.clone());
            for (key, value) in members {
                mapping.set(key.clone(), value.clone());
            }
            return mapping.into_node();
        }
    };
    Node { value, span: place.clone() }
}

/// A mapping that is made for what stands at a place.
pub(super) struct Mapping<'n> {
    place: Range<usize>,
    entries: Vec<(Node<'n>, Node<'n>)>,
}

impl<'n> Mapping<'n> {
    pub(super) fn new(place: Range<usize>) -> Self {
        Self { place, entries: Vec::new() }
    }

    /// Adds a key with a value that is made here.
    pub(super) fn set(
        &mut self,
        key: impl Into<Cow<'n, str>>,
        value: impl Into<serde_json::Value>,
    ) {
        let value = made(&value.into(), &self.place);
        self.put(key, value);
    }

    /// Adds a key with a value that has a place of its own.
    pub(super) fn put(&mut self, key: impl Into<Cow<'n, str>>, value: Node<'n>) {
        // Without a place: an error in another value of the mapping is not one of this key.
        let key = Node { value: Value::Text(key.into()), span: 0..0 };
        self.entries.push((key, value));
    }

    pub(super) fn into_node(self) -> Node<'n> {
        Node { value: Value::Map(self.entries), span: self.place }
    }
}

/// Returns the value of a key in a mapping.
pub(super) fn get<'m, 'n>(node: &'m Node<'n>, name: &str) -> Option<&'m Node<'n>> {
    let (_, value) = node.as_map()?.iter().find(|(key, _)| key.as_text() == Some(name))?;
    Some(value)
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

/// A text. A number is not one.
pub(super) struct Strict(pub(super) String);

impl Kind<'_> for Strict {
    fn read(reader: &mut Reader, node: &Node<'_>, what: &str) -> Option<Self> {
        match node.as_text() {
            Some(text) => Some(Self(text.to_owned())),
            None => reader.expected(what, "a string", node),
        }
    }
}

/// Returns what must be there; `message` says of the object at `node` what it lacks.
pub(super) fn required<T>(
    reader: &mut Reader,
    node: &Node<'_>,
    value: Option<T>,
    message: &str,
) -> Option<T> {
    if value.is_none() {
        reader.error(node, message);
    }
    value
}

/// Refuses what hookexec has no counterpart for, with what to do instead.
pub(super) fn cannot_import<T>(
    reader: &mut Reader,
    node: &Node<'_>,
    what: &str,
    hint: impl Into<String>,
) -> Option<T> {
    reader.refuse_with_hint(node, format!("{what} can't be imported"), hint)
}
