//! Reads the decision log: its records, and counts of them.

mod log;
#[cfg_attr(not(any(feature = "http", test)), expect(dead_code, reason = "`ship` uses the rest"))]
mod queue;
mod statistics;

pub(crate) use log::{Filter, is_wanted, read};
pub(crate) use queue::{Batch, Queue};
#[cfg(feature = "http")]
pub(crate) use queue::{Loss, Parcel, Position, waiting};
pub(crate) use statistics::{HookStatistics, Statistics, word};
