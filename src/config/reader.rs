//! Reads typed values out of the tree of a file, and collects what is wrong with it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::condition::List;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{Node, Value};
use super::section::Kind;
use super::source::{Location, SourceFile};
use super::yaml;
use crate::suggest;

/// What other systems call our keys.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("async", "background"),
    ("condition", "when"),
    ("cwd", "working_dir"),
    ("dir", "working_dir"),
    ("description", "name"),
    ("disabled", "enabled"),
    ("environment", "env"),
    ("if", "when"),
    ("parameters", "with"),
    ("params", "with"),
    ("run", "command"),
    ("timeout_ms", "timeout"),
    ("timeout_sec", "timeout"),
    ("tool", "matcher"),
];

/// What http, mcp and model hooks have below `with:`.
const PARAMETERS: [&str; 10] = [
    "api", "api_key", "arguments", "headers", "model", "prompt", "secret", "server", "tool", "url",
];

/// After how many mistakes no suggestions are looked for any more: that would take the time of all
/// the rest, for a file that is something else.
pub(crate) const MAX_SUGGESTIONS: usize = 100;

/// How many keys of a mapping are compared one by one.
const FEW: usize = 24;

/// Returns what to do about a key that is only typed wrongly.
pub(crate) fn spelling(name: &str) -> Option<String> {
    if let Some((_, odd)) = yaml::odd_space(name) {
        return Some(format!("it contains {odd}: replace it with a normal space"));
    }
    let word = name.strip_prefix('-')?;
    Some(format!("a `-` needs a space behind it: `- {word}:`"))
}

/// Reads `text` with `read`; `path` is what messages call it.
///
/// # Errors
/// All problems of the text.
pub fn read_text<T>(
    path: &Path,
    text: &str,
    read: impl FnOnce(&mut Reader, &Node) -> Option<T>,
) -> Result<T, Diagnostics> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = Arc::new(SourceFile::new(path, text));
    let root = yaml::parse(&file)?;
    let mut reader = Reader::new(Arc::clone(&file));
    let value = read(&mut reader, &root);
    let problems = reader.into_problems();
    value.filter(|_| !problems.has_errors()).ok_or(problems)
}

/// Reads one file.
pub struct Reader {
    pub(super) file: Arc<SourceFile>,
    problems: Diagnostics,
    /// The list whose items the condition that is read now is about.
    pub(super) list: Option<List>,
    errors: usize,
}

/// The keys of a mapping, each known and there once.
#[derive(Default)]
pub struct Fields<'n> {
    entries: Vec<(&'n str, &'n Node<'n>, &'n Node<'n>)>,
    /// What unknown keys were probably meant to be.
    meant: Vec<String>,
}

impl<'n> Fields<'n> {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&'n Node<'n>> {
        self.iter().find(|(name, _, _)| *name == key).map(|(_, _, value)| value)
    }

    /// Returns whether a key is missing, and was not just misspelt, which is reported already.
    pub fn lacks(&self, key: &str) -> bool {
        self.get(key).is_none() && !self.meant.iter().any(|meant| meant == key)
    }

    /// Returns name, key and value of each entry, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&'n str, &'n Node<'n>, &'n Node<'n>)> {
        self.entries.iter().copied()
    }
}

impl Reader {
    /// Returns a reader of `file`.
    pub fn new(file: Arc<SourceFile>) -> Self {
        Self { file, problems: Diagnostics::default(), list: None, errors: 0 }
    }

    /// Returns all problems that were found.
    pub fn into_problems(self) -> Diagnostics {
        self.problems
    }

    /// Returns how many errors were found so far. Compare it before and after reading several
    /// values.
    pub fn errors(&self) -> usize {
        self.errors
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
        let mut problem =
            Diagnostic::error(format!("{what} must be {expected}, not {}", node.kind()));
        if let Some((_, odd)) = node.as_text().and_then(yaml::odd_space) {
            problem =
                problem.hint(format!("the text contains {odd}: replace it with a normal space"));
        }
        self.report(node, problem);
        None
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
        let mut seen = (entries.len() > FEW).then(HashMap::<&str, &Node>::new);
        let mut fields = Fields { entries: Vec::with_capacity(entries.len()), meant: Vec::new() };
        for (key, value) in entries {
            let Some(name) = key.as_text() else {
                self.error_with_hint(
                    key,
                    format!("a key must be text, not {}", key.kind()),
                    "put quotes around it",
                );
                continue;
            };
            let first = match &seen {
                Some(seen) => seen.get(name).copied(),
                None => fields.iter().find(|(known, ..)| *known == name).map(|(_, key, _)| key),
            };
            if let Some(first) = first {
                let line = self.location(first).line();
                self.report(
                    key,
                    Diagnostic::error(format!("the key `{name}` appears twice"))
                        .label(format!("first on line {line}"))
                        .hint("keep one of the two, or write both values into one"),
                );
                continue;
            }
            if let Some(seen) = &mut seen {
                seen.insert(name, key);
            }
            fields.entries.push((name, key, value));
        }
        Some(fields)
    }

    /// Reports an unknown key, and returns what it was probably meant to be.
    fn unknown_key(
        &mut self,
        key: &Node,
        name: &str,
        what: &str,
        known: &[&str],
    ) -> Option<String> {
        if self.errors > MAX_SUGGESTIONS {
            return self.refuse(key, format!("unknown key `{name}` in {what}"));
        }
        if let Some(hint) = spelling(name) {
            self.error_with_hint(key, format!("unknown key `{name}` in {what}"), hint);
            return Some(name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).into());
        }
        if PARAMETERS.contains(&name) && known.contains(&"with") {
            let hint = format!("put it below `with:`: `with: {{ {name}: ... }}`");
            self.error_with_hint(key, format!("unknown key `{name}` in {what}"), hint);
            return Some("with".to_owned());
        }
        let elsewhere =
            OTHER_NAMES.iter().find(|(other, ours)| *other == name && known.contains(ours));
        let meant = elsewhere
            .map(|(_, ours)| *ours)
            .or_else(|| suggest::closest(name, known.iter().copied()))
            .map(str::to_owned);
        let all = || format!("known here: {}", known.join(", "));
        let hint = meant.as_deref().map_or_else(all, suggest::question);
        self.error_with_hint(key, format!("unknown key `{name}` in {what}"), hint);
        meant
    }

    /// Returns the text that a plain value was written as.
    pub fn written(&self, node: &Node) -> &str {
        let text = self.file.text.get(node.span.clone()).unwrap_or_default();
        text.trim_matches(['"', '\''])
    }
}
