//! The handlers that come with the crate, a hook type each.

pub(crate) mod builtin;
pub(crate) mod command;
pub mod depth;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod mcp;
#[cfg(feature = "http")]
pub(crate) mod model;
pub(crate) mod payloads;
pub(crate) mod process;
pub(crate) mod receiver;
mod request;
#[cfg(feature = "http")]
mod signature;
