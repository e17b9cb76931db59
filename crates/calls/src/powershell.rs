//! Reads plain texts for PowerShell.

use super::command::{Hidden, SimpleCommand, Word, are_known, line_of};
use super::names::POWERSHELL_RUNNERS;
use super::reader::commands_of_text;
use super::simple::base_name;
use hookexec_files::text::name_length;

/// Returns the commands of a text of plain words and variables, quoted or not, with `;`, `|` and lines
/// between them: each behind `powershell`, which runs it. `None` if the text has anything else, such as a
/// block, or a letter that PowerShell takes for a quote.
pub(super) fn commands_of_powershell(text: &str) -> Option<Vec<SimpleCommand>> {
    let mut commands = Vec::new();
    for mut command in commands_of_text(&as_posix(text)?) {
        if let Some(program) = command.words.first()
            && POWERSHELL_RUNNERS.contains(&&*base_name(&program.text))
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
    if !matches!(name, "powershell" | "pwsh") || !are_known(words) {
        return None;
    }
    let at = words.iter().position(is_option_for_text)?;
    commands_of_powershell(&line_of(&words[at + 1..]))
}

/// Returns whether a word is `-Command` or a beginning of it. All words behind it are the text.
fn is_option_for_text(word: &Word) -> bool {
    let option = word.text.to_ascii_lowercase();
    option.len() > 1 && "-command".starts_with(&option)
}

/// A plain text for PowerShell, as far as it is written as one for a POSIX shell.
#[derive(Default)]
struct Posix {
    text: String,
    /// Whether a command begins here.
    is_start: bool,
    /// Whether `&` calls what begins here: `& 'a b'` runs a program whose name is quoted.
    is_called: bool,
    /// Where the expression begins that stands in the place of a command.
    expression: Option<usize>,
    /// Whether blanks and the ends of lines are left out here.
    skips_blanks: bool,
}

impl Posix {
    /// Adds a letter of a command.
    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.is_start = false;
    }

    fn begin_command(&mut self) {
        (self.is_start, self.is_called, self.expression) = (true, false, None);
    }

    /// Begins an expression, which prints its value, if a command begins here with this letter.
    fn begin_expression(&mut self, letter: char) {
        if self.is_start && !self.is_called && matches!(letter, '$' | '\'' | '"') {
            self.expression = Some(self.text.len());
            self.text.push_str("echo ");
        }
    }

    /// Takes the expression from `start` on for the variable to which what follows is assigned. That is a
    /// command, or a value, which a variable of the environment takes to the commands behind it.
    fn assign(&mut self, start: usize, value: &str) {
        let variable = self.text.split_off(start);
        self.begin_command();
        let name = variable["echo ".len()..].trim_end().trim_start_matches('$');
        let is_plain = name.bytes().all(|one| one.is_ascii_uppercase() || one == b'_');
        if is_plain && value.trim_start().starts_with(begins_value) {
            self.text.extend(["export ", name, "="]);
            (self.is_start, self.skips_blanks) = (false, true);
        }
    }

    /// Adds a letter outside of quotes, and returns whether its meaning is known here.
    fn add(&mut self, letter: char, after: char, rest: &str) -> bool {
        match (letter, self.expression) {
            (';' | '|' | '\n', _) => {
                self.text.push(letter);
                self.begin_command();
            }
            (' ' | '\t', _) => self.text.push(letter),
            ('=', Some(start)) => self.assign(start, rest),
            ('&', _) if self.is_start && after == ' ' => self.is_called = true,
            ('&', _) if after == '1' && self.text.ends_with("2>") => self.push('&'),
            (',', _) => {
                self.push(' ');
                self.skips_blanks = true;
            }
            (letter, _) if letter == '>' || is_plain(letter) => self.push(letter),
            _ => return false,
        }
        true
    }
}

/// Returns a plain text as one for a POSIX shell: with `/` for `\`, and without the commas of lists.
fn as_posix(text: &str) -> Option<String> {
    let text = text.trim().replace("\r\n", "\n");
    let mut posix = Posix { is_start: true, ..Posix::default() };
    let (mut quote, mut before, mut at) = (None, ' ', 0);
    while let Some(letter) = text[at..].chars().next() {
        at += letter.len_utf8();
        let after = text[at..].chars().next().unwrap_or(' ');
        if posix.skips_blanks && matches!(letter, ' ' | '\t' | '\n') {
            continue;
        }
        posix.skips_blanks = false;
        posix.begin_expression(letter);
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
                posix.text.push_str(&variable);
                at += length;
                posix.is_start = false;
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
            (None, letter) if posix.add(letter, after, &text[at..]) => {}
            _ => return None,
        }
        before = letter;
    }
    if quote.is_some() { None } else { Some(posix.text) }
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

fn begins_value(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, '$' | '\'' | '"')
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./:=+*?~ ".contains(letter)
}

fn is_between_words(letter: char) -> bool {
    " \t\n;|,".contains(letter)
}
