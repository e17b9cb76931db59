//! What many machines ask of a registry and of a collector, and how often.
//!
//! `just fleet` runs a thousand machines in one process, in a time of their own; the number of machines
//! may follow. Requests and bytes are those of the real code, against a real registry. Bytes are
//! those of HTTP, without TCP and TLS.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that can't run stops")]
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "../../tests/support/collector.rs"]
mod collector;
#[allow(dead_code, reason = "the tests ask more of it")]
#[path = "../../tests/fleet/registry.rs"]
mod registry;
#[path = "../../tests/support/server.rs"]
mod server;
#[allow(dead_code, reason = "the tests ask more of it")]
#[path = "../../tests/fleet/simulation.rs"]
mod simulation;
#[path = "../../tests/support/mod.rs"]
mod support;
#[path = "../../tests/fleet/team.rs"]
mod team;

use std::sync::atomic::Ordering;
use std::time::Instant;

use collector::Collector;
use registry::Registry;
use simulation::{Act, Door, Fleet, Kind};
use team::{Team, text};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

fn main() {
    let count = std::env::args().skip(1).find_map(|word| word.parse().ok());
    // Without cargo's `--bench` it is only seen whether everything runs.
    let measures = std::env::args().any(|word| word == "--bench");
    let started = Instant::now();
    let mut bench = Bench::new(count.unwrap_or(if measures { 1000 } else { 5 }));
    println!("| what | seconds | requests | bytes sent | bytes got | in a minute | at most |");
    println!("|---|---|---|---|---|---|---|");
    bench.policy();
    bench.decisions();
    println!("\ntook {:.0?}", started.elapsed());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
}

/// Machines, and the servers that they ask.
struct Bench {
    team: Team,
    registry: Registry,
    door: Door,
    collector: Collector,
    fleet: Fleet,
    machines: usize,
    /// The time, in seconds since the machines were started.
    now: i64,
}

impl Bench {
    fn new(machines: usize) -> Self {
        let team = Team::new();
        let registry = Registry::start(&team.sandbox.home().join("registry"), false);
        push(&team, &registry, 1);
        let (door, collector) = (Door::before(&registry.host), Collector::new());
        let fleet = Fleet::new(machines, &team, &door.host, &collector.url);
        door.seen();
        Self { team, registry, door, collector, fleet, machines, now: 0 }
    }

    /// A policy, from its first fetch over a new version to a registry that is away for an hour. All
    /// machines are started in the same second.
    fn policy(&mut self) {
        self.fleet.begin(Kind::Refresh, 0);
        self.refresh("policy: the first version", 1);
        self.refresh("policy: the first hour", HOUR - 1);
        let before = self.registry_time();
        let acts = self.refresh("policy: the second hour", HOUR);
        let each = (self.registry_time() - before) / acts.len();
        self.team.denies("rm\\|sudo");
        push(&self.team, &self.registry, 2);
        let (since, acts) = (self.now, self.refresh("policy: a new version", HOUR));
        let new = self.spread(&acts, since, |act| act.version == 2);
        self.door.is_dead.store(true, Ordering::Relaxed);
        self.refresh("policy: the registry is away", HOUR);
        self.door.is_dead.store(false, Ordering::Relaxed);
        let (since, acts) = (self.now, self.refresh("policy: it is back", HOUR));
        let back = self.spread(&acts, since, |act| act.is_done);
        self.fleet.end(Kind::Refresh);
        println!("| policy: the registry's processor, for a conditional request | {each} µs |");
        println!("| policy: new version in force | {new} |");
        println!("| policy: asked again after the registry was back | {back} |");
    }

