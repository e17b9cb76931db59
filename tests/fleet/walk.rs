//! The walk of docs/fleet.md: a team, a registry, two machines, and a collector.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::Ordering;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{NumberDataPoint, number_data_point};
use opentelemetry_proto::tonic::resource::v1::Resource;

use crate::collector::{Collector, maps, text};
use crate::machines::{ALLOWED, DENIED, Machine};
use crate::registry::{Registry, is_here};
use crate::support::{Done, until};
use crate::team::{Team, text as path_text};

/// What a collector was sent by one machine.
struct Told {
    records: Vec<LogRecord>,
    points: Vec<(String, NumberDataPoint)>,
}

impl Told {
    /// Returns the points of a metric that is not a histogram: the attribute, and the value.
    fn points(&self, metric: &str, attribute: &str) -> Vec<(String, i64)> {
        let wanted = self.points.iter().filter(|(name, _)| name == metric);
        wanted
            .map(|(_, point)| {
                let Some(number_data_point::Value::AsInt(value)) = point.value else { panic!() };
                (text(&point.attributes, attribute).to_owned(), value)
            })
            .collect()
    }

    /// Returns the version that the machine has.
    fn version(&self) -> String {
        let ages = self.points("hookexec.policy.age", "hookexec.policy.version");
        let [(version, age)] = &ages[..] else { panic!("{ages:?}") };
        assert!((0..120).contains(age), "{age}");
        version.clone()
    }
}

/// Returns what each machine told: by the id of its `ship`.
fn told(collector: &Collector) -> BTreeMap<String, Told> {
    let mut machines = BTreeMap::new();
    let mut of = |resource: Option<&Resource>, records, points| {
        let id = text(&resource.unwrap().attributes, "service.instance.id").to_owned();
        let known =
            machines.entry(id).or_insert_with(|| Told { records: Vec::new(), points: Vec::new() });
        known.records.extend::<Vec<_>>(records);
        known.points.extend::<Vec<_>>(points);
    };
    for request in collector.taken::<ExportLogsServiceRequest>("/v1/logs") {
        for logs in request.resource_logs {
            let scopes = logs.scope_logs.into_iter();
            of(
                logs.resource.as_ref(),
                scopes.flat_map(|scope| scope.log_records).collect(),
                Vec::new(),
            );
        }
    }
    for request in collector.taken::<ExportMetricsServiceRequest>("/v1/metrics") {
        for metrics in request.resource_metrics {
            let scopes = metrics.scope_metrics.into_iter();
            let points = scopes.flat_map(|scope| scope.metrics).flat_map(|metric| {
                let points = match metric.data {
                    Some(Data::Gauge(gauge)) => gauge.data_points,
                    Some(Data::Sum(sum)) => sum.data_points,
                    _ => Vec::new(),
                };
                points.into_iter().map(move |point| (metric.name.clone(), point))
            });
            of(metrics.resource.as_ref(), Vec::new(), points.collect());
        }
    }
    machines
}

fn ship(machine: &Machine, collector: &Collector) -> Done {
    machine.sandbox.hookexec(["ship", "--once", "--to", &collector.url]).run()
}

/// Ships what one machine has, and returns what the collector was told.
fn shipped(machine: &Machine, collector: &Collector) -> Told {
    let _ = ship(machine, collector).exits(0);
    let told = told(collector);
    assert_eq!(told.len(), 1);
    told.into_values().next().unwrap()
}

/// Lets the time pass for which nothing is sent after a failure.
fn forget_the_wait(machine: &Machine) {
    let path = machine.sandbox.home().join("log.jsonl.shipped");
    let mut state: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    state["failure"]["not_before"] = 0.into();
    fs::write(path, state.to_string()).unwrap();
}

