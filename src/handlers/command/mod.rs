//! `type: command`: programs and shell strings.

pub(crate) mod capture;
pub(crate) mod environment;
mod exchange;
pub(crate) mod expand;
#[cfg_attr(unix, path = "explain/unix.rs")]
#[cfg_attr(windows, path = "explain/windows.rs")]
pub(crate) mod explain;
pub(crate) mod group;
mod handler;
pub(crate) mod place;
pub(crate) mod program;
pub(crate) mod shells;

pub(crate) use handler::build;
