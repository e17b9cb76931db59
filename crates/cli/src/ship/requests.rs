//! The requests of OTLP: logs, spans and metrics.

use std::time::Duration;

use hookexec::internal::Policy;
use hookexec::internal::audit::{Record, read_traceparent};
use hookexec::wire::Decision;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, SpanKind};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message as _;

use super::attributes::{any, attributes, fields, pair};
use super::counters::{
    BOUNDS, CONFIG, EVENT_DURATION, HOOK_DURATION, Labels, METRICS, POLICY_AGE, POLICY_FAILURES,
    Times, WAITING, of_policy,
};
use super::state::{State, now_in_nanoseconds};
use crate::records::{Parcel, waiting, word};

/// The name of each log record of a decision.
pub(super) const EVENT_NAME: &str = "hookexec.decision";

/// Makes the requests of one machine.
pub(super) struct Requests {
    /// What describes the machine.
    pub(super) resource: Resource,
    /// Whether recorded inputs are sent.
    pub(super) inputs: bool,
    /// Returns the policies that come from elsewhere, as the hooks files name them now.
    pub(super) policies: Box<dyn Fn() -> Vec<Policy>>,
}

impl Requests {
    /// Returns records as log records.
    pub(super) fn logs(&self, parcels: &[Parcel]) -> Vec<u8> {
        let log_records = parcels.iter().map(|parcel| self.log_record(parcel)).collect();
        let logs = ScopeLogs { scope: Some(scope()), log_records, ..ScopeLogs::default() };
        let resource = Some(self.resource.clone());
        let all = ResourceLogs { resource, scope_logs: vec![logs], ..ResourceLogs::default() };
        ExportLogsServiceRequest { resource_logs: vec![all] }.encode_to_vec()
    }

    /// Returns the records that belong to a sampled span as spans; `None` when there are none.
    pub(super) fn spans(&self, parcels: &[Parcel]) -> Option<Vec<u8>> {
        let spans: Vec<Span> = parcels.iter().filter_map(|parcel| self.span(parcel)).collect();
        if spans.is_empty() {
            return None;
        }
        let spans = ScopeSpans { scope: Some(scope()), spans, ..ScopeSpans::default() };
        let resource = Some(self.resource.clone());
        let all = ResourceSpans { resource, scope_spans: vec![spans], ..ResourceSpans::default() };
        Some(ExportTraceServiceRequest { resource_spans: vec![all] }.encode_to_vec())
    }

    fn log_record(&self, parcel: &Parcel) -> LogRecord {
        let record = &*parcel.record;
        let severity = match record.decision {
            _ if !record.failed_open.is_empty() => SeverityNumber::Error,
            Some(Decision::Deny | Decision::Ask) => SeverityNumber::Warn,
            _ => SeverityNumber::Info,
        };
        let mut attributes = attributes(parcel, self.inputs);
        let hooks = serde_json::to_value(&record.hooks).unwrap_or_default();
        attributes.push(pair("hookexec.hooks", hooks));
        let trace = trace_of(parcel).map(|(id, _, flags)| (id, span_of(parcel), flags.into()));
        let (trace_id, span_id, flags) = trace.unwrap_or_default();
        LogRecord {
            time_unix_nano: time(record),
            observed_time_unix_nano: now_in_nanoseconds(),
            severity_number: severity.into(),
            severity_text: severity.as_str_name().trim_start_matches("SEVERITY_NUMBER_").to_owned(),
            body: any(summary(record).into()),
            attributes,
            flags,
            trace_id,
            span_id,
            event_name: EVENT_NAME.to_owned(),
            ..LogRecord::default()
        }
    }

    fn span(&self, parcel: &Parcel) -> Option<Span> {
        let record = &*parcel.record;
        let (trace_id, parent_span_id, flags) = trace_of(parcel).filter(|it| it.2 & 1 == 1)?;
        let end = time(record);
        let took = Duration::try_from_secs_f64(record.duration_ms / 1e3).unwrap_or_default();
        let events = record.hooks.iter().map(|report| Event {
            time_unix_nano: end,
            name: "hookexec.hook".to_owned(),
            attributes: fields(report),
            ..Event::default()
        });
        Some(Span {
            trace_id,
            parent_span_id,
            flags: flags.into(),
            name: format!("hookexec {}", record.event),
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: end
                .saturating_sub(u64::try_from(took.as_nanos()).unwrap_or_default()),
            end_time_unix_nano: end,
            attributes: attributes(parcel, self.inputs),
            events: events.collect(),
            span_id: span_of(parcel),
            ..Span::default()
        })
    }

