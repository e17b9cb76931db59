//! A policy that many machines share: the place that it comes from, and the version of it that is in force
//! on this machine.

mod source;
mod store;

pub use source::Source;
pub use store::{InForce, State, Store, hooks_files, now};
