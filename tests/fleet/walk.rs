//! The walk of docs/fleet.md: a team, a registry from which a timer pulls, and two machines.

use std::fs;

use crate::fleet::machines::{ALLOWED, DENIED, Machine};
use crate::fleet::registry::{Registry, is_here};
use crate::fleet::team::Team;

/// What the timer of a machine does.
fn timer(machine: &Machine, registry: &Registry) -> bool {
    let pulled = registry.pull(&machine.sandbox.home().join("pulled"));
    let done = machine.refresh();
    pulled && done.code() == Some(0)
}

#[test]
fn a_policy_reaches_machines_and_stays_in_force() {
    if !is_here() {
        return;
    }
    let team = Team::new();
    let registry = Registry::start(&team.sandbox.home().join("registry"));
    let archive = team.sandbox.project().join("guards.tar");
    let signature = archive.with_extension("tar.minisig");
    let push = || registry.push(&[&archive, &signature]);
    let _ = team.policy(&["test", "policy"]).exits(0);
    team.signed(1);
    push();

    // Two machines take it; a call is denied on both.
    let machines = [(); 2].map(|()| Machine::new("file:///nowhere", &team.key(), ""));
    for machine in &machines {
        let pulled = machine.sandbox.home().join("pulled");
        fs::create_dir(&pulled).unwrap();
        let source = format!("file://{}", pulled.join("guards.tar").display());
        machine.configure(&source, &team.key(), "  name: guards\n  expires: 7d\n");
        let message = machine.says("ls", DENIED);
        assert!(message.contains("was never fetched"), "{message}");
        assert!(message.contains("hooks.yaml:3"), "{message}");
        assert!(timer(machine, &registry));
        assert_eq!(machine.says("rm -rf /", DENIED), "no rm here");
        machine.says("ls", ALLOWED);
        let record = machine.last_record();
        assert_eq!(record["policies"][0]["version"], 1, "{record:#}");
        assert_eq!(record["policies"][0]["source"], source, "{record:#}");
        assert!(record["policies"][0]["age_s"].as_u64().unwrap() < 60, "{record:#}");
    }
    let [machine, other] = machines;

    // A new version.
    team.denies("rm\\|sudo");
    team.signed(2);
    let second = [&archive, &signature].map(|path| fs::read(path).unwrap());
    push();
    assert!(timer(&machine, &registry));
    machine.says("sudo x", DENIED);
    other.says("sudo x", ALLOWED);
    let done = machine.refresh().exits(0);
    assert!(done.stdout.contains("version 2 is still in force"), "{done:#?}");
    assert_eq!(machine.last_record()["policies"][0]["version"], 2);
    assert_eq!(other.last_record()["policies"][0]["version"], 1);

    // What leaves the guards in force, and is seen in `doctor` and in the log.
    let stands = |why: &str| {
        assert!(!timer(&machine, &registry));
        machine.says("sudo x", DENIED);
        machine.says("ls", ALLOWED);
        let said = machine.doctor();
        assert!(said.contains("the last refresh failed") && said.contains(why), "{said}");
        assert!(said.contains("version 2 (sha256:"), "{said}");
        let record = machine.last_record();
        let failure = record["policies"][0]["refresh_failed"].as_str().unwrap();
        assert!(failure.contains(why), "{failure}");
    };

    // A replayed old version, and another one of the same number.
    for version in [1, 2] {
        team.denies("nothing");
        team.signed(version);
        push();
        stands(&format!("has version {version}, and another version 2 is in force"));
    }

    // An archive that was changed after it was signed.
    team.built(9);
    fs::write(&signature, &second[1]).unwrap();
    push();
    stands("it was changed");

    // An archive of another key.
    team.make_key("thief");
    team.sign(&archive, "thief");
    push();
    stands("another key signed it");

    // Another policy of the same key.
    team.sign(&team.built_as("staging", 9), "fleet");
    push();
    stands("has the policy `staging`, and `guards` is expected");

    // A version whose tests fail here.
    team.signed(10);
    push();
    stands("its test case `rm is denied` fails here");

    // A dead registry: the policy is old, and counts.
    for (path, bytes) in [&archive, &signature].into_iter().zip(second) {
        fs::write(path, bytes).unwrap();
    }
    push();
    assert!(timer(&machine, &registry));
    drop(registry);
    machine.says("sudo x", DENIED);
    machine.says("ls", ALLOWED);
}