    /// Returns what was counted until now.
    pub(super) fn metrics(&self, state: &State) -> Vec<u8> {
        let (policies, now) = ((self.policies)(), now_in_nanoseconds());
        let metrics = METRICS.iter().map(|[name, unit, _, about]| Metric {
            name: (*name).to_owned(),
            description: about.replace('`', ""),
            unit: (*unit).to_owned(),
            data: Some(data(name, state, &policies, now)),
            ..Metric::default()
        });
        let metrics = metrics.collect();
        let metrics = ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() };
        let resource = Some(self.resource.clone());
        let all = ResourceMetrics {
            resource,
            scope_metrics: vec![metrics],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![all] }.encode_to_vec()
    }
}

/// Returns what one metric has counted until `now`.
fn data(name: &str, state: &State, policies: &[Policy], now: u64) -> Data {
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    let numbers = |series: Vec<_>| series.into_iter().map(|it| number(it, state, now)).collect();
    let gauge = |series| Data::Gauge(Gauge { data_points: numbers(series) });
    match name {
        EVENT_DURATION | HOOK_DURATION => {
            let times = state.counters.times(name).into_iter();
            let data_points = times.map(|it| histogram(it, state, now)).collect();
            Data::Histogram(Histogram { data_points, aggregation_temporality })
        }
        CONFIG => {
            let config = Some(&state.counters.config).filter(|config| !config.is_empty());
            let labels = |config: &String| vec![("hookexec.config".to_owned(), config.clone())];
            gauge(config.map(|config| (labels(config), 1)).into_iter().collect())
        }
        POLICY_AGE | POLICY_FAILURES => {
            let points = policies.iter().filter_map(|policy| {
                let source = policy.settings.source.to_string();
                of_policy(name, &source, &policy.store.state().ok()?)
            });
            gauge(points.collect())
        }
        WAITING => gauge(vec![(Labels::new(), waiting(&state.positions))]),
        _ => {
            let data_points = numbers(state.counters.sums(name));
            Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })
        }
    }
}

fn number((labels, value): (Labels, u64), state: &State, now: u64) -> NumberDataPoint {
    NumberDataPoint {
        attributes: labelled(labels),
        start_time_unix_nano: state.since,
        time_unix_nano: now,
        value: Some(Number::AsInt(i64::try_from(value).unwrap_or(i64::MAX))),
        ..NumberDataPoint::default()
    }
}

fn histogram((labels, times): (Labels, Times), state: &State, now: u64) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: labelled(labels),
        start_time_unix_nano: state.since,
        time_unix_nano: now,
        count: times.buckets.iter().sum(),
        sum: Some(times.seconds),
        bucket_counts: times.buckets,
        explicit_bounds: BOUNDS.to_vec(),
        ..HistogramDataPoint::default()
    }
}

/// Returns the trace that a record belongs to: its id, the parent span, and the flags.
fn trace_of(parcel: &Parcel) -> Option<(Vec<u8>, Vec<u8>, u8)> {
    let [id, parent, flags] = read_traceparent(parcel.record.traceparent.as_deref()?)?;
    Some((bytes(id), bytes(parent), u8::from_str_radix(flags, 16).ok()?))
}

/// Returns the id of a record's own span: the same each time that it is sent.
fn span_of(parcel: &Parcel) -> Vec<u8> {
    bytes(&parcel.id[..16])
}

/// Reads hexadecimal.
fn bytes(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).filter_map(byte).collect()
}

fn scope() -> InstrumentationScope {
    let (name, version) = ("hookexec".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    InstrumentationScope { name, version, ..InstrumentationScope::default() }
}

fn labelled(labels: Labels) -> Vec<KeyValue> {
    labels.into_iter().map(|(name, value)| pair(&name, value.into())).collect()
}

fn time(record: &Record) -> u64 {
    let time = record.time.parse().map_or(0, Timestamp::as_nanosecond);
    u64::try_from(time).unwrap_or_default()
}

/// Returns a record as a line for people.
fn summary(record: &Record) -> String {
    let tool = record.tool.iter().map(|tool| format!(" {tool}"));
    let message = record.message.iter().map(|message| format!(": {message}"));
    let rest: String = tool.chain(message).collect();
    format!("{} {}{rest}", word(record.decision), record.event)
}
