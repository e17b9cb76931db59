//! The collector: where it listens, and what its answers mean.

use std::time::Duration;

use hookexec::internal::files::read_regular;
use hookexec::internal::system::host_name;
use hookexec::internal::tls_for;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use opentelemetry_proto::tonic::resource::v1::Resource;
use percent_encoding::percent_decode_str;
use prost::Message as _;
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, RequestBuilder};

use super::attributes::text;
use crate::error::{CommandError, OrCommandError as _};

/// How long a request may take when `OTEL_EXPORTER_OTLP_TIMEOUT` does not say.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most of an answer that is read.
const LONGEST_ANSWER: u64 = 64 << 10;
/// The largest file of certificates.
const LARGEST_PEM: u64 = 4 << 20;

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Signal {
    /// A log record for each decision
    Logs,
    /// Counts and times
    Metrics,
    /// A span for each decision that belongs to a trace
    Traces,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Logs, Self::Metrics, Self::Traces];

    /// Returns the last part of its path. In upper case it is its word in the names of variables.
    const fn name(self) -> &'static str {
        match self {
            Self::Logs => "logs",
            Self::Metrics => "metrics",
            Self::Traces => "traces",
        }
    }
}

/// Why a collector did not take a request.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    /// Whether the collector will never take this request.
    pub(super) is_final: bool,
    /// How long the collector wants to be left alone.
    pub(super) retry_after: Option<Duration>,
}

/// The collector.
#[derive(Debug)]
pub(crate) struct Collector {
    endpoints: Vec<Endpoint>,
}

impl Collector {
    /// Returns the collector at `to`, or at what the variables of OpenTelemetry say, for `signals`;
    /// for all if they are empty.
    pub(crate) fn new(to: Option<&str>, signals: &[Signal]) -> Result<Self, CommandError> {
        let base_of = |to: &str| {
            let mut endings = Signal::ALL.iter().map(|signal| format!("/v1/{}", signal.name()));
            endings
                .find_map(|ending| Some(to.trim_end_matches('/').strip_suffix(&ending)?.to_owned()))
        };
        if let Some(base) = to.and_then(base_of) {
            return Err(CommandError::usage("`--to` has the path of one signal")
                .hint(format!("name the collector alone: `--to {base}`")));
        }
        let wanted = |signal: &Signal| signals.is_empty() || signals.contains(signal);
        let patience = milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", PATIENCE)?;
        let wanted = Signal::ALL.into_iter().filter(wanted);
        let endpoints = wanted.map(|signal| Endpoint::new(signal, to, patience));
        Ok(Self { endpoints: endpoints.collect::<Result<_, CommandError>>()? })
    }

    /// Returns whether the collector takes a request with nothing in it.
    pub(super) fn takes_nothing(&self) -> bool {
        [Signal::Traces, Signal::Logs].iter().all(|signal| self.send(*signal, &[]).is_ok())
    }

    /// Sends a request if its signal is sent, and returns how many of its items the collector
    /// rejected, with its words.
    pub(super) fn send(&self, signal: Signal, body: &[u8]) -> Result<(usize, String), Refusal> {
        match self.endpoints.iter().find(|it| it.signal == signal) {
            Some(endpoint) => endpoint.send(body),
            None => Ok((0, String::new())),
        }
    }
}

