//! What a tool call does: the commands that it runs and the files that it touches.
//!
//! Both are read from the call's arguments, by the one table of tools, and only when something asks
//! for them. What can't be known before the call runs is marked as uncertain, never left out.

mod arguments;
mod files;
mod parse;
mod shells;
mod simple;
mod walk;
mod word;
mod wrappers;

pub(crate) use arguments::kinds;
pub(crate) use simple::base_name;

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::wire::{Input, json_bytes};

/// One simple command of a tool call, such as `grep -n x file` in `grep -n x file | head`.
///
/// A command that runs another one, such as `sudo rm x` or `sh -c "rm x"`, is followed by the
/// command that it runs. Commands in substitutions are commands of the call, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Command {
    /// The program as it is written, without quotes: `git`, `/bin/rm`. It is empty when a command
    /// only assigns variables or redirects, and when the text can't be read.
    pub(crate) program: String,
    /// The arguments, without quotes. One that a shell would expand keeps its text.
    pub(crate) args: Vec<String>,
    /// Which pipeline of the call it belongs to, counted from 1.
    pub(crate) pipeline: usize,
    /// Whether it reads the output of another command through a pipe.
    pub(crate) piped: bool,
    /// Where its input and output go, if to files.
    pub(crate) redirections: Vec<Redirection>,
    /// The assignments before the program, such as `LANG=C`.
    pub(crate) assignments: Vec<String>,
    /// The programs that run it, the outermost first: `sudo`, `env`, `xargs`, `sh`.
    pub(crate) wrappers: Vec<String>,
    /// Whether a part of it can't be known before it runs, such as `$(...)`, `$name`, or a wildcard
    /// that may become an option.
    pub(crate) uncertain: bool,
    /// Whether it may run commands that the list does not show.
    #[serde(skip)]
    pub(crate) hides: bool,
    /// The first of its words that can't be known.
    #[serde(skip)]
    pub(crate) unknown: Option<String>,
}

/// A file that a command reads or writes by a redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Redirection {
    /// The operator: `<`, `>`, `>>`, `>|`, `&>`, `&>>`, `>&`, `<>`.
    pub(crate) operator: String,
    /// The file as it is written, without quotes.
    pub(crate) file: String,
    /// Whether a shell takes the text as it is.
    pub(crate) certain: bool,
}

/// A file or directory that a tool call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct TouchedFile {
    /// Its absolute path, without `.` and `..`; links are not followed.
    pub(crate) path: String,
    /// What happens to it.
    pub(crate) touched: Touched,
    /// Whether the path is known. A shell may expand it, or change its directory before.
    pub(crate) certain: bool,
}

/// What a tool call does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Touched {
    /// It is read, listed or searched.
    Read,
    /// It is created or replaced.
    Write,
    /// A part of it is changed.
    Edit,
    /// It is deleted.
    Delete,
}

/// What one tool call does, read when something first asks for it, and once for all that ask.
#[derive(Debug, Default)]
pub(crate) struct Reading(OnceLock<Arc<OnceLock<Deeds>>>);

impl Reading {
    /// Returns what the call of `input` does, which must have the same call every time.
    pub(crate) fn of(&self, input: &Input) -> &Deeds {
        self.0.get_or_init(Arc::default).get_or_init(|| Deeds::of(input))
    }

    /// Returns the same reading, for a task or for another input with the same call.
    pub(crate) fn share(&self) -> Self {
        Self(OnceLock::from(Arc::clone(self.0.get_or_init(Arc::default))))
    }
}

/// What a tool call does.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) commands: Vec<Command>,
    pub(crate) files: Vec<TouchedFile>,
    /// The text of its command.
    pub(crate) text: Option<String>,
    /// An argument that makes every command uncertain, because its meaning is not known.
    pub(crate) unknown_argument: Option<String>,
}

impl Deeds {
    /// Returns what the tool call of `input` does; nothing for other events.
    pub(crate) fn of(input: &Input) -> Self {
        let Some(call) = arguments::Arguments::of(input) else { return Self::default() };
        let commands = call.commands();
        let files = files::of_call(&call, &commands);
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        Self { commands, files, text: call.text(), unknown_argument }
    }

    /// Returns the paths that are known, one a line; `None` if there are none, or a path has several
    /// lines.
    pub(crate) fn certain_files(&self) -> Option<String> {
        let certain = self.files.iter().filter(|file| file.certain);
        let mut paths: Vec<&str> = Vec::new();
        for path in certain.map(|file| file.path.as_str()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let fits = !paths.is_empty() && !paths.iter().any(|path| path.contains('\n'));
        fits.then(|| paths.join("\n"))
    }

    /// Returns the JSON of `input` with the lists under their keys.
    pub(crate) fn json_with(&self, input: &Input) -> Vec<u8> {
        /// Borrows everything: a copy of a large input for one more key would be slow.
        #[derive(Serialize)]
        struct Shown<'a> {
            #[serde(flatten)]
            input: &'a Input,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            commands: &'a [Command],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            files: &'a [TouchedFile],
        }
        let has_hosts = Input::OF_CALLS.iter().any(|key| input.extra.contains_key(*key));
        let cleaned = has_hosts.then(|| {
            let mut input = input.clone();
            input.extra.retain(|key, _| !Input::OF_CALLS.contains(&key.as_str()));
            input
        });
        let input = cleaned.as_ref().unwrap_or(input);
        json_bytes(&Shown { input, commands: &self.commands, files: &self.files })
    }
}

impl Command {
    /// Returns the command of a text that can't be read.
    fn unreadable() -> Self {
        Self { uncertain: true, hides: true, pipeline: 1, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
