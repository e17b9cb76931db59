//! The decision log: what was decided at each event, a line of JSON each.
//!
//! `audit:` in a hooks file switches it on. The executor writes a [`Record`] after each dispatch;
//! `hookexec log` and `hookexec test --log` read them.

mod record;
mod writer;

pub use record::{BEGINNING, Record, rewritten};
pub use writer::recorder;
