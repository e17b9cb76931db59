//! What `hookexec ship` remembers between its passes, in a file beside the log.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::internal::files::{random_id, read_regular, replace_private};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::counters::Counters;
use crate::chance::share;
use crate::records::Position;

/// The longest wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// The longest wait that a collector may ask for.
const LONGEST_ASKED: Duration = Duration::from_hours(1);
/// More than the file can have with every series of every metric.
const LARGEST: u64 = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    v: u8,
    /// The id of what ships this log: `service.instance.id`.
    pub(super) instance: String,
    /// Since when the counters count, in nanoseconds since 1970.
    pub(super) since: u64,
    pub(super) positions: Vec<Position>,
    pub(super) counters: Counters,
    /// When a pass last came to its end, in milliseconds since 1970.
    pub(crate) shipped: Option<i64>,
    /// Why no pass has since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
}

/// Passes that failed, one after another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// How many.
    passes: u32,
    /// What went wrong last.
    pub(crate) why: String,
    /// Before this time nothing is sent, in milliseconds since 1970.
    not_before: i64,
}

impl State {
    /// Reads the file at `path`; a new state if there is none.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        match read_regular(path, LARGEST) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self {
                v: 1,
                instance: random_id()?,
                since: now_in_nanoseconds(),
                positions: Vec::new(),
                counters: Counters::default(),
                shipped: None,
                failure: None,
            }),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file at `path` by a rename.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        replace_private(path, &serde_json::to_vec(self)?)
    }

    /// Returns how long to wait before anything is sent.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let until = self.failure.as_ref()?.not_before;
        let left = until - now.as_millisecond();
        // A clock that was set back must not stop everything.
        let left = Duration::from_millis(u64::try_from(left).ok()?).min(LONGEST_ASKED);
        (!left.is_zero()).then_some(left)
    }

    /// Notes that all is shipped.
    pub(super) fn succeeded(&mut self, now: Timestamp) {
        self.failure = None;
        self.shipped = Some(now.as_millisecond());
    }

    /// Notes a failure, and waits twice as long as after the one before; at least as long as the
    /// collector asked for.
    pub(super) fn failed(&mut self, why: String, asked: Option<Duration>, now: Timestamp) {
        let passes = self.failure.as_ref().map_or(0, |failure| failure.passes).saturating_add(1);
        let longest = Duration::from_secs(1 << passes.min(16)).min(LONGEST_WAIT);
        // Thousands of machines that a collector has failed at once must not come back at once.
        let own = longest.mul_f64(0.5 + share() / 2.0);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED).mul_f64(1.0 + share() / 10.0);
        let wait = i64::try_from(own.max(asked).as_millis()).unwrap_or_default();
        let not_before = now.as_millisecond() + wait;
        self.failure = Some(Failure { passes, why, not_before });
    }
}

/// Returns where the state of the log at `path` is kept, when nothing else is said.
pub(crate) fn state_path(log: &Path) -> PathBuf {
    hookexec::internal::audit::numbered(log, "shipped")
}

pub(super) fn now_in_nanoseconds() -> u64 {
    u64::try_from(Timestamp::now().as_nanosecond()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_wait_up_to_a_bound_or_to_what_the_collector_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let mut state = State::read(&directory.path().join("none")).unwrap();
        let now = Timestamp::now();
        assert_eq!(state.wait(now), None);
        for longest in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            state.failed("away".to_owned(), None, now);
            let wait = state.wait(now).unwrap().as_secs_f64();
            assert!((f64::from(longest) * 0.45..=f64::from(longest)).contains(&wait), "{wait}");
        }
        state.failed("busy".to_owned(), Some(Duration::from_secs(1000)), now);
        assert!((990.0..=1100.0).contains(&state.wait(now).unwrap().as_secs_f64()));
        state.succeeded(now);
        assert_eq!(state.wait(now), None);
    }

    #[test]
    fn a_state_comes_back_as_it_was_written_and_a_broken_one_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.shipped");
        let mut state = State::read(&path).unwrap();
        state.counters.outcome("sent", 3);
        state.write(&path).unwrap();
        let read = State::read(&path).unwrap();
        assert_eq!((read.instance, read.since), (state.instance, state.since));
        assert_eq!(read.counters, state.counters);
        std::fs::write(&path, "{").unwrap();
        assert!(State::read(&path).is_err());
    }
}
