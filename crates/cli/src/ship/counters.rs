//! What the metrics count, kept between passes.

use std::collections::BTreeMap;

use hookexec::internal::audit::Record;
use hookexec::internal::policy::State;
use hookexec::wire::HookStatus;
use serde::{Deserialize, Serialize};

use super::attributes::word_of;
use crate::records::word;

/// The metrics: name, unit, attributes, meaning. Durations are histograms. Those of bytes
/// that wait, of the hooks files and of policies are gauges. All others are sums.
pub(crate) const METRICS: &[[&str; 4]] = &[
    [EVENTS, "{event}", "`hookexec.event`, `hookexec.decision`", "events that were decided"],
    [EVENT_DURATION, "s", "`hookexec.event`", "how long an event took"],
    [
        HOOK_RUNS,
        "{run}",
        "`hookexec.hook`, `hookexec.event`, `hookexec.decision`, `hookexec.status`, `hookexec.mode`",
        "runs of a hook. `hookexec.status` is `error` or `failed` when it failed; \
         `hookexec.mode` is there when its answer does not count",
    ],
    [
        WOULD_CHANGE,
        "{event}",
        "`hookexec.hook`, `hookexec.decision`",
        "events that would have been decided so if the hook's answer counted",
    ],
    [FAILED_OPEN, "{event}", "`hookexec.hook`", "events that went on although the hook failed"],
    [HOOK_DURATION, "s", "`hookexec.hook`", "how long a hook took"],
    [CONFIG, "1", "`hookexec.config`", "1 for the hooks files of the newest record"],
    [
        POLICY_AGE,
        "s",
        "`hookexec.policy.source`, `hookexec.policy.version`, `hookexec.policy.digest`",
        "how long ago the source of the policy in force was last seen to have it",
    ],
    [
        POLICY_FAILURES,
        "{refresh}",
        "`hookexec.policy.source`",
        "how many refreshes of a policy in a row have failed",
    ],
    [
        RECORDS,
        "{record}",
        "`hookexec.outcome`",
        "records by what became of them: `sent`, `rejected` by the collector, `unreadable`",
    ],
    [LOST, "By", "", "bytes of the log that were removed before they were shipped, at least"],
    [GAPS, "{gap}", "", "how often no file was left of those that were known"],
    [WAITING, "By", "", "bytes of the log that are not shipped yet"],
];

pub(super) const EVENTS: &str = "hookexec.events";
pub(super) const EVENT_DURATION: &str = "hookexec.event.duration";
pub(super) const HOOK_RUNS: &str = "hookexec.hook.runs";
pub(super) const WOULD_CHANGE: &str = "hookexec.hook.would_change";
pub(super) const FAILED_OPEN: &str = "hookexec.hook.failed_open";
pub(super) const HOOK_DURATION: &str = "hookexec.hook.duration";
pub(super) const CONFIG: &str = "hookexec.config";
pub(super) const POLICY_AGE: &str = "hookexec.policy.age";
pub(super) const POLICY_FAILURES: &str = "hookexec.policy.failures";
pub(super) const RECORDS: &str = "hookexec.ship.records";
pub(super) const LOST: &str = "hookexec.ship.lost";
pub(super) const GAPS: &str = "hookexec.ship.gaps";
pub(super) const WAITING: &str = "hookexec.ship.waiting";

/// The upper bounds of the buckets of a histogram, in seconds.
pub(super) const BOUNDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

/// The most series of one metric, as in the SDKs of OpenTelemetry: names of hooks come from any
/// project.
const MOST_SERIES: usize = 2000;

/// The attributes of a series.
pub(super) type Labels = Vec<(String, String)>;

/// The series of one metric, by their attributes as JSON.
type Series<T> = BTreeMap<String, BTreeMap<String, T>>;

/// What was counted since the state began. It never falls, so a request that is sent again counts
/// nothing twice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counters {
    sums: Series<u64>,
    times: Series<Times>,
    /// The hooks files of the newest record.
    pub(super) config: String,
}

/// How often something took how long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Times {
    pub(super) buckets: Vec<u64>,
    pub(super) seconds: f64,
}

impl Counters {
    /// Counts a record.
    pub(super) fn add(&mut self, record: &Record) {
        let (event, decision) = (record.event.to_string(), word(record.decision));
        let labels = [("hookexec.event", &*event), ("hookexec.decision", decision)];
        self.count(EVENTS, &labels, 1);
        self.time(EVENT_DURATION, &labels[..1], record.duration_ms);
        for report in record.hooks.iter().filter(|report| report.status != HookStatus::Skipped) {
            let (status, mode) = (word_of(report.status), report.mode.map(word_of));
            let hook = [("hookexec.hook", &*report.name)];
            let mut labels = vec![hook[0], labels[0]];
            labels.push(("hookexec.decision", word(report.decision)));
            labels.push(("hookexec.status", &status));
            labels.extend(mode.as_deref().map(|mode| ("hookexec.mode", mode)));
            self.count(HOOK_RUNS, &labels, 1);
            if report.status != HookStatus::Background {
                self.time(HOOK_DURATION, &hook, report.duration_ms);
            }
        }
        for report in record.would_change() {
            let decision = word(report.decision);
            let labels = [("hookexec.hook", &*report.name), ("hookexec.decision", decision)];
            self.count(WOULD_CHANGE, &labels, 1);
        }
        for hook in &record.failed_open {
            self.count(FAILED_OPEN, &[("hookexec.hook", hook)], 1);
        }
        if !record.config.is_empty() {
            self.config.clone_from(&record.config);
        }
    }

