//! Values of a hooks file that is made of another file, and their YAML. Each knows its place in that file.

use std::fmt::Write as _;
use std::ops::Range;

use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
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

/// Returns a mapping as YAML, each entry on a line of its own, with the line of the file that `reader`
/// reads above each hook. The reader knows how a value is written there.
pub(super) fn written(reader: &Reader, mapping: &Node<'_>) -> String {
    let mut text = String::new();
    write_entries(&mut text, reader, mapping, 0);
    text
}

fn write_entries(text: &mut String, reader: &Reader, mapping: &Node<'_>, indent: usize) {
    for (key, value) in mapping.as_map().unwrap_or_default() {
        let key = on_one_line(reader, key);
        let _ = write!(text, "{:indent$}{key}:", "");
        write_value(text, reader, value, indent + 2);
    }
}

/// Writes a value behind its key: mappings and texts of several lines as blocks.
fn write_value(text: &mut String, reader: &Reader, node: &Node<'_>, indent: usize) {
    match &node.value {
        Value::Text(lines) if fits_a_block(lines) => {
            text.push_str(" |-\n");
            for line in lines.split('\n') {
                let indent = if line.is_empty() { 0 } else { indent };
                let _ = writeln!(text, "{:indent$}{line}", "");
            }
        }
        Value::Map(_) if is_block(node) => {
            text.push('\n');
            write_entries(text, reader, node, indent);
        }
        Value::List(items) if !items.is_empty() && items.iter().all(is_block) => {
            text.push('\n');
            for item in items {
                if item.get("type").is_some() {
                    let line = reader.location(item).line();
                    let _ = writeln!(text, "{:indent$}# line {line}", "");
                }
                let dash = text.len() + indent;
                write_entries(text, reader, item, indent + 2);
                text.replace_range(dash..=dash, "-");
            }
        }
        _ => {
            let value = on_one_line(reader, node);
            let _ = writeln!(text, " {value}");
        }
    }
}

fn on_one_line(reader: &Reader, node: &Node<'_>) -> String {
    let written = reader.written(node);
    match &node.value {
        // As a text it means exactly what is written. A value that is made here has the place of something
        // else.
        Value::Bool(_) | Value::Number(_) if !written.is_empty() && consists_of(written, "+-.") => {
            written.to_owned()
        }
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => inline(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| on_one_line(reader, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let mut written = Vec::new();
            for (key, value) in entries {
                written.push([on_one_line(reader, key), on_one_line(reader, value)].join(": "));
            }
            format!("{{{}}}", written.join(", "))
        }
    }
}

/// Returns whether a value is a mapping that has entries to write below each other.
fn is_block(node: &Node<'_>) -> bool {
    node.as_map().is_some_and(|entries| !entries.is_empty())
}

/// Returns whether a block of lines holds a text as it is.
fn fits_a_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with('\n')
        && !text.contains(|letter: char| letter.is_control() && !"\n\t".contains(letter))
        && text.split('\n').all(|line| line.trim_end() == line)
}

/// The words that some readers of YAML take for something else than a text.
const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Returns a text as a YAML scalar on one line.
pub(super) fn inline(text: &str) -> String {
    let is_plain = text.trim_start_matches(['.', '/']).starts_with(char::is_alphabetic)
        && consists_of(text, "_-./|")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    // YAML takes every escape that JSON has.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Returns whether a text has nothing but letters, digits and `others`.
pub(super) fn consists_of(text: &str, others: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || others.contains(letter))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hookexec::Config;
    use hookexec::config::Command;
    use hookexec_files::source::SourceFile;

    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "a", "a b", "it's", "'", "\"", "\\", "#a", "a #b", "a: b", "- a", "? a", "|", ">",
            "&a", "*a", "!a", "%a", "@a", "`a`", "{a}", "[a]", "a,b", "true", "No", "null", "~",
            "12", "1e5", "0x1F", ".5", ".inf", "-1", "5ms", "|s", "-s", "e5", "...", "---", "a\nb",
            "a\n\nb", "a\n b", "a\n\tb", "a\tb\nc", " a\nb", "\na", "a\n", "a\n\n", "a \nb",
            "a\n ", "a\r\nb", "a\rb", "a\n#b", "a\n---\nb", "a\n...\nb", "a\u{85}b",
            "a\u{2028}b\nc", "\u{feff}a\nb", "\u{1b}[0m", "\u{a0}a\nb", "\u{1f642}\né",
        ] {
            let mut hook = mapping(&NOWHERE);
            set(&mut hook, "command", text);
            set(&mut hook, "type", "command");
            let mut event = mapping(&NOWHERE);
            put(&mut event, "stop", list_of(vec![hook]));
            let mut file = mapping(&NOWHERE);
            put(&mut file, "hooks", event);
            let reader = Reader::new(Arc::new(SourceFile::new("x", "")));
            let yaml = written(&reader, &file);
            let config = Config::from_yaml(&yaml, "hooks.yaml");
            let config = config.unwrap_or_else(|error| panic!("{text:?}: {error:?}\n{yaml}"));
            let expected = Some(Command::Text(text.to_owned()));
            assert_eq!(config.hooks[0].command, expected, "{yaml}");
        }
    }
}
