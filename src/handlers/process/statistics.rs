//! What is counted about a process, so that nothing is lost without a trace.

use std::sync::atomic::{AtomicU64, Ordering};

/// What has happened with one process since the executor was built.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The living counters behind [`ProcessStatistics`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) starts: Counter,
    pub(super) crashes: Counter,
    pub(super) calls: Counter,
    pub(super) failures: Counter,
    pub(super) timeouts: Counter,
    pub(super) replies_dropped: Counter,
    pub(super) lines_unparsable: Counter,
    pub(super) lines_oversized: Counter,
    pub(super) requests_refused: Counter,
    pub(super) notifications: Counter,
    pub(super) notifications_dropped: Counter,
}

#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    /// Adds one and returns the new count.
    pub(super) fn count(&self) -> u64 {
        self.add(1)
    }

    pub(super) fn add(&self, more: u64) -> u64 {
        // A number to be read by people: it orders nothing.
        self.0.fetch_add(more, Ordering::Relaxed) + more
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(super) fn snapshot(&self, name: &str, pid: Option<u32>) -> ProcessStatistics {
        ProcessStatistics {
            name: name.to_owned(),
            pid,
            starts: self.starts.get(),
            crashes: self.crashes.get(),
            calls: self.calls.get(),
            failures: self.failures.get(),
            timeouts: self.timeouts.get(),
            replies_dropped: self.replies_dropped.get(),
            lines_unparsable: self.lines_unparsable.get(),
            lines_oversized: self.lines_oversized.get(),
            requests_refused: self.requests_refused.get(),
            notifications: self.notifications.get(),
            notifications_dropped: self.notifications_dropped.get(),
        }
    }
}
