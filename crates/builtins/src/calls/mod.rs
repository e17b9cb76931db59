//! Reads out of a tool call the commands that it runs and the files that it touches.
//!
//! Both are read from the call's arguments, by the one table of tools, and only when something asks
//! for them. What can't be known before the call runs is marked as uncertain, never left out.

mod arguments;
mod command;
mod files;
mod reader;
mod shells;
mod simple;
mod word;
mod wrappers;

pub(crate) use arguments::kinds;
#[allow(unused_imports, reason = "rules use them")]
pub(crate) use command::{Certainty, Hidden, Redirection, SimpleCommand, Word};
pub(crate) use simple::base_name;

use crate::tools::kinds_of;
use hookexec::describe::{CallDescription, DescribeCall};
use hookexec::wire::Input;

/// Reads tool calls by the one table of tools.
#[derive(Debug)]
pub struct KnownTools;

/// A tool call as it is read: what it runs, and an argument whose meaning is not known.
#[allow(dead_code, reason = "rules read it")]
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) commands: Vec<SimpleCommand>,
    /// An argument that makes every command uncertain, because its meaning is not known.
    pub(crate) unknown_argument: Option<String>,
}

#[allow(dead_code, reason = "rules read it")]
impl Reading {
    /// Reads the tool call of `input`. It has no commands if the tool runs none.
    pub(crate) fn of(input: &Input) -> Self {
        let Some(call) = arguments::Arguments::of(input) else { return Self::default() };
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        Self { commands: call.commands(), unknown_argument }
    }
}

impl DescribeCall for KnownTools {
    fn describe(&self, input: &Input) -> CallDescription {
        let Some(call) = arguments::Arguments::of(input) else { return CallDescription::default() };
        let commands = call.commands();
        let commands: Vec<_> = commands.iter().map(SimpleCommand::described).collect();
        let files = files::of_call(&call, &commands);
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        CallDescription { commands, files, text: call.text(), unknown_argument }
    }

    fn kinds(&self, agent: Option<&str>, tool: &str) -> Vec<String> {
        kinds_of(agent, tool)
    }
}

#[cfg(test)]
mod tests;
