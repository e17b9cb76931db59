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
/// variable stays one; where a command begins it begins an expression, which does nothing, as `:` does.
fn as_posix(text: &str) -> Option<String> {
    let text = text.trim().replace("\r\n", "\n");
    let mut posix = String::new();
    // Whether a command begins here, and whether `&` calls it; where the expression begins.
    let (mut is_start, mut is_called, mut expression) = (true, false, None);
    let (mut quote, mut before, mut at) = (None, ' ', 0);
    while let Some(letter) = text[at..].chars().next() {
        at += letter.len_utf8();
        let after = text[at..].chars().next().unwrap_or(' ');
        if is_start && !is_called && matches!(letter, '$' | '\'' | '"') {
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
            (None, '&') if after == ' ' && is_start => is_called = true,
            (None, '&') if posix.ends_with("2>") && after == '1' => posix.push('&'),
            (None, '>') => posix.push('>'),
            // What an expression assigns may be what a command prints.
            (None, '=') if let Some(start) = expression.take() => {
                posix.truncate(start);
                (is_start, before) = (true, ' ');
                continue;
            }
            (None, letter) if is_plain(letter) || is_between_words(letter) => posix.push(letter),
            _ => return None,
        }
        match letter {
            ' ' | '\t' | '&' if is_start => {}
            ';' | '|' | '\n' if quote.is_none() => {
                (is_start, is_called, expression) = (true, false, None);
            }
            _ => is_start = false,
        }
        before = letter;
    }
    if quote.is_some() { None } else { Some(posix) }
}

/// Returns how long the name of a variable is, and the variable in a POSIX shell. Case does not matter to
/// PowerShell, so those of the environment have large letters, and its own small ones.
fn variable(text: &str) -> Option<(usize, String)> {
    let end = text.find(|one: char| !one.is_ascii_alphanumeric() && !"_:".contains(one));
    let (written, behind) = text.split_at(end.unwrap_or(text.len()));
    let written = written.to_ascii_lowercase();
    let name = written.strip_prefix("env:").unwrap_or(&written);
    if name.is_empty() || name_length(name) < name.len() || behind.starts_with(['(', '[']) {
        return None;
    }
    let variable = match name {
        "null" => "/dev/null".to_owned(),
        "home" | "userprofile" => "$HOME".to_owned(),
        "pwd" => "$PWD".to_owned(),
        name if name.len() < written.len() => format!("${}", name.to_ascii_uppercase()),
        name => format!("${name}"),
    };
    Some((written.len(), variable))
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./:=+*?~ ".contains(letter)
}

fn is_between_words(letter: char) -> bool {
    " \t\n;|,".contains(letter)
}
