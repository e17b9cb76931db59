//! Reads the decision log: its records, and counts of them.

mod log;
mod statistics;

pub use log::{LogLine, STDIN, read};
pub use statistics::{HookStatistics, Statistics, shown, word};
