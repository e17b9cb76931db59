//! YAML text to a tree of [`Node`]s: the only module that names the YAML library and its parser.
//!
//! Duplicate keys are kept in the tree, so that they are reported along with everything else; for
//! the library "last wins" means that text keys are handed over as they come. Keys that are
//! numbers it would fold together, which is why the readers of the tree accept no such keys.

mod plain;

use std::collections::HashSet;
use std::ops::Range;
use std::{fmt, iter};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{AliasLimits, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{DuplicateKeyPolicy, Error, Spanned};

use super::node::{Node, Value};
use crate::event::Event;

/// How deep a file may nest. A hook with a plain condition needs ten levels; reading a level takes
/// some 40 KiB of stack in a debug build, and threads have 2 MiB.
const MAX_DEPTH: usize = 24;
/// How many values a file may hold, aliases expanded.
const MAX_NODES: usize = 50_000;

/// A text that is no YAML, or more than it may be.
#[derive(Debug)]
pub(super) struct SyntaxError {
    /// What is wrong.
    pub(super) message: String,
    /// Where, in bytes.
    pub(super) range: Range<usize>,
    /// The way out.
    pub(super) hint: Option<&'static str>,
}

/// Parses `text`, which has no byte order mark.
pub(super) fn parse(text: &str) -> Result<Node<'_>, SyntaxError> {
    plain::parse(text).map_or_else(|| long(text), Ok)
}

/// Parses with all that the library knows.
fn long(text: &str) -> Result<Node<'_>, SyntaxError> {
    // What a merge hides the library drops unseen; a guard may be in it.
    let unmerged = read(text, MergeKeyPolicy::AsOrdinary)?;
    if merges(&unmerged)? { read(text, MergeKeyPolicy::Merge) } else { Ok(unmerged) }
}

/// Returns whether there is a `<<` anywhere. A second one in the same mapping is an error, and so is
/// one that hides an event or is hidden by one.
fn merges(node: &Node<'_>) -> Result<bool, SyntaxError> {
    let mut found = false;
    match &node.value {
        Value::List(items) => {
            for item in items {
                found |= merges(item)?;
            }
        }
        Value::Map(entries) => {
            let mut own = entries.iter().map(|(key, _)| key).filter(|key| is_merge(key));
            if let Some(first) = own.next() {
                found = true;
                if let Some(second) = own.next() {
                    let hint = "merge several with one: `<<: [*a, *b]`";
                    return Err(merge_error("a second `<<` in one mapping", second, hint));
                }
                let mut events = HashSet::new();
                if let Some(name) = merged_events(node).find(|name| !events.insert(*name)) {
                    let message = format!("`{name}` is there twice, by this merge");
                    let hint = "only one of the two would count: write their hooks into one list";
                    return Err(merge_error(message, first, hint));
                }
            }
            for (key, value) in entries {
                found |= merges(key)? | merges(value)?;
            }
        }
        _ => {}
    }
    Ok(found)
}

fn is_merge(key: &Node<'_>) -> bool {
    key.as_text() == Some("<<")
}

/// Returns the events among the keys of a mapping, or of several, and of what they merge.
fn merged_events<'n>(node: &'n Node<'n>) -> Box<dyn Iterator<Item = &'n str> + 'n> {
    let keys = node.one_or_many().iter().filter_map(Node::as_map).flatten();
    Box::new(keys.flat_map(|(key, value)| {
        let merged = if is_merge(key) { merged_events(value) } else { Box::new(iter::empty()) };
        let name = key.as_text().filter(|name| Event::from_name(name).is_some());
        merged.chain(name)
    }))
}

fn merge_error(message: impl Into<String>, key: &Node<'_>, hint: &'static str) -> SyntaxError {
    SyntaxError { message: message.into(), range: key.span.clone(), hint: Some(hint) }
}

