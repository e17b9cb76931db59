//! The words of a command that may be paths.
//!
//! A command is read twice: as the words of a shell, so that a name with a blank stays whole, and
//! with all quotes and backslashes removed, so that no trick with them hides a name.

use std::collections::BTreeSet;
use std::str::Chars;

use super::expand::{UNKNOWN, without_outputs};
use crate::shell::unquoted;
use hookexec_files::platform::Platform;
use hookexec_files::text::name_length;

/// How deep quoted commands in quoted commands are read.
const DEPTH: usize = 4;
/// Adds the words of `command` to `words`.
pub(super) fn add_words(command: &str, words: &mut BTreeSet<String>) {
    add_quoted_words(&without_outputs(command), DEPTH, words);
    let mut separated = unquoted(command).replace('`', " \0");
    // A bracket may end the output of a command.
    let end = if separated.contains("$(") { " \0" } else { " " };
    separated = separated.replace("$(", "\0(").replace(')', end);
    for word in separated.split(is_separator) {
        // The output of a command may be empty.
        for word in [word, word.trim_start_matches(UNKNOWN)] {
            words.insert(word.to_owned());
        }
    }
}

/// Returns a text for cmd or PowerShell as one for a POSIX shell, on systems that have those: with `/`
/// for `\`, and `${NAME}` for `%NAME%` and `$env:NAME`.
pub(super) fn foreign(text: &str, platform: Platform) -> Option<String> {
    if !platform.has_drives || !text.contains(['\\', '%', ':', '^']) {
        return None;
    }
    // `^` is the backslash of cmd.
    let text = text.replace('\\', "/").replace('^', "");
    let lower = text.to_ascii_lowercase();
    let (mut plain, mut from) = (String::new(), 0);
    for (at, prefix) in
        lower.match_indices("env:").filter(|(at, _)| lower[..*at].ends_with(['$', '{']))
    {
        plain.push_str(&text[from..at]);
        from = at + prefix.len();
    }
    plain.push_str(&text[from..]);
    let mut parts = plain.split('%').peekable();
    let mut foreign = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        let is_name = !part.is_empty() && name_length(part) == part.len();
        match parts.peek() {
            Some(rest) if is_name => {
                foreign.extend(["${", part, "}", rest]);
                parts.next();
            }
            _ => foreign.extend(["%", part]),
        }
    }
    Some(foreign)
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
    match word.find('{').zip(word.rfind('}')) {
        Some((start, end)) if word.get(start..end).is_some_and(|part| part.contains("..")) => {
            format!("{}{UNKNOWN}{}", &word[..start], &word[end + 1..])
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_for_cmd_and_powershell_are_read_where_they_run() {
        for (text, expected) in [
            (r"type C:\x\y", "type C:/x/y"),
            (r"type %USERPROFILE%\.ssh\key 50% off", "type ${USERPROFILE}/.ssh/key 50% off"),
            (r"cat $env:USERPROFILE\.ssh", "cat $USERPROFILE/.ssh"),
            (r"cat ${Env:USERPROFILE}\.ssh", "cat ${USERPROFILE}/.ssh"),
            (r"type .s^sh\key", "type .ssh/key"),
        ] {
            assert_eq!(foreign(text, Platform::WINDOWS).as_deref(), Some(expected));
            assert_eq!(foreign(text, Platform::LINUX), None);
        }
    }
}
