//! The words of a shell command that may be paths.
//!
//! This is not a shell: it looks for every text that a shell could hand to a program as a path. It
//! reads the command twice: once with quotes understood, so that a name with a blank stays whole,
//! and once with all quotes and backslashes taken out, so that no trick with them hides a name.

use std::collections::BTreeSet;

use super::texts::{Texts, Unchecked, Wildcards};

/// Stands in a word for what only the shell will know: the output of a command, a variable that
/// the command does not set.
pub(super) const UNKNOWN: char = '\0';
const UNKNOWN_TEXT: &str = "\0";

/// How deep quoted commands in quoted commands are looked into.
const DEPTH: usize = 4;
/// How many versions of one word are told apart; what would make more becomes unknown.
const MOST_VERSIONS: usize = 16;

/// Knows the values of variables.
pub(super) type Environment<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Adds the words of `command` to `found`.
pub(super) fn words(
    command: &str,
    environment: Environment<'_>,
    found: &mut Texts,
) -> Result<(), Unchecked> {
    let mut raw = BTreeSet::new();
    split(command, DEPTH, &mut raw);
    let bare: String = command.chars().filter(|letter| !is_quote(*letter)).collect();
    split(&bare, 0, &mut raw);
    // `NAME=value` anywhere in the command.
    let set: Vec<(&str, &str)> = raw
        .iter()
        .filter_map(|word| word.split_once('='))
        .filter(|(variable, value)| {
            !variable.is_empty()
                && name(variable) == *variable
                && !value.contains(is_separator)
                && !value.contains('$')
        })
        .collect();
    for word in &raw {
        written_out_with(word, &set, environment, Wildcards::Visible, found)?;
    }
    Ok(())
}

/// Adds what `text` can be once its variables and braces are written out.
pub(super) fn written_out(
    text: &str,
    environment: Environment<'_>,
    wildcards: Wildcards,
    found: &mut Texts,
) -> Result<(), Unchecked> {
    written_out_with(text, &[], environment, wildcards, found)
}

fn written_out_with(
    text: &str,
    set: &[(&str, &str)],
    environment: Environment<'_>,
    wildcards: Wildcards,
    found: &mut Texts,
) -> Result<(), Unchecked> {
    // What stands in `${NAME:-here}` is a text of its own.
    let defaults = text.match_indices("${").filter_map(|(at, start)| {
        let inside = &text[at + start.len()..];
        let behind = &inside[name(inside).len()..];
        let value = behind.trim_start_matches([':', '-', '=', '+']);
        (value.len() < behind.len()).then_some(value)
    });
    for text in std::iter::once(text).chain(defaults) {
        found.add(text, wildcards)?;
        for version in versions(text, set, environment) {
            found.add(&without_braces(&version), wildcards)?;
            found.add(&version, wildcards)?;
        }
    }
    Ok(())
}

/// Returns what `text` can be once its variables are written out.
fn versions(text: &str, set: &[(&str, &str)], environment: Environment<'_>) -> Vec<String> {
    let mut versions = vec![String::new()];
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        push(&mut versions, &rest[..at]);
        let after = &rest[at + 1..];
        let braced = after.strip_prefix('{');
        let variable = name(braced.unwrap_or(after));
        let length = match braced {
            // Behind the name may stand what to do with the value.
            Some(inside) => inside.find('}').map_or(after.len(), |end| end + 2),
            None if variable.is_empty() => after.chars().next().map_or(0, char::len_utf8),
            None => variable.len(),
        };
        rest = &after[length..];
        // Nothing is certain: a shell may have another environment.
        let known = set.iter().filter(|(name, _)| *name == variable);
        let mut values: Vec<String> = known.map(|(_, value)| (*value).to_owned()).collect();
        values.extend(Some(variable).filter(|name| !name.is_empty()).and_then(environment));
        values.push(if after.is_empty() { "$" } else { UNKNOWN_TEXT }.to_owned());
        match &*values {
            [value] => push(&mut versions, value),
            values if versions.len() * values.len() > MOST_VERSIONS => {
                push(&mut versions, UNKNOWN_TEXT);
            }
            values => {
                let with = |value| versions.iter().map(move |start| format!("{start}{value}"));
                versions = values.iter().flat_map(with).collect();
            }
        }
    }
    push(&mut versions, rest);
    versions
}

fn push(versions: &mut [String], text: &str) {
    for version in versions {
        version.push_str(text);
    }
}

/// Returns `word` with everything from its first `{` to its last `}` unknown, if that may be
/// `{a,b}` or `{1..3}`.
fn without_braces(word: &str) -> String {
    match (word.find('{'), word.rfind('}')) {
        (Some(start), Some(end)) if word.get(start..end).is_some_and(is_choice) => {
            format!("{}{UNKNOWN}{}", &word[..start], &word[end + 1..])
        }
        _ => word.to_owned(),
    }
}

fn is_choice(inside: &str) -> bool {
    inside.contains(',') || inside.contains("..")
}

fn is_quote(letter: char) -> bool {
    matches!(letter, '\'' | '"' | '\\')
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '`')
}

/// Splits a command at blanks and operators outside quotes, quotes taken off. A quoted text with
/// blanks may be a command itself, so its words count as well.
fn split(command: &str, depth: usize, words: &mut BTreeSet<String>) {
    let mut splitter =
        Splitter { words, depth, word: String::new(), behind_output: false, goes_home: false };
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        let word = &mut splitter.word;
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(escaped) => word.push(escaped),
            },
            '\'' => word.extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => double_quoted(&mut letters, word),
            '$' if matches!(letters.peek(), Some('\'' | '"')) => {}
            // The output of a command; the command's own words follow.
            '$' if letters.peek() == Some(&'(') => word.push(UNKNOWN),
            '`' => {
                if !word.is_empty() {
                    let before = format!("{word}{UNKNOWN}");
                    splitter.words.insert(before);
                }
                splitter.finish(true);
                splitter.end_command();
            }
            _ if is_separator(letter) => {
                splitter.finish(letter == ')');
                if letter == '\n' || !letter.is_whitespace() {
                    splitter.end_command();
                }
            }
            _ => word.push(letter),
        }
    }
    splitter.finish(false);
    splitter.end_command();
}

struct Splitter<'w> {
    words: &'w mut BTreeSet<String>,
    depth: usize,
    word: String,
    /// Whether the output of a command may stand right before the word and be a part of it.
    behind_output: bool,
    /// Whether the command, if it ends here, is a `cd` without a directory.
    goes_home: bool,
}

impl Splitter<'_> {
    /// Ends the word.
    fn finish(&mut self, behind_output: bool) {
        let word = std::mem::take(&mut self.word);
        let was_behind = std::mem::replace(&mut self.behind_output, behind_output);
        if word.is_empty() {
            return;
        }
        self.goes_home = matches!(word.as_str(), "cd" | "pushd")
            || self.goes_home && word.starts_with('-') && word != "-";
        if was_behind {
            self.words.insert(format!("{UNKNOWN}{word}"));
        }
        if self.depth > 0 && word.contains(|letter| is_separator(letter) || is_quote(letter)) {
            split(&word, self.depth - 1, self.words);
        }
        self.words.insert(word);
    }

    fn end_command(&mut self) {
        if std::mem::take(&mut self.goes_home) {
            self.words.insert("~".to_owned());
        }
    }
}

fn double_quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return,
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
            },
            _ => word.push(letter),
        }
    }
}

/// Returns the name of a variable that `text` begins with.
fn name(text: &str) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text.bytes().next() {
        Some(b'0'..=b'9') => "",
        _ => &text[..text.bytes().take_while(is_part).count()],
    }
}
