//! Describes a tool call: the commands that it runs and the files that it touches, as data; and the
//! contract of their reader.
#![expect(clippy::exhaustive_structs, reason = "a reader of calls fills them in")]

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, OnceLock};

use serde::Serialize;

use crate::wire::{Input, json_bytes};

/// Reads tool calls. A registry has at most one reader.
///
/// It marks a part that can't be known before the call runs as uncertain, and never leaves it out.
pub trait DescribeCall: Debug + Send + Sync + 'static {
    /// Returns what the tool call of `input` does; nothing for other events.
    fn describe(&self, input: &Input) -> CallDescription;

    /// Returns the kinds of a tool of which only the name is known, and the agent that has it.
    fn kinds(&self, agent: Option<&str>, tool: &str) -> Vec<String>;
}

/// The description of one tool call. It is made once, when a condition or a hook first needs it.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    describer: Option<&'static dyn DescribeCall>,
    description: OnceLock<Arc<OnceLock<CallDescription>>>,
}

impl Memo {
    /// Returns a memo that asks `describer`; without one, nothing is known of any call.
    pub fn new(describer: Option<&'static dyn DescribeCall>) -> Self {
        Self { describer, description: OnceLock::new() }
    }

    /// Returns what the call of `input` does, which must have the same call every time.
    pub fn of(&self, input: &Input) -> &CallDescription {
        static NOTHING: LazyLock<CallDescription> = LazyLock::new(CallDescription::default);
        let Some(describer) = self.describer else { return &NOTHING };
        let description = self.description.get_or_init(Arc::default);
        description.get_or_init(|| describer.describe(input))
    }

    /// Returns the same memo, for a task or for another input with the same call.
    pub(crate) fn share(&self) -> Self {
        self.description.get_or_init(Arc::default);
        self.clone()
    }
}

/// The description of a tool call.
#[derive(Debug, Default)]
pub struct CallDescription {
    /// The commands that it runs.
    pub commands: Vec<Command>,
    /// The files that it touches.
    pub files: Vec<TouchedFile>,
    /// The text of its command.
    pub text: Option<String>,
    /// An argument that makes every command uncertain, because its meaning is not known.
    pub unknown_argument: Option<String>,
    /// The reader's own form of the call, for handlers that come with the reader.
    pub reading: Option<Arc<dyn Any + Send + Sync>>,
}

impl CallDescription {
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
        if fits { Some(paths.join("\n")) } else { None }
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
        let mut input = Cow::Borrowed(input);
        if Input::OF_CALLS.iter().any(|key| input.extra.contains_key(*key)) {
            input.to_mut().extra.retain(|key, _| !Input::OF_CALLS.contains(&key.as_str()));
        }
        json_bytes(&Shown { input: &input, commands: &self.commands, files: &self.files })
    }
}

/// One simple command of a tool call, such as `grep -n x file` in `grep -n x file | head`.
///
/// A command that runs another one, such as `sudo rm x` or `sh -c "rm x"`, is followed by the
/// command that it runs. Commands in substitutions are commands of the call, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Command {
    /// The program as it is written, without quotes: `git`, `/bin/rm`. It is empty when a command
    /// only assigns variables or redirects, and when the text can't be read.
    pub program: String,
    /// The arguments, without quotes. One that a shell would expand keeps its text.
    pub args: Vec<String>,
    /// Which pipeline of the call it belongs to, counted from 1.
    pub pipeline: usize,
    /// Whether it reads the output of another command through a pipe.
    pub piped: bool,
    /// Where its input and output go, if to files.
    pub redirections: Vec<Redirection>,
    /// The assignments before the program, such as `LANG=C`.
    pub assignments: Vec<String>,
    /// The programs that run it, the outermost first: `sudo`, `env`, `xargs`, `sh`.
    pub wrappers: Vec<String>,
    /// Whether a part of it can't be known before it runs, such as `$(...)`, `$name`, or a wildcard
    /// that may become an option.
    pub uncertain: bool,
    /// Whether it may run commands that the list does not show.
    #[serde(skip)]
    pub hides: bool,
}

/// A file that a command reads or writes by a redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Redirection {
    /// The operator: `<`, `>`, `>>`, `>|`, `&>`, `&>>`, `>&`, `<>`.
    pub operator: String,
    /// The file as it is written, without quotes.
    pub file: String,
    /// Whether a shell takes the text as it is.
    pub certain: bool,
}

/// A file or directory that a tool call touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TouchedFile {
    /// Its absolute path, without `.` and `..`; links are not followed.
    pub path: String,
    /// The use that the call makes of it.
    pub touched: Touched,
    /// Whether the path is known. A shell may expand it, or change its directory before.
    pub certain: bool,
}

/// The use that a tool call makes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Touched {
    /// It is read, listed or searched.
    Read,
    /// It is created or replaced.
    Write,
    /// A part of it is changed.
    Edit,
    /// It is deleted.
    Delete,
}
