//! The arguments of a tool call by their roles.

use std::path::{Path, PathBuf};
use std::slice::from_ref;

use serde_json::Value;

use super::command::{Frame, Hidden, SimpleCommand, Word, line_of};
use super::names::{
    CHANGING_TOOLS, DIRECTORIES, HARMLESS_ARGUMENTS, READING, READING_TOOLS, SEARCHING_TOOLS,
    WRITING_ARGUMENTS,
};
use super::reader::{Found, commands_of_text};
use crate::tools::{Role, Roles, Special, is_kind, kinds_anywhere, special};
use hookexec::Input;
use hookexec::wire::JsonObject;
use hookexec_files::glob::has_part;

/// The arguments of one call.
pub(super) struct Arguments<'i> {
    pub(super) input: &'i Input,
    values: &'i JsonObject,
    roles: Roles,
    pub(super) kinds: Vec<String>,
    pub(super) special: Special,
}

impl<'i> Arguments<'i> {
    /// Returns the arguments of a tool call; `None` for other events.
    pub(super) fn of(input: &'i Input) -> Option<Self> {
        let name = input.tool_name.as_deref()?;
        let values = input.tool_input.as_ref()?;
        let kinds = kinds(input);
        let roles = Roles::of(name, &kinds);
        Some(Self { input, values, roles, kinds, special: special(name) })
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }

    pub(super) fn role(&self, key: &str) -> Option<Role> {
        Some(self.roles.get(key)?.0)
    }

    /// Returns the arguments that have `role`.
    pub(super) fn with_role(&self, role: Role) -> Vec<&'i Value> {
        let values = self.values.iter().filter(|(key, _)| self.role(key) == Some(role));
        values.map(|(_, value)| value).collect()
    }

    pub(super) fn commands(&self) -> Vec<SimpleCommand> {
        if !self.is("shell") {
            return Vec::new();
        }
        let mut commands = self.read_commands().unwrap_or_else(|| vec![self.unread()]);
        let is_plain = self.unknown_argument().is_none();
        for command in &mut commands {
            command.is_certain &= is_plain;
        }
        commands
    }

    /// Returns the commands; `None` if they can't be read.
    fn read_commands(&self) -> Option<Vec<SimpleCommand>> {
        let (texts, words) = (self.with_role(Role::Command), self.with_role(Role::Words));
        match (&*texts, &*words) {
            ([Value::String(text)], []) if self.other_shell() == Some("powershell") => {
                let mut found = Found::default();
                let hidden = found.powershell(text, &Frame::default());
                if hidden == Hidden::Nothing { Some(found.finished()) } else { None }
            }
            _ if !self.is_text_of_shell() => None,
            ([Value::String(text)], []) => Some(commands_of_text(text)),
            ([Value::Array(argv)], []) | ([], [Value::Array(argv)]) => commands_of_words(argv),
            // A tool may run the program alone, or give all of it to a shell.
            ([program], [Value::Array(words)])
                if is_plain(program) && words.iter().all(is_plain) =>
            {
                commands_of_words(&[from_ref(*program), words].concat())
            }
            _ => None,
        }
    }

    /// Returns the command of a text that can't be read. A shell of Windows puts no word of it together.
    fn unread(&self) -> SimpleCommand {
        let text = self.all_text();
        let hidden = match self.other_shell() {
            Some(_) => Hidden::words_in(&text.replace('\\', "/")),
            None => Hidden::words_of(&text),
        };
        SimpleCommand::unreadable(&text, hidden)
    }

    /// Returns the text of the command, for people and scripts.
    pub(super) fn text(&self) -> Option<String> {
        if !self.is("shell") {
            return None;
        }
        match self.with_role(Role::Command).first()? {
            Value::String(text) => Some(text.clone()),
            Value::Array(argv) => Some(line_of(&words_of(argv)?)),
            _ => None,
        }
    }

    /// Returns every text among the arguments that is not for people, behind the name of the shell.
    fn all_text(&self) -> String {
        let mut text = String::new();
        if let Some(shell) = self.other_shell() {
            text.extend([shell, " "]);
        }
        for (key, value) in self.values {
            if HARMLESS_ARGUMENTS.contains(&&**key) {
                continue;
            }
            let items = match value {
                Value::Array(items) => items,
                other => from_ref(other),
            };
            for part in items.iter().filter_map(Value::as_str) {
                text.extend([part, "\n"]);
            }
        }
        text
    }

    /// Returns the shell of Windows that the tool's name says.
    fn other_shell(&self) -> Option<&'static str> {
        let tool = self.input.tool().to_ascii_lowercase();
        ["powershell", "cmd"].into_iter().find(|shell| tool.contains(shell))
    }

    /// Returns whether the text is one for a POSIX shell.
    fn is_text_of_shell(&self) -> bool {
        let is_bash = self.input.tool().to_ascii_lowercase().contains("bash");
        self.special != Special::Opaque && (is_bash || !cfg!(windows))
    }

    /// Returns an argument that may change what the command does; without one, the command alone
    /// says what is run.
    pub(super) fn unknown_argument(&self) -> Option<&'i str> {
        for (key, value) in self.values {
            let is_command = matches!(self.role(key), Some(Role::Command | Role::Words));
            let is_missing = matches!(value, Value::Null | Value::Bool(false));
            let is_known = HARMLESS_ARGUMENTS.contains(&&**key) || DIRECTORIES.contains(&&**key);
            if !is_command && !is_missing && !is_known {
                return Some(key);
            }
        }
        None
    }
}

