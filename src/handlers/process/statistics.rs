//! The counts of a process, so that nothing is lost without a trace.

use std::sync::Mutex;

/// Counts what happened with one process since the executor was built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessStatistics {
    /// Its name.
    pub name: String,
    /// The id of its process while it runs.
    pub pid: Option<u32>,
    /// How often it was started.
    pub starts: u64,
    /// How often it ended without being asked to, while it owed an answer or with a failure.
    pub crashes: u64,
    /// How many calls were made.
    pub calls: u64,
    /// How many calls failed, for whatever cause; timeouts included.
    pub failures: u64,
    /// How many calls were not answered in time.
    pub timeouts: u64,
    /// How many replies were for no open call: they came too late, twice, or for a call never made.
    pub replies_dropped: u64,
    /// How many of its lines were no messages.
    pub lines_unparsable: u64,
    /// How many of its lines were longer than allowed.
    pub lines_oversized: u64,
    /// How many of its own calls were refused.
    pub requests_refused: u64,
    /// How many notifications were handed over to it.
    pub notifications: u64,
    /// How many notifications were dropped because it could not take them.
    pub notifications_dropped: u64,
}

/// The counts of one process so far.
pub(super) type Counters = Mutex<ProcessStatistics>;
