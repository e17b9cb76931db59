//! The decision log: what was decided at each event, a line of JSON each.
//!
//! `audit:` in a hooks file switches it on. The executor writes a [`Record`] after each dispatch;
//! [`Log`] reads them back, [`Statistics`] counts them, and `hookexec replay` runs them through another
//! configuration.

mod log;
mod record;
mod sources;
mod statistics;
mod writer;

pub use log::{Decided, Filter, Log, LogLine, Tail};
pub use record::Record;
#[doc(hidden)]
pub use record::rewritten;
#[doc(hidden)]
pub use statistics::word;
pub use statistics::{HookStatistics, Statistics};
pub(crate) use writer::Auditor;
