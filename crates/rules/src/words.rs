//! The words of a command that may be paths.

use std::collections::BTreeSet;
use std::str::Chars;

use super::expand::{UNKNOWN, without_outputs};
use super::limits::DEEPEST;

/// Adds the words of `command` to `words`.
pub(super) fn add_words(command: &str, words: &mut BTreeSet<String>) {
    add_quoted_words(&without_outputs(command), DEEPEST, words);
}

/// Adds the words of a text between blanks and operators; a name with a blank in quotes stays whole. A
/// text in quotes may be a command itself.
fn add_quoted_words(text: &str, depth: usize, words: &mut BTreeSet<String>) {
    let mut word = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => word.extend(letters.next()),
            '\'' | '"' | '`' => {
                let inside = quoted(letter, &mut letters);
                if depth > 0
                    && inside.contains(|letter| is_separator(letter) || "'\"\\".contains(letter))
                {
                    add_quoted_words(&inside, depth - 1, words);
                }
                word.push_str(&inside);
            }
            letter if is_separator(letter) || letter == ')' => {
                words.insert(std::mem::take(&mut word));
            }
            _ => word.push(letter),
        }
    }
    words.insert(word);
}

/// Returns the text up to a quote. A backslash before the quote takes its meaning.
fn quoted(quote: char, letters: &mut Chars<'_>) -> String {
    let mut inside = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote != '\'' => inside.extend(letters.next()),
            letter if letter == quote => break,
            _ => inside.push(letter),
        }
    }
    inside
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '<' | '>' | '(')
}

/// Returns `word` with everything from its first `{` to its last `}` unknown, if that may be `{1..3}`.
pub(super) fn without_range(word: &str) -> String {
    if let (Some(start), Some(end)) = (word.find('{'), word.rfind('}'))
        && let Some(inside) = word.get(start..end)
        && inside.contains("..")
    {
        return format!("{}{UNKNOWN}{}", &word[..start], &word[end + 1..]);
    }
    word.to_owned()
}
