//! Reads plain texts for PowerShell.

use super::command::{SimpleCommand, Word};
use super::names::POWERSHELL_RUNNERS;
use super::reader::commands_of_text;

/// Returns the commands of a text of plain words, quoted or not, with `;`, `|` and lines between them:
/// each behind `powershell`, which runs it. `None` if the text has anything else, such as a variable, a
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
            commands.push(SimpleCommand { words, is_certain: false, ..command.clone() });
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

/// Returns a plain text as one for a POSIX shell: with `/` for `\`, and without the commas of lists.
fn as_posix(text: &str) -> Option<String> {
    let text = text.trim().replace("\r\n", "\n");
    let mut posix = String::new();
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let after = text[at + letter.len_utf8()..].chars().next().unwrap_or(' ');
        match (quote, letter) {
            (Some(open), letter) if letter == open => {
                // Two quotes are one letter, and a word that begins with a quote ends with it.
                if !is_between_words(after) {
                    return None;
                }
                quote = None;
                posix.push('\'');
            }
            // PowerShell expands a wildcard also in quotes.
            (Some(_), '\'' | '\n' | '*' | '?' | '[') | (Some('"'), '$' | '`') => return None,
            (_, '\\') => posix.push('/'),
            (Some(_), letter) if is_plain(letter) || letter.is_ascii_punctuation() => {
                posix.push(letter);
            }
            (None, '\'' | '"') if is_between_words(before) => {
                quote = Some(letter);
                posix.push('\'');
            }
            (None, ',') => posix.push(' '),
            // `& 'a b'` runs a program whose name is quoted.
            (None, '&') if after == ' ' && begins_command(&posix) => {}
            (None, letter) if is_plain(letter) || is_between_words(letter) => posix.push(letter),
            _ => return None,
        }
    }
    if quote.is_some() { None } else { Some(posix) }
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
