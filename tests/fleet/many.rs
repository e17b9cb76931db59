//! A few simulated machines: what they ask of a registry and of a collector, and how often.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

use crate::collector::{Collector, text};
use crate::registry::{Registry, is_here};
use crate::simulation::{Act, Door, Fleet, Kind, PACE};
use crate::team::{Team, text as path_text};

const MACHINES: usize = 20;
const HOUR: i64 = 3600;
/// Ten minutes and a quarter, more or less, in whole seconds.
const REFRESH: RangeInclusive<f64> = 449.0..=750.0;

/// A registry with version 1, and what stands before it.
struct Published {
    team: Team,
    registry: Registry,
    door: Door,
}

impl Published {
    fn new() -> Self {
        let team = Team::new();
        let registry = Registry::start(&team.sandbox.home().join("registry"), false);
        let door = Door::before(&registry.host);
        let published = Self { team, registry, door };
        published.push(1);
        published
    }

    fn push(&self, version: u64) {
        let path = self.team.signed(version);
        let target = format!("oci://{}/policy:stable", self.registry.host);
        let _ = self.team.bundle(&["push", path_text(&path), &target]).exits(0);
    }

    /// Returns machines, before which the registry was asked nothing.
    fn fleet(&self, collector: &str) -> Fleet {
        let fleet = Fleet::new(MACHINES, &self.team, &self.door.host, collector);
        drop(self.door.seen());
        fleet
    }
}

/// Returns the seconds between the acts of each machine that follow one another.
fn gaps(acts: &[Act]) -> Vec<Vec<f64>> {
    let of = |machine| {
        let own: Vec<&Act> = acts.iter().filter(|act| act.machine == machine).collect();
        let gap = |pair: &[&Act]| f64::from(i32::try_from(pair[1].at - pair[0].at).unwrap()) / 1e3;
        own.windows(2).map(gap).collect()
    };
    (0..MACHINES).map(of).collect()
}

/// Asserts that each machine leaves a server alone for these seconds after its first failure, after its
/// second, and so on; the last time counts for all others.
#[track_caller]
fn assert_waits(acts: &[Act], waits: &[RangeInclusive<f64>]) {
    assert!(acts.iter().all(|act| !act.is_done));
    for gaps in gaps(acts) {
        assert!(gaps.len() >= waits.len(), "{gaps:?}");
        for (number, gap) in gaps.iter().enumerate() {
            assert!(waits[number.min(waits.len() - 1)].contains(gap), "{gaps:?}");
        }
    }
}

/// Returns the machines that did something like this.
fn machines(acts: &[Act], is_it: impl Fn(&Act) -> bool) -> usize {
    acts.iter().filter(|act| is_it(act)).map(|act| act.machine).collect::<BTreeSet<_>>().len()
}

#[test]
fn machines_ask_a_registry_no_more_than_they_may() {
    if !is_here() {
        return;
    }
    let published = Published::new();
    let door = &published.door;
    let mut fleet = published.fleet("http://127.0.0.1:9");
    let asked = || {
        let seen = door.seen();
        let unchanged = seen.iter().filter(|seen| seen.status == 304).count();
        (seen.len() - unchanged, unchanged)
    };
    fleet.begin(Kind::Refresh, 0);

    // Without a policy everything is denied: the first tries follow soon.
    door.is_dead.store(true, Ordering::Relaxed);
    let waits = [22.0..=38.0, 44.0..=75.0, 89.0..=150.0, 179.0..=300.0, 359.0..=600.0];
    assert_waits(&fleet.run_until(HOUR), &[&waits[..], &[REFRESH]].concat());
    door.is_dead.store(false, Ordering::Relaxed);

    // The first version: the manifest, the archive and the signature. While nothing changes, each
    // refresh is one conditional request.
    let acts = fleet.run_until(2 * HOUR);
    assert_eq!(machines(&acts, |act| act.version == 1), MACHINES);
    assert_eq!(asked(), (3 * MACHINES, acts.len() - MACHINES));
    assert!(gaps(&acts).iter().flatten().all(|gap| REFRESH.contains(gap)));

    // A new version costs the same, and reaches every machine within a refresh.
    published.team.denies("rm\\|sudo");
    published.push(2);
    let acts = fleet.run_until(2 * HOUR + 751);
    assert_eq!(machines(&acts, |act| act.version == 2), MACHINES);
    assert_eq!(asked(), (3 * MACHINES, acts.len() - MACHINES));

    // The registry is away for an hour, and comes back.
    door.is_dead.store(true, Ordering::Relaxed);
    let acts = fleet.run_until(3 * HOUR + 751);
    assert_waits(&acts, &[112.0..=188.0, 224.0..=375.0, REFRESH]);
    door.is_dead.store(false, Ordering::Relaxed);
    let acts = fleet.run_until(3 * HOUR + 2 * 751);
    assert_eq!(machines(&acts, |act| act.is_done), MACHINES);
    assert_eq!(asked(), (0, acts.len()));
    assert!(gaps(&acts).iter().flatten().all(|gap| REFRESH.contains(gap)));
}

#[test]
fn machines_tell_a_collector_everything_once_and_leave_it_alone_when_it_fails() {
    if !is_here() {
        return;
    }
    let published = Published::new();
    let collector = Collector::new();
    let mut fleet = published.fleet(&collector.url);
    let mut ids = BTreeSet::new();
    let mut taken = || {
        let records = collector.records();
        let new = records.iter().map(|it| text(&it.attributes, "log.record.uid").to_owned());
        let before = ids.len();
        ids.extend(new);
        assert_eq!(ids.len() - before, records.len(), "no record comes twice");
        records.len()
    };
    fleet.begin(Kind::Ship, 0);
    fleet.begin(Kind::Decide, PACE);

    // A request for each record, and one for the metrics in a minute and a quarter, more or less.
    let acts = fleet.run_until(600);
    assert!(acts.iter().all(|act| act.is_done));
    assert_eq!(taken(), 10 * MACHINES);
    let requests = collector.requests.lock().unwrap().drain(..).len();
    assert!((9 * MACHINES..=14 * MACHINES).contains(&requests), "{requests}");

    // The collector is away for twenty minutes, and comes back.
    collector.is_dead.store(true, Ordering::Relaxed);
    let acts = fleet.run_until(1800);
    let wait = |longest: f64| longest * 0.499..=longest + 0.1;
    assert_waits(&acts, &[2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 300.0].map(wait));
    collector.is_dead.store(false, Ordering::Relaxed);
    let acts = fleet.run_until(2101);
    assert_eq!(machines(&acts, |act| act.is_done), MACHINES);
    fleet.end(Kind::Decide);
    fleet.run_until(2103);
    assert_eq!(10 * MACHINES + taken(), fleet.decisions);
}
