//! The words of a command that may be paths.
//!
//! A command is read twice: as the words of a shell, so that a name with a blank stays whole, and
//! with all quotes and backslashes removed, so that no trick with them hides a name.

use std::collections::BTreeSet;

use super::expand::UNKNOWN;
use crate::shell::{SUBSTITUTED, read_script, unquoted};
use hookexec_files::platform::Platform;
use hookexec_files::text::name_length;

/// How deep quoted commands in quoted commands are read.
const DEPTH: usize = 4;
/// Adds the words of `command` to `words`.
pub(super) fn add_words(command: &str, words: &mut BTreeSet<String>) {
    add_shell_words(command, DEPTH, words);
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

fn add_shell_words(text: &str, depth: usize, words: &mut BTreeSet<String>) {
    let script = read_script(text);
    for command in &script.commands {
        let mut command = command.iter().map(|word| word.text.as_str());
        if matches!(command.next(), Some("cd" | "pushd"))
            && command.all(|word| word.starts_with('-'))
        {
            words.insert("~".to_owned());
        }
    }
    for word in script.words() {
        let may_be_command = word
            .text
            .contains(|letter| is_separator(letter) || matches!(letter, '\'' | '"' | '\\'));
        if depth > 0 && may_be_command {
            add_shell_words(&word.text, depth - 1, words);
        }
        words.insert(word.text.replace(SUBSTITUTED, "\0"));
    }
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '<' | '>' | '(')
}

/// Returns `word` with everything from its first `{` to its last `}` unknown, if that may be
/// `{a,b}` or `{1..3}`.
pub(super) fn without_braces(word: &str) -> String {
    match word.find('{').zip(word.rfind('}')) {
        Some((start, end))
            if word
                .get(start..end)
                .is_some_and(|part| part.contains(',') || part.contains("..")) =>
        {
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