#[test]
fn a_policy_reaches_machines_and_stays_in_force() {
    if !is_here() {
        return;
    }
    let (team, collector) = (Team::new(), Collector::new());
    let data = team.sandbox.home().join("registry");
    let registry = Registry::start(&data, false);
    let address = format!("oci://{}/policy:stable", registry.host);
    let push = |version| {
        let path = team.signed(version);
        let _ = team.bundle(&["push", path_text(&path), &address]).exits(0);
    };
    let _ = team.bundle(&["test", "policy"]).exits(0);
    push(1);

    // Two machines take it; a call is denied on both, and the collector has both decisions.
    let machines = [(); 2].map(|()| Machine::new(&address, &team.key(), ""));
    for machine in &machines {
        let message = machine.says("ls", DENIED);
        assert!(message.contains("was never fetched"), "{message}");
        assert!(message.contains("hooks.yaml:3"), "{message}");
        let _ = machine.refresh();
        until("it is in force", || machine.state()["in_force"]["version"] == 1);
        assert_eq!(machine.says("rm -rf /", DENIED), "no rm here");
        machine.says("ls", ALLOWED);
        let record = machine.last_record();
        assert_eq!(record["policies"][0]["version"], 1, "{record:#}");
        assert_eq!(record["policies"][0]["source"], address, "{record:#}");
        assert!(record["policies"][0]["age_s"].as_u64().unwrap() < 60, "{record:#}");
        assert_eq!(ship(machine, &collector).exits(0).stdout, "3 records sent\n");
    }
    let both = told(&collector);
    assert_eq!(both.len(), 2, "{:?}", both.keys());
    for told in both.values() {
        let denied = &told.records[1].attributes;
        assert_eq!(text(denied, "hookexec.decision"), "deny");
        assert_eq!(text(denied, "hookexec.message"), "no rm here");
        assert_eq!(text(maps(denied, "hookexec.policies")[0], "source"), address);
        assert_eq!(told.version(), "1");
    }
    let [machine, other] = machines;

    // A new version. The metrics tell which machine has which.
    team.denies("rm\\|sudo");
    push(2);
    let done = machine.refresh().exits(0);
    assert!(done.stdout.contains("version 2 is in force"), "{done:#?}");
    machine.says("sudo x", DENIED);
    other.says("sudo x", ALLOWED);
    let done = machine.refresh().exits(0);
    assert!(done.stdout.contains("version 2 is still in force"), "{done:#?}");
    assert_eq!(shipped(&machine, &collector).version(), "2");
    assert_eq!(shipped(&other, &collector).version(), "1");

    // What leaves the guards in force, and is seen in `doctor` and in the telemetry.
    let stands = |failures: i64, why: &str| {
        let done = machine.refresh().exits(1);
        assert!(done.stderr.contains(why), "{done:#?}");
        machine.says("sudo x", DENIED);
        machine.says("ls", ALLOWED);
        let said = machine.doctor();
        assert!(said.contains("the last refresh failed") && said.contains(why), "{said}");
        assert!(said.contains("version 2 (sha256:"), "{said}");
        let told = shipped(&machine, &collector);
        assert_eq!(told.version(), "2");
        let failed = told.points("hookexec.policy.failures", "hookexec.policy.source");
        assert_eq!(failed, [(address.clone(), failures)]);
        for record in &told.records {
            let failure = text(maps(&record.attributes, "hookexec.policies")[0], "refresh_failed");
            assert!(failure.contains(why), "{failure}");
        }
    };

    // A replayed old version.
    let old = team.sandbox.project().join("policy-1.tar");
    let _ = team.bundle(&["push", path_text(&old), &address]).exits(0);
    stands(1, "has version 1, and 2 is in force");

    // A bundle that was changed after it was signed.
    team.denies("nothing");
    let _ = team.bundle(&["build", "policy", "--version", "9"]).exits(0);
    let signature = |version| team.sandbox.project().join(format!("policy-{version}.tar.minisig"));
    fs::copy(signature(2), signature(9)).unwrap();
    let _ = team.bundle(&["push", "policy-9.tar", &address]).exits(0);
    stands(2, "it was changed");

    // A bundle of another key.
    team.make_key("thief");
    let _ = team.bundle(&["sign", "policy-9.tar", "--key", "thief.key"]).exits(0);
    let _ = team.bundle(&["push", "policy-9.tar", &address]).exits(0);
    stands(3, "another key signed it");

    // A version whose tests fail here.
    push(10);
    stands(4, "its test case `rm is denied` fails here");

    // A dead registry.
    drop(registry);
    stands(5, "GET http://");

    a_collector_is_away(&machine, &other, &collector);
}

/// Both machines have version 1 or 2, and have shipped everything.
fn a_collector_is_away(machine: &Machine, other: &Machine, collector: &Collector) {
    collector.is_dead.store(true, Ordering::Relaxed);
    machine.says("sudo x", DENIED);
    let done = ship(machine, collector).exits(1);
    assert!(done.stderr.contains("did not answer"), "{done:#?}");
    machine.says("rm x", DENIED);
    let said = machine.doctor();
    assert!(said.contains("since then: 127.0.0.1 did not answer"), "{said}");
    // The log of the other machine ends before the collector is back.
    other.says("ls", ALLOWED);
    let _ = ship(other, collector).exits(1);
    fs::remove_file(other.sandbox.home().join("log.jsonl")).unwrap();
    other.says("rm x", DENIED);

    // It comes back.
    collector.is_dead.store(false, Ordering::Relaxed);
    forget_the_wait(machine);
    let told = shipped(machine, collector);
    let messages: Vec<&str> =
        told.records.iter().map(|it| text(&it.attributes, "hookexec.message")).collect();
    assert_eq!(messages, ["no rm\\|sudo here"; 2]);
    assert_eq!(told.points("hookexec.ship.lost", ""), []);
    forget_the_wait(other);
    let told = shipped(other, collector);
    assert_eq!((told.records.len(), told.version()), (1, "1".to_owned()));
    let [(_, lost)] = told.points("hookexec.ship.lost", "")[..] else { panic!() };
    assert!(lost > 0);
    assert!(!machine.doctor().contains("since then"), "{}", machine.doctor());
}

#[test]
fn a_ship_that_runs_tells_of_a_policy_that_was_named_later() {
    let (machine, collector) = (Machine::new("file:///gone", "", ""), Collector::new());
    machine.sandbox.write_users_hooks("audit: { path: log.jsonl }\n");
    let ship = machine.sandbox.hookexec(["ship", "--to", &collector.url]);
    let mut ship = ship.env("OTEL_METRIC_EXPORT_INTERVAL", "10").spawn();
    until("the first metrics", || !told(&collector).is_empty());
    machine.configure("file:///gone", &Team::new().key(), "");
    let _ = machine.refresh().exits(1);
    until("a failed refresh", || {
        let told = told(&collector).into_values().next();
        let failed = told.map(|it| it.points("hookexec.policy.failures", "hookexec.policy.source"));
        failed.is_some_and(|failed| failed == [("file:///gone".to_owned(), 1)])
    });
    ship.kill().unwrap();
    ship.wait().unwrap();
}
