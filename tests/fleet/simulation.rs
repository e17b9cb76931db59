//! Many machines in one process, in a time of their own: a refresh or a pass of `ship` is the real one,
//! against a real registry and a collector, and the time between them passes at once.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hookexec_cli::simulation::{Clock, Machine};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;

use crate::server::{Reply, Request, serve};
use crate::support::Sandbox;
use crate::team::Team;

/// What a request of a machine cost a server.
#[allow(dead_code, reason = "the test counts requests, and `benches/fleet` bytes, too")]
pub(crate) struct Seen {
    pub(crate) status: u16,
    /// Bytes of the request and of the answer, without those of TCP and TLS.
    pub(crate) up: usize,
    pub(crate) down: usize,
}

/// Stands before a registry: sends each request on, and counts it.
pub(crate) struct Door {
    pub(crate) host: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Whether it hangs up without an answer.
    pub(crate) is_dead: Arc<AtomicBool>,
}

impl Door {
    pub(crate) fn before(registry: &str) -> Self {
        let (seen, is_dead) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicBool>::default());
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let (registry, noted, dead) =
            (registry.to_owned(), Arc::clone(&seen), Arc::clone(&is_dead));
        let host = serve(move |request| {
            if dead.load(Ordering::Relaxed) {
                return None;
            }
            let (status, reply) = forward(&agent, &registry, request);
            let up = request.head.len() + request.body.len();
            let down = reply.0.len() + reply.1.len() + reply.2.len() + "HTTP/1.1 \r\n\r\n".len();
            noted.lock().unwrap().push(Seen { status, up, down });
            Some(reply)
        });
        Self { host, seen, is_dead }
    }

    /// Returns what was asked since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn forward(agent: &Agent, registry: &str, request: &Request) -> (u16, Reply) {
    let mut own = agent.get(format!("http://{registry}{}", request.path()));
    for line in request.head.lines() {
        if let Some((name @ ("accept" | "if-none-match"), value)) = line.split_once(": ") {
            own = own.header(name, value);
        }
    }
    let mut response = own.call().unwrap();
    let status = match response.status().as_u16() {
        200 => "200 OK",
        304 => "304 Not Modified",
        _ => "404 Not Found",
    };
    let headers = response.headers().iter().filter(|(name, _)| *name != "content-length");
    let headers = headers.map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
    let headers = headers.collect();
    (response.status().as_u16(), (status, headers, response.body_mut().read_to_vec().unwrap()))
}

/// What a machine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Refresh,
    Ship,
    Decide,
}

/// What a machine did, if it asked a server for something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Act {
    /// When, in milliseconds since the machines were started.
    pub(crate) at: i64,
    pub(crate) machine: usize,
    /// Whether the server did what it was asked for.
    pub(crate) is_done: bool,
    /// The version in force after a refresh.
    pub(crate) version: u64,
}

/// How often a machine decides, in milliseconds.
pub(crate) const PACE: i64 = 60_000;
/// How long a record waits for the next look at the log, in the middle.
const LOOK: i64 = 1000;
const NEVER: i64 = i64::MAX;

/// Machines that were all started in the same second, and are at work all the time.
pub(crate) struct Fleet {
    homes: TempDir,
    machines: Vec<Machine>,
    /// Milliseconds since 1970.
    now: Rc<Cell<i64>>,
    start: i64,
    /// When each machine does what next.
    next: [Vec<i64>; 3],
    /// Whether a machine leaves the collector alone.
    is_waiting: Vec<bool>,
    record: Value,
    /// How many decisions were recorded.
    pub(crate) decisions: usize,
}

impl Fleet {
    /// Returns machines that have no policy yet and do nothing.
    pub(crate) fn new(count: usize, team: &Team, registry: &str, collector: &str) -> Self {
        let homes = tempfile::tempdir().unwrap();
        // Whole seconds, as in the state of a policy.
        let start = Timestamp::now().as_second() * 1000;
        let now = Rc::new(Cell::new(start));
        let own = Rc::clone(&now);
        let clock: Clock = Rc::new(move || Timestamp::from_millisecond(own.get()).unwrap());
        let policy = format!("{{ from: 'oci://{registry}/policy:stable', key: {} }}", team.key());
        let machine = |number: usize| {
            let home = homes.path().join(number.to_string());
            std::fs::create_dir(&home).unwrap();
            let hooks = format!("audit: {{ path: log.jsonl }}\npolicy: {policy}\n");
            std::fs::write(home.join("hooks.yaml"), hooks).unwrap();
            Machine::new(&home, collector, &clock).unwrap()
        };
        Self {
            machines: (0..count).map(machine).collect(),
            now,
            start,
            next: [(); 3].map(|()| vec![NEVER; count]),
            is_waiting: vec![false; count],
            record: record(&policy),
            decisions: 0,
            homes,
        }
    }

