//! What a log says in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use hookexec::event::Event;
use hookexec::internal::audit::Record;
use hookexec::wire::{Decision, HookReport, HookStatus, Mode};

/// Counts over the records of a log.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Statistics {
    /// How many records there are.
    pub(crate) records: usize,
    /// Events by their decision, `none` for no opinion.
    pub(crate) decisions: BTreeMap<&'static str, usize>,
    /// Events by name.
    pub(crate) events: BTreeMap<Event, usize>,
    /// Events that went on although a hook ended in an error or failed.
    pub(crate) failed_open: usize,
    #[serde(skip)]
    hooks: BTreeMap<(String, String), HookStatistics>,
}

/// Counts of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct HookStatistics {
    /// Its name.
    pub(crate) name: String,
    /// Where it is configured.
    pub(crate) source: String,
    /// Its mode when it ran last.
    pub(crate) mode: Mode,
    /// How often it ran.
    pub(crate) ran: usize,
    /// Its answers by decision, `none` for no opinion.
    pub(crate) decisions: BTreeMap<&'static str, usize>,
    /// How often it ended in an error or failed.
    pub(crate) failed: usize,
    /// How often the event went on although it did.
    pub(crate) failed_open: usize,
    /// How often its answer, which did not count, would have made the verdict stricter.
    pub(crate) would_change: usize,
    /// The time that half of its runs stayed below, in milliseconds.
    pub(crate) p50_ms: f64,
    /// The time that 99 of 100 runs stayed below, in milliseconds.
    pub(crate) p99_ms: f64,
    #[serde(skip)]
    durations: Vec<f64>,
}

impl Statistics {
    /// Counts a record.
    pub(crate) fn add(&mut self, record: &Record) {
        self.records += 1;
        *self.decisions.entry(word(record.decision)).or_default() += 1;
        *self.events.entry(record.event).or_default() += 1;
        self.failed_open += usize::from(!record.failed_open.is_empty());
        for report in record.hooks.iter().filter(|report| report.status != HookStatus::Skipped) {
            self.add_hook(record, report);
        }
    }

    fn add_hook(&mut self, record: &Record, report: &HookReport) {
        let key = (report.name.clone(), report.source.clone());
        let counts = self.hooks.entry(key).or_default();
        counts.mode = report.mode.unwrap_or_default();
        counts.ran += 1;
        *counts.decisions.entry(word(report.decision)).or_default() += 1;
        let failed = matches!(report.status, HookStatus::Error | HookStatus::Failed);
        counts.failed += usize::from(failed);
        counts.failed_open += usize::from(failed && record.failed_open.contains(&report.name));
        let would_change = record.would_change().any(|other| std::ptr::eq(other, report));
        counts.would_change += usize::from(would_change);
        if report.status != HookStatus::Background {
            counts.durations.push(report.duration_ms);
        }
    }

    /// Takes out the counts of each hook that ran, by name.
    pub(crate) fn take_hooks(&mut self) -> Vec<HookStatistics> {
        let one = |((name, source), mut counts): ((String, String), HookStatistics)| {
            counts.durations.sort_by(f64::total_cmp);
            let [p50_ms, p99_ms] = [50, 99].map(|percent| percentile(&counts.durations, percent));
            HookStatistics { name, source, p50_ms, p99_ms, ..counts }
        };
        std::mem::take(&mut self.hooks).into_iter().map(one).collect()
    }
}

/// Returns the word of a decision.
pub(crate) fn word(decision: Option<Decision>) -> &'static str {
    decision.map_or("none", Decision::name)
}

/// Returns the smallest value that `percent` of all do not exceed.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert!((percentile(&hundred, 50) - 50.0).abs() < f64::EPSILON);
        assert!((percentile(&hundred, 99) - 99.0).abs() < f64::EPSILON);
        assert!((percentile(&[7.0], 99) - 7.0).abs() < f64::EPSILON);
        assert!(percentile(&[], 50).abs() < f64::EPSILON);
    }
}
