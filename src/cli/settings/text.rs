//! Edits of a JSON text that leave every other byte as it is: order, comments, odd formatting.
//!
//! What is added is added as a whole after what is there, and found again by its content. Taking it
//! away again is the exact inverse, so that adding and removing gives the bytes back. The one thing
//! it cannot know is whether a container that is empty afterwards was there before.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

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

/// Returns whether the switch at `path` stands there and says `on`.
pub(crate) fn switch_is(text: &str, path: &[&str], on: bool) -> bool {
    let Ok(Some(root)) = parse(text) else { return false };
    let Some((last, rest)) = path.split_last() else { return false };
    let mut object = root.as_object();
    for key in rest {
        object = object.and_then(|object| object.get_object(key));
    }
    object.and_then(|object| object.get_boolean(last)).is_some_and(|found| found.value == on)
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

/// Reads a text; where it is not `lenient`, comments and trailing commas are errors.
pub(crate) fn parse_with(text: &str, lenient: bool) -> Result<Option<Node<'_>>, EditError> {
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
    parse_to_ast(text, &CollectOptions::default(), &options)
        .map(|result| result.value)
        .map_err(|error| EditError(format!("it is not valid JSON: {error}")))
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

/// How a text is laid out.
struct Style<'t> {
    newline: &'static str,
    unit: &'t str,
}

impl<'t> Style<'t> {
    fn of(text: &'t str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().find_map(|line| {
            let unit = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            (!unit.is_empty() && unit.len() < line.len()).then_some(unit)
        });
        Self { newline, unit: indented.unwrap_or("  ") }
    }

    /// Inserts a child at the end of the container that spans `ends`.
    fn insert(
        &self,
        text: &str,
        (start, end): (usize, usize),
        last: Option<usize>,
        key: Option<&str>,
        value: &Json,
    ) -> String {
        let inline = match last {
            Some(_) => !text[start..end].contains('\n'),
            None => {
                text.trim_start().starts_with('{')
                    && !text.trim().contains('\n')
                    && text.trim().len() > 2
            }
        };
        let indent = line_indent(text, start);
        let child = last.map_or_else(
            || format!("{indent}{}", self.unit),
            |last| self.sibling_indent(text, start, last, indent),
        );
        let body = self.rendered(key, value, &child, inline);
        let lead = if inline {
            if last.is_some() { " ".to_owned() } else { String::new() }
        } else {
            format!("{}{child}", self.newline)
        };
        let Some(last) = last else {
            // Right after the bracket; what was between the two stays behind it.
            let inside = &text[start + 1..end - 1];
            let tail = if inline || inside.contains('\n') {
                String::new()
            } else {
                format!("{}{indent}", self.newline)
            };
            return spliced(text, &[(start + 1, format!("{lead}{body}{tail}"))]);
        };
        if let Some(comma) = comma_after(text, last, end) {
            return spliced(text, &[(comma + 1, format!("{lead}{body},"))]);
        }
        // A comment on the last child's line stays with it.
        let place = if inline { last } else { end_of_comment(text, last) };
        spliced(text, &[(last, ",".to_owned()), (place, format!("{lead}{body}"))])
    }

    /// Returns the indentation of the children, from the first line that one of them begins.
    fn sibling_indent(&self, text: &str, start: usize, last: usize, indent: &str) -> String {
        let between = &text[start..last];
        let first = between.find('\n').map(|newline| start + newline + 1);
        let found = first.map(|line| line_indent(text, line));
        found.map_or_else(|| format!("{indent}{}", self.unit), str::to_owned)
    }

    fn rendered(&self, key: Option<&str>, value: &Json, indent: &str, inline: bool) -> String {
        let value = if inline { spaced(value) } else { self.pretty(value, indent) };
        key.map_or_else(|| value.clone(), |key| format!("{}: {value}", quoted(key)))
    }

    fn pretty(&self, value: &Json, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let nl = self.newline;
        let block = |open: char, lines: Vec<String>, close: char| {
            let lines = lines.join(&format!(",{nl}{inner}"));
            format!("{open}{nl}{inner}{lines}{nl}{indent}{close}")
        };
        match value {
            Json::List(items) => {
                block('[', items.iter().map(|item| self.pretty(item, &inner)).collect(), ']')
            }
            Json::Map(members) => {
                let line = |(key, value): &(&str, Json)| {
                    format!("{}: {}", quoted(key), self.pretty(value, &inner))
                };
                block('{', members.iter().map(line).collect(), '}')
            }
            plain => spaced(plain),
        }
    }
}

