//! A collector of OpenTelemetry on the loopback, which decodes what it is sent.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use crate::server::{Reply, Request, serve};

/// A collector that notes what it is sent.
#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    /// What it answers next; 200 when there is nothing.
    pub(crate) replies: Arc<Mutex<VecDeque<Reply>>>,
    /// Whether it hangs up without an answer.
    pub(crate) is_dead: Arc<AtomicBool>,
}

impl Collector {
    pub(crate) fn new() -> Self {
        let it = Self {
            url: String::new(),
            requests: Arc::default(),
            replies: Arc::default(),
            is_dead: Arc::default(),
        };
        let own = it.clone();
        let host = serve(move |request| {
            if own.is_dead.load(Ordering::Relaxed) {
                return None;
            }
            own.requests.lock().unwrap().push(request.clone());
            let reply = own.replies.lock().unwrap().pop_front();
            Some(reply.unwrap_or(("200 OK", String::new(), Vec::new())))
        });
        Self { url: format!("http://{host}"), ..it }
    }

    pub(crate) fn reply(&self, status: &'static str, headers: &str) {
        self.replies.lock().unwrap().push_back((status, headers.to_owned(), Vec::new()));
    }

    /// Returns what came to a path, and forgets it.
    pub(crate) fn taken<M: Message + Default>(&self, path: &str) -> Vec<M> {
        let mut requests = self.requests.lock().unwrap();
        let taken = requests.extract_if(.., |request| request.path() == path);
        taken.map(|request| M::decode(&request.body[..]).unwrap()).collect()
    }

    pub(crate) fn records(&self) -> Vec<LogRecord> {
        let requests = self.taken::<ExportLogsServiceRequest>("/v1/logs");
        let resources = requests.into_iter().flat_map(|request| request.resource_logs);
        let scopes = resources.flat_map(|resource| resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records).collect()
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let requests = self.taken::<ExportMetricsServiceRequest>("/v1/metrics");
        let resources = requests.into_iter().flat_map(|request| request.resource_metrics);
        let scopes = resources.flat_map(|resource| resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.taken::<ExportTraceServiceRequest>("/v1/traces");
        let resources = requests.into_iter().flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

/// Returns an attribute.
pub(crate) fn attribute<'a>(attributes: &'a [KeyValue], name: &str) -> Option<&'a Value> {
    attributes.iter().find(|it| it.key == name)?.value.as_ref()?.value.as_ref()
}

/// Returns an attribute that is a text; an empty text if there is none.
pub(crate) fn text<'a>(attributes: &'a [KeyValue], name: &str) -> &'a str {
    match attribute(attributes, name) {
        Some(Value::StringValue(text)) => text,
        _ => "",
    }
}

/// Returns an attribute that is a list of maps; an empty list if there is none.
pub(crate) fn maps<'a>(attributes: &'a [KeyValue], name: &str) -> Vec<&'a [KeyValue]> {
    let Some(Value::ArrayValue(items)) = attribute(attributes, name) else { return Vec::new() };
    let map = |item: &'a AnyValue| match item.value.as_ref()? {
        Value::KvlistValue(fields) => Some(&*fields.values),
        _ => None,
    };
    items.values.iter().filter_map(map).collect()
}
