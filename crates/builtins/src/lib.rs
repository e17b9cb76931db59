//! The builtins that come with hookexec, and its reader of tool calls.
//!
//! [`register`] adds them to a registry. A program that embeds the engine without this package has
//! neither a reader of shell texts nor a builtin of ours.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "packages of this workspace use it"
)]

pub mod builtins;
pub mod calls;
mod rule;
pub mod shell;
pub mod tools;

pub use builtins::{Argument, Prepared, Shipped, Surroundings, shipped};
pub use calls::KnownTools;
pub use rule::{
    EXAMPLES, GROUPS, ListedTools, OPTIONS, answers_other_commands, doubts, listed_tools, may_run,
    names_a_command,
};

use hookexec::Registry;

/// Registers the shipped builtins, the rules and the reader of tool calls.
pub fn register(registry: &mut Registry) {
    builtins::register(registry);
    registry.register("rule", rule::factory());
    registry.describe_calls_by(&KnownTools);
}
