//! The arguments of a tool call by their roles.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{Frame, SimpleCommand, Word};
use super::names::{DIRECTORIES, HARMLESS_ARGUMENTS};
use super::powershell::commands_of_powershell;
use super::reader::{Found, commands_of_text};
use crate::tools::{Role, Roles, Special, TOOL_KINDS, kinds_anywhere, special};
use hookexec::wire::{Input, JsonObject};

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
        self.roles.get(key).map(|(role, _)| role)
    }

    /// Returns the arguments that have `role`.
    pub(super) fn with_role(&self, role: Role) -> impl Iterator<Item = &'i Value> {
        let values = self.values.iter();
        values.filter(move |(key, _)| self.role(key) == Some(role)).map(|(_, value)| value)
    }

    pub(super) fn commands(&self) -> Vec<SimpleCommand> {
        if !self.is("shell") {
            return Vec::new();
        }
        let texts: Vec<&Value> = self.with_role(Role::Command).collect();
        let words: Vec<&Value> = self.with_role(Role::Words).collect();
        let mut commands = match (&*texts, &*words) {
            ([Value::String(text)], []) if self.other_shell() == Some("powershell") => {
                let read = commands_of_powershell(text);
                read.unwrap_or_else(|| vec![SimpleCommand::unreadable(&self.all_text())])
            }
            _ if !self.is_text_of_shell() => vec![SimpleCommand::unreadable(&self.all_text())],
            ([Value::String(text)], []) => commands_of_text(text),
            ([Value::Array(argv)], []) | ([], [Value::Array(argv)]) => commands_of_words(argv),
            // A tool may run the program alone, or give all of it to a shell.
            ([program], [Value::Array(words)])
                if is_plain(program) && words.iter().all(is_plain) =>
            {
                commands_of_words(&[std::slice::from_ref(*program), words].concat())
            }
            _ => vec![SimpleCommand::unreadable(&self.all_text())],
        };
        if self.unknown_argument().is_some() {
            for command in &mut commands {
                command.is_certain = false;
            }
        }
        commands
    }

    /// Returns the text of the command, for people and scripts.
    pub(super) fn text(&self) -> Option<String> {
        if !self.is("shell") {
            return None;
        }
        match self.with_role(Role::Command).next()? {
            Value::String(text) => Some(text.clone()),
            Value::Array(words) => {
                let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                Some(words?.join(" "))
            }
            _ => None,
        }
    }

    /// Returns every text among the arguments that is not for people, behind the name of the shell.
    fn all_text(&self) -> String {
        let mut text = self.other_shell().map(|shell| format!("{shell} ")).unwrap_or_default();
        for (_, value) in
            self.values.iter().filter(|(key, _)| !HARMLESS_ARGUMENTS.contains(&key.as_str()))
        {
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for part in items.iter().filter_map(Value::as_str) {
                text.push_str(part);
                text.push('\n');
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
            let is_plain = matches!(self.role(key), Some(Role::Command | Role::Words))
                || HARMLESS_ARGUMENTS.contains(&key.as_str())
                || DIRECTORIES.contains(&key.as_str())
                || matches!(value, Value::Null | Value::Bool(false));
            if !is_plain {
                return Some(key);
            }
        }
        None
    }
}

/// Returns the directory in which a call runs; `None` if its arguments name several, or one that can't be
/// known.
pub(crate) fn directory(input: &Input) -> Option<PathBuf> {
    let directory = Path::new(&input.cwd);
    match named_directories(input)[..] {
        [] => Some(directory.to_owned()),
        [Value::String(path)] if !path.starts_with(['~', '$']) => Some(directory.join(path)),
        _ => None,
    }
}

/// Returns the arguments of a call that name a directory for it.
pub(crate) fn named_directories(input: &Input) -> Vec<&Value> {
    let mut named = Vec::new();
    for (key, value) in input.tool_input.iter().flatten() {
        if DIRECTORIES.contains(&key.as_str()) && !value.is_null() {
            named.push(value);
        }
    }
    named
}

/// Returns the kinds of the tool: those that the host gives, else those in the table of tools.
pub(crate) fn kinds(input: &Input) -> Vec<String> {
    let mut kinds = match &*input.tool_kinds {
        [] => kinds_anywhere(input.tool()),
        known => known.to_vec(),
    };
    // A tool that is called like its kind does not repeat it.
    if TOOL_KINDS.iter().any(|(kind, _)| *kind == input.tool()) {
        kinds.push(input.tool().to_owned());
    }
    kinds
}

/// Returns whether no shell makes anything else of a word.
fn is_plain(word: &Value) -> bool {
    let Value::String(text) = word else { return false };
    let mut letters = text.chars();
    !text.is_empty()
        && !text.starts_with('=')
        && letters.all(|letter| letter.is_alphanumeric() || "_-./:@%+=,".contains(letter))
}

/// Returns the commands of a list of words, which no shell reads.
fn commands_of_words(argv: &[Value]) -> Vec<SimpleCommand> {
    let words: Option<Vec<Word>> =
        argv.iter().map(|word| Some(Word::known(word.as_str()?))).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        return vec![SimpleCommand::unreadable("")];
    };
    let mut found = Found::default();
    let command = found.begun(&Frame { pipeline: 1, ..Frame::default() });
    found.simple(SimpleCommand { words, ..command });
    found.finished()
}
