//! `hookexec ship` against a collector on the loopback.

use std::io::Write as _;
use std::path::PathBuf;

use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use prost::Message as _;

use crate::collector::{Collector, attribute, maps, text};
use crate::server::Request;
use crate::support::{Done, Run, Sandbox, until, wait};

const HOOKS: &str = "
audit: { path: audit.jsonl, input: redacted }
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: no-rm, type: command, when: { field: tool_input.cmd, regex: '^rm ' }, command: 'echo not that >&2; exit 2' }
        - { name: trial, type: command, mode: shadow, when: { field: tool_input.cmd, regex: curl }, command: exit 2 }
";

struct Machine {
    sandbox: Sandbox,
    collector: Collector,
}

impl Machine {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("hooks.yaml", HOOKS);
        Self { sandbox, collector: Collector::new() }
    }

    fn log(&self) -> PathBuf {
        self.sandbox.project().join("audit.jsonl")
    }

    /// Has a command judged, which writes a record.
    fn decide(&self, command: &str) {
        let _ = self.judge(command).run();
    }

    fn judge(&self, command: &str) -> Run<'_> {
        let input = serde_json::json!({
            "session_id": "s-1", "tool_name": "shell", "tool_input": { "cmd": command }
        });
        let run = self.sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]);
        run.stdin(input.to_string())
    }

    fn ship(&self, arguments: &[&str]) -> Run<'_> {
        let all = ["ship", "audit.jsonl", "--to", &self.collector.url];
        self.sandbox.hookexec(all.iter().chain(arguments))
    }

    fn ship_once(&self) -> Done {
        self.ship(&["--once"]).run()
    }

    /// Lets the time pass for which nothing is sent after a failure.
    fn forget_the_wait(&self) {
        let path = self.sandbox.project().join("audit.jsonl.shipped");
        let mut state: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        state["failure"]["not_before"] = 0.into();
        std::fs::write(path, state.to_string()).unwrap();
    }

    /// Returns the ids of the records that came.
    fn ids(&self) -> Vec<String> {
        let records = self.collector.records();
        records.iter().map(|it| text(&it.attributes, "log.record.uid").to_owned()).collect()
    }
}

#[test]
fn each_record_is_sent_once_with_its_attributes() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    machine.decide("curl evil.example");
    assert_eq!(machine.ship_once().exits(0).stdout, "2 records sent\n");
    let records = machine.collector.records();
    let [denied, trial] = &records[..] else { panic!("{records:#?}") };
    for (name, expected) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "shell"),
        ("gen_ai.conversation.id", "s-1"),
        ("hookexec.event", "pre_tool_use"),
        ("hookexec.decision", "deny"),
        ("hookexec.message", "not that"),
    ] {
        assert_eq!(text(&denied.attributes, name), expected);
    }
    assert_eq!(attribute(&denied.attributes, "hookexec.allowed"), Some(&Value::BoolValue(false)));
    assert_eq!(denied.event_name, "hookexec.decision");
    assert_eq!(denied.severity_text, "WARN");
    assert_eq!(text(&trial.attributes, "hookexec.decision"), "none");
    let hooks = maps(&trial.attributes, "hookexec.hooks");
    let shadow = hooks.into_iter().find(|it| attribute(it, "mode").is_some()).unwrap();
    assert_eq!(text(shadow, "decision"), "deny");
    // Inputs stay here, and what is sent is not sent again.
    assert!(!format!("{records:?}").contains("evil.example"));
    assert_eq!(machine.ship_once().exits(0).stdout, "0 records sent\n");
    assert!(machine.collector.records().is_empty());
    machine.decide("ls");
    assert_eq!(machine.ship(&["--once", "--inputs"]).run().exits(0).stdout, "1 record sent\n");
    let records = machine.collector.records();
    assert_eq!(text(&records[0].attributes, "gen_ai.tool.call.arguments"), r#"{"cmd":"ls"}"#);
}

