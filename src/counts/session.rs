//! The counts of one session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CountError, Counted, MAX_COUNTED};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    counters: BTreeMap<String, Counter>,
    /// Sums that hooks have spent, such as tokens.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sums: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counter {
    window: String,
    row: String,
    /// When it was counted, in seconds since 1970.
    times: Vec<u64>,
    /// Whether the last thing was one too many.
    full: bool,
}

impl Session {
    pub(super) fn count(
        &mut self,
        hook: &str,
        counted: &Counted<'_>,
        now: u64,
    ) -> Result<bool, CountError> {
        let Counted { window, row, span, most, again, .. } = counted;
        let name = name_of(hook, counted);
        if *again && let Some(known) = self.counters.get(&name) {
            return Ok(!known.full);
        }
        for (name, counter) in &mut self.counters {
            if is_of(hook, name) {
                // A time in the future is that of a clock that was put back: it counts.
                counter.times.retain(|time| span.is_none_or(|span| time + span.as_secs() > now));
            }
        }
        self.counters.retain(|name, counter| !is_of(hook, name) || !counter.times.is_empty());
        if self.is_full_without(&name) {
            self.drop_oldest_window(hook, window);
        }
        if self.is_full_without(&name) {
            return Err(CountError::TooMany);
        }
        let entry = self.counters.entry(name).or_default();
        (*window).clone_into(&mut entry.window);
        if entry.row != *row {
            (*row).clone_into(&mut entry.row);
            entry.times.clear();
        }
        entry.full = entry.times.len() >= *most;
        if !entry.full {
            entry.times.push(now);
        }
        Ok(!entry.full)
    }

    /// Returns whether the counter `name` finds no room. Of a full list the oldest turn's counts go;
    /// without such it is an error, because to forget a count would let a guard begin anew.
    fn is_full_without(&self, name: &str) -> bool {
        !self.counters.contains_key(name) && self.counters.len() >= MAX_COUNTED
    }

    pub(super) fn count_in_a_row(
        &mut self,
        hook: &str,
        counted: &Counted<'_>,
        now: u64,
    ) -> Result<bool, CountError> {
        let name = name_of(hook, counted);
        if let Some(known) = self.counters.get(&name)
            && known.full
            && !counted.again
        {
            self.counters.remove(&name);
        }
        let before_last = Counted { most: counted.most - 1, ..*counted };
        Ok(!self.count(hook, &before_last, now)?)
    }

    pub(super) fn spend(&mut self, hook: &str, units: i64, most: u64) -> bool {
        let mut sum = self.sums.remove(hook).unwrap_or_default();
        let is_free = sum < most;
        if is_free {
            sum = sum.saturating_add_signed(units);
        }
        if sum > 0 {
            self.sums.insert(hook.to_owned(), sum);
        }
        is_free
    }

    /// Forgets the oldest window of a hook, by its last count. The `current` one stays. A window is not
    /// over when another one counts: two turns of a session may run at the same time.
    fn drop_oldest_window(&mut self, hook: &str, current: &str) {
        let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, counter) in &self.counters {
            if is_of(hook, name) && counter.window != current {
                let last = newest.entry(&counter.window).or_default();
                for time in &counter.times {
                    *last = (*last).max(*time);
                }
            }
        }
        let oldest = newest.into_iter().min_by_key(|(_, last)| *last);
        let Some((oldest, _)) = oldest else { return };
        let oldest = oldest.to_owned();
        self.counters.retain(|name, counter| !is_of(hook, name) || counter.window != oldest);
    }

    pub(super) fn forget(&mut self, hook: &str) {
        self.counters.retain(|name, _| !is_of(hook, name));
    }

    /// Returns when something was last counted.
    pub(super) fn newest(&self) -> u64 {
        self.counters.values().flat_map(|counter| &counter.times).copied().max().unwrap_or(0)
    }
}

/// Returns the name of a counter. The length keeps the window and the key apart.
fn name_of(hook: &str, counted: &Counted<'_>) -> String {
    let Counted { key, window, .. } = counted;
    format!("{hook}.{}.{window}.{key}", window.len())
}

/// Returns whether the counter `name` is one of `hook`.
fn is_of(hook: &str, name: &str) -> bool {
    name.strip_prefix(hook).is_some_and(|rest| rest.starts_with('.'))
}
