//! Reads out of a tool call the commands that it runs and the files that it touches.
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

use crate::tools::kinds_of;
use hookexec::describe::{CallDescription, Command, DescribeCall};
use hookexec::wire::Input;

/// Reads tool calls by the one table of tools.
#[derive(Debug)]
pub struct KnownTools;

impl DescribeCall for KnownTools {
    fn describe(&self, input: &Input) -> CallDescription {
        let Some(call) = arguments::Arguments::of(input) else { return CallDescription::default() };
        let commands = call.commands();
        let files = files::of_call(&call, &commands);
        let unknown_argument = call.unknown_argument().map(str::to_owned);
        CallDescription { commands, files, text: call.text(), unknown_argument }
    }

    fn kinds(&self, agent: Option<&str>, tool: &str) -> Vec<String> {
        kinds_of(agent, tool)
    }
}

/// Returns the command of a text that can't be read.
fn unreadable() -> Command {
    Command { uncertain: true, hides: true, pipeline: 1, ..Command::default() }
}

#[cfg(test)]
mod tests;