#[test]
fn metrics_count_each_decision_once() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    let _ = machine.ship_once().exits(0);
    machine.collector.metrics();
    machine.decide("rm -r y");
    machine.decide("curl evil.example");
    let _ = machine.ship_once().exits(0);
    let metrics = machine.collector.metrics();
    let sum = |name: &str, labels: &[(&str, &str)]| {
        let metric = metrics.iter().find(|metric| metric.name == name).unwrap();
        let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
        assert!(sum.is_monotonic);
        let points = sum.data_points.iter();
        let wanted = points.filter(|point| {
            labels.iter().all(|(name, value)| text(&point.attributes, name) == *value)
        });
        wanted
            .map(|point| match point.value {
                Some(number_data_point::Value::AsInt(value)) => value,
                _ => 0,
            })
            .sum::<i64>()
    };
    assert_eq!(sum("hookexec.events", &[("hookexec.decision", "deny")]), 2);
    let no_rm = [("hookexec.hook", "no-rm"), ("hookexec.decision", "deny")];
    assert_eq!(sum("hookexec.hook.runs", &no_rm), 2);
    assert_eq!(sum("hookexec.hook.would_change", &[("hookexec.hook", "trial")]), 1);
    assert_eq!(sum("hookexec.ship.records", &[("hookexec.outcome", "sent")]), 3);
    let took = metrics.iter().find(|metric| metric.name == "hookexec.hook.duration").unwrap();
    let Some(Data::Histogram(took)) = &took.data else { panic!("{took:?}") };
    assert_eq!(took.data_points.iter().map(|point| point.count).sum::<u64>(), 3);
}

#[test]
fn a_record_that_belongs_to_a_trace_is_also_a_span() {
    let machine = Machine::new();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let _ = machine.judge("rm -r x").env("TRACEPARENT", parent).run().exits(2);
    let unsampled = parent.replace("-01", "-00");
    let _ = machine.judge("rm -r y").env("TRACEPARENT", unsampled).run().exits(2);
    let _ = machine.judge("rm -r z").env("TRACEPARENT", "ghp_secret").run().exits(2);
    assert!(!machine.sandbox.read("audit.jsonl").contains("ghp_"));
    let _ = machine.ship(&["--once", "--signals", "traces"]).run().exits(0);
    let spans = machine.collector.spans();
    let [span] = &spans[..] else { panic!("{spans:#?}") };
    assert_eq!(span.name, "hookexec pre_tool_use");
    assert_eq!(span.trace_id[..2], [0x4b, 0xf9]);
    assert_eq!(span.parent_span_id[..], [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 2, 0xb7]);
    assert_eq!((span.span_id.len(), span.events.len()), (8, 1));
    assert!(span.start_time_unix_nano < span.end_time_unix_nano);
}

#[test]
fn a_collector_that_is_away_costs_no_record() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    machine.collector.reply("503 Service Unavailable", "Retry-After: 600\r\n");
    let failed = machine.ship_once().exits(1);
    assert!(failed.stderr.contains("503"), "{}", failed.stderr);
    machine.collector.records();
    let doctor = machine.sandbox.hookexec(["doctor", "--config", "hooks.yaml"]).run();
    assert!(doctor.stdout.contains("last sent never yet; since then: "), "{}", doctor.stdout);
    let early = machine.ship_once().exits(1);
    assert!(early.stderr.contains("it waits another"), "{}", early.stderr);
    assert!(machine.collector.requests.lock().unwrap().is_empty());
    machine.forget_the_wait();
    assert_eq!(machine.ship_once().exits(0).stdout, "1 record sent\n");
    // A token that has expired is no reason to drop anything.
    machine.decide("rm -r y");
    machine.collector.reply("401 Unauthorized", "");
    let _ = machine.ship_once().exits(1);
    machine.forget_the_wait();
    assert_eq!(machine.ship_once().exits(0).stdout, "1 record sent\n");
}

#[test]
fn a_record_that_the_collector_cant_use_costs_itself_alone() {
    let machine = Machine::new();
    for command in ["rm -r x", "rm -r y", "rm -r z"] {
        machine.decide(command);
    }
    // All three; the first; the other two; the second; nothing; the third.
    for status in ["400 Bad Request", "200 OK", "413 Content Too Large", "400 Bad Request"] {
        machine.collector.reply(status, "");
    }
    let done = machine.ship_once().exits(0);
    assert!(done.stderr.contains("a record is left out"), "{}", done.stderr);
    machine.decide("rm -r w");
    // A collector that can't even use an empty request: the record stays.
    for _ in 0..2 {
        machine.collector.reply("400 Bad Request", "");
    }
    let _ = machine.ship_once().exits(1);
    machine.forget_the_wait();
    assert_eq!(machine.ship_once().exits(0).stdout, "1 record sent\n");
}

