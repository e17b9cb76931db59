//! Reads the decision log: its records, and counts of them.

mod log;
mod statistics;

#[cfg(feature = "http")]
pub(crate) use log::parse;
pub(crate) use log::{Filter, Log, Tail, is_wanted};
pub(crate) use statistics::{HookStatistics, Statistics, word};
