//! The words of a shell command that may be paths.
//!
//! This is no shell, and need not be one: it looks for every text that the shell could hand to a
//! program as a path. It reads the command twice: once with quotes understood, so that a name with
//! a blank stays whole, and once with all quotes and backslashes taken out, so that no trick with
//! them hides a name.

use std::collections::{BTreeMap, BTreeSet};

/// Stands in a word for what only the shell will know: the output of a command, a variable that
/// the command does not set.
pub(super) const UNKNOWN: char = '\0';

/// How deep quoted commands in quoted commands are looked into.
const DEPTH: usize = 4;
/// The most words that the braces of one word are written out into.
const MOST_BRACES: usize = 64;

/// Returns the words of `command`, each once; `variable` knows the environment.
pub(super) fn words(command: &str, variable: &dyn Fn(&str) -> Option<String>) -> BTreeSet<String> {
    let mut raw = BTreeSet::new();
    split(command, DEPTH, &mut raw);
    let bare: String = command.chars().filter(|letter| !is_quote(*letter)).collect();
    split(&bare, 0, &mut raw);
    let set = assignments(&raw);
    raw.iter().flat_map(|word| spellings(word, &set, variable)).collect()
}

/// Returns what `text` can be once its braces and variables are written out.
pub(super) fn written_out(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> BTreeSet<String> {
    spellings(text, &BTreeMap::new(), variable).into_iter().collect()
}

fn spellings(
    word: &str,
    set: &BTreeMap<String, BTreeSet<String>>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let written_out = braces(word).into_iter().flat_map(|word| variables(&word, set, variable));
    // As it stands, too: a default such as `${X:-path}` is a part of it.
    std::iter::once(word.to_owned()).chain(written_out).collect()
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
    let mut splitter = Splitter { words, depth, word: String::new(), behind_output: false };
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
            '$' if letters.peek() == Some(&'\'') => {
                letters.next();
                escaped(&mut letters, word);
            }
            '$' if letters.peek() == Some(&'"') => {}
            // The output of a command; the command's own words follow.
            '$' if letters.peek() == Some(&'(') => word.push(UNKNOWN),
            '`' => {
                if !word.is_empty() {
                    let before = format!("{word}{UNKNOWN}");
                    splitter.words.insert(before);
                }
                splitter.finish(true);
            }
            ')' => splitter.finish(true),
            _ if is_separator(letter) => splitter.finish(false),
            _ => word.push(letter),
        }
    }
    splitter.finish(false);
}

struct Splitter<'w> {
    words: &'w mut BTreeSet<String>,
    depth: usize,
    word: String,
    /// Whether the output of a command may stand right before the word and be a part of it.
    behind_output: bool,
}

impl Splitter<'_> {
    /// Ends the word.
    fn finish(&mut self, behind_output: bool) {
        let word = std::mem::take(&mut self.word);
        let was_behind = std::mem::replace(&mut self.behind_output, behind_output);
        if word.is_empty() {
            return;
        }
        if was_behind {
            self.words.insert(format!("{UNKNOWN}{word}"));
        }
        if self.depth > 0 && word.contains(|letter| is_separator(letter) || is_quote(letter)) {
            split(&word, self.depth - 1, self.words);
        }
        self.words.insert(word);
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

/// Reads the rest of `$'...'`, where `\x2e` is a dot.
fn escaped(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) {
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => return,
            '\\' => match letters.next() {
                Some('x') => word.extend(number(letters, 16, 2)),
                Some('u') => word.extend(number(letters, 16, 4)),
                Some('U') => word.extend(number(letters, 16, 8)),
                Some(first @ '0'..='7') => {
                    let rest = digits(letters, 8, 2);
                    let code = u32::from_str_radix(&format!("{first}{rest}"), 8);
                    word.extend(code.ok().and_then(char::from_u32));
                }
                Some('n') => word.push('\n'),
                Some('t') => word.push('\t'),
                Some(other) => word.push(other),
                None => {}
            },
            _ => word.push(letter),
        }
    }
}

fn number(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
) -> Option<char> {
    u32::from_str_radix(&digits(letters, radix, most), radix).ok().and_then(char::from_u32)
}

fn digits(
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
) -> String {
    let mut digits = String::new();
    while digits.len() < most
        && let Some(digit) = letters.next_if(|letter| letter.is_digit(radix))
    {
        digits.push(digit);
    }
    digits
}

/// Returns the variables that the command itself sets: `NAME=value` anywhere.
fn assignments(words: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut set: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for word in words {
        if let Some((name, value)) = word.split_once('=')
            && is_name(name)
            && !value.contains(is_separator)
        {
            set.entry(name.to_owned()).or_default().insert(value.to_owned());
        }
    }
    set
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Writes `$NAME` and `${NAME}` out, in every way the command may mean it.
fn variables(
    word: &str,
    set: &BTreeMap<String, BTreeSet<String>>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut versions = vec![String::new()];
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let (values, length) = expansion(after, set, variable);
        versions = versions
            .iter()
            .flat_map(|start| values.iter().map(move |value| format!("{start}{before}{value}")))
            .take(MOST_BRACES)
            .collect();
        rest = &after[length..];
    }
    for version in &mut versions {
        version.push_str(rest);
    }
    versions
}

/// Returns what the text after a `$` stands for, and how much of the text that takes.
fn expansion(
    after: &str,
    set: &BTreeMap<String, BTreeSet<String>>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> (Vec<String>, usize) {
    let unknown = || vec![UNKNOWN.to_string()];
    let known = |name: &str| {
        let mut values: Vec<String> = set.get(name).into_iter().flatten().cloned().collect();
        // A value that is made of variables itself is not followed.
        values.iter_mut().filter(|value| value.contains('$')).for_each(|v| *v = UNKNOWN.into());
        values.extend(variable(name));
        if values.is_empty() { unknown() } else { values }
    };
    if let Some(inside) = after.strip_prefix('{') {
        return match inside.split_once('}') {
            Some((name, _)) if is_name(name) => (known(name), name.len() + 2),
            Some((other, _)) => (unknown(), other.len() + 2),
            None => (unknown(), after.len()),
        };
    }
    let length = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match &after[..length.count()] {
        name if is_name(name) => (known(name), name.len()),
        // `$1`, `$?` and their like; a `$` at the end is a `$`.
        _ if after.is_empty() => (vec!["$".to_owned()], 0),
        _ => (unknown(), after.chars().next().map_or(0, char::len_utf8)),
    }
}

/// Writes `{a,b}` out; a range, or more than can be written out, becomes unknown.
fn braces(word: &str) -> Vec<String> {
    let mut open: Vec<String> = vec![word.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = open.pop() {
        let Some((start, end)) = innermost(&word) else {
            done.push(word);
            continue;
        };
        let (before, inside, after) = (&word[..start], &word[start + 1..end], &word[end + 1..]);
        if open.len() + done.len() > MOST_BRACES || !inside.contains(',') {
            open.push(format!("{before}{UNKNOWN}{after}"));
        } else {
            open.extend(inside.split(',').map(|part| format!("{before}{part}{after}")));
        }
    }
    done
}

/// Returns where the first innermost `{a,b}` or `{a..b}` stands; `${NAME}` is none.
fn innermost(word: &str) -> Option<(usize, usize)> {
    let end = word.match_indices('}').map(|(at, _)| at);
    for end in end {
        let Some(start) = word[..end].rfind('{') else { continue };
        let inside = &word[start + 1..end];
        let variable = word[..start].ends_with('$');
        if !variable && (inside.contains(',') || inside.contains("..")) {
            return Some((start, end));
        }
    }
    None
}
