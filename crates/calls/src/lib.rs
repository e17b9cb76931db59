//! Reads out of a tool call the commands that it runs and the files that it touches.
//!
//! Both are read from the call's arguments, by the one table of tools, and only when something asks
//! for them. What can't be known before the call runs is marked as uncertain, never left out.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "packages of this workspace use it"
)]

mod arguments;
mod command;
pub mod expand;
mod files;
mod finder;
mod history;
pub mod limits;
pub mod place;
mod powershell;
mod reader;
pub mod shell;
mod shells;
mod simple;
pub mod sql;
mod surroundings;
pub mod tools;
pub mod wildcard;
mod wrappers;

pub use arguments::{
    directory, kinds, named_directories, only_reads, only_reads_by_name, only_writes,
};
pub use command::{Certainty, Frame, Hidden, Redirection, SimpleCommand, Word, is_number, line_of};
pub use finder::Finder;
pub use history::{Change, History, Step};
pub use reader::{LONGEST, commands_of_text};
pub use shells::{is_interpreter, is_shell};
pub use simple::base_name;
pub use surroundings::Surroundings;
pub use wrappers::{before_subcommand, runs_commands};

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use arguments::Arguments;

use crate::tools::of_agent;
use hookexec::describe::{CallDescription, DescribeCall};
use hookexec::wire::JsonObject;
use hookexec::{Call, Input};

/// Names that the reader knows; `names.txt` says what each list is.
mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// Reads tool calls by the one table of tools.
#[derive(Debug)]
pub struct KnownTools;

/// A tool call as it is read: what it runs, and an argument whose meaning is not known.
#[derive(Debug, Default)]
pub struct Reading {
    /// The commands that it runs.
    pub commands: Vec<SimpleCommand>,
    /// The commands with those that they imply, once a rule asked for them.
    pub implied: OnceLock<Vec<SimpleCommand>>,
    /// Where the directories and files of patterns really lie, of those that lie elsewhere.
    pub reals: Mutex<HashMap<OsString, Option<PathBuf>>>,
    /// The names of the files that paths lead to.
    pub names: Mutex<HashMap<PathBuf, Arc<[PathBuf]>>>,
    /// An argument that makes every command uncertain, because its meaning is not known.
    pub unknown_argument: Option<String>,
}

impl Reading {
    /// Returns the reading of a call. All hooks share it.
    pub fn of(call: &Call<'_>) -> Arc<Self> {
        if let Some(reading) = &call.description().reading
            && let Ok(reading) = Arc::clone(reading).downcast()
        {
            return reading;
        }
        // The host reads calls in its own way.
        match Arguments::of(call.input) {
            Some(arguments) => Arc::new(Self::read(&arguments)),
            None => Arc::default(),
        }
    }

    fn read(call: &Arguments<'_>) -> Self {
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        Self { commands: call.commands(), unknown_argument, ..Self::default() }
    }
}

impl DescribeCall for KnownTools {
    fn describe(&self, input: &Input) -> CallDescription {
        let Some(call) = Arguments::of(input) else { return CallDescription::default() };
        let reading = Reading::read(&call);
        let commands: Vec<_> = reading.commands.iter().map(SimpleCommand::described).collect();
        CallDescription {
            files: files::of_call(&call, &commands),
            commands,
            text: call.text(),
            unknown_argument: reading.unknown_argument.clone(),
            reading: Some(Arc::new(reading)),
        }
    }

    fn kinds(&self, agent: Option<&str>, tool: &str) -> Vec<String> {
        of_agent(agent.unwrap_or_default()).kinds(tool, &JsonObject::new())
    }
}

#[cfg(test)]
mod tests;
