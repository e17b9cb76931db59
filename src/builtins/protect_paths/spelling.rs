//! What one word of a command can be once its braces and variables are written out.

use std::collections::{BTreeMap, BTreeSet};

use super::texts::TooMany;
use super::words::UNKNOWN;

/// How many versions of one word are told apart; what would make more becomes unknown.
const MOST: usize = 64;
/// How deep braces may stand in braces.
const DEPTH: usize = 32;

/// What is known about variables.
pub(super) struct Variables<'v> {
    /// What the command itself sets.
    pub(super) set: BTreeMap<String, BTreeSet<String>>,
    /// What the environment holds.
    pub(super) environment: &'v dyn Fn(&str) -> Option<String>,
}

impl Variables<'_> {
    /// Returns what the variable `name` can be. Nothing is certain: a shell may have another
    /// environment, and a command many ways to set a variable.
    fn values(&self, name: &str) -> Vec<String> {
        // A value that is made of variables itself is not followed.
        let set = self.set.get(name).into_iter().flatten().filter(|value| !value.contains('$'));
        let mut values: Vec<String> = set.cloned().chain((self.environment)(name)).collect();
        values.push(UNKNOWN.into());
        values
    }
}

/// Returns every version of `word`. It takes one pass: neither time nor memory grows faster than
/// the word.
pub(super) fn spellings(word: &str, variables: &Variables<'_>) -> Result<Vec<String>, TooMany> {
    let mut whole = Level::default();
    let mut braces: Vec<Level> = Vec::new();
    let mut rest = word;
    while let Some(at) = rest.find(['$', '{', ',', '}']) {
        let (before, special, after) = (&rest[..at], &rest[at..=at], &rest[at + 1..]);
        rest = after;
        let depth = braces.len();
        let level = braces.last_mut().unwrap_or(&mut whole);
        level.push(before);
        match special {
            "$" => {
                let (values, length) = expansion(after, variables);
                level.multiply(&values);
                rest = &after[length..];
            }
            "{" if depth == DEPTH => return Err(TooMany),
            "{" => braces.push(Level::default()),
            "," if depth > 0 => level.next_alternative(),
            // The outermost `{` waits for a `}` behind a comma: `{a},b}` is `a}` and `b`.
            "}" if depth > 1 || depth == 1 && level.is_choice() => {
                let values = braces.pop().map(Level::closed).unwrap_or_default();
                braces.last_mut().unwrap_or(&mut whole).multiply(&values);
            }
            other => level.push(other),
        }
    }
    braces.last_mut().unwrap_or(&mut whole).push(rest);
    let mut versions = whole.literal;
    for unclosed in braces {
        versions.push("{");
        versions.multiply(&unclosed.literal.0);
    }
    Ok(versions.0)
}

/// The versions of a text.
struct Versions(Vec<String>);

impl Default for Versions {
    fn default() -> Self {
        Self(vec![String::new()])
    }
}

impl Versions {
    fn push(&mut self, text: &str) {
        self.0.iter_mut().for_each(|version| version.push_str(text));
    }

    /// Adds a text that may be any of `values`.
    fn multiply(&mut self, values: &[String]) {
        match values {
            [value] => self.push(value),
            values if self.0.len() * values.len() > MOST => self.push(UNKNOWN_TEXT),
            values => {
                let with = |value| self.0.iter().map(move |start| format!("{start}{value}"));
                self.0 = values.iter().flat_map(with).collect();
            }
        }
    }
}

const UNKNOWN_TEXT: &str = "\0";

/// What stands behind a `{`, or the whole word.
#[derive(Default)]
struct Level {
    /// All of it, were the braces no braces.
    literal: Versions,
    /// What stands behind the last comma.
    last: Versions,
    /// What stands before that.
    before: Vec<String>,
    commas: usize,
    range: bool,
}

impl Level {
    fn push(&mut self, text: &str) {
        self.range |= text.contains("..");
        self.literal.push(text);
        self.last.push(text);
    }

    fn multiply(&mut self, values: &[String]) {
        self.literal.multiply(values);
        self.last.multiply(values);
    }

    fn next_alternative(&mut self) {
        self.literal.push(",");
        self.commas += 1;
        let last = std::mem::take(&mut self.last);
        if self.before.len() <= MOST {
            self.before.extend(last.0);
        }
    }

    /// Returns whether it is `{a,b}` or `{a..b}`.
    fn is_choice(&self) -> bool {
        self.commas > 0 || self.range
    }

    /// Returns what it stands for once its `}` is there. A range is unknown.
    fn closed(self) -> Vec<String> {
        if self.commas > 0 {
            self.before.into_iter().chain(self.last.0).collect()
        } else if self.range {
            vec![UNKNOWN_TEXT.to_owned()]
        } else {
            self.literal.0.into_iter().map(|inside| format!("{{{inside}}}")).collect()
        }
    }
}

/// Returns what the text after a `$` stands for, and how much of the text that takes.
fn expansion(after: &str, variables: &Variables<'_>) -> (Vec<String>, usize) {
    let unknown = || vec![UNKNOWN.to_string()];
    if let Some(inside) = after.strip_prefix('{') {
        // Behind the name may stand what to do with the value.
        let length = inside.find('}').map_or(after.len(), |end| end + 2);
        return match name(inside) {
            "" => (unknown(), length),
            name => (variables.values(name), length),
        };
    }
    match name(after) {
        // A `$` at the end is a `$`; `$1`, `$?` and their like are unknown.
        "" if after.is_empty() => (vec!["$".to_owned()], 0),
        "" => (unknown(), after.chars().next().map_or(0, char::len_utf8)),
        name => (variables.values(name), name.len()),
    }
}

/// Returns the name that `text` begins with.
pub(super) fn name(text: &str) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text.bytes().next() {
        Some(b'0'..=b'9') => "",
        _ => &text[..text.bytes().take_while(is_part).count()],
    }
}
