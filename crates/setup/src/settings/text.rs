//! Edits of a JSON text that keep its comments, order and other entries.
//!
//! A list or object that gets an entry is laid out with one entry a line; no other line changes.
//! Removing takes out the entries and the containers that become empty, not the line breaks. Only
//! the backup of the text before gives back its exact bytes.

use hookexec::wire::parse_strict;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::SettingsError;

/// Appends `element` to the array `list` of the object at `path` in `object`; creates what is missing.
pub(super) fn append(
    object: &CstObject,
    path: &[&str],
    list: &str,
    element: CstInputValue,
) -> Result<(), SettingsError> {
    let mut object = object.clone();
    for key in path {
        let inner = object.object_value_or_create(key);
        object = inner.ok_or_else(|| SettingsError::OtherKind((*key).to_owned(), "an object"))?;
    }
    let entries = object.array_value_or_create(list);
    let entries = entries.ok_or_else(|| SettingsError::OtherKind(list.to_owned(), "a list"))?;
    entries.ensure_multiline();
    entries.append(element);
    Ok(())
}

/// Removes every object with a command that is `ours`, and the containers that become empty.
pub(super) fn remove(text: &str, ours: impl Fn(&str) -> bool) -> Result<String, SettingsError> {
    let tree = tree(text)?;
    if let Some(root) = tree.value() {
        strip(&root, false, &ours);
    }
    Ok(tree.to_string())
}

/// Removes what is `ours` from `node`, and returns whether the node itself has to go: it is ours, or
/// nothing else is left in it. A group of hooks `in_list` goes with its labels when it has no hook; with
/// anything else in it, it stays.
fn strip(node: &CstNode, in_list: bool, ours: &dyn Fn(&str) -> bool) -> bool {
    let mut changed = false;
    if let Some(list) = node.as_array() {
        for element in list.elements() {
            if strip(&element, true, ours) {
                element.remove();
                changed = true;
            }
        }
        return changed && list.elements().is_empty();
    }
    let Some(object) = node.as_object() else { return false };
    for member in object.properties() {
        let (Some(name), Some(value)) = (member.decoded_name(), member.value()) else { continue };
        if name == "command"
            && let Some(command) = value.as_string_lit()
            && let Ok(command) = command.decoded_value()
            && ours(&command)
        {
            return true;
        }
        if strip(&value, false, ours) {
            member.remove();
            changed = true;
        }
    }
    changed && if in_list { only_labels(&object) } else { object.properties().is_empty() }
}

/// Returns whether an object has nothing but what agents write beside the hooks of a group.
fn only_labels(object: &CstObject) -> bool {
    const LABELS: [&str; 7] =
        ["matcher", "name", "description", "sequential", "trigger", "timeout", "enabled"];
    for member in object.properties() {
        let name = member.decoded_name().unwrap_or_default();
        if !LABELS.contains(&name.as_str()) {
            return false;
        }
    }
    true
}

/// Returns the tree of a text, which is edited in place.
pub(super) fn tree(text: &str) -> Result<CstRootNode, SettingsError> {
    value(text, true)?;
    Ok(CstRootNode::parse(text, &ParseOptions::default())?)
}

/// Returns the value of a text as `JSON.parse` reads it; where it is `lenient`, of one with comments
/// and trailing commas. An empty text is null.
///
/// # Errors
/// Also if a key appears twice in one object: agents differ in which of the two they use.
pub(super) fn value(text: &str, lenient: bool) -> Result<Value, SettingsError> {
    if text.starts_with('\u{feff}') {
        return Err(SettingsError::ByteOrderMark);
    }
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    if lenient { Ok(parse_strict(&plain_json(text)?)?) } else { Ok(parse_strict(text)?) }
}

/// Returns a JSON text with spaces for its comments and trailing commas. Everything else keeps its place.
pub(crate) fn plain_json(text: &str) -> Result<String, SettingsError> {
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    let tokens = parse_to_ast(text, &collect, &ParseOptions::default())?.tokens.unwrap_or_default();
    let mut plain = String::new();
    let mut end = 0;
    for (index, token) in tokens.iter().enumerate() {
        for byte in text[end..token.range.start].bytes() {
            plain.push(if byte.is_ascii_whitespace() { byte.into() } else { ' ' });
        }
        end = token.range.end;
        let next = tokens.get(index + 1).map(|next| &next.token);
        let is_last = matches!(next, Some(Token::CloseBrace | Token::CloseBracket));
        let is_dropped = token.token == Token::Comma && is_last;
        plain.push_str(if is_dropped { " " } else { &text[token.range.start..end] });
    }
    // The parser alone would also take single quotes, bare words and control characters.
    let IgnoredAny = serde_json::from_str(&plain)?;
    Ok(plain)
}

#[cfg(test)]
mod tests;