    /// Has every machine begin with something, within so many milliseconds.
    pub(crate) fn begin(&mut self, kind: Kind, within: i64) {
        let count = i64::try_from(self.machines.len()).unwrap();
        for (number, at) in (0..).zip(&mut self.next[kind as usize]) {
            *at = self.now.get() + within * number / count;
        }
    }

    pub(crate) fn end(&mut self, kind: Kind) {
        self.next[kind as usize].fill(NEVER);
    }

    /// Lets the time pass until so many seconds after the start, and returns what was asked meanwhile.
    pub(crate) fn run_until(&mut self, seconds: i64) -> Vec<Act> {
        let (end, mut acts) = (self.start + seconds * 1000, Vec::new());
        while let Some((at, kind, machine)) = self.earliest()
            && at < end
        {
            self.now.set(at);
            match kind {
                Kind::Refresh => acts.push(self.refresh(machine)),
                Kind::Ship => acts.push(self.ship(machine)),
                Kind::Decide => self.decide(machine),
            }
        }
        self.now.set(end);
        acts
    }

    fn earliest(&self) -> Option<(i64, Kind, usize)> {
        let of = |kind: Kind| {
            let times = self.next[kind as usize].iter().copied().enumerate();
            times.map(move |(machine, at)| (at, kind, machine)).min_by_key(|(at, ..)| *at)
        };
        let all = [Kind::Refresh, Kind::Ship, Kind::Decide].into_iter().filter_map(of);
        all.min_by_key(|(at, ..)| *at)
    }

    fn refresh(&mut self, machine: usize) -> Act {
        let state = self.machines[machine].refresh().unwrap();
        self.next[Kind::Refresh as usize][machine] = i64::try_from(state.next).unwrap() * 1000;
        let version = state.in_force.map_or(0, |in_force| in_force.version);
        self.act(machine, state.failures == 0, version)
    }

    fn ship(&mut self, machine: usize) -> Act {
        let (is_done, next) = self.machines[machine].ship().unwrap();
        // It has nanoseconds.
        self.next[Kind::Ship as usize][machine] = next.as_millisecond() + 1;
        self.is_waiting[machine] = !is_done;
        self.act(machine, is_done, 0)
    }

    fn act(&self, machine: usize, is_done: bool, version: u64) -> Act {
        Act { at: self.now.get() - self.start, machine, is_done, version }
    }

    fn decide(&mut self, machine: usize) {
        let now = self.now.get();
        self.record["time"] = format!("{:.3}", Timestamp::from_millisecond(now).unwrap()).into();
        self.record["session"] = format!("session-{machine}").into();
        let path = self.homes.path().join(machine.to_string()).join("log.jsonl");
        let mut log = OpenOptions::new().append(true).create(true).open(path).unwrap();
        log.write_all(format!("{}\n", self.record).as_bytes()).unwrap();
        self.decisions += 1;
        self.next[Kind::Decide as usize][machine] = now + PACE;
        let ship = &mut self.next[Kind::Ship as usize][machine];
        if !self.is_waiting[machine] && *ship != NEVER {
            *ship = (*ship).min(now + LOOK);
        }
    }
}

/// Returns the record of a denial under this policy.
fn record(policy: &str) -> Value {
    let sandbox = Sandbox::new();
    let log = sandbox.home().join("log.jsonl");
    let hooks = format!("audit: {{ path: '{}' }}\npolicy: {policy}\n", log.display());
    sandbox.write_users_hooks(&hooks);
    let _ = sandbox.hookexec(["bundle", "refresh"]).run().exits(0);
    let call = r#"{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"rm -rf /"}}"#;
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(call).run().exits(2);
    serde_json::from_str(std::fs::read_to_string(log).unwrap().trim()).unwrap()
}