    /// Decisions, one of each machine in a minute, to a collector that is away for ten minutes.
    fn decisions(&mut self) {
        self.fleet.begin(Kind::Ship, 0);
        self.fleet.begin(Kind::Decide, MINUTE * 1000);
        self.ship("decisions: the first minute", MINUTE);
        self.ship("decisions: ten minutes", 10 * MINUTE);
        self.collector.is_dead.store(true, Ordering::Relaxed);
        self.ship("decisions: the collector is away", 10 * MINUTE);
        self.collector.is_dead.store(false, Ordering::Relaxed);
        let (since, acts) = (self.now, self.ship("decisions: it is back", 10 * MINUTE));
        let back = self.spread(&acts, since, |act| act.is_done);
        println!("| decisions: all sent after the collector was back | {back} |");
        self.fleet.end(Kind::Ship);
        self.run(10 * MINUTE);
        self.fleet.begin(Kind::Ship, 0);
        self.ship("decisions: `ship --once`, after ten minutes", 1);
    }

    fn refresh(&mut self, what: &str, seconds: i64) -> Vec<Act> {
        let (since, acts) = (self.now, self.run(seconds));
        let seen = self.door.seen();
        let (up, down) = (seen.iter().map(|it| it.up).sum(), seen.iter().map(|it| it.down).sum());
        self.row(what, since, &acts, [seen.len(), up, down]);
        acts
    }

    fn ship(&mut self, what: &str, seconds: i64) -> Vec<Act> {
        let (since, mut acts) = (self.now, Vec::new());
        let (mut counts, mut left) = ([[0; 3]; 2], seconds);
        // The collector keeps what it is sent.
        while left > 0 {
            acts.extend(self.run(left.min(MINUTE)));
            left -= MINUTE;
            for request in self.collector.requests.lock().unwrap().drain(..) {
                let count = &mut counts[usize::from(request.path() == "/v1/metrics")];
                count[0] += 1;
                count[1] += request.head.len() + request.body.len();
            }
        }
        self.row(&format!("{what}, logs"), since, &acts, counts[0]);
        self.row(&format!("{what}, metrics"), since, &acts, counts[1]);
        acts
    }

    fn run(&mut self, seconds: i64) -> Vec<Act> {
        self.now += seconds;
        self.fleet.run_until(self.now)
    }

    /// Prints what was asked: how often in all, and how often in a minute, by machines that got an
    /// answer or did not.
    fn row(&self, what: &str, since: i64, acts: &[Act], [requests, up, down]: [usize; 3]) {
        let seconds = self.now - since;
        let minutes = usize::try_from(seconds / MINUTE).unwrap().max(1);
        let mut each = vec![0; minutes];
        for act in acts {
            let minute = usize::try_from((act.at / 1000 - since) / MINUTE).unwrap();
            each[minute.min(minutes - 1)] += 1;
        }
        let (mean, most) = (acts.len() / minutes, each.iter().max().unwrap());
        println!("| {what} | {seconds} | {requests} | {up} | {down} | {mean} | {most} |");
    }

    /// Returns how long the registry has used a processor, in microseconds; 0 where Linux does not say.
    fn registry_time(&self) -> usize {
        let path = format!("/proc/{}/stat", self.registry.child.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
        // In hundredths of a second: its own, and the system's for it.
        let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<usize>().ok());
        ticks.sum::<usize>() * 10_000
    }

    /// Returns when half of the machines, 99 %, and all have done something.
    fn spread(&self, acts: &[Act], since: i64, is_it: impl Fn(&Act) -> bool) -> String {
        let mut first = vec![i64::MAX; self.machines];
        for act in acts.iter().filter(|act| is_it(act)) {
            first[act.machine] = first[act.machine].min(act.at / 1000 - since);
        }
        first.sort_unstable();
        let at = |percent: usize| first[(self.machines * percent).div_ceil(100) - 1];
        format!("50 %: {} s | 99 %: {} s | all: {} s", at(50), at(99), at(100))
    }
}

fn push(team: &Team, registry: &Registry, version: u64) {
    let target = format!("oci://{}/policy:stable", registry.host);
    let _ = team.bundle(&["push", text(&team.signed(version)), &target]).exits(0);
}
