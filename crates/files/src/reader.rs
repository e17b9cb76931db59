//! Reads typed values out of the tree of a file, and collects what is wrong with it.

use std::collections::HashMap;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{Node, Value};
use super::section::Kind;
use super::source::{Location, SourceFile};
use super::yaml;
use crate::suggest;

/// Returns what to do about a key that is only typed wrongly.
pub fn spelling(name: &str) -> Option<String> {
    if let Some((_, odd)) = yaml::odd_space(name) {
        return Some(format!("it contains {odd}: replace it with a normal space"));
    }
    let word = name.strip_prefix('-')?;
    Some(format!("a `-` needs a space behind it: `- {word}:`"))
}

/// Reads one file.
pub struct Reader {
    /// The file.
    pub file: Arc<SourceFile>,
    /// All problems that were found.
    pub problems: Diagnostics,
    errors: usize,
    /// Tells the key below which another key belongs.
    pub parent_of: fn(&str) -> Option<&'static str>,
    /// The only names that are known where the reader is, if they are few: for the program that reads.
    pub names: Option<&'static [&'static str]>,
}

/// Name, key and value of an entry of a mapping.
pub type Entry<'n> = (&'n str, &'n Node<'n>, &'n Node<'n>);

/// The keys of a mapping, each known and there once.
#[derive(Default)]
pub struct Fields<'n> {
    entries: Vec<Entry<'n>>,
    /// The keys that unknown ones were probably meant to be.
    meant: Vec<String>,
}

impl<'n> Fields<'n> {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&'n Node<'n>> {
        let (_, _, value) = self.iter().find(|(name, ..)| *name == key)?;
        Some(value)
    }

    /// Returns the place of a key.
    fn key(&self, key: &str) -> Option<&'n Node<'n>> {
        let (_, node, _) = self.iter().find(|(name, ..)| *name == key)?;
        Some(node)
    }

    /// Returns whether a key is missing, and was not just misspelt, which is reported already.
    pub fn lacks(&self, key: &str) -> bool {
        self.get(key).is_none() && !self.meant.iter().any(|meant| meant == key)
    }

    /// Takes out the entries whose key is not `known`.
    pub fn split_off(&mut self, known: &[&str]) -> Vec<Entry<'n>> {
        self.entries.extract_if(.., |(name, ..)| !known.contains(name)).collect()
    }

    /// Returns the entries in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'n>> {
        self.entries.iter().copied()
    }
}

impl Reader {
    /// Returns a reader of `file`.
    pub fn new(file: Arc<SourceFile>) -> Self {
        let problems = Diagnostics::default();
        Self { file, problems, errors: 0, parent_of: |_| None, names: None }
    }