/// Writes a value on one line, with the blanks that people put there.
fn spaced(value: &Json) -> String {
    match value {
        Json::Text(text) => quoted(text),
        Json::Number(number) => number.to_string(),
        Json::Truth(truth) => truth.to_string(),
        Json::List(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        Json::Map(members) => {
            let member =
                |(key, value): &(&str, Json)| format!("{}: {}", quoted(key), spaced(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the blanks that the line of `offset` begins with.
fn line_indent(text: &str, offset: usize) -> &str {
    let line = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns where the comma after `offset` stands, if the next thing that is no comment is one.
fn comma_after(text: &str, offset: usize, end: usize) -> Option<usize> {
    let mut at = offset;
    while at < end {
        let rest = &text[at..end];
        if rest.starts_with(',') {
            return Some(at);
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |close| close + 2);
        } else if rest.starts_with(char::is_whitespace) {
            at += rest.chars().next().map_or(1, char::len_utf8);
        } else {
            return None;
        }
    }
    None
}

/// Returns the end of a `//` comment that follows `offset` on its line, else `offset`.
fn end_of_comment(text: &str, offset: usize) -> usize {
    let line = text[offset..].split(['\r', '\n']).next().unwrap_or_default();
    if line.trim_start().starts_with("//") { offset + line.len() } else { offset }
}

fn spliced(text: &str, insertions: &[(usize, String)]) -> String {
    let mut result = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (at, addition) in insertions {
        result.push_str(&text[from..*at]);
        result.push_str(addition);
        from = *at;
    }
    result + &text[from..]
}

/// Removes the last element that is doomed, or returns `None` when there is none.
fn remove_last(text: &str, doomed: &Doomed<'_>) -> Result<Option<String>, EditError> {
    let Some(root) = parse(text)? else { return Ok(None) };
    Ok(doomed.last(&root, Some("")).map(|child| child.cut(text)))
}

/// A child of a container, by place.
#[derive(Clone, Copy)]
struct Child {
    start: usize,
    end: usize,
    previous_end: Option<usize>,
    /// Where the container's brackets are.
    open: usize,
    close: usize,
}

/// What is to go.
struct Doomed<'d> {
    ours: &'d dyn Fn(&str) -> bool,
    kept: &'d [String],
}

impl Doomed<'_> {
    /// Returns the outermost thing that goes when the last element that is ours goes.
    ///
    /// `path` leads to `node` by members alone; behind a list there is none.
    fn last(&self, node: &Node<'_>, path: Option<&str>) -> Option<Child> {
        match node {
            Node::Array(array) => (0..array.elements.len()).rev().find_map(|index| {
                let element = &array.elements[index];
                if self.is_ours(element) {
                    return Some(element_of(array, index));
                }
                let inner = self.last(element, None)?;
                // A group that would be left without a hook goes as a whole.
                let empties = inner.is_alone(element, &LABELS);
                Some(if empties { element_of(array, index) } else { inner })
            }),
            Node::Object(object) => (0..object.properties.len()).rev().find_map(|index| {
                let property = &object.properties[index];
                let path = path.map(|path| format!("{path}/{}", property.name.as_str()));
                let inner = self.last(&property.value, path.as_deref())?;
                let kept = path.is_some_and(|path| self.kept.contains(&path));
                let empties = inner.is_alone(&property.value, &[]) && !kept;
                Some(if empties { member_of(object, index) } else { inner })
            }),
            _ => None,
        }
    }

    fn is_ours(&self, element: &Node<'_>) -> bool {
        let Node::Object(object) = element else { return false };
        object.properties.iter().any(|property| match &property.value {
            Node::StringLit(text) if property.name.as_str() == "command" => {
                (self.ours)(&text.value)
            }
            // Kiro's entries keep theirs in an object.
            Node::Object(_) => self.is_ours(&property.value),
            _ => false,
        })
    }
}

fn element_of(array: &Array<'_>, index: usize) -> Child {
    let range = array.elements[index].range();
    let previous_end = index.checked_sub(1).map(|index| array.elements[index].range().end);
    Child {
        start: range.start,
        end: range.end,
        previous_end,
        open: array.range.start,
        close: array.range.end - 1,
    }
}

fn member_of(object: &Object<'_>, index: usize) -> Child {
    let range = object.properties[index].range;
    let previous_end = index.checked_sub(1).map(|index| object.properties[index].range.end);
    Child {
        start: range.start,
        end: range.end,
        previous_end,
        open: object.range.start,
        close: object.range.end - 1,
    }
}

/// What a group of hooks may hold beside its hooks.
const LABELS: [&str; 4] = ["matcher", "name", "description", "sequential"];

impl Child {
    /// Returns whether `container` holds nothing else, members named in `labels` aside.
    fn is_alone(&self, container: &Node<'_>, labels: &[&str]) -> bool {
        let inside = self.open == container.range().start;
        match container {
            Node::Array(array) => inside && array.elements.len() == 1,
            Node::Object(object) => {
                let mut others = object.properties.iter().filter(|property| {
                    property.range.start != self.start && !labels.contains(&property.name.as_str())
                });
                inside && others.next().is_none()
            }
            _ => false,
        }
    }

    /// Returns the text without it: the inverse of [`Style::insert`].
    fn cut(self, text: &str) -> String {
        let lead = self.lead(text);
        if let Some(comma) = comma_after(text, self.end, self.close) {
            return [&text[..lead], &text[comma + 1..]].concat();
        }
        if let Some(previous) = self.previous_end {
            let comma = comma_after(text, previous, self.start).unwrap_or(previous);
            let after = (comma + 1).min(lead);
            return [&text[..comma], &text[after..lead], &text[self.end..]].concat();
        }
        let tail = &text[self.end..self.close];
        let indent = line_indent(text, self.open);
        let made = [format!("\r\n{indent}"), format!("\n{indent}")];
        let rest = made.iter().find_map(|made| tail.strip_prefix(made.as_str()));
        let rest = rest.filter(|rest| !rest.contains('\n')).unwrap_or(tail);
        [&text[..lead], rest, &text[self.close..]].concat()
    }

    /// Returns where the blanks begin that were put before it: a new line, or one blank.
    fn lead(self, text: &str) -> usize {
        let before = &text[..self.start];
        let line = before.trim_end_matches([' ', '\t']);
        if let Some(above) = line.strip_suffix('\n') {
            above.strip_suffix('\r').unwrap_or(above).len()
        } else {
            before.strip_suffix(' ').unwrap_or(before).len()
        }
    }
}

#[cfg(test)]
mod tests;
