//! The statistics of a log.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Serialize;

use hookexec::config::Hook;
use hookexec::event::Event;
use hookexec::wire::{Decision, HookReport, HookStatus, Mode};
use hookexec_project::log::Record;

/// Counts over the records of a log.
#[derive(Debug, Default, Serialize)]
pub struct Statistics {
    /// How many records there are.
    pub records: usize,
    /// How many lines are not records.
    pub unreadable: usize,
    /// Events by their decision, `none` for no opinion.
    pub decisions: BTreeMap<&'static str, usize>,
    /// Events by name.
    pub events: BTreeMap<Event, usize>,
    /// Events that went on although a hook ended in an error or failed.
    pub failed_open: usize,
    /// The hooks that ran, by name, and then enabled hooks that no record has.
    pub hooks: Vec<HookStatistics>,
}

/// Counts of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HookStatistics {
    /// Its name.
    pub name: String,
    /// Where it is configured.
    pub source: String,
    /// Its mode when it ran last.
    pub mode: Mode,
    /// How often it ran.
    pub ran: usize,
    /// Its answers by decision, `none` for no opinion.
    pub decisions: BTreeMap<&'static str, usize>,
    /// How often it ended in an error or failed.
    pub failed: usize,
    /// How often the event went on although it did.
    pub failed_open: usize,
    /// How often its answer, which did not count, would have made the verdict stricter.
    pub would_change: usize,
    /// The time that half of its runs stayed below, in milliseconds.
    pub p50_ms: f64,
    /// The time that 99 of 100 runs stayed below, in milliseconds.
    pub p99_ms: f64,
    #[serde(skip)]
    durations: Vec<f64>,
}

impl Statistics {
    /// Adds a hook that is configured, and that a record may have.
    pub fn expect(&mut self, hook: &Hook) {
        let _ = self.counts_of(&hook.label(), &hook.location.absolute());
    }

    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        self.records += 1;
        *self.decisions.entry(word(record.decision)).or_default() += 1;
        *self.events.entry(record.event).or_default() += 1;
        self.failed_open += usize::from(!record.failed_open.is_empty());
        for report in &record.hooks {
            if report.status != HookStatus::Skipped {
                self.counts_of(&report.name, &report.source).add(record, report);
            }
        }
    }

    fn counts_of(&mut self, name: &str, source: &str) -> &mut HookStatistics {
        let source = shown(source);
        let known = self.hooks.iter().position(|hook| hook.name == name && hook.source == source);
        let place = known.unwrap_or(self.hooks.len());
        if known.is_none() {
            let (name, source) = (name.to_owned(), source.to_owned());
            self.hooks.push(HookStatistics { name, source, ..HookStatistics::default() });
        }
        &mut self.hooks[place]
    }

    /// Computes what needs all records.
    pub fn complete(&mut self) {
        self.hooks
            .sort_by(|one, other| (one.ran == 0, &one.name).cmp(&(other.ran == 0, &other.name)));
        for hook in &mut self.hooks {
            hook.durations.sort_by(f64::total_cmp);
            hook.p50_ms = percentile(&hook.durations, 50);
            hook.p99_ms = percentile(&hook.durations, 99);
        }
    }
}

impl HookStatistics {
    fn add(&mut self, record: &Record, report: &HookReport) {
        self.mode = report.mode.unwrap_or_default();
        self.ran += 1;
        *self.decisions.entry(word(report.decision)).or_default() += 1;
        let failed = matches!(report.status, HookStatus::Error | HookStatus::Failed);
        self.failed += usize::from(failed);
        self.failed_open += usize::from(failed && record.failed_open.contains(&report.name));
        let would_change = record.would_change().any(|other| std::ptr::eq(other, report));
        self.would_change += usize::from(would_change);
        if report.status != HookStatus::Background {
            self.durations.push(report.duration_ms);
        }
    }
}

/// Returns a hook's place as it is shown: below the current directory from there.
pub fn shown(source: &str) -> &str {
    static HERE: LazyLock<String> = LazyLock::new(|| {
        let here = std::env::current_dir().and_then(dunce::canonicalize);
        here.map_or_else(|_| "/".to_owned(), |path| format!("{}/", path.display()))
    });
    source.strip_prefix(HERE.as_str()).unwrap_or(source)
}

/// Returns the word of a decision.
pub fn word(decision: Option<Decision>) -> &'static str {
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
