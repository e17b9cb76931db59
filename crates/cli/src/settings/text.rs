//! Edits of a JSON text that keep its comments, order and other entries.
//!
//! A list or object that gets an entry is laid out with one entry a line; no other line changes.
//! Removing takes out the entries and the containers that become empty, not the line breaks. Only
//! the backup of the text before gives back its exact bytes.

use std::collections::BTreeSet;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

/// Returns the text after an `edit` of its outermost object.
pub(super) fn edited(
    text: &str,
    edit: impl FnOnce(&CstObject) -> Result<(), String>,
) -> Result<String, String> {
    let tree = tree(text)?;
    edit(&tree.object_value().ok_or("it is not a JSON object")?)?;
    Ok(tree.to_string())
}

/// Appends `element` to the array `list` of the object at `path` in `object`; creates what is missing.
pub(super) fn append(
    object: &CstObject,
    path: &[&str],
    list: &str,
    element: CstInputValue,
) -> Result<(), String> {
    let mut object = object.clone();
    for key in path {
        let inner = object.object_value_or_create(key);
        object = inner.ok_or_else(|| format!("`{key}` is not an object"))?;
    }
    let entries = object.array_value_or_create(list);
    let entries = entries.ok_or_else(|| format!("`{list}` is not a list"))?;
    entries.ensure_multiline();
    entries.append(element);
    Ok(())
}

/// Removes every object with a command that is `ours`, and the containers that become empty, except for
/// those that the text `before` has as well.
pub(super) fn remove(
    text: &str,
    ours: impl Fn(&str) -> bool,
    before: &str,
) -> Result<String, String> {
    let tree = tree(text)?;
    let before = parse(before).ok().flatten().map(Value::from).unwrap_or_default();
    if let Some(root) = tree.value() {
        strip(&root, Some(""), &ours, &before);
    }
    Ok(tree.to_string())
}

/// Removes what is `ours` from `node`, and returns whether the node itself has to go: it is ours, or that
/// leaves it without a purpose.
///
/// `path` is the JSON pointer of a `node` that is not in a list.
fn strip(node: &CstNode, path: Option<&str>, ours: &dyn Fn(&str) -> bool, before: &Value) -> bool {
    // The other members of a group of hooks, and of a trigger.
    const LABELS: [&str; 7] =
        ["matcher", "name", "description", "sequential", "trigger", "timeout", "enabled"];
    let mut changed = false;
    if let Some(list) = node.as_array() {
        for element in list.elements() {
            if strip(&element, None, ours, before) {
                element.remove();
                changed = true;
            }
        }
        return changed && list.elements().is_empty();
    }
    let Some(object) = node.as_object() else { return false };
    for member in object.properties() {
        let (Some(name), Some(value)) = (member.decoded_name(), member.value()) else { continue };
        let text = value.as_string_lit().and_then(|text| text.decoded_value().ok());
        if name == "command" && text.is_some_and(|command| ours(&command)) {
            return true;
        }
        let path = path.map(|path| format!("{path}/{name}"));
        if strip(&value, path.as_deref(), ours, before)
            && path.is_none_or(|path| before.pointer(&path).is_none())
        {
            member.remove();
            changed = true;
        }
    }
    let mut names = object.properties().into_iter().filter_map(|member| member.decoded_name());
    changed && names.all(|name| path.is_none() && LABELS.contains(&&*name))
}

/// Returns the value of a text in which no key appears twice in one object: agents differ in which
/// of the two they use.
pub(super) fn unambiguous(text: &str, lenient: bool) -> Result<Value, String> {
    let Some(root) = parse_with(text, lenient)? else { return Ok(Value::Null) };
    refuse_twins(&root)?;
    Ok(root.into())
}

fn refuse_twins(node: &Node<'_>) -> Result<(), String> {
    match node {
        Node::Array(array) => array.elements.iter().try_for_each(refuse_twins),
        Node::Object(object) => {
            let mut keys = BTreeSet::new();
            for property in &object.properties {
                let key = property.name.as_str();
                if !keys.insert(key) {
                    return Err(format!("the key `{key}` appears twice in one object"));
                }
                refuse_twins(&property.value)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn tree(text: &str) -> Result<CstRootNode, String> {
    unambiguous(text, true)?;
    CstRootNode::parse(text, &options(true)).map_err(|error| invalid(&error))
}

/// Reads a text with comments and trailing commas.
pub(crate) fn parse(text: &str) -> Result<Option<Node<'_>>, String> {
    parse_with(text, true)
}

/// Reads a text as `JSON.parse` does; where it is `lenient`, with comments and trailing commas.
fn parse_with(text: &str, lenient: bool) -> Result<Option<Node<'_>>, String> {
    refuse_mark(text)?;
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed =
        parse_to_ast(text, &collect, &options(lenient)).map_err(|error| invalid(&error))?;
    for token in parsed.tokens.iter().flatten() {
        let raw = token.range.text(text);
        if raw.starts_with('"') && raw.contains(|letter: char| letter < ' ') {
            let line = text[..token.range.start].matches('\n').count() + 1;
            return Err(invalid(&format!(
                "a control character in a text on line {line}; write it as an escape"
            )));
        }
    }
    Ok(parsed.value)
}

/// Refuses a text with a byte order mark.
pub(super) fn refuse_mark(text: &str) -> Result<(), String> {
    let why = "it begins with a byte order mark (BOM): save it as UTF-8 without one";
    if text.starts_with('\u{feff}') { Err(why.to_owned()) } else { Ok(()) }
}

fn options(lenient: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: lenient,
        allow_trailing_commas: lenient,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn invalid(error: &dyn std::fmt::Display) -> String {
    format!("it is not valid JSON: {error}")
}

#[cfg(test)]
mod tests;
