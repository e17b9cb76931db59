//! Reads the decision log: its records, and counts of them.

mod log;
mod statistics;

pub(crate) use log::{Filter, STDIN, read};
pub(crate) use statistics::{Statistics, word};
