//! Reads plain texts for PowerShell.

use super::command::{Hidden, SimpleCommand, Word};
use super::names::POWERSHELL_RUNNERS;
use super::reader::commands_of_text;
use hookexec_files::text::name_length;

/// Returns the commands of a text of plain words and variables, quoted or not, with `;`, `|` and lines
/// between them: each behind `powershell`, which runs it. `None` if the text has anything else, such as a
/// block, or a letter that PowerShell takes for a quote.
pub(super) fn commands_of_powershell(text: &str) -> Option<Vec<SimpleCommand>> {
    let mut commands = Vec::new();
    for mut command in commands_of_text(&as_posix(text)?) {
        if let Some(program) = command.words.first()
            && POWERSHELL_RUNNERS.contains(&&*program.text.to_ascii_lowercase())
        {
            return None;
        }
        if command.frame.wrappers.is_empty() {
            let words = [&[Word::known("powershell")], &*command.words].concat();
            // PowerShell may know a function or an alias of this name: nothing is allowed for certain.
            let (is_certain, hidden) = (false, Hidden::Nothing);
            commands.push(SimpleCommand { words, is_certain, hidden, ..command.clone() });
        }
        command.frame.wrappers.insert(0, "powershell".to_owned());
        commands.push(command);
    }
    Some(commands)
}

/// Returns the commands of a text behind `-Command` of PowerShell, or a beginning of it.
pub(super) fn commands_behind_powershell(name: &str, words: &[Word]) -> Option<Vec<SimpleCommand>> {
    let [.., option, text] = words else { return None };
    let option = option.text.to_ascii_lowercase();
    let is_command = option.len() > 1 && "-command".starts_with(&option);
    if !matches!(name, "powershell" | "pwsh") || !is_command || !text.is_known() {
        return None;
    }
    commands_of_powershell(&text.text)
}

/// Returns a plain text as one for a POSIX shell: with `/` for `\`, and without the commas of lists. A
/// variable stays one, which is not known; where a command begins it is an expression, as `:` is.
fn as_posix(text: &str) -> Option<String> {
    let text = text.trim().replace("\r\n", "\n");
    let mut posix = String::new();
    let (mut quote, mut expression) = (None, None);
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let is_called = text[..at].trim_end_matches(' ').ends_with('&');
        at += letter.len_utf8();
        let after = text[at..].chars().next().unwrap_or(' ');
        if quote.is_none() && "$'\"".contains(letter) && begins_command(&posix) && !is_called {
            expression = Some(posix.len());
            posix.push_str(": ");
        }
        match (quote, letter) {
            (Some(open), letter) if letter == open => {
                // Two quotes are one letter, and a word that begins with a quote ends with it.
                if !is_between_words(after) {
                    return None;
                }
                quote = None;
                posix.push(open);
            }
            (None | Some('"'), '$') => {
                let (length, variable) = variable(&text[at..])?;
                posix.push_str(&variable);
                at += length;
            }
            // PowerShell expands a wildcard also in quotes.
            (Some(_), '\'' | '\n' | '*' | '?' | '[') | (Some('"'), '`') => return None,
            (_, '\\') => posix.push('/'),
            (Some(_), letter) if is_plain(letter) || letter.is_ascii_punctuation() => {
                posix.push(letter);
            }
            (None, '\'' | '"') if is_between_words(before) || before == '=' => {
                quote = Some(letter);
                posix.push(letter);
            }
            (None, ',') => posix.push(' '),
            // `& 'a b'` runs a program whose name is quoted.
            (None, '&') if after == ' ' && begins_command(&posix) => {}
            (None, '&') if posix.ends_with("2>") && after == '1' => posix.push('&'),
            (None, '>') => posix.push('>'),
            // What an expression assigns may be what a command prints.
            (None, '=') if let Some(start) = expression.take() => posix.truncate(start),
            (None, letter) if is_plain(letter) || is_between_words(letter) => {
                if begins_command(&posix) {
                    expression = None;
                }
                posix.push(letter);
            }
            _ => return None,
        }
    }
    if quote.is_some() { None } else { Some(posix) }
}

/// Returns how long the name of a variable is, and the variable in a POSIX shell: `$null` is no file, and
/// only the home and the directory are known.
fn variable(text: &str) -> Option<(usize, String)> {
    let scope = if text.to_ascii_lowercase().starts_with("env:") { 4 } else { 0 };
    let length = name_length(&text[scope..]);
    let (name, behind) = text[scope..].split_at(length);
    if length == 0 || behind.starts_with([':', '(', '[']) {
        return None;
    }
    let variable = match &*name.to_ascii_uppercase() {
        "NULL" => "/dev/null".to_owned(),
        "HOME" | "USERPROFILE" => "$HOME".to_owned(),
        "PWD" => "$PWD".to_owned(),
        name => format!("$POWERSHELL_{name}"),
    };
    Some((scope + length, variable))
}

fn begins_command(posix: &str) -> bool {
    let before = posix.trim_end_matches(' ');
    before.is_empty() || before.ends_with([';', '|', '\n'])
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./:=+*?~ ".contains(letter)
}

fn is_between_words(letter: char) -> bool {
    " \t\n;|,".contains(letter)
}
