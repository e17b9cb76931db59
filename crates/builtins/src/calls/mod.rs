//! Reads out of a tool call the commands that it runs and the files that it touches.
//!
//! Both are read from the call's arguments, by the one table of tools, and only when something asks
//! for them. What can't be known before the call runs is marked as uncertain, never left out.

mod arguments;
mod command;
mod files;
mod history;
pub(crate) mod names;
mod powershell;
mod reader;
mod shells;
mod simple;
mod wrappers;

pub(crate) use arguments::{directory, kinds, named_directories};
pub(crate) use command::{Certainty, Hidden, SimpleCommand, Word, line_of};
pub(crate) use history::{Change, History};
pub(crate) use reader::{LONGEST, commands_of_text};
pub(crate) use shells::{is_interpreter, is_shell};
pub(crate) use simple::base_name;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use crate::tools::kinds_of;
use hookexec::describe::{CallDescription, DescribeCall};
use hookexec::handler::Call;
use hookexec::wire::Input;

/// Reads tool calls by the one table of tools.
#[derive(Debug)]
pub struct KnownTools;

/// A tool call as it is read: what it runs, and an argument whose meaning is not known.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) commands: Vec<SimpleCommand>,
    /// The commands with those that they imply, once a rule asked for them.
    pub(crate) implied: OnceLock<Vec<SimpleCommand>>,
    /// Where the directories and files of patterns really lie, of those that lie elsewhere.
    pub(crate) reals: Mutex<HashMap<OsString, Option<PathBuf>>>,
    /// An argument that makes every command uncertain, because its meaning is not known.
    pub(crate) unknown_argument: Option<String>,
}

impl Reading {
    /// Returns the reading of a call. All hooks share it.
    pub(crate) fn of(call: &Call<'_>) -> Arc<Self> {
        let shared = call.description().reading.clone();
        if let Some(Ok(reading)) = shared.map(Arc::downcast) {
            return reading;
        }
        // The host reads calls in its own way.
        let reading = KnownTools.describe(call.input).reading.map(Arc::downcast);
        reading.and_then(Result::ok).unwrap_or_default()
    }
}

impl DescribeCall for KnownTools {
    fn describe(&self, input: &Input) -> CallDescription {
        let Some(call) = arguments::Arguments::of(input) else { return CallDescription::default() };
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        let commands = call.commands();
        let described: Vec<_> = commands.iter().map(SimpleCommand::described).collect();
        let files = files::of_call(&call, &described);
        let reading =
            Reading { commands, unknown_argument: unknown_argument.clone(), ..Reading::default() };
        CallDescription {
            commands: described,
            files,
            text: call.text(),
            unknown_argument,
            reading: Some(Arc::new(reading)),
        }
    }

    fn kinds(&self, agent: Option<&str>, tool: &str) -> Vec<String> {
        kinds_of(agent, tool)
    }
}

#[cfg(test)]
mod tests;