    /// Returns what was read if no error was found, else all problems.
    ///
    /// # Errors
    /// All problems that were found.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Diagnostics> {
        match value {
            Some(value) if self.errors == 0 => Ok(value),
            _ => Err(self.problems),
        }
    }

    /// Returns how many errors were found so far. Compare it before and after reading several
    /// values.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns whether a file has so many mistakes that it is something else. To look for suggestions would
    /// then take the time of all the rest.
    pub fn is_hopeless(&self) -> bool {
        self.errors > 100
    }

    /// Returns the place of a value; of one that goes over several lines, the first.
    pub fn location(&self, node: &Node) -> Location {
        let mut range = node.span.clone();
        if let Some(text) = self.file.text.get(range.clone())
            && let Some(newline) = text.find('\n')
        {
            range.end = range.start + text[..newline].trim_end().len();
        }
        Location::new(Arc::clone(&self.file), range)
    }

    /// Notes a problem at a value.
    pub fn report(&mut self, node: &Node, problem: Diagnostic) {
        let problem = problem.at(self.location(node));
        self.note(problem);
    }

    /// Notes a problem that has a place already.
    pub fn note(&mut self, problem: Diagnostic) {
        self.errors += usize::from(problem.is_error());
        self.problems.push(problem);
    }

    /// Notes an error at a value.
    pub fn error(&mut self, node: &Node, message: impl Into<String>) {
        self.report(node, Diagnostic::error(message));
    }

    /// Notes an error at a value, with what to do.
    pub fn error_with_hint(
        &mut self,
        node: &Node,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.report(node, Diagnostic::error(message).hint(hint));
    }

    /// Notes an error at a value, and returns `None` in the place of what was to be read.
    pub fn refuse<T>(&mut self, node: &Node, message: impl Into<String>) -> Option<T> {
        self.error(node, message);
        None
    }

    /// Like [`refuse`](Self::refuse), with what to do.
    pub fn refuse_with_hint<T>(
        &mut self,
        node: &Node,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        self.error_with_hint(node, message, hint);
        None
    }

    /// Reports a value of another kind than expected, and returns `None` in its place.
    pub fn expected<T>(&mut self, what: &str, expected: &str, node: &Node) -> Option<T> {
        let message = match node.value {
            Value::Null => format!("{what} has no value"),
            _ => format!("{what} must be {expected}, not {}", node.kind()),
        };
        if let Some((_, odd)) = node.as_text().and_then(yaml::odd_space) {
            let hint = format!("the text contains {odd}: replace it with a normal space");
            return self.refuse_with_hint(node, message, hint);
        }
        let hint = match (expected, &node.value) {
            (_, Value::Null) => "write it behind the `:`, or indent the lines that belong to it",
            ("a mapping", Value::List(_)) => "write `key: value`, without `-` or `[` before it",
            ("a mapping", _) => "write `key: value`, or indent it below the key it belongs to",
            ("a list", _) => "write `- ` before each item, or `[` and `]` around all of them",
            ("text", _) => "write one text, in quotes if it has a `: `, `[` or `{` in it",
            _ => return self.refuse(node, message),
        };
        self.refuse_with_hint(node, message, hint)
    }

    /// Returns the items of a list; any other value is reported.
    pub fn list<'n>(&mut self, node: &'n Node<'n>, what: &str) -> Option<&'n [Node<'n>]> {
        match &node.value {
            Value::List(items) => Some(items),
            _ => self.expected(what, "a list", node),
        }
    }

    /// Reads a value; messages call it `what`.
    pub fn value<'n, T: Kind<'n>>(&mut self, node: &'n Node<'n>, what: &str) -> Option<T> {
        T::read(self, node, what)
    }

    /// Reads a mapping whose keys are all known; every unknown or repeated key is reported.
    pub fn fields<'n>(
        &mut self,
        node: &'n Node<'n>,
        what: &str,
        known: &[&str],
    ) -> Option<Fields<'n>> {
        let mut fields = self.open_fields(node, what)?;
        let mut meant = Vec::new();
        for (name, key, _) in fields.iter() {
            if !known.contains(&name) {
                meant.extend(self.unknown_key(key, name, what, known));
            }
        }
        fields.meant = meant;
        Some(fields)
    }

    /// Reads a mapping whose keys are the author's own.
    pub fn open_fields<'n>(&mut self, node: &'n Node<'n>, what: &str) -> Option<Fields<'n>> {
        let Value::Map(entries) = &node.value else {
            return self.expected(what, "a mapping", node);
        };
        // The few keys of most mappings are compared sooner than hashed.
        let mut seen: HashMap<&str, &Node> = HashMap::new();
        // How many keys of a mapping are compared one by one.
        let is_hashed = entries.len() > 24;
        let mut fields = Fields { entries: Vec::with_capacity(entries.len()), meant: Vec::new() };
        for (key, value) in entries {
            let Some(name) = key.as_text() else {
                let message = format!("a key must be text, not {}", key.kind());
                self.error_with_hint(key, message, "put quotes around it");
                continue;
            };
            let first = if is_hashed { seen.get(name).copied() } else { fields.key(name) };
            if let Some(first) = first {
                let line = self.location(first).line();
                let message = format!("the key `{name}` appears twice, first on line {line}");
                let hint = "keep one of the two, or write both values into one";
                self.error_with_hint(key, message, hint);
                continue;
            }
            if is_hashed {
                seen.insert(name, key);
            }
            fields.entries.push((name, key, value));
        }
        Some(fields)
    }

    /// Reports an unknown key, and returns the one that was probably meant.
    fn unknown_key(
        &mut self,
        key: &Node,
        name: &str,
        what: &str,
        known: &[&str],
    ) -> Option<String> {
        let message = format!("unknown key `{name}` in {what}");
        if self.is_hopeless() {
            return self.refuse(key, message);
        }
        let before = self.file.text.get(..key.span.start).unwrap_or_default().trim_end();
        let behind = self.file.text.get(key.span.end..).unwrap_or_default().trim_start();
        let (meant, hint) = if let Some((word, value)) = name.split_once(':')
            && known.contains(&word)
        {
            let hint = format!("a `:` needs a space behind it: `{word}: {value}`");
            (Some(word.to_owned()), hint)
        } else if before.ends_with(',') && (name.contains(' ') || behind.starts_with([',', '}'])) {
            let hint = "a comma ends a text without quotes: put quotes around the text, or write \
                        a list as `[a, b]`";
            (None, hint.to_owned())
        } else if let Some(hint) = spelling(name) {
            let meant = name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
            (Some(meant.to_owned()), hint)
        } else if let Some(parent) = (self.parent_of)(name)
            && known.contains(&parent)
        {
            let hint = format!("indent it below `{parent}:`, as `{parent}: {{ {name}: ... }}`");
            (Some(parent.to_owned()), hint)
        } else if ["contains", "matches"].contains(&name) && known.contains(&"regex") {
            let hint = "write `regex`: the pattern may be anywhere in the value";
            (Some("regex".to_owned()), hint.to_owned())
        } else if let Some(near) = suggest::closest(name, known.iter().copied()) {
            (Some(near.to_owned()), suggest::question(near))
        } else {
            (None, format!("known here: {}", known.join(", ")))
        };
        self.error_with_hint(key, message, hint);
        meant
    }

    /// Returns the text that a plain value was written as.
    pub fn written(&self, node: &Node) -> &str {
        let text = self.file.text.get(node.span.clone()).unwrap_or_default();
        text.trim_matches(['"', '\''])
    }
}
