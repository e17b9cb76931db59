//! Packs: hooks that somebody else publishes, pinned in a project's or a user's hooks file.

use std::fs;
use std::path::PathBuf;

use hookexec::internal::files;

use crate::registry::{Registry, is_here};
use crate::support::{Done, Sandbox, until};
use crate::team::{Team, text};
use crate::web::Server;

const ALLOWED: i32 = 0;
const DENIED: i32 = 2;

/// A machine with a project that uses a pack.
struct Machine(Sandbox);

impl Machine {
    fn new(hooks: &str) -> Self {
        let machine = Self(Sandbox::new());
        let log = machine.0.home().join("log.jsonl");
        let audit = "events: all, input: redacted";
        machine.0.write_users_hooks(&format!("audit: {{ path: '{}', {audit} }}\n", log.display()));
        machine.0.write("hooks.yaml", hooks);
        machine
    }

    fn bundle(&self, args: &[&str]) -> Done {
        self.0.hookexec(["bundle"].iter().chain(args)).run()
    }

    fn approve(&self) {
        let _ = self.0.hookexec(["trust", "add", "--yes"]).run().exits(0);
    }

    #[track_caller]
    fn says(&self, command: &str, code: i32) -> String {
        let input = format!(r#"{{"tool_name":"shell","tool_input":{{"cmd":"{command}"}}}}"#);
        let done = self.0.hookexec(["run", "pre_tool_use"]).stdin(input).run().exits(code);
        done.json_line()["message"].as_str().unwrap_or_default().to_owned()
    }

    fn store(&self) -> PathBuf {
        self.0.home().join(".local/state/hookexec/packs")
    }
}

/// Returns a team with a pack whose guard only looks.
fn team() -> Team {
    let team = Team::new();
    let hooks = team.sandbox.read("policy/hooks.yaml");
    let looking = hooks.replace("{ name: guard,", "{ name: guard, side_effects: none,");
    team.sandbox.write("policy/hooks.yaml", &looking);
    team
}

fn untested(team: &Team) {
    fs::remove_file(team.sandbox.project().join("policy/hooks.test.yaml")).unwrap();
}

fn digest(team: &Team, version: u64) -> String {
    files::digest(&fs::read(team.signed(version)).unwrap())
}

/// The walk of docs/fleet.md.
#[test]
fn a_pack_is_pinned_and_updated() {
    if !is_here() {
        return;
    }
    let team = team();
    let data = team.sandbox.home().join("registry");
    let registry = Registry::start(&data, false);
    let address = format!("oci://{}/packs/shell:stable", registry.host);
    let push = |version| {
        let _ = team.bundle(&["push", text(&team.signed(version)), &address]).exits(0);
    };
    push(1);

    // The first version is pinned by the command that the error names.
    let unpinned = format!(
        "use:\n  - bundle: {address} # theirs\n    key: {}\n# Ours.\npre_tool_use:\n  - matcher: \
         shell\n    hooks: {{ name: own, type: command, command: 'exit 0' }}\n",
        team.key()
    );
    let machine = Machine::new(&unpinned);
    let checked = machine.0.hookexec(["check"]).run().exits(78);
    assert!(checked.stderr.contains("is not pinned"), "{checked:#?}");
    assert!(checked.stderr.contains("run `hookexec bundle update "), "{checked:#?}");
    let _ = machine.0.hookexec(["trust", "add", "--yes"]).run().exits(78);
    let done = machine.bundle(&["update", "hooks.yaml", "--yes"]).exits(0);
    assert!(done.stdout.contains("version 1 (sha256:"), "{done:#?}");
    assert!(done.stdout.contains("  + hook pre_tool_use `guard`"), "{done:#?}");
    let first = digest(&team, 1);
    let pinned = unpinned.replace(" # theirs", &format!("\n    digest: sha256:{first} # theirs"));
    assert_eq!(machine.0.read("hooks.yaml"), pinned);

    // Another machine with the same file fetches it once the file is approved.
    let other = Machine::new(&pinned);
    assert!(other.says("ls", DENIED).contains("is not approved"));
    let done = other.bundle(&["refresh"]).exits(1);
    assert!(done.stderr.contains("must be approved first"), "{done:#?}");
    other.approve();
    let message = other.says("ls", DENIED);
    assert!(message.contains("can't be used: it is not on this machine"), "{message}");
    assert!(message.contains("hooks.yaml:3"), "{message}");
    let done = other.bundle(&["refresh"]).exits(0);
    assert!(done.stdout.contains("stable: fetched"), "{done:#?}");
    // A file of the same name as one of the pack's is another file.
    machine.0.write("guard.sh", "exit 0\n");
    machine.approve();
    let shown = machine.0.hookexec(["trust", "show"]).run().exits(0);
    assert!(!shown.stdout.contains("covered"), "{shown:#?}");
    for machine in [&machine, &other] {
        assert_eq!(machine.says("rm -rf /", DENIED), "no rm here");
        machine.says("ls", ALLOWED);
        machine.says("sudo x", ALLOWED);
    }
    let list = other.0.hookexec(["list"]).run().exits(0);
    let place = format!("packs/{}/hooks.yaml:4", &first[..16]);
    assert!(list.stdout.contains(&place) && list.stdout.contains("project"), "{list:#?}");
    assert!(list.stdout.find(&place) < list.stdout.find(" own"), "{list:#?}");

    // The tag leads to a new version: what is pinned stays, and can still be fetched.
    team.denies("rm\\|sudo");
    push(2);
    other.says("sudo x", ALLOWED);
    fs::remove_dir_all(other.store()).unwrap();
    other.says("ls", DENIED);
    let _ = other.bundle(&["refresh"]).exits(0);
    other.says("sudo x", ALLOWED);

    // An update shows what would be decided otherwise, and changes the digest only.
    let second = digest(&team, 2);
    let done = machine.bundle(&["update", "--dry-run"]).exits(0);
    for wanted in
        ["version 1 -> 2", "  ~ guard.sh\n", "none -> deny: 1\n", "now: no rm\\|sudo here"]
    {
        assert!(done.stdout.contains(wanted), "{wanted}: {done:#?}");
    }
    assert!(!done.stdout.contains("hooks.yaml\n"), "{done:#?}");
    assert_eq!(machine.0.read("hooks.yaml"), pinned);
    let done = machine.bundle(&["update", "--yes"]).exits(0);
    assert!(done.stderr.contains("must be approved again"), "{done:#?}");
    assert_eq!(machine.0.read("hooks.yaml"), pinned.replace(&first, &second));
    assert!(machine.says("ls", DENIED).contains("changed after its approval"));
    machine.approve();
    machine.says("sudo x", DENIED);
    let done = machine.bundle(&["update", "--yes"]).exits(0);
    assert!(done.stdout.contains("no change"), "{done:#?}");

    // Another key.
    team.make_key("thief");
    let _ = team.bundle(&["build", "policy", "--version", "9"]).exits(0);
    let _ = team.bundle(&["sign", "policy-9.tar", "--key", "thief.key"]).exits(0);
    let _ = team.bundle(&["push", "policy-9.tar", &address]).exits(0);
    let done = machine.bundle(&["update", "--yes"]).exits(1);
    assert!(done.stderr.contains("another key signed it"), "{done:#?}");
    assert_eq!(machine.0.read("hooks.yaml"), pinned.replace(&first, &second));

    // The registry is gone.
    drop(registry);
    machine.says("sudo x", DENIED);
    machine.says("ls", ALLOWED);
    let done = machine.bundle(&["refresh"]).exits(0);
    assert!(done.stdout.contains("already here"), "{done:#?}");
    let _ = machine.bundle(&["update", "--yes"]).exits(1);
}

#[test]
fn what_a_hook_cannot_answer_for_is_unknown() {
    let team = Team::new();
    let path = team.signed(1);
    let source = format!("file://{}", path.display());
    let pack = format!("use: [{{ bundle: '{source}' }}]\n");
    let machine = Machine::new(&pack);
    let _ = machine.bundle(&["update", "hooks.yaml", "--yes"]).exits(0);
    let first = digest(&team, 1);
    let pinned = format!("use: [{{ bundle: '{source}', digest: sha256:{first} }}]\n");
    assert_eq!(machine.0.read("hooks.yaml"), pinned);
    machine.approve();
    machine.says("sudo x", ALLOWED);
    team.denies("sudo");
    untested(&team);
    fs::copy(team.signed(2), &path).unwrap();
    fs::copy(team.signed(2).with_extension("tar.minisig"), path.with_extension("tar.minisig"))
        .unwrap();
    let done = machine.bundle(&["update", "--dry-run"]).exits(0);
    assert!(done.stdout.contains("unknown for 1: guard of the new version"), "{done:#?}");
    let done = machine.bundle(&["update", "--dry-run", "--run-external"]).exits(0);
    assert!(done.stdout.contains("none -> deny: 1\n"), "{done:#?}");
}

#[test]
fn no_hook_of_a_file_that_is_not_approved_runs() {
    let team = Team::new();
    let path = team.signed(1);
    let hooks = |digest: &str| {
        format!(
            "use: [{{ bundle: 'file://{}', digest: 'sha256:{digest}' }}]\npre_tool_use:\n  - hooks: \
             {{ type: command, side_effects: none, command: touch ran }}\n",
            path.display()
        )
    };
    let machine = Machine::new("{}");
    machine.approve();
    machine.says("ls", ALLOWED);
    machine.0.write("hooks.yaml", &hooks(&digest(&team, 1)));
    team.denies("rm\\|sudo");
    let second = digest(&team, 2);
    for ending in ["tar", "tar.minisig"] {
        let from = team.sandbox.project().join("policy-2.tar").with_extension(ending);
        fs::copy(from, path.with_extension(ending)).unwrap();
    }
    let update = ["update", "hooks.yaml", "--yes", "--run-external"];
    let done = machine.bundle(&update).exits(0);
    assert!(done.stderr.contains("can't be compared"), "{done:#?}");
    assert_eq!(machine.0.read("hooks.yaml"), hooks(&second));
    assert!(!machine.0.project().join("ran").exists());
}

#[test]
fn only_digests_change_in_a_file() {
    let team = Team::new();
    let source = format!("file://{}", team.signed(1).display());
    let zeros = "0".repeat(64);
    let text = format!(
        "\u{feff}# a: {zeros}\r\nuse:\r\n- {{ digest: \"sha256:{zeros}\", bundle: {source} }} # c\r\n\
         - key: {}\r\n  digest: sha256:{zeros}\r\n  bundle: '{source}'\r\n- {{ bundle: {source} }}\r\n",
        team.key()
    );
    let machine = Machine::new(&text);
    let _ = machine.bundle(&["update", "hooks.yaml", "--yes"]).exits(0);
    let first = digest(&team, 1);
    let wanted = text.replace(&format!(":{zeros}"), &format!(":{first}")).replace(
        &format!("- {{ bundle: {source} }}"),
        &format!("- {{ bundle: {source}, digest: sha256:{first} }}"),
    );
    assert_eq!(machine.0.read("hooks.yaml"), wanted);
    machine.approve();
    machine.says("rm x", DENIED);
}

#[test]
fn only_the_pinned_bytes_count() {
    let team = Team::new();
    let path = team.signed(1);
    let source = format!("file://{}", path.display());
    let first = digest(&team, 1);
    let machine = Machine::new("{}");
    machine.approve();
    machine
        .0
        .write_users_hooks(&format!("use: [{{ bundle: '{source}', digest: 'sha256:{first}' }}]\n"));
    let _ = machine.bundle(&["refresh"]).exits(0);
    machine.says("ls", ALLOWED);
    machine.says("rm x", DENIED);
    let directory = machine.store().join(&first[..16]);
    let archive = directory.with_extension("tar");
    for path in ["guard.sh", "hooks.yaml", "bundle.json"].map(|name| directory.join(name)) {
        let before = fs::read(&path).unwrap();
        fs::write(&path, b"#!/bin/sh\nexit 0\n").unwrap();
        assert!(machine.says("ls", DENIED).contains("is not as it was pulled"));
        fs::remove_file(&path).unwrap();
        machine.says("ls", DENIED);
        let _ = machine.bundle(&["refresh"]).exits(0);
        assert_eq!(fs::read(&path).unwrap(), before);
        machine.says("ls", ALLOWED);
    }
    // A file that the pack does not have is not read.
    fs::create_dir_all(directory.join("hooks.d")).unwrap();
    fs::write(directory.join("hooks.d/x.yaml"), "stop: 5").unwrap();
    machine.says("ls", ALLOWED);
    // Not even files that fit together count without the digest.
    team.denies("never");
    untested(&team);
    let second = digest(&team, 2);
    machine.0.write_users_hooks(&format!(
        "use: [{{ bundle: 'file://{}', digest: 'sha256:{second}' }}]\n",
        team.signed(2).display()
    ));
    let _ = machine.bundle(&["refresh"]).exits(0);
    machine.says("rm x", ALLOWED);
    fs::remove_dir_all(&directory).unwrap();
    fs::rename(machine.store().join(&second[..16]), &directory).unwrap();
    fs::rename(machine.store().join(&second[..16]).with_extension("tar"), &archive).unwrap();
    machine
        .0
        .write_users_hooks(&format!("use: [{{ bundle: '{source}', digest: 'sha256:{first}' }}]\n"));
    assert!(machine.says("ls", DENIED).contains("is not as it was pulled"));
    // Nor does the source's next version.
    fs::copy(team.signed(2), &path).unwrap();
    let done = machine.bundle(&["refresh"]).exits(1);
    assert!(done.stderr.contains(&format!("the source has sha256:{second} now")), "{done:#?}");
    machine.says("ls", DENIED);
}

#[test]
fn a_registry_that_sends_other_bytes_is_refused() {
    if !is_here() {
        return;
    }
    let team = Team::new();
    let data = team.sandbox.home().join("registry");
    let registry = Registry::start(&data, false);
    let address = format!("oci://{}/packs/shell:1", registry.host);
    let _ = team.bundle(&["push", text(&team.signed(1)), &address]).exits(0);
    let first = digest(&team, 1);
    let blob = format!("data/docker/registry/v2/blobs/sha256/{}/{first}/data", &first[..2]);
    let mut bytes = fs::read(data.join(&blob)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(data.join(&blob), bytes).unwrap();
    let machine = Machine::new("{}");
    machine.0.write_users_hooks(&format!(
        "use: [{{ bundle: '{address}', digest: 'sha256:{first}' }}]\n"
    ));
    let done = machine.bundle(&["refresh"]).exits(1);
    assert!(done.stderr.contains("the archive has another digest"), "{done:#?}");
    machine.says("ls", DENIED);
}

#[test]
fn a_project_that_is_not_approved_causes_no_request() {
    let server = Server::start(|_| ("404 Not Found", String::new(), Vec::new()));
    let pack = format!(
        "use: [{{ bundle: 'http://{}/pack.tar', digest: 'sha256:{}' }}]\n",
        server.host,
        "0".repeat(64)
    );
    let machine = Machine::new(&pack);
    for args in [&["check"][..], &["list"], &["doctor"], &["trust", "show"], &["bundle", "refresh"]]
    {
        let _ = machine.0.hookexec(args).run();
    }
    // A person sees what the approval is about.
    let shown = machine.0.hookexec(["trust"]).run().exits(1);
    assert!(shown.stdout.contains(&format!("uses http://{}/pack.tar sha256:000", server.host)));
    assert!(shown.stdout.contains("not on this machine"), "{shown:#?}");
    let _ = machine.bundle(&["update", "--yes"]).exits(1);
    assert!(machine.says("ls", DENIED).contains("is not approved"));
    let _ = machine.0.hookexec(["bundle", "refresh", "--due"]).run();
    assert_eq!(server.requests(), [""; 0]);
    // Of a file that is approved, only a person's command fetches packs.
    machine.approve();
    machine.says("ls", DENIED);
    let _ = machine.0.hookexec(["bundle", "refresh", "--due"]).run().exits(0);
    assert_eq!(server.requests(), [""; 0]);
    let _ = machine.bundle(&["refresh"]).exits(1);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_bundle_uses_no_packs() {
    let team = Team::new();
    let pack =
        format!("use: [{{ bundle: 'file:///x.tar', digest: 'sha256:{}' }}]\n", "0".repeat(64));
    let hooks = team.sandbox.read("policy/hooks.yaml");
    team.sandbox.write("policy/hooks.yaml", &format!("{pack}{hooks}"));
    let done = team.bundle(&["build", "policy", "--version", "2"]).exits(78);
    assert!(done.stderr.contains("a bundle can't use another one"), "{done:#?}");
}

/// A test case of a pack runs before a person is asked, so a signature that can't be checked is none.
#[test]
fn an_update_with_a_key_that_can_not_be_read_runs_nothing() {
    let team = team();
    let source = format!("file://{}", team.signed(1).display());
    let key = team.key();
    for wrong in [
        format!("key: {}", &key[..key.len() - 1]),
        format!("keys: {key}"),
        "key:".to_owned(),
        "key: []".to_owned(),
        format!("key: [{key}, bad]"),
    ] {
        let machine = Machine::new(&format!("use:\n  - bundle: {source}\n    {wrong}\n"));
        let done = machine.bundle(&["update", "hooks.yaml", "--yes"]);
        assert_ne!(done.code(), Some(0), "{wrong}: {done:#?}");
        assert!(!done.stdout.contains("version 1"), "{wrong}: {done:#?}");
        assert!(!machine.0.read("hooks.yaml").contains("digest"), "{wrong}");
    }
}

#[test]
fn an_update_writes_only_what_is_read_as_it_is_meant() {
    let team = team();
    let source = format!("file://{}", team.signed(1).display());
    let digest = digest(&team, 1);
    for (file, written) in [
        (format!("use: [{{ bundle: '{source}' }}]\n"), true),
        (format!("use:\n- bundle: {source}\n"), true),
        (format!("use: [bundle: '{source}']\n"), false),
        (format!("use:\n- &a {{ bundle: '{source}' }}\n- *a\n"), false),
    ] {
        let machine = Machine::new(&file);
        let done = machine.bundle(&["update", "hooks.yaml", "--yes"]);
        assert_eq!(done.code() == Some(0), written, "{file}: {done:#?}");
        let now = machine.0.read("hooks.yaml");
        assert_eq!(now.contains(&digest), written, "{now}");
        if !written {
            assert_eq!(now, file);
            assert!(done.stderr.contains("write the digests yourself"), "{done:#?}");
        }
    }
}

#[test]
fn a_server_sees_that_a_changed_pack_was_restored() {
    let team = team();
    let path = team.signed(1);
    let machine = Machine::new(&format!(
        "use: [{{ bundle: 'file://{}', digest: 'sha256:{}' }}]\n",
        path.display(),
        digest(&team, 1)
    ));
    machine.approve();
    let _ = machine.bundle(&["refresh"]).exits(0);
    let socket = machine.0.home().join("run/socket");
    let socket = socket.to_str().unwrap();
    let mut serving = machine.0.hookexec(["serve", "--socket", socket]).spawn();
    let asked = || {
        let run = machine.0.hookexec(["run", "pre_tool_use", "--connect", socket]);
        run.stdin(r#"{"tool_name":"shell","tool_input":{"cmd":"ls"}}"#).run()
    };
    until("the server listens", || asked().stderr.is_empty());
    assert_eq!(asked().code(), Some(ALLOWED));
    let script = machine.store().join(&digest(&team, 1)[..16]).join("guard.sh");
    let before = fs::read(&script).unwrap();
    fs::write(&script, "exit 0\n").unwrap();
    until("the change is seen", || asked().code() == Some(DENIED));
    fs::write(&script, before).unwrap();
    until("the pack is restored", || asked().code() == Some(ALLOWED));
    serving.kill().unwrap();
    serving.wait().unwrap();
}

#[test]
fn an_update_goes_back_to_no_older_version() {
    let team = team();
    let (old, published) = (team.signed(1), team.sandbox.project().join("published.tar"));
    let publish = |path: &std::path::Path| {
        for ending in ["tar", "tar.minisig"] {
            fs::copy(path.with_extension(ending), published.with_extension(ending)).unwrap();
        }
    };
    publish(&team.signed(2));
    let machine = Machine::new(&format!("use: [{{ bundle: 'file://{}' }}]\n", published.display()));
    let _ = machine.bundle(&["update", "hooks.yaml", "--yes"]).exits(0);
    publish(&old);
    let done = machine.bundle(&["update", "hooks.yaml", "--yes"]).exits(1);
    assert!(done.stderr.contains("has version 1, and 2 is pinned"), "{done:#?}");
    assert!(machine.0.read("hooks.yaml").contains(&digest(&team, 2)));
    // `doctor` sees that a file with nothing but a pack is not approved.
    let said = machine.0.hookexec(["doctor"]).run().exits(1);
    assert!(said.stdout.contains("project/hooks.yaml: this file is not approved"), "{said:#?}");
    assert!(!said.stdout.contains("ok       [SANDBOX]/project"), "{said:#?}");
    // A new build takes the signature of the old bytes away.
    let _ = team.bundle(&["build", "policy", "--version", "1", "--by", "x"]).exits(0);
    let _ = team.bundle(&["push", text(&old), "oci://127.0.0.1:1/x:y"]).exits(64);
}