/// Returns the directory in which a call runs; `None` if its arguments name several, or one that can't be
/// known.
pub fn directory(input: &Input) -> Option<PathBuf> {
    let directory = Path::new(&input.cwd);
    match named_directories(input)[..] {
        [] => Some(directory.to_owned()),
        [Value::String(path)] if !path.starts_with(['~', '$']) => Some(directory.join(path)),
        _ => None,
    }
}

/// Returns the arguments of a call that name a directory for it.
pub fn named_directories(input: &Input) -> Vec<&Value> {
    let mut named = Vec::new();
    for (key, value) in input.tool_input.iter().flatten() {
        if DIRECTORIES.contains(&key.as_str()) && !value.is_null() {
            named.push(value);
        }
    }
    named
}

/// Returns the kinds of the tool: those that the host gives, else those in the table of tools.
pub fn kinds(input: &Input) -> Vec<String> {
    let mut kinds = match &*input.tool_kinds {
        [] => kinds_anywhere(input.tool()),
        known => known.to_vec(),
    };
    // A tool that is called like its kind does not repeat it.
    if is_kind(input.tool()) {
        kinds.push(input.tool().to_owned());
    }
    kinds
}

/// Returns whether it is certain that the tool of a call writes nothing.
pub fn only_reads(input: &Input) -> bool {
    input.tool_read_only == Some(true) || is_only(input, READING)
}

/// Returns whether it is certain that the tool of a call shows nothing of what was there.
pub fn only_writes(input: &Input) -> bool {
    !only_reads(input) && is_only(input, &["write"])
}

/// Returns whether the name of a tool says that it only reads, and its arguments no more.
pub fn only_reads_by_name(input: &Input) -> bool {
    let words = words_of_name(input.tool().rsplit("__").next().unwrap_or_default());
    let reads = matches!(words.first(), Some(first) if READING_TOOLS.contains(&&**first))
        || words.iter().any(|word| SEARCHING_TOOLS.contains(&&**word));
    reads && !names_change(&words) && !input.tool_input.as_ref().is_some_and(changes_by_argument)
}

fn names_change(words: &[String]) -> bool {
    for word in words {
        if CHANGING_TOOLS.contains(&&**word) {
            return true;
        }
    }
    false
}

/// Returns whether the name of an argument, or one word as its value, says that something changes:
/// `output_path`, `action: delete`.
fn changes_by_argument(arguments: &JsonObject) -> bool {
    for (key, value) in arguments {
        if has_part(&key.to_lowercase(), WRITING_ARGUMENTS) || names_change(&words_of_name(key)) {
            return true;
        }
        for value in value.as_array().map_or(from_ref(value), Vec::as_slice) {
            let changes = match value {
                Value::String(text) if text.contains(char::is_whitespace) => false,
                Value::String(word) => names_change(&words_of_name(word)),
                Value::Object(inner) => changes_by_argument(inner),
                _ => false,
            };
            if changes {
                return true;
            }
        }
    }
    false
}

/// Returns the words of a name in small letters: `getFile`, `get_file` and `get-file` have two.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_uppercase = false;
    for letter in name.chars() {
        if letter.is_uppercase() && !was_uppercase || !letter.is_alphabetic() {
            words.push(String::new());
        }
        was_uppercase = letter.is_uppercase();
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A tool of several kinds is only what all of them are.
fn is_only(input: &Input, wanted: &[&str]) -> bool {
    let kinds = kinds(input);
    !kinds.is_empty() && kinds.iter().all(|kind| wanted.contains(&&**kind))
}

/// Returns whether no shell makes anything else of a word.
fn is_plain(word: &Value) -> bool {
    let Value::String(text) = word else { return false };
    !text.is_empty()
        && !text.starts_with('=')
        && !text
            .contains(|letter: char| !letter.is_alphanumeric() && !"_-./:@%+=,".contains(letter))
}

/// Returns the words of a list of texts, which no shell reads; `None` if it has something else.
fn words_of(argv: &[Value]) -> Option<Vec<Word>> {
    argv.iter().map(|word| Some(Word::known(word.as_str()?))).collect()
}

/// Returns the commands of a list of words; `None` if it has none, or something else.
fn commands_of_words(argv: &[Value]) -> Option<Vec<SimpleCommand>> {
    let words = words_of(argv)?;
    if words.is_empty() {
        return None;
    }
    let mut found = Found::default();
    let command = found.begun(&Frame { pipeline: 1, ..Frame::default() });
    found.simple(SimpleCommand { words, ..command });
    Some(found.finished())
}
