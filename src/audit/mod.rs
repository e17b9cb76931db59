//! The decision log: what was decided at each event, a line of JSON each.
//!
//! `audit:` in a hooks file switches it on. The executor writes a [`Record`] after each dispatch;
//! `hookexec log` and `hookexec replay` read them.

mod record;
mod sources;
mod writer;

#[doc(hidden)]
pub use record::{BEGINNING, read_traceparent, rewritten};
pub use record::{PolicyRecord, Record};
pub(crate) use writer::Auditor;
#[doc(hidden)]
pub use writer::{numbered, open_lock};
