//! Reads typed values out of the tree of a file, and collects what is wrong with it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::layer::Layer;
use super::model::Hook;
use super::node::{Node, Value};
use super::source::{Location, SourceFile};
use super::yaml;
use crate::directories::DROP_INS;
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

/// After how many mistakes no suggestions are looked for any more: that would take the time of all
/// the rest, for a file that is something else.
pub(super) const MAX_SUGGESTIONS: usize = 100;

/// How many problems of one file are kept: a file with more of them is something else.
const MAX_PROBLEMS: usize = 1_000;

/// How many keys of a mapping are compared one by one.
const FEW: usize = 24;

/// Returns what to do about a key that is only typed wrongly.
pub(super) fn spelling(name: &str) -> Option<String> {
    if let Some((_, odd)) = yaml::odd_space(name) {
        return Some(format!("it contains {odd}: replace it with a normal space"));
    }
    let word = name.strip_prefix('-')?;
    Some(format!("a `-` needs a space behind it: `- {word}:`"))
}

/// Reads one file.
pub struct Reader {
    file: Arc<SourceFile>,
    problems: Vec<Diagnostic>,
    errors: usize,
    left_out: usize,
    /// Hooks with errors, as far as they could be read: others may find more in them.
    pub(super) broken_hooks: Vec<Hook>,
}

