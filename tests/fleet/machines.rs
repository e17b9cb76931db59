//! Machines with a policy: what is in force on them, and what is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::fleet::team::Team;
use crate::support::{Done, Sandbox, until};

pub(crate) const ALLOWED: i32 = 0;
pub(crate) const DENIED: i32 = 2;

/// A home whose own hooks file names a policy.
pub(crate) struct Machine {
    pub(crate) sandbox: Sandbox,
}

impl Machine {
    /// Returns a machine that fetches from `source`. `more` are further lines of `policy:`.
    pub(crate) fn new(source: &str, key: &str, more: &str) -> Self {
        let machine = Self { sandbox: Sandbox::new() };
        machine.configure(source, key, more);
        machine
    }

    pub(crate) fn configure(&self, source: &str, key: &str, more: &str) {
        let log = self.sandbox.home().join("log.jsonl");
        self.sandbox.write_users_hooks(&format!(
            "audit: {{ path: '{}', events: all }}\npolicy:\n  from: {source}\n  key: {key}\n{more}",
            log.display()
        ));
    }

    pub(crate) fn refresh(&self) -> Done {
        self.sandbox.hookexec(["policy", "refresh"]).run()
    }

    pub(crate) fn call(&self, command: &str) -> Done {
        let input = format!(r#"{{"tool_name":"shell","tool_input":{{"cmd":"{command}"}}}}"#);
        self.sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).run()
    }