    /// Counts records by what became of them.
    pub(super) fn outcome(&mut self, outcome: &str, records: usize) {
        self.count(RECORDS, &[("hookexec.outcome", outcome)], records as u64);
    }

    /// Adds to a sum.
    pub(super) fn count(&mut self, metric: &'static str, labels: &[(&str, &str)], more: u64) {
        if more > 0 {
            *series(&mut self.sums, metric, labels) += more;
        }
    }

    fn time(&mut self, metric: &'static str, labels: &[(&str, &str)], milliseconds: f64) {
        let times = series(&mut self.times, metric, labels);
        let seconds = milliseconds / 1e3;
        times.buckets.resize(BOUNDS.len() + 1, 0);
        times.buckets[BOUNDS.iter().take_while(|bound| seconds > **bound).count()] += 1;
        times.seconds += seconds;
    }

    /// Returns the series of a sum.
    pub(super) fn sums(&self, metric: &str) -> Vec<(Labels, u64)> {
        all(&self.sums, metric)
    }

    /// Returns the series of a histogram.
    pub(super) fn times(&self, metric: &str) -> Vec<(Labels, Times)> {
        all(&self.times, metric)
    }
}

/// Returns what a gauge says of the policy that comes from `source`.
pub(super) fn of_policy(metric: &str, source: &str, state: &State) -> Option<(Labels, u64)> {
    let label = |name: &str, value: &str| (format!("hookexec.policy.{name}"), value.to_owned());
    if metric == POLICY_FAILURES {
        return Some((vec![label("source", source)], state.failures.into()));
    }
    let in_force = state.in_force.as_ref()?;
    let labels = vec![
        label("source", &in_force.source),
        label("version", &in_force.version.to_string()),
        label("digest", &format!("sha256:{}", in_force.digest)),
    ];
    Some((labels, in_force.age().as_secs()))
}

/// Returns a series of a metric; that of all others when there are too many.
fn series<'s, T: Default>(
    all: &'s mut Series<T>,
    metric: &str,
    labels: &[(&str, &str)],
) -> &'s mut T {
    let key = |labels: &[(&str, &str)]| serde_json::to_string(labels).unwrap_or_default();
    let all = all.entry(metric.to_owned()).or_default();
    let mut name = key(labels);
    if all.len() >= MOST_SERIES && !all.contains_key(&name) {
        name = key(&[("otel.metric.overflow", "true")]);
    }
    all.entry(name).or_default()
}

fn all<T: Clone>(series: &Series<T>, metric: &str) -> Vec<(Labels, T)> {
    let known = series.get(metric).into_iter().flatten();
    known.filter_map(|(key, it)| Some((serde_json::from_str(key).ok()?, it.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_series_is_bounded() {
        let mut counters = Counters::default();
        for hook in 0..MOST_SERIES + 5 {
            counters.count(FAILED_OPEN, &[("hookexec.hook", &hook.to_string())], 1);
        }
        assert_eq!(counters.sums(FAILED_OPEN).len(), MOST_SERIES + 1);
        let overflow = ("otel.metric.overflow".to_owned(), "true".to_owned());
        assert!(counters.sums(FAILED_OPEN).contains(&(vec![overflow], 5)));
    }

    #[test]
    fn a_policy_has_an_age_once_it_is_in_force_and_counts_failed_refreshes() {
        let mut state = State { failures: 3, ..State::default() };
        assert_eq!(of_policy(POLICY_AGE, "oci://x/y", &state), None);
        assert_eq!(of_policy(POLICY_FAILURES, "oci://x/y", &state).unwrap().1, 3);
        let in_force = serde_json::json!({
            "source": "oci://x/y", "key": "", "version": 7, "digest": "ab", "manifest": "",
            "tag": "", "since": 0, "confirmed": hookexec::internal::policy::now() - 60,
        });
        state.in_force = Some(serde_json::from_value(in_force).unwrap());
        let (labels, age) = of_policy(POLICY_AGE, "oci://x/y", &state).unwrap();
        assert!((60..70).contains(&age));
        assert!(labels.contains(&("hookexec.policy.version".to_owned(), "7".to_owned())));
        assert!(labels.contains(&("hookexec.policy.digest".to_owned(), "sha256:ab".to_owned())));
    }

    #[test]
    fn a_time_is_in_the_bucket_whose_bound_it_does_not_exceed() {
        let mut counters = Counters::default();
        for milliseconds in [0.5, 0.6, 1.0, 70_000.0] {
            counters.time(HOOK_DURATION, &[], milliseconds);
        }
        let times = &counters.times(HOOK_DURATION)[0].1;
        assert_eq!((times.buckets[0], times.buckets[1], times.buckets[BOUNDS.len()]), (1, 2, 1));
        let kept: Counters =
            serde_json::from_str(&serde_json::to_string(&counters).unwrap()).unwrap();
        assert_eq!(kept, counters);
    }
}