#[test]
fn what_a_collector_rejects_is_said_and_not_sent_again() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    let partial =
        ExportLogsPartialSuccess { rejected_log_records: 1, error_message: "too old".to_owned() };
    let body = ExportLogsServiceResponse { partial_success: Some(partial) }.encode_to_vec();
    machine.collector.replies.lock().unwrap().push_back(("200 OK", String::new(), body));
    let done = machine.ship_once().exits(0);
    assert!(done.stderr.contains("rejected 1 record: too old"), "{}", done.stderr);
    assert_eq!(machine.ship_once().exits(0).stdout, "0 records sent\n");
}

#[test]
fn a_line_that_is_not_a_record_is_skipped() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    let mut file = std::fs::OpenOptions::new().append(true).open(machine.log()).unwrap();
    file.write_all(b"garbage\n").unwrap();
    machine.decide("rm -r y");
    let done = machine.ship_once().exits(0);
    assert_eq!(done.stdout, "2 records sent\n");
    assert!(done.stderr.contains("1 line of the log can't be read"), "{}", done.stderr);
}

#[test]
fn a_pass_that_is_killed_sends_again_with_the_same_ids() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    let state = machine.sandbox.project().join("audit.jsonl.shipped");
    let _ = machine.ship_once().exits(0);
    let first = machine.ids();
    // As if it had been killed before it could note that the records are sent.
    std::fs::remove_file(state).unwrap();
    machine.decide("rm -r y");
    let _ = machine.ship_once().exits(0);
    let again = machine.ids();
    assert_eq!((again.len(), &again[0]), (2, &first[0]));
    assert_ne!(again[0], again[1]);
}

#[test]
fn it_follows_a_log_alone_and_sends_what_the_variables_say() {
    let machine = Machine::new();
    machine.decide("rm -r x");
    let following = machine
        .sandbox
        .hookexec(["ship", "audit.jsonl"])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &machine.collector.url)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a+b,x-team=guards")
        .env("OTEL_RESOURCE_ATTRIBUTES", "team=guards,host.name=here")
        .env("OTEL_SERVICE_NAME", "laptops")
        .spawn();
    let seen = || {
        let requests = machine.collector.requests.lock().unwrap();
        requests.iter().filter(|it| it.path() == "/v1/logs").cloned().collect::<Vec<_>>()
    };
    until("the first record", || !seen().is_empty());
    let other = machine.ship_once().exits(1);
    assert!(other.stderr.contains("another `hookexec ship`"), "{}", other.stderr);
    machine.decide("rm -r y");
    until("the second record", || seen().len() > 1);
    let mut following = following;
    following.kill().unwrap();
    let _ = wait(following);
    let Request { head, body } = seen().remove(0);
    assert!(head.contains("authorization: bearer a+b\r\n") && head.contains("x-team: guards\r\n"));
    let request = ExportLogsServiceRequest::decode(&body[..]).unwrap();
    let resource = request.resource_logs[0].resource.clone().unwrap().attributes;
    for (name, expected) in [("service.name", "laptops"), ("team", "guards"), ("host.name", "here")]
    {
        assert_eq!(text(&resource, name), expected);
    }
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let machine = Machine::new();
    machine.decide("ls");
    let ship = |arguments: &[&str]| {
        machine.sandbox.hookexec(["ship", "audit.jsonl"].iter().chain(arguments))
    };
    let none = ship(&[]).run().exits(64);
    assert!(none.stderr.contains("--to http://HOST:4318"), "{}", none.stderr);
    let grpc = ship(&[])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        .run()
        .exits(64);
    assert!(grpc.stderr.contains("4318"), "{}", grpc.stderr);
    let whole = ship(&["--to", "http://localhost:4318/v1/logs/"]).run().exits(64);
    assert!(whole.stderr.contains("`--to http://localhost:4318`"), "{}", whole.stderr);
    let nothing = machine.sandbox.hookexec(["ship", "typo.jsonl", "--once"]).run().exits(64);
    assert!(nothing.stderr.contains("the log typo.jsonl does not exist"), "{}", nothing.stderr);
    machine.sandbox.write("audit.jsonl.shipped", "{");
    let broken = machine.ship_once().exits(64);
    assert!(broken.stderr.contains("remove this file"), "{}", broken.stderr);
}
