//! Edits of a JSON text that leave every other byte as it is: order, comments, odd formatting.
//!
//! What is added is added as a whole after what is there, and found again by its content. Taking it
//! away again is the exact inverse, so that adding and removing gives the bytes back. The one thing
//! it cannot know is whether a container that is empty afterwards was there before.

mod insert;
mod remove;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use insert::Style;
use remove::{Doomed, remove_last};

/// A JSON value to be added, its members in the order people expect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Text(String),
    Number(u64),
    Truth(bool),
    List(Vec<Json>),
    Map(Vec<(&'static str, Json)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Why a text cannot be edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EditError(pub(crate) String);

impl std::fmt::Display for EditError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Appends `element` to the array at `path`; what is missing on the way there is made.
pub(crate) fn append(
    text: &str,
    path: &[&'static str],
    element: &Json,
) -> Result<String, EditError> {
    let (last, rest) = path.split_last().ok_or_else(|| EditError("no path".to_owned()))?;
    let mut addition = Json::List(vec![element.clone()]);
    with_object(text, rest, |object, missing| {
        let mut key = *last;
        if missing.is_empty() {
            match member(object, key)? {
                Some(Node::Array(array)) => {
                    let last = array.elements.last().map(Ranged::range).map(|range| range.end);
                    let ends = (array.range.start, array.range.end);
                    return Ok(Style::of(text).insert(text, ends, last, None, element));
                }
                Some(_) => return Err(EditError(format!("`{key}` is not a list"))),
                None => {}
            }
        }
        for outer in missing.iter().rev() {
            addition = Json::Map(vec![(key, addition)]);
            key = outer;
        }
        let last = object.properties.last().map(|property| property.range.end);
        let ends = (object.range.start, object.range.end);
        Ok(Style::of(text).insert(text, ends, last, Some(key), &addition))
    })
}

/// Sets the member `key` of the outermost object, unless it is there.
pub(crate) fn set_default(
    text: &str,
    key: &'static str,
    value: &Json,
) -> Result<String, EditError> {
    with_object(text, &[], |object, _| {
        if member(object, key)?.is_some() {
            return Ok(text.to_owned());
        }
        let last = object.properties.last().map(|property| property.range.end);
        let ends = (object.range.start, object.range.end);
        Ok(Style::of(text).insert(text, ends, last, Some(key), value))
    })
}

/// Removes every list element with a command that is `ours`, and what is empty without it; the
/// members at the paths `kept` stay even so.
pub(crate) fn remove(
    text: &str,
    ours: impl Fn(&str) -> bool,
    kept: &[String],
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    while let Some(next) = remove_last(&text, &Doomed { ours: &ours, kept })? {
        text = next;
    }
    Ok(text)
}

/// Returns the paths in `text` at which an empty list or object stands.
pub(crate) fn empty_members(text: &str) -> Vec<String> {
    fn walk(node: &Node<'_>, path: &str, found: &mut Vec<String>) {
        let Node::Object(object) = node else { return };
        for property in &object.properties {
            let path = format!("{path}/{}", property.name.as_str());
            let empty = match &property.value {
                Node::Array(array) => array.elements.is_empty(),
                Node::Object(object) => object.properties.is_empty(),
                _ => false,
            };
            if empty {
                found.push(path);
            } else {
                walk(&property.value, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(Some(root)) = parse(text) {
        walk(&root, "", &mut found);
    }
    found
}

/// Returns whether `text` is an object with the member `key`.
pub(crate) fn has(text: &str, key: &str) -> bool {
    let root = parse(text).ok().flatten();
    root.is_some_and(|root| root.as_object().is_some_and(|object| object.get(key).is_some()))
}

/// A command in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Installed {
    pub(crate) command: String,
    /// The `timeout` beside it, as written.
    pub(crate) timeout: Option<f64>,
}

/// Returns the commands in `text` that are `ours`, in order.
pub(crate) fn commands(
    text: &str,
    ours: impl Fn(&str) -> bool,
) -> Result<Vec<Installed>, EditError> {
    fn walk(node: &Node<'_>, timeout: Option<f64>, found: &mut Vec<Installed>) {
        match node {
            Node::Array(array) => array.elements.iter().for_each(|node| walk(node, None, found)),
            Node::Object(object) => {
                let own = object.get_number("timeout").and_then(|number| number.value.parse().ok());
                let timeout = own.or(timeout);
                for property in &object.properties {
                    match (&property.value, property.name.as_str()) {
                        (Node::StringLit(text), "command") => {
                            found.push(Installed { command: text.value.to_string(), timeout });
                        }
                        (value, _) => walk(value, timeout, found),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let Some(root) = parse(text)? {
        walk(&root, None, &mut found);
    }
    Ok(found.into_iter().filter(|installed| ours(&installed.command)).collect())
}

/// Returns whether the switch at `path` is there and set to `on`.
pub(crate) fn switch_is(text: &str, path: &[&str], on: bool) -> bool {
    value(text, path, |node| matches!(node, Node::BooleanLit(found) if found.value == on))
}

/// Returns the texts in the list at `path`.
pub(crate) fn strings(text: &str, path: &[&str]) -> Vec<String> {
    value(text, path, |node| {
        let Node::Array(array) = node else { return Vec::new() };
        let texts = array.elements.iter().filter_map(|element| match element {
            Node::StringLit(text) => Some(text.value.to_string()),
            _ => None,
        });
        texts.collect()
    })
}

/// Returns what `read` makes of the value at `path`, if there is one.
fn value<T: Default>(text: &str, path: &[&str], read: impl FnOnce(&Node<'_>) -> T) -> T {
    let Ok(Some(root)) = parse(text) else { return T::default() };
    let mut node = &root;
    for key in path {
        match node.as_object().and_then(|object| object.get(key)) {
            Some(property) => node = &property.value,
            None => return T::default(),
        }
    }
    read(node)
}

/// Calls `then` with the object at `path`, or the deepest one on the way and the keys that are
/// missing from there on.
fn with_object(
    text: &str,
    path: &[&'static str],
    then: impl FnOnce(&Object<'_>, &[&'static str]) -> Result<String, EditError>,
) -> Result<String, EditError> {
    let Some(Node::Object(root)) = parse(text)? else {
        return Err(EditError("it is not a JSON object".to_owned()));
    };
    let mut object = &root;
    for (depth, key) in path.iter().enumerate() {
        match member(object, key)? {
            Some(Node::Object(inner)) => object = inner,
            Some(_) => return Err(EditError(format!("`{key}` is not an object"))),
            None => return then(object, &path[depth..]),
        }
    }
    then(object, &[])
}

pub(crate) fn parse(text: &str) -> Result<Option<Node<'_>>, EditError> {
    parse_with(text, true)
}

/// Reads a text as `JSON.parse` does; where it is `lenient`, with comments and trailing commas.
pub(crate) fn parse_with(text: &str, lenient: bool) -> Result<Option<Node<'_>>, EditError> {
    if text.starts_with('\u{feff}') {
        let why = "it begins with a byte order mark (BOM): save it as UTF-8 without one";
        return Err(EditError(why.to_owned()));
    }
    let options = ParseOptions {
        allow_comments: lenient,
        allow_trailing_commas: lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let invalid =
        |error: &dyn std::fmt::Display| EditError(format!("it is not valid JSON: {error}"));
    let parsed = parse_to_ast(text, &collect, &options).map_err(|error| invalid(&error))?;
    for token in parsed.tokens.iter().flatten() {
        let raw = token.range.text(text);
        if raw.starts_with('"')
            && let Some(at) = raw.find(|letter: char| letter < ' ')
        {
            let line = text[..token.range.start + at].matches('\n').count() + 1;
            let what =
                format!("a control character in a text on line {line}; write it as an escape");
            return Err(invalid(&what));
        }
    }
    Ok(parsed.value)
}

/// Returns the member `key`; twice is an error: nobody knows which of them the agent reads.
pub(super) fn member<'o, 'a>(
    object: &'o Object<'a>,
    key: &str,
) -> Result<Option<&'o Node<'a>>, EditError> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(EditError(format!("`{key}` stands there twice"))),
        (first, _) => Ok(first.map(|property| &property.value)),
    }
}

#[cfg(test)]
mod tests;
