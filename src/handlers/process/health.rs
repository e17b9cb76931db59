//! When a process that crashed may be started again.
//!
//! After a crash it rests for 100 ms, after each further one twice as long. After five in a row,
//! none of which answered a call, it is left alone for 30 s and then tried once; when that fails,
//! too, for twice as long, up to 5 minutes. An answered call makes up for everything.

use std::time::{Duration, Instant};

/// How long the first rest is.
const FIRST_REST: Duration = Duration::from_millis(100);

/// How many crashes in a row are too many.
pub(super) const TOO_MANY: u32 = 5;

/// How long a process that crashes all the time is left alone at first.
const FIRST_BREAK: Duration = Duration::from_secs(30);

/// The longest that it is left alone.
const LONGEST_BREAK: Duration = Duration::from_mins(5);

/// The crashes of one process.
#[derive(Debug, Clone, Default)]
pub(super) struct Health {
    /// How many in a row, no call answered since.
    crashes: u32,
    last: Option<(Instant, String)>,
}

/// Whether a process may be started.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gate<'a> {
    /// Now.
    Open,
    /// In a moment, which is worth waiting for.
    Resting { until: Instant, cause: &'a str },
    /// Not for a long time.
    Broken { until: Instant, cause: &'a str, crashes: u32 },
}

impl Health {
    /// Notes a crash; `served` says whether the process had answered a call since its start.
    pub(super) fn crashed(&mut self, at: Instant, served: bool, cause: impl Into<String>) {
        self.crashes = if served { 1 } else { self.crashes.saturating_add(1) };
        self.last = Some((at, cause.into()));
    }

    /// Returns whether the process may be started at `now`.
    pub(super) fn gate(&self, now: Instant) -> Gate<'_> {
        let Some((at, cause)) = &self.last else { return Gate::Open };
        let until = *at + self.rest();
        if until <= now {
            Gate::Open
        } else if self.crashes < TOO_MANY {
            Gate::Resting { until, cause }
        } else {
            Gate::Broken { until, cause, crashes: self.crashes }
        }
    }

    fn rest(&self) -> Duration {
        let doubled = |first: Duration, times: u32| first.saturating_mul(1 << times.min(16));
        match self.crashes {
            0 => Duration::ZERO,
            few if few < TOO_MANY => doubled(FIRST_REST, few - 1),
            many => doubled(FIRST_BREAK, many - TOO_MANY).min(LONGEST_BREAK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_and_too_many_crashes_break_the_circuit() {
        let mut health = Health::default();
        let now = Instant::now();
        assert_eq!(health.gate(now), Gate::Open);
        for rest in [100, 200, 400, 800] {
            health.crashed(now, false, "x");
            let until = now + Duration::from_millis(rest);
            assert_eq!(health.gate(now), Gate::Resting { until, cause: "x" });
            assert_eq!(health.gate(until), Gate::Open);
        }
        for (crashes, pause) in [(5, 30), (6, 60), (7, 120), (8, 240), (9, 300), (10, 300)] {
            health.crashed(now, false, "y");
            let until = now + Duration::from_secs(pause);
            assert_eq!(health.gate(now), Gate::Broken { until, cause: "y", crashes });
            assert_eq!(health.gate(until), Gate::Open);
        }
    }

    #[test]
    fn an_answered_call_makes_up_for_everything() {
        let mut health = Health::default();
        let now = Instant::now();
        for _ in 0..100 {
            health.crashed(now, false, "x");
        }
        health.crashed(now, true, "x");
        let until = now + FIRST_REST;
        assert_eq!(health.gate(now), Gate::Resting { until, cause: "x" });
    }
}
