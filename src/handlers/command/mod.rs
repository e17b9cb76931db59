//! `type: command`: programs and shell strings.

pub(crate) mod environment;
mod exchange;
pub(crate) mod expand;
mod handler;
pub(crate) mod launch;
pub(crate) mod place;
pub(crate) mod shells;
#[cfg_attr(unix, path = "start_error/unix.rs")]
#[cfg_attr(windows, path = "start_error/windows.rs")]
mod start_error;

pub(crate) use handler::build;
