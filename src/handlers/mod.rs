//! The handlers that come with the crate, a hook type each.

pub(crate) mod builtin;
pub(crate) mod command;
pub(crate) mod payloads;
pub(crate) mod process;
