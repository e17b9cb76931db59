//! The handlers that come with the crate, a hook type each.

pub mod builtin;
pub mod command;
pub mod depth;
pub mod process;
