//! The words of a shell command that may be paths.
//!
//! This is no shell, and need not be one: it looks for every text that the shell could hand to a
//! program as a path. It reads the command twice: once with quotes understood, so that a name with
//! a blank stays whole, and once with all quotes and backslashes taken out, so that no trick with
//! them hides a name.

use std::collections::{BTreeMap, BTreeSet};

use super::spelling::{Variables, name, spellings};
use super::texts::{Texts, TooMany};

/// Stands in a word for what only the shell will know: the output of a command, a variable that
/// the command does not set.
pub(super) const UNKNOWN: char = '\0';

/// How deep quoted commands in quoted commands are looked into.
const DEPTH: usize = 4;

/// Adds the words of `command` to `found`; `environment` knows the variables.
pub(super) fn words(
    command: &str,
    environment: &dyn Fn(&str) -> Option<String>,
    found: &mut Texts,
) -> Result<(), TooMany> {
    let mut raw = BTreeSet::new();
    split(command, DEPTH, &mut raw);
    let bare: String = command.chars().filter(|letter| !is_quote(*letter)).collect();
    split(&bare, 0, &mut raw);
    let variables = Variables { set: assignments(&raw), environment };
    for word in &raw {
        written_out(word, &variables, false, found)?;
    }
    Ok(())
}

/// Adds what `text` can be once its braces and variables are written out.
pub(super) fn written_out(
    text: &str,
    variables: &Variables<'_>,
    dots: bool,
    found: &mut Texts,
) -> Result<(), TooMany> {
    // What stands in `${NAME:-here}` is a text of its own.
    let defaults = text.match_indices("${").filter_map(|(at, start)| {
        let inside = &text[at + start.len()..];
        let behind = &inside[name(inside).len()..];
        let value = behind.trim_start_matches([':', '-', '=', '+']);
        (value.len() < behind.len()).then_some(value)
    });
    for text in std::iter::once(text).chain(defaults) {
        found.add(text, dots)?;
        for version in spellings(text, variables)? {
            found.add(&version, dots)?;
        }
    }
    Ok(())
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
        if let Some((variable, value)) = word.split_once('=')
            && !variable.is_empty()
            && name(variable) == variable
            && !value.contains(is_separator)
        {
            set.entry(variable.to_owned()).or_default().insert(value.to_owned());
        }
    }
    set
}
