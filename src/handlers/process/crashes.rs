//! The rests of a process between its crashes.

use std::time::{Duration, Instant};

/// How long a process rests after a crash. Each further crash in a row doubles it.
const FIRST_REST: Duration = Duration::from_millis(100);
const LONGEST_REST: Duration = Duration::from_mins(5);

/// The longest rest that a call waits for. The rest after the fifth crash is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The crashes of one process in a row. An answered call makes up for all of them.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    count: u32,
    rest: Duration,
    last: Option<(Instant, String)>,
}

/// A rest that is not over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) until: Instant,
    /// Whether a call waits for its end.
    pub(super) is_short: bool,
    /// What is wrong with the process, in words that follow its name.
    pub(super) problem: String,
}

impl Crashes {
    /// Notes a crash; `served` says whether the process had answered a call since its start.
    pub(super) fn add(&mut self, at: Instant, served: bool, cause: String) {
        self.count = if served { 1 } else { self.count.saturating_add(1) };
        let doublings = (self.count - 1).min(16);
        self.rest = FIRST_REST.saturating_mul(1 << doublings).min(LONGEST_REST);
        self.last = Some((at, cause));
    }

    /// Returns the rest of the process; `None` if it may be started.
    pub(super) fn resting(&self, now: Instant) -> Option<Rest> {
        let (at, cause) = self.last.as_ref()?;
        let until = *at + self.rest;
        if until <= now {
            return None;
        }
        let (left, count) = (until - now, self.count);
        let is_short = self.rest <= LONGEST_WAIT;
        let problem = if is_short {
            format!("crashed and is started again in {left:.1?}: {cause}")
        } else {
            format!(
                "crashed {count} times in a row without answering a call and is left alone for another {left:.1?}: {cause}"
            )
        };
        Some(Rest { until, is_short, problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_until_an_answered_call_makes_up_for_all_crashes() {
        let mut crashes = Crashes::default();
        let now = Instant::now();
        let rest = |crashes: &Crashes| {
            let Rest { until, is_short, problem } = crashes.resting(now).unwrap();
            assert!(problem.ends_with(": x"), "{problem}");
            assert_eq!(crashes.resting(until), None);
            (until - now, is_short)
        };
        assert_eq!(crashes.resting(now), None);
        for millis in [100, 200, 400, 800, 1600, 3200] {
            crashes.add(now, false, "x".to_owned());
            assert_eq!(rest(&crashes), (Duration::from_millis(millis), millis < 1000));
        }
        for _ in 0..100 {
            crashes.add(now, false, "x".to_owned());
        }
        assert_eq!(rest(&crashes), (LONGEST_REST, false));
        crashes.add(now, true, "x".to_owned());
        assert_eq!(rest(&crashes), (FIRST_REST, true));
    }
}
