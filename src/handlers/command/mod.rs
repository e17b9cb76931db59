//! `type: command`: programs and shell strings.

mod exchange;
mod handler;
pub(crate) mod launch;
pub(crate) mod place;
pub(crate) mod shells;

pub(crate) use handler::build;
