//! `hookexec policy build` and `test`, without machines.

use std::fs;
use std::process::Command;

use crate::fleet::team::{Team, text};

#[test]
fn the_same_directory_makes_the_same_archive() {
    let (one, other) = (Team::new(), Team::new());
    // Times, and files that are hidden, make no difference.
    other.sandbox.write("policy/.hidden", "x");
    let file = fs::File::open(other.sandbox.project().join("policy/hooks.yaml")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let build = |team: &Team| {
        let done = team.policy(&["build", "policy", "--name", "guards", "--version", "7"]).exits(0);
        (done.stdout, fs::read(team.sandbox.project().join("guards-7.tar")).unwrap())
    };
    let (said, bytes) = build(&one);
    assert_eq!((said.clone(), bytes), build(&other));
    assert!(said.starts_with("guards-7.tar sha256:"), "{said}");
    // It is an archive that `tar` reads.
    let listed = Command::new("tar")
        .args(["-tf", "guards-7.tar"])
        .current_dir(one.sandbox.project())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed, "policy.json\nguard.sh\nhooks.test.yaml\nhooks.yaml\n");
}

#[test]
fn a_policy_that_would_fail_on_a_machine_is_not_built() {
    let team = Team::new();
    let build = || team.policy(&["build", "policy", "--name", "guards", "--version", "1"]);
    let hooks = team.sandbox.read("policy/hooks.yaml");
    for (command, wanted) in [
        ("./guard.sh", "/any-project/guard.sh does not exist"),
        ("$HOOKEXEC_CONFIG_DIR/other.sh", "policy/other.sh does not exist"),
    ] {
        let broken = hooks.replace("'\"$HOOKEXEC_CONFIG_DIR/guard.sh\"'", command);
        team.sandbox.write("policy/hooks.yaml", &broken);
        let done = build().exits(78);
        assert!(done.stderr.contains(wanted), "{done:#?}");
        assert!(done.stderr.contains("hooks.yaml:4"), "{done:#?}");
        assert!(done.stderr.contains("$HOOKEXEC_CONFIG_DIR/FILE"), "{done:#?}");
    }
    team.sandbox.write("policy/hooks.yaml", &format!("audit: {{ path: log.jsonl }}\n{hooks}"));
    let done = build().exits(78);
    assert!(done.stderr.contains("which is in the policy"), "{done:#?}");
    team.sandbox.write("policy/hooks.yaml", "stop: 5");
    let _ = build().exits(78);
    team.sandbox.write("policy/hooks.yaml", &hooks);
    let misnamed = team.sandbox.write("policy/hooks.d/guard.YAML", &hooks);
    let done = build().exits(64);
    assert!(done.stderr.contains("`hooks.d/guard.YAML` is not read"), "{done:#?}");
    fs::remove_file(misnamed).unwrap();
    let large = fs::File::create(team.sandbox.project().join("policy/large")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    let done = build().exits(64);
    assert!(done.stderr.contains("policy/large, in a policy of at most 16 MiB"), "{done:#?}");
    fs::remove_file(team.sandbox.project().join("policy/large")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", team.sandbox.project().join("policy/link")).unwrap();
    let done = build().exits(64);
    assert!(done.stderr.contains("no links and special files"), "{done:#?}");
}

#[test]
fn a_policy_is_tested_from_its_own_bytes() {
    let team = Team::new();
    let path = team.built(1);
    let done = team.policy(&["test", text(&path)]).exits(0);
    assert!(done.stdout.contains("2 passed"), "{done:#?}");
    let _ = team.policy(&["test", "policy"]).exits(0);
    team.denies("sudo");
    let done = team.policy(&["test", "policy"]).exits(1);
    assert!(done.stdout.contains("policy/hooks.test.yaml"), "{done:#?}");
    let _ = team.policy(&["test", text(&path)]).exits(0);
}
