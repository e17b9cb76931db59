//! The walk of docs/fleet.md: a team, a registry, and two machines.

use std::fs;

use crate::machines::{ALLOWED, DENIED, Machine};
use crate::registry::{Registry, is_here};
use crate::support::until;
use crate::team::{Team, text as path_text};

#[test]
fn a_policy_reaches_machines_and_stays_in_force() {
    if !is_here() {
        return;
    }
    let team = Team::new();
    let data = team.sandbox.home().join("registry");
    let registry = Registry::start(&data, false);
    let address = format!("oci://{}/policy:stable", registry.host);
    let push = |version| {
        let path = team.signed(version);
        let _ = team.bundle(&["push", path_text(&path), &address]).exits(0);
    };
    let _ = team.bundle(&["test", "policy"]).exits(0);
    push(1);

    // Two machines take it; a call is denied on both.
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
    }
    let [machine, other] = machines;

    // A new version.
    team.denies("rm\\|sudo");
    push(2);
    let done = machine.refresh().exits(0);
    assert!(done.stdout.contains("version 2 is in force"), "{done:#?}");
    machine.says("sudo x", DENIED);
    other.says("sudo x", ALLOWED);
    let done = machine.refresh().exits(0);
    assert!(done.stdout.contains("version 2 is still in force"), "{done:#?}");
    assert_eq!(machine.last_record()["policies"][0]["version"], 2);
    assert_eq!(other.last_record()["policies"][0]["version"], 1);

    // What leaves the guards in force, and is seen in `doctor` and in the log.
    let stands = |why: &str| {
        let done = machine.refresh().exits(1);
        assert!(done.stderr.contains(why), "{done:#?}");
        machine.says("sudo x", DENIED);
        machine.says("ls", ALLOWED);
        let said = machine.doctor();
        assert!(said.contains("the last refresh failed") && said.contains(why), "{said}");
        assert!(said.contains("version 2 (sha256:"), "{said}");
        let record = machine.last_record();
        let failure = record["policies"][0]["refresh_failed"].as_str().unwrap();
        assert!(failure.contains(why), "{failure}");
    };

    // A replayed old version.
    let old = team.sandbox.project().join("policy-1.tar");
    let _ = team.bundle(&["push", path_text(&old), &address]).exits(0);
    stands("has version 1, and 2 is in force");

    // A bundle that was changed after it was signed.
    team.denies("nothing");
    let _ = team.bundle(&["build", "policy", "--version", "9"]).exits(0);
    let signature = |version| team.sandbox.project().join(format!("policy-{version}.tar.minisig"));
    fs::copy(signature(2), signature(9)).unwrap();
    let _ = team.bundle(&["push", "policy-9.tar", &address]).exits(0);
    stands("it was changed");

    // A bundle of another key.
    team.make_key("thief");
    let _ = team.bundle(&["sign", "policy-9.tar", "--key", "thief.key"]).exits(0);
    let _ = team.bundle(&["push", "policy-9.tar", &address]).exits(0);
    stands("another key signed it");

    // A version whose tests fail here.
    push(10);
    stands("its test case `rm is denied` fails here");

    // A dead registry.
    drop(registry);
    stands("GET http://");
}