    #[track_caller]
    pub(crate) fn says(&self, command: &str, code: i32) -> String {
        let done = self.call(command).exits(code);
        done.json_line()["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn doctor(&self) -> String {
        self.sandbox.hookexec(["doctor"]).run().stdout
    }

    fn directory(&self) -> PathBuf {
        self.sandbox.home().join(".config/hookexec/policy")
    }

    pub(crate) fn state(&self) -> Value {
        let text = fs::read_to_string(self.directory().join("state.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Changes the state.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        change(&mut state);
        fs::write(self.directory().join("state.json"), state.to_string()).unwrap();
    }

    pub(crate) fn last_record(&self) -> Value {
        let log = fs::read_to_string(self.sandbox.home().join("log.jsonl")).unwrap();
        serde_json::from_str(log.lines().last().unwrap()).unwrap()
    }
}

fn seconds_ago(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - seconds
}

/// Publishes a version as a file, and returns its address.
fn published(team: &Team, version: u64) -> String {
    publish(team, &team.signed(version))
}

/// Publishes an archive with its signature.
fn publish(team: &Team, archive: &Path) -> String {
    let published = team.sandbox.project().join("published.tar");
    fs::copy(archive, &published).unwrap();
    fs::copy(archive.with_extension("tar.minisig"), published.with_extension("tar.minisig"))
        .unwrap();
    format!("file://{}", published.display())
}

#[test]
fn files_that_were_changed_are_not_in_force() {
    let team = Team::new();
    let machine = Machine::new(&published(&team, 1), &team.key(), "");
    let _ = machine.refresh().exits(0);
    machine.says("ls", ALLOWED);
    let digest = machine.state()["in_force"]["digest"].as_str().unwrap()[..16].to_owned();
    for name in ["guard.sh", "hooks.yaml"] {
        let path = machine.directory().join("versions").join(&digest).join(name);
        let before = fs::read(&path).unwrap();
        fs::write(&path, b"#!/bin/sh\nexit 0\n").unwrap();
        let message = machine.says("ls", DENIED);
        assert!(message.contains(&format!("{name}` is not as it was fetched")), "{message}");
        fs::remove_file(&path).unwrap();
        machine.says("ls", DENIED);
        let said = machine.doctor();
        assert!(said.contains("PROBLEM"), "{said}");
        // The source has the same version: its files take the place of those.
        let done = machine.refresh().exits(0);
        assert!(done.stdout.contains("version 1 is in force"), "{done:#?}");
        assert_eq!(fs::read(&path).unwrap(), before);
        machine.says("ls", ALLOWED);
    }
    fs::write(machine.directory().join("state.json"), "{").unwrap();
    let message = machine.says("ls", DENIED);
    assert!(message.contains("state.json` can't be read"), "{message}");
    let _ = machine.refresh().exits(0);
    machine.says("ls", ALLOWED);
}

#[test]
fn a_refresh_removes_nothing_that_it_did_not_make() {
    let team = Team::new();
    let machine = Machine::new("file:///nowhere/policy.tar", &team.key(), "");
    let kept = ["hooks.d/a.yaml", "lib/b.sh", "0123456789abcdef/c"];
    for name in kept {
        machine.sandbox.write(machine.directory().join(name), "x");
    }
    let _ = machine.refresh().exits(1);
    machine.sandbox.write(machine.directory().join("versions/hookexec-old/d"), "x");
    for version in [1, 2, 3] {
        machine.configure(&published(&team, version), &team.key(), "");
        let _ = machine.refresh().exits(0);
    }
    // The version in force, and the one before.
    assert_eq!(fs::read_dir(machine.directory().join("versions")).unwrap().count(), 2);
    for name in kept {
        assert!(machine.directory().join(name).exists(), "{name}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Who can open the lock can keep every refresh from running.
        let lock = fs::metadata(machine.directory().join("lock")).unwrap();
        assert_eq!(lock.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_policy_expires() {
    let team = Team::new();
    let machine = Machine::new(&published(&team, 1), &team.key(), "  expires: 7d\n");
    let _ = machine.refresh().exits(0);
    machine.change(|state| state["in_force"]["confirmed"] = seconds_ago(6 * 86_400).into());
    machine.says("ls", ALLOWED);
    machine.change(|state| state["in_force"]["confirmed"] = seconds_ago(8 * 86_400).into());
    let message = machine.says("ls", DENIED);
    assert!(message.contains("the source last had it 8 days ago, and `expires` is 7 days"));
    assert!(message.contains("hooks.yaml:3"), "{message}");
    assert!(machine.last_record()["policies"][0]["failure"].is_string());
    // Its own denials still say why.
    assert!(machine.says("rm x", DENIED).contains("no rm here"));
    assert!(machine.doctor().contains("has expired"));
    let _ = machine.refresh().exits(0);
    machine.says("ls", ALLOWED);
}

#[test]
fn a_clock_that_is_set_back_hides_no_age() {
    let team = Team::new();
    let machine = Machine::new(&published(&team, 1), &team.key(), "  expires: 7d\n");
    let _ = machine.refresh().exits(0);
    let years = 5 * 365 * 86_400;
    machine.change(|state| state["in_force"]["confirmed"] = (seconds_ago(0) + years).into());
    let message = machine.says("ls", DENIED);
    assert!(message.contains("the clock of this machine was set back"), "{message}");
    let _ = machine.refresh().exits(0);
    machine.says("ls", ALLOWED);
}

/// A server on a machine, which ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_sees_a_refresh_and_the_expiry() {
    let team = Team::new();
    let source = published(&team, 1);
    let machine = Machine::new(&source, &team.key(), "");
    let _ = machine.refresh().exits(0);
    let socket = machine.sandbox.home().join("run/socket");
    let socket = socket.to_str().unwrap();
    let serving = machine.sandbox.hookexec(["serve", "--socket", socket]).spawn();
    let _serving = Serving(serving);
    let asked = |command: &str| {
        let input = format!(r#"{{"tool_name":"shell","tool_input":{{"cmd":"{command}"}}}}"#);
        let run = machine.sandbox.hookexec(["run", "pre_tool_use", "--connect", socket]);
        run.stdin(input).run()
    };
    until("the server listens", || asked("sudo x").stderr.is_empty());
    assert_eq!(asked("sudo x").code(), Some(ALLOWED));
    team.denies("rm\\|sudo");
    published(&team, 2);
    let _ = machine.refresh().exits(0);
    until("the server has the second version", || asked("sudo x").code() == Some(DENIED));
    assert_eq!(asked("ls").code(), Some(ALLOWED));
    // At the end of its time the policy fails, although no file changes.
    machine.configure(&source, &team.key(), "  expires: 3s\n");
    until("the policy has expired", || {
        let done = asked("ls");
        done.code() == Some(DENIED) && done.stdout.contains("has expired")
    });
}

#[test]
fn another_policy_of_the_same_key_is_refused() {
    let team = Team::new();
    let source = published(&team, 1);
    let machine = Machine::new(&source, &team.key(), "");
    let _ = machine.refresh().exits(0);
    assert_eq!(machine.state()["in_force"]["name"], "guards");
    let staging = team.built_as("staging", 9);
    team.sign(&staging, "fleet");
    publish(&team, &staging);
    let wanted = "the source has the policy `staging`, and `guards` is expected";
    let done = machine.refresh().exits(1);
    assert!(done.stderr.contains(wanted), "{done:#?}");
    assert_eq!(machine.state()["in_force"]["version"], 1);
    // A machine that has nothing yet takes the name from its hooks file.
    let new = Machine::new(&source, &team.key(), "  name: guards\n");
    let done = new.refresh().exits(1);
    assert!(done.stderr.contains(wanted), "{done:#?}");
    new.says("ls", DENIED);
    new.configure(&source, &team.key(), "  name: staging\n");
    let _ = new.refresh().exits(0);
    new.says("ls", ALLOWED);
}

#[test]
fn two_refreshes_at_once_wait_for_each_other() {
    let team = Team::new();
    let machine = Machine::new(&published(&team, 1), &team.key(), "");
    let refresh = || machine.sandbox.hookexec(["policy", "refresh"]).spawn();
    let all = [(); 4].map(|()| refresh());
    for mut child in all {
        assert!(child.wait().unwrap().success());
    }
    machine.says("ls", ALLOWED);
    assert_eq!(fs::read_dir(machine.directory().join("versions")).unwrap().count(), 1);
}

#[test]
fn another_key_is_asked_for_the_policy_that_it_signed() {
    let team = Team::new();
    let source = published(&team, 1);
    let machine = Machine::new(&source, &team.key(), "");
    let _ = machine.refresh().exits(0);
    team.make_key("new");
    let new = team.sandbox.read("new.pub").lines().last().unwrap().to_owned();
    machine.configure(&source, &new, "");
    let done = machine.refresh().exits(1);
    assert!(done.stderr.contains("another key signed it"), "{done:#?}");
    assert!(machine.doctor().contains("has given no policy yet"));
    machine.says("rm x", DENIED);
    machine.says("ls", ALLOWED);
    machine.configure(&source, &format!("[{new}, {}]", team.key()), "");
    let _ = machine.refresh().exits(0);
}

#[test]
fn its_hooks_are_shown_with_their_place() {
    let team = Team::new();
    let machine = Machine::new(&published(&team, 1), &team.key(), "");
    let _ = machine.refresh().exits(0);
    let digest = machine.state()["in_force"]["digest"].as_str().unwrap()[..16].to_owned();
    let place = format!("policy/versions/{digest}/hooks.yaml:4");
    let list = machine.sandbox.hookexec(["explain"]).run().exits(0);
    assert!(list.stdout.contains(&place) && list.stdout.contains("user"), "{list:#?}");
    let call = r#"{"tool_name":"shell","tool_input":{"cmd":"ls"}}"#;
    let explained = machine.sandbox.hookexec(["explain", "pre_tool_use"]).stdin(call).run();
    assert!(explained.stdout.contains(&place), "{explained:#?}");
    let checked = machine.sandbox.hookexec(["check"]).run().exits(0);
    assert!(checked.stdout.contains("1 hook in 2 files"), "{checked:#?}");
    assert!(machine.doctor().contains(&format!("version 1 (sha256:{digest}")));
}

#[test]
fn only_the_users_own_file_names_a_policy() {
    let team = Team::new();
    let source = published(&team, 1);
    let machine = Machine::new(&source, &team.key(), "");
    let _ = machine.refresh().exits(0);
    let policy = format!("policy: {{ from: '{source}', key: {} }}\n", team.key());
    let wanted = "only `hooks.yaml` of the administrator and of the user may name a policy";
    machine.sandbox.write("hooks.yaml", &policy);
    let checked = machine.sandbox.hookexec(["check"]).run().exits(78);
    assert!(checked.stderr.contains(wanted), "{checked:#?}");
    machine.says("ls", DENIED);
    fs::remove_file(machine.sandbox.project().join("hooks.yaml")).unwrap();
    // Nor does a policy.
    team.sandbox.write("policy/hooks.yaml", &policy);
    let done = team.policy(&["build", "policy", "--name", "guards", "--version", "2"]).exits(78);
    assert!(done.stderr.contains(wanted), "{done:#?}");
}
