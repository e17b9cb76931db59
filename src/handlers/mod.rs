//! The handlers that come with the crate, a hook type each.

pub(crate) mod builtin;
pub(crate) mod command;
pub mod depth;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
pub(crate) mod model;
pub(crate) mod process;