/// Where one signal goes.
#[derive(Debug)]
struct Endpoint {
    signal: Signal,
    agent: Agent,
    url: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Endpoint {
    fn new(signal: Signal, to: Option<&str>, patience: Duration) -> Result<Self, CommandError> {
        let (path, word) = (signal.name(), &*signal.name().to_uppercase());
        let below = |base: &str| format!("{}/v1/{path}", base.trim_end_matches('/'));
        let own = || of_signal(word, "ENDPOINT");
        let base = || variable("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| below(&base));
        let url = to.map(below).or_else(own).or_else(base).ok_or_else(|| {
            CommandError::usage("which collector? None is named")
                .hint("use `--to http://HOST:4318`, or set `OTEL_EXPORTER_OTLP_ENDPOINT`")
        })?;
        if to.is_none() && either(word, "PROTOCOL").as_deref() == Some("grpc") {
            let problem = "`OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`, which hookexec does not speak";
            return Err(CommandError::usage(problem)
                .hint("name the collector's port for HTTP, mostly 4318: `--to http://HOST:4318`"));
        }
        let is_http = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https"));
        let url = url.parse().ok().filter(is_http).ok_or_else(|| {
            CommandError::usage(format!(
                "`{url}` is not a valid address: expected `http://HOST:4318`"
            ))
        })?;
        let tls = match either(word, "CERTIFICATE") {
            None => tls_for(&url.to_string()),
            Some(file) => {
                let roots = roots(&file)
                    .or_usage(format_args!("the certificates in `{file}` can't be used"))?;
                TlsConfig::builder().root_certs(roots).build()
            }
        };
        let agent = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(patience))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("hookexec/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let header = |(name, value): (String, String)| {
            let (key, value) =
                (HeaderName::try_from(&name).ok(), HeaderValue::try_from(value).ok());
            key.zip(value).ok_or_else(|| {
                let problem = "`OTEL_EXPORTER_OTLP_HEADERS` has a header that is not a valid one";
                CommandError::usage(format!("{problem}: `{name}`"))
            })
        };
        let headers = pairs(&either(word, "HEADERS").unwrap_or_default()).into_iter().map(header);
        Ok(Self { signal, agent, url, headers: headers.collect::<Result<_, CommandError>>()? })
    }

    fn send(&self, body: &[u8]) -> Result<(usize, String), Refusal> {
        let host = self.url.host().unwrap_or_default();
        let away = |error: ureq::Error| Refusal {
            why: format!("{host} did not answer: {error}"),
            is_final: false,
            retry_after: None,
        };
        let request = self.agent.post(&self.url).content_type("application/x-protobuf");
        let headers = self.headers.iter();
        let request = headers
            .fold(request, |request: RequestBuilder<_>, (name, value)| request.header(name, value));
        let mut response = request.send(body).map_err(away)?;
        let (status, header) = (response.status(), response.headers().get("retry-after").cloned());
        let said = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let said = said.unwrap_or_default();
        if status.is_success() {
            return Ok(rejected(&said));
        }
        let said = String::from_utf8_lossy(&said[..said.len().min(200)]);
        let said: String = said.chars().filter(|it| !it.is_control()).collect();
        let mut why = format!("{host} answered {status} to {}: {said}", self.signal.name());
        if status.as_u16() == 404 {
            why += "; if it takes no such signal, leave it out with `--signals`";
        }
        // It is too large, or the collector can't read it. Every other answer may become another one,
        // also that to a wrong address or an expired token.
        let is_final = matches!(status.as_u16(), 400 | 413 | 422);
        let retry_after = header.and_then(|header| retry_after(header.to_str().ok()?));
        Err(Refusal { why, is_final, retry_after })
    }
}

/// Returns the certificates of a PEM file.
fn roots(file: &str) -> Result<RootCerts, String> {
    let pem = read_regular(file.as_ref(), LARGEST_PEM).map_err(|error| error.to_string())?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| error.to_string())? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err("there are none".to_owned());
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

/// Returns the time that a variable sets, or else `default`.
pub(super) fn milliseconds(name: &str, default: Duration) -> Result<Duration, CommandError> {
    let Some(text) = variable(name) else { return Ok(default) };
    text.parse()
        .map(Duration::from_millis)
        .map_err(|_| CommandError::usage(format!("`{name}` is `{text}`: expected milliseconds")))
}

/// Returns a variable of one signal, or else that of all.
fn either(word: &str, name: &str) -> Option<String> {
    of_signal(word, name).or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

fn of_signal(word: &str, name: &str) -> Option<String> {
    variable(&format!("OTEL_EXPORTER_OTLP_{word}_{name}"))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Reads `name=value,name=value`, in which values may be percent-encoded.
fn pairs(text: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| percent_decode_str(text.trim()).decode_utf8_lossy().into_owned();
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// Returns what describes this machine to the collector.
pub(super) fn resource(instance: &str) -> Resource {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        system => system,
    };
    let own = [
        ("service.name", "hookexec".to_owned()),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", instance.to_owned()),
        ("host.name", host_name()),
        ("os.type", system.to_owned()),
    ];
    let mut all: Vec<(String, String)> =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let said = pairs(&variable("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
    let service = variable("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name));
    for (name, value) in said.into_iter().chain(service) {
        all.retain(|(known, _)| *known != name);
        all.push((name, value));
    }
    let attributes = all.iter().map(|(name, value)| text(name, value)).collect();
    Resource { attributes, ..Resource::default() }
}

/// Returns how long a collector wants to be left alone: seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let until = |text| rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text);
    let seconds = text.trim().parse().ok().or_else(|| {
        let left = until(text).ok()?.as_second() - Timestamp::now().as_second();
        u64::try_from(left).ok()
    })?;
    Some(Duration::from_secs(seconds))
}

/// Returns how many items the collector rejected of a request that it took, and why. An answer that
/// is not readable rejects nothing.
fn rejected(body: &[u8]) -> (usize, String) {
    // The answers to the three signals have the same fields.
    let answer = ExportLogsServiceResponse::decode(body).unwrap_or_default();
    let partial = answer.partial_success.unwrap_or_default();
    (usize::try_from(partial.rejected_log_records).unwrap_or_default(), partial.error_message)
}
