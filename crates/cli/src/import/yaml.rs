//! Values of a hooks file as YAML.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use hookexec::Event;
use hookexec::config::Location;
use hookexec::internal::SourceFile;
use hookexec::internal::reading::{Node, Value};

use super::tree::get;

/// What is written.
#[derive(Default)]
pub(super) struct Written {
    pub(super) text: String,
    /// How many hooks run twice if they stay in the settings. Permission rules may stay.
    pub(super) scripts: usize,
    /// The lines of these hooks.
    pub(super) lines: BTreeSet<usize>,
    /// Whether a hook has a dialect.
    pub(super) has_dialect: bool,
    /// Whether a command has none.
    pub(super) has_no_dialect: bool,
}

/// Writes sections of a hooks file.
pub(super) struct Writer {
    /// The file that the values come from.
    source: Arc<SourceFile>,
    pub(super) written: Written,
}

impl Writer {
    pub(super) fn new(source: Arc<SourceFile>) -> Self {
        Self { source, written: Written::default() }
    }

    /// Writes `processes:` or `hooks:`.
    pub(super) fn section(&mut self, name: &str, entries: &[(Node<'_>, Node<'_>)]) {
        let nothing = if entries.is_empty() { " {}" } else { "" };
        self.line("\n", &format!("{name}:{nothing}"));
        for (key, value) in entries {
            let name = on_one_line(key, &self.source.text);
            let is_event = name.parse::<Event>().is_ok();
            match &value.value {
                Value::List(_) | Value::Map(_) if is_event => {
                    self.line("  ", &format!("{name}:"));
                    self.items(value.one_or_many(), "    ");
                }
                Value::Map(processes) if name == "processes" => {
                    self.line("  ", "processes:");
                    for (name, process) in processes {
                        self.pair("    ", name, process);
                    }
                }
                _ => self.pair("  ", key, value),
            }
        }
    }

    /// Writes matcher entries or hooks, each with the line that it came from.
    fn items(&mut self, items: &[Node<'_>], indent: &str) {
        for item in items {
            let line = Location::new(Arc::clone(&self.source), item.span.clone()).line();
            self.line(indent, &format!("# line {line}"));
            let kind = get(item, "type").and_then(Node::as_text);
            if let Some(kind) = kind {
                let has_dialect = get(item, "dialect").is_some();
                self.written.has_dialect |= has_dialect;
                self.written.has_no_dialect |= kind == "command" && !has_dialect;
                if kind != "builtin" {
                    self.written.scripts += 1;
                    self.written.lines.insert(line);
                }
            }
            let mut first = format!("{indent}- ");
            let rest = format!("{indent}  ");
            for (key, value) in item.as_map().unwrap_or_default() {
                if kind.is_none() && key.as_text() == Some("hooks") {
                    self.line(&first, "hooks:");
                    self.items(value.one_or_many(), &format!("{rest}  "));
                } else {
                    self.pair(&first, key, value);
                }
                first.clone_from(&rest);
            }
        }
    }

    /// Writes a key and its value; a text of several lines as a block where that holds it as it is.
    fn pair(&mut self, indent: &str, key: &Node<'_>, value: &Node<'_>) {
        let key = on_one_line(key, &self.source.text);
        let lines = value.as_text().filter(|text| fits_a_block(text));
        let Some(lines) = lines else {
            return self.line(indent, &format!("{key}: {}", on_one_line(value, &self.source.text)));
        };
        self.line(indent, &format!("{key}: |-"));
        let inner = format!("{}  ", indent.replace('-', " "));
        for line in lines.split('\n') {
            self.line(if line.is_empty() { "" } else { &inner }, line);
        }
    }

    fn line(&mut self, indent: &str, text: &str) {
        let _ = writeln!(self.written.text, "{indent}{text}");
    }
}

/// Returns a value as YAML on one line.
fn on_one_line(node: &Node<'_>, source: &str) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => as_written(node, &truth.to_string(), source),
        Value::Number(number) => as_written(node, &number.to_string(), source),
        Value::Text(text) => inline(text),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| on_one_line(item, source)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            let mut written = Vec::new();
            for (key, value) in entries {
                written.push(format!(
                    "{}: {}",
                    on_one_line(key, source),
                    on_one_line(value, source)
                ));
            }
            format!("{{ {} }}", written.join(", "))
        }
    }
}

/// Returns a number or a word as it is written, because as a text it means exactly that.
fn as_written(node: &Node<'_>, value: &str, source: &str) -> String {
    let written = source.get(node.span.clone()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    // What is made here has the place of what it is made of.
    let is_word = !written.is_empty() && written.chars().all(is_plain);
    if is_word { written.to_owned() } else { value.to_owned() }
}

/// Returns whether a block of lines holds a text as it is.
fn fits_a_block(text: &str) -> bool {
    let is_safe = |line: &str| {
        line.trim_end() == line
            && !line.contains(|letter: char| letter != '\t' && letter.is_control())
    };
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with('\n')
        && text.split('\n').all(is_safe)
}

/// Returns a text as a YAML scalar on one line.
pub(crate) fn inline(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./|".contains(letter);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = |first: char| first.is_ascii_alphabetic() || "./".contains(first);
    // No number ends in `ms`.
    let bare = (text.starts_with(begins) || text.ends_with("ms"))
        && text.chars().any(|letter| letter.is_ascii_alphabetic())
        && text.chars().all(plain)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if bare {
        text.to_owned()
    } else if text.chars().any(char::is_control) || text.contains('\u{feff}') {
        // YAML takes every escape that JSON has.
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use hookexec::Config;
    use hookexec::config::Command;

    use super::super::tree::{Mapping, made};
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "a", "a b", "it's", "'", "\"", "\\", "#a", "a #b", "a: b", "- a", "? a", "|", ">",
            "&a", "*a", "!a", "%a", "@a", "`a`", "{a}", "[a]", "a,b", "true", "No", "null", "~",
            "12", "1e5", "0x1F", ".5", "-1", "5ms", "e5", "...", "---", "a\nb", "a\n\nb", "a\n b",
            "a\n\tb", "a\tb\nc", " a\nb", "\na", "a\n", "a\n\n", "a \nb", "a\n ", "a\r\nb", "a\rb",
            "a\n#b", "a\n---\nb", "a\n...\nb", "a\u{85}b", "a\u{2028}b\nc", "\u{feff}a\nb",
            "\u{1b}[0m", "\u{a0}a\nb", "\u{1f642}\né",
        ] {
            let mut hook = Mapping::new(0..0);
            hook.set("command", text);
            hook.set("type", "command");
            let list = Node { value: Value::List(vec![hook.into_node()]), span: 0..0 };
            let mut writer = Writer::new(Arc::new(SourceFile::new("x", "")));
            writer.section("hooks", &[(made(&"stop".into(), &(0..0)), list)]);
            let yaml = writer.written.text;
            let config = Config::from_yaml(&yaml, "hooks.yaml");
            let config = config.unwrap_or_else(|error| panic!("{text:?}: {error:?}\n{yaml}"));
            let expected = Some(Command::Text(text.to_owned()));
            assert_eq!(config.hooks[0].command, expected, "{yaml}");
        }
    }
}