/// The keys of a mapping, each known and there once.
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
    /// Returns a reader of `file`, without problems so far.
    #[must_use]
    pub fn new(file: Arc<SourceFile>) -> Self {
        Self { file, problems: Vec::new(), errors: 0, left_out: 0, broken_hooks: Vec::new() }
    }

    /// Returns whether the file stands in a `hooks.d`.
    pub(super) fn is_drop_in(&self) -> bool {
        let directory = self.file.path.parent().and_then(Path::file_name);
        directory.is_some_and(|name| name == DROP_INS)
    }

    /// Returns who brought the file in.
    pub(super) fn layer(&self) -> Layer {
        self.file.layer
    }

    /// Returns all problems that were found.
    #[must_use]
    pub fn into_problems(self) -> Diagnostics {
        let mut problems = Diagnostics::default();
        problems.extend(self.problems);
        if self.left_out > 0 {
            let end = self.file.text.len();
            let message = format!("{} more problems are not shown", self.left_out);
            let problem = if self.errors > 0 {
                Diagnostic::error(message)
            } else {
                Diagnostic::warning(message)
            };
            problems.push(problem.at(Location::new(self.file, end..end)));
        }
        problems
    }

    /// Returns how many errors were found so far: who reads several values asks before and after.
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
    pub(super) fn report(&mut self, node: &Node, problem: Diagnostic) {
        let problem = problem.at(self.location(node));
        self.note(problem);
    }

    /// Notes a problem that has a place already.
    pub(super) fn note(&mut self, problem: Diagnostic) {
        self.errors += usize::from(problem.severity == Severity::Error);
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    /// Reports an error at a value.
    pub fn error(&mut self, node: &Node, message: impl Into<String>) {
        self.report(node, Diagnostic::error(message));
    }

    /// Reports an error at a value, and what to do.
    pub fn error_with_hint(
        &mut self,
        node: &Node,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.report(node, Diagnostic::error(message).hint(hint));
    }

    fn expected(&mut self, what: &str, expected: &str, node: &Node) {
        let mut problem =
            Diagnostic::error(format!("{what} must be {expected}, not {}", node.kind()));
        if let Some((_, odd)) = node.as_text().and_then(yaml::odd_space) {
            problem =
                problem.hint(format!("the text contains {odd}: replace it with a normal space"));
        }
        self.report(node, problem);
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
            self.expected(what, "a mapping", node);
            return None;
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

    /// Reports a key that nobody reads, and returns what it was probably meant to be.
    fn unknown_key(
        &mut self,
        key: &Node,
        name: &str,
        what: &str,
        known: &[&str],
    ) -> Option<String> {
        if self.errors > MAX_SUGGESTIONS {
            self.error(key, format!("unknown key `{name}` in {what}"));
            return None;
        }
        if let Some(hint) = spelling(name) {
            self.error_with_hint(key, format!("unknown key `{name}` in {what}"), hint);
            return Some(name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).into());
        }
        let elsewhere =
            OTHER_NAMES.iter().find(|(other, ours)| *other == name && known.contains(ours));
        let meant = elsewhere
            .map(|(_, ours)| *ours)
            .or_else(|| suggest::closest(name, known.iter().copied()))
            .map(str::to_owned);
        let hint = match &meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        self.error_with_hint(key, format!("unknown key `{name}` in {what}"), hint);
        meant
    }

    /// Reads a text; a number or a boolean stands for the text it was written as.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = match &node.value {
            Value::Text(text) => text.to_string(),
            Value::Bool(_) | Value::Number(_) => self.written(node).to_owned(),
            Value::Null => {
                self.error(node, format!("{what} has no value"));
                return None;
            }
            Value::List(_) | Value::Map(_) => {
                self.expected(what, "text", node);
                return None;
            }
        };
        if text.contains('\0') {
            self.error(node, format!("{what} contains a NUL character"));
            return None;
        }
        Some(text)
    }

    /// Reads a text that is not blank.
    pub fn filled_text(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = self.text(node, what)?;
        if text.trim().is_empty() {
            self.error(node, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// Reads a list of texts.
    pub(super) fn texts(&mut self, node: &Node, what: &str) -> Option<Vec<String>> {
        let Value::List(items) = &node.value else {
            self.expected(what, "a list", node);
            return None;
        };
        let texts: Vec<String> = items
            .iter()
            .filter_map(|item| self.text(item, &format!("an item of {what}")))
            .collect();
        (texts.len() == items.len()).then_some(texts)
    }

    /// Returns a boolean; anything else is an error.
    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        match &node.value {
            Value::Bool(flag) => Some(*flag),
            Value::Text(text) if ["yes", "no", "on", "off"].contains(&&*text.to_lowercase()) => {
                self.error_with_hint(
                    node,
                    format!("{what} must be `true` or `false`, not `{text}`"),
                    "`yes` and `no` are plain text in YAML 1.2",
                );
                None
            }
            _ => {
                self.expected(what, "`true` or `false`", node);
                None
            }
        }
    }

    /// Reads one of several words.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let names = || choices.iter().map(|(name, _)| *name);
        let all = names().collect::<Vec<_>>().join(", ");
        let Some(text) = node.as_text() else {
            self.expected(what, &format!("one of {all}"), node);
            return None;
        };
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let hint = match suggest::closest(text, names()) {
            Some(suggestion) => format!("did you mean `{suggestion}`?"),
            None => format!("one of {all}"),
        };
        self.error_with_hint(node, format!("unknown value `{text}` for {what}"), hint);
        None
    }

    /// Reads `env:`: names and texts.
    pub(super) fn environment(&mut self, node: &Node) -> Option<BTreeMap<String, String>> {
        let fields = self.open_fields(node, "`env`")?;
        let mut variables = BTreeMap::new();
        for (name, key, value) in fields.iter() {
            if name.is_empty() || name.contains(['=', '\0']) {
                self.error(key, format!("`{name}` can't be the name of an environment variable"));
            }
            if matches!(value.value, Value::Null) {
                let hint = "write `\"\"` for an empty text";
                self.error_with_hint(value, format!("`{name}` has no value"), hint);
            } else if let Some(text) = self.text(value, &format!("`{name}`")) {
                variables.insert(name.to_owned(), text);
            }
        }
        Some(variables)
    }

    /// Reads any value as JSON, for those who read it themselves.
    pub fn json(&mut self, node: &Node) -> Option<serde_json::Value> {
        Some(match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => serde_json::Value::Bool(*flag),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::Text(text) => serde_json::Value::String(text.to_string()),
            Value::List(items) => {
                serde_json::Value::Array(items.iter().filter_map(|item| self.json(item)).collect())
            }
            Value::Map(_) => {
                let fields = self.open_fields(node, "the value")?;
                let entries = fields
                    .iter()
                    .filter_map(|(name, _, value)| Some((name.to_owned(), self.json(value)?)));
                serde_json::Value::Object(entries.collect())
            }
        })
    }

    /// Returns how a value is written, and what follows it on its line.
    pub(super) fn line_from(&self, node: &Node) -> (&str, &str) {
        let written = self.file.text.get(node.span.clone()).unwrap_or_default();
        let rest = self.file.text.get(node.span.end..).unwrap_or_default();
        (written, rest.lines().next().unwrap_or_default())
    }

    /// Returns the text that a plain value was written as.
    pub(super) fn written(&self, node: &Node) -> &str {
        let text = self.file.text.get(node.span.clone()).unwrap_or_default();
        text.trim_matches(['"', '\''])
    }
}
