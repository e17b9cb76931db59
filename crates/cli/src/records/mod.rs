//! Reads the decision log: its records, and counts of them.

mod follower;
mod log;
mod statistics;

pub(crate) use follower::Follower;
pub(crate) use log::{Filter, is_wanted, read};
pub(crate) use statistics::{HookStatistics, Statistics, word};