fn read(text: &str, merge_keys: MergeKeyPolicy) -> Result<Node<'_>, SyntaxError> {
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = MAX_NODES;
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        merge_keys: merge_keys,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        alias_limits: alias_limits,
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_aliases: 1_000,
        },
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(root) => Ok(node(root, text)),
        Err(error) => Err(syntax_error(&error, text)),
    }
}

/// A value as the library hands it over.
enum Raw {
    Null,
    Bool(bool),
    Integer(String),
    Float,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = Raw;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Raw, E> {
                Ok(Raw::Null)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
                Ok(Raw::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
                Ok(Raw::Integer(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
                Ok(Raw::Integer(number.to_string()))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
                // The text is taken from the file: a float would round it.
                Ok(Raw::Float)
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
                Ok(Raw::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Raw, E> {
                Ok(Raw::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Raw::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
                let mut map = Vec::new();
                while let Some(entry) = entries.next_entry::<Spanned<Raw>, Spanned<Raw>>()? {
                    if map.len() > MAX_NODES {
                        return Err(A::Error::custom("too many keys"));
                    }
                    map.push(entry);
                }
                Ok(Raw::Map(map))
            }
        }

        deserializer.deserialize_any(RawVisitor)
    }
}

/// Turns what the library hands over into a node; its place is where it is written, also when an
/// alias repeats it elsewhere.
fn node(spanned: Spanned<Raw>, text: &str) -> Node<'_> {
    let span = byte_range(&spanned.defined, text);
    match spanned.value {
        Raw::Null => Node { value: Value::Null, span },
        Raw::Bool(flag) => Node { value: Value::Bool(flag), span },
        Raw::Text(content) => Node { value: Value::Text(content.into()), span },
        Raw::Integer(number) => match number.parse() {
            Ok(number) => Node { value: Value::Number(number), span },
            Err(_) => Node { value: Value::Text(number.into()), span },
        },
        Raw::Float => {
            let written = text.get(span.clone()).unwrap_or_default();
            let number = written.strip_prefix('+').unwrap_or(written);
            let number = if number.starts_with('.') { format!("0{number}") } else { number.into() };
            // `0777` and `1_000.5` mean different things to different readers: they stay text.
            match number.parse() {
                Ok(number) => Node { value: Value::Number(number), span },
                Err(_) => Node { value: Value::Text(written.into()), span },
            }
        }
        Raw::List(items) => {
            let items: Vec<Node<'_>> = items.into_iter().map(|item| node(item, text)).collect();
            let span = container(span, items.iter(), text);
            Node { value: Value::List(items), span }
        }
        Raw::Map(entries) => {
            let entries: Vec<(Node<'_>, Node<'_>)> = entries
                .into_iter()
                .map(|(key, value)| (node(key, text), node(value, text)))
                .collect();
            let span = container(span, entries.iter().map(|(_, value)| value), text);
            Node { value: Value::Map(entries), span }
        }
    }
}

/// Returns the range of a container: the library gives the place where it begins.
fn container<'n>(
    span: Range<usize>,
    parts: impl Iterator<Item = &'n Node<'n>>,
    text: &str,
) -> Range<usize> {
    let last = parts.map(|part| part.span.end).max().unwrap_or(span.end).max(span.end);
    let closer = match text.as_bytes().get(span.start) {
        Some(b'{') => b'}',
        Some(b'[') => b']',
        _ => return span.start..last,
    };
    let rest = &text.as_bytes()[last..];
    let skipped =
        rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b',').count();
    let end = if rest.get(skipped) == Some(&closer) { last + skipped + 1 } else { last };
    span.start..end
}

fn byte_range(location: &serde_saphyr::Location, text: &str) -> Range<usize> {
    let span = location.span();
    if let (Some(offset), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let start = usize::try_from(offset).unwrap_or(text.len()).min(text.len());
        let length = usize::try_from(length).unwrap_or(0);
        return start..start.saturating_add(length).min(text.len());
    }
    // Errors of the scanner have no bytes.
    let start = offset_of(text, location.line(), location.column());
    let letter = text[start..].chars().next().filter(|letter| *letter != '\n');
    start..start + letter.map_or(0, char::len_utf8)
}

/// Returns the byte that a line and a column, counted in characters from 1, begin at.
fn offset_of(text: &str, line: u64, column: u64) -> usize {
    let skip = |count: u64| usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX);
    let start = match skip(line) {
        0 => 0,
        lines => text.match_indices('\n').nth(lines - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let rest = &text[start..];
    start + rest.char_indices().nth(skip(column)).map_or(rest.len(), |(at, _)| at)
}

/// Says what the library found in words for the author of the file.
fn syntax_error(error: &Error, text: &str) -> SyntaxError {
    let range = error.location().map_or(0..0, |location| byte_range(&location, text));
    let mut error = error.without_snippet();
    while let Error::AliasError { error: inner, .. } = error {
        error = inner.without_snippet();
    }
    let (message, hint) = match error {
        Error::UnknownAnchor { .. } => (
            "unknown alias".to_owned(),
            Some("a leading `*` refers to an `&anchor` in YAML; put quotes around a plain text"),
        ),
        Error::Budget { breach, .. } => budget(breach),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => (
            format!("the aliases expand to more than {MAX_NODES} values"),
            Some("write the values out"),
        ),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            ("an alias inside of its own anchor".to_owned(), None)
        }
        Error::UnsupportedTag { tag, .. } => {
            (format!("unknown tag `{tag}`"), Some("put quotes around a text that begins with `!`"))
        }
        Error::MultipleDocuments { .. } => two_documents(),
        other => scanner(&other.to_string(), range.start, text),
    };
    SyntaxError { message, range, hint }
}

fn two_documents() -> (String, Option<&'static str>) {
    (
        "a second document begins here".to_owned(),
        Some("a file holds one document; remove the `---` or split the file"),
    )
}

fn budget(breach: &serde_saphyr::budget::BudgetBreach) -> (String, Option<&'static str>) {
    use serde_saphyr::budget::BudgetBreach;
    match breach {
        BudgetBreach::Documents { .. } => two_documents(),
        BudgetBreach::Depth { .. } => (format!("nested deeper than {MAX_DEPTH} levels"), None),
        BudgetBreach::Nodes { .. } => (format!("more than {MAX_NODES} values"), None),
        other => (format!("too much for a configuration file: {other:?}"), None),
    }
}

/// Puts the scanner's words into better ones where they are known.
fn scanner(said: &str, at: usize, text: &str) -> (String, Option<&'static str>) {
    let said = said.split(" at line ").next().unwrap_or(said).trim();
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let indentation_has_tab =
        text[line..].chars().take_while(|c| c.is_whitespace() && *c != '\n').any(|c| c == '\t');
    if said.contains("tab") || indentation_has_tab {
        return (
            "a tab in the indentation".to_owned(),
            Some("YAML is indented with spaces only; replace the tab"),
        );
    }
    if said.contains("recursion limit") {
        return (format!("nested deeper than {MAX_DEPTH} levels"), None);
    }
    let (message, hint) = if said.contains("unknown escape character") {
        let hint =
            "in double quotes `\\` begins an escape; use single quotes for a regular expression";
        ("unknown escape", hint)
    } else if said.contains("anchor or alias") {
        ("`*` and `&` begin an alias and an anchor", "put quotes around a plain text: `\"*\"`")
    } else if said.contains("mapping values are not allowed") {
        let hint = "quote a text that contains `: `, and check the indentation of this line";
        ("a `:` where no key can be", hint)
    } else if said.contains("unexpected character") {
        (said, "put quotes around a text that begins with this character")
    } else if said.contains("quoted scalar") {
        (said, "is a quote left open?")
    } else {
        return (said.to_owned(), None);
    };
    (message.to_owned(), Some(hint))
}
