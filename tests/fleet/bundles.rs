//! `hookexec bundle`, without machines.

use std::fs;

use crate::registry::{Registry, is_here};
use crate::team::{Team, text};

#[test]
fn the_same_directory_makes_the_same_bundle() {
    let (one, other) = (Team::new(), Team::new());
    // Times, and files that are hidden, make no difference.
    other.sandbox.write("policy/.hidden", "x");
    let file = fs::File::open(other.sandbox.project().join("policy/hooks.yaml")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let build = |team: &Team| {
        let build = ["build", "policy", "--version", "7", "--by", "team"];
        let done = team.bundle(&build).exits(0);
        (done.stdout, fs::read(team.sandbox.project().join("policy-7.tar")).unwrap())
    };
    let (said, bytes) = build(&one);
    assert_eq!((said.clone(), bytes), build(&other));
    assert!(said.starts_with("policy-7.tar sha256:"), "{said}");
    // It is an archive that `tar` reads.
    let listed = std::process::Command::new("tar")
        .args(["-tf", "policy-7.tar"])
        .current_dir(one.sandbox.project())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed, "bundle.json\nguard.sh\nhooks.test.yaml\nhooks.yaml\n");
}

#[test]
fn what_would_fail_on_a_machine_is_not_built() {
    let team = Team::new();
    let build = || team.bundle(&["build", "policy", "--version", "1"]);
    let hooks = team.sandbox.read("policy/hooks.yaml");
    for (command, wanted) in [
        ("./guard.sh", "names a file of the project"),
        ("$HOOKEXEC_CONFIG_DIR/other.sh", "`other.sh` is not in the bundle"),
    ] {
        let broken = hooks.replace("'\"$HOOKEXEC_CONFIG_DIR/guard.sh\"'", command);
        team.sandbox.write("policy/hooks.yaml", &broken);
        let done = build().exits(78);
        assert!(done.stderr.contains(wanted), "{done:#?}");
        assert!(done.stderr.contains("hooks.yaml:4"), "{done:#?}");
    }
    team.sandbox.write("policy/hooks.yaml", &format!("audit: {{ path: log.jsonl }}\n{hooks}"));
    let done = build().exits(64);
    assert!(done.stderr.contains("which is in the bundle"), "{done:#?}");
    team.sandbox.write("policy/hooks.yaml", "stop: 5");
    let _ = build().exits(78);
    team.sandbox.write("policy/hooks.yaml", &hooks);
    let misnamed = team.sandbox.write("policy/hooks.d/guard.YAML", &hooks);
    let done = build().exits(64);
    assert!(done.stderr.contains("`hooks.d/guard.YAML` is not read"), "{done:#?}");
    std::fs::remove_file(misnamed).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", team.sandbox.project().join("policy/link")).unwrap();
    let done = build().exits(64);
    assert!(done.stderr.contains("a link or a special file"), "{done:#?}");
}

#[test]
fn a_bundle_is_tested_from_its_own_bytes() {
    let team = Team::new();
    let path = team.signed(1);
    let done = team.bundle(&["test", text(&path)]).exits(0);
    assert!(done.stdout.contains("2 passed"), "{done:#?}");
    let _ = team.bundle(&["test", "policy"]).exits(0);
    team.denies("sudo");
    let done = team.bundle(&["test", "policy"]).exits(1);
    assert!(done.stdout.contains("policy/hooks.test.yaml"), "{done:#?}");
    let _ = team.bundle(&["test", text(&path)]).exits(0);
}

#[test]
fn only_what_the_key_signed_is_verified() {
    let team = Team::new();
    let path = team.signed(3);
    let verify = |key: &str| team.bundle(&["verify", text(&path), "--key", key]);
    let done = verify("fleet.pub").exits(0);
    assert!(done.stdout.starts_with("version 3: 3 files, 1 file of test cases"), "{done:#?}");
    let _ = verify(&team.key()).exits(0);
    team.make_key("other");
    let done = verify("other.pub").exits(1);
    assert!(done.stderr.contains("another key signed it"), "{done:#?}");
    let keys = ["--key", "other.pub", "--key", "fleet.pub"];
    let _ = team.bundle(&[&["verify", text(&path)][..], &keys].concat()).exits(0);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let done = verify("fleet.pub").exits(1);
    assert!(done.stderr.contains("it was changed"), "{done:#?}");
}

#[test]
fn a_bundle_goes_through_a_registry() {
    if !is_here() {
        return;
    }
    let team = Team::new();
    let registry = Registry::start(&team.sandbox.home().join("registry"), true);
    let address = format!("oci://{}/team/policy:stable", registry.host);
    let path = team.signed(7);
    let done = team.bundle(&["push", text(&path), &address]).exits(1);
    assert!(done.stderr.contains("docker login"), "{done:#?}");
    let login = format!(r#"{{"auths":{{"{}":{{"auth":"ZmxlZXQ6c2VjcmV0"}}}}}}"#, registry.host);
    team.sandbox.write(team.sandbox.home().join(".docker/config.json"), &login);
    let pushed = team.bundle(&["push", text(&path), &address]).exits(0);
    let pinned = pushed.stdout.trim().strip_prefix("pushed version 7: ").unwrap().to_owned();
    assert!(pinned.starts_with(&format!("oci://{}/team/policy@sha256:", registry.host)));
    for source in [&address, &pinned] {
        let pull = ["pull", source, "--key", "fleet.pub", "--output", "pulled.tar"];
        let done = team.bundle(&pull).exits(0);
        assert!(done.stdout.starts_with("version 7:"), "{done:#?}");
        assert!(done.stdout.contains(&format!("from {pinned}\n")), "{done:#?}");
        let pulled = fs::read(team.sandbox.project().join("pulled.tar")).unwrap();
        assert_eq!(pulled, fs::read(&path).unwrap());
    }
    fs::remove_file(team.sandbox.project().join("pulled.tar")).unwrap();

    // A credential helper knows the login.
    let config = team.sandbox.home().join(".docker/config.json");
    team.sandbox.write(&config, r#"{"auths":{},"credsStore":"here"}"#);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", team.sandbox.project().join("bin").display());
    let helped = |script: &str| {
        team.sandbox.script("bin/docker-credential-here", &format!("#!/bin/sh\n{script}\n"));
        let pull = ["bundle", "pull", &address, "--key", "fleet.pub", "--output", "pulled.tar"];
        team.sandbox.hookexec(pull).env("PATH", &path).run()
    };
    let knows = format!(
        r#"[ "$1 $(cat)" = "get {}" ] && echo '{{"ServerURL":"x","Username":"fleet","Secret":"secret"}}'"#,
        registry.host
    );
    let _ = helped(&knows).exits(0);
    for (script, wanted) in [
        ("echo credentials not found in native keychain; exit 1", "run `docker login`"),
        (
            "echo it is locked; exit 1",
            "`docker-credential-here`, which knows the logins, failed: it is locked",
        ),
        ("echo '{}'", "its answer has no `Username` and `Secret`"),
    ] {
        let done = helped(script).exits(1);
        assert!(done.stderr.contains(wanted), "{done:#?}");
    }
    // One of a project, or with a path, is none.
    let project = team.sandbox.script("docker-credential-here", "#!/bin/sh\ntouch ran\n");
    let pull = ["bundle", "pull", &address, "--key", "fleet.pub", "--output", "pulled.tar"];
    let relative = format!(".:{}", std::env::var("PATH").unwrap());
    let done = team.sandbox.hookexec(pull).env("PATH", relative).run().exits(1);
    assert!(done.stderr.contains("it is not on the PATH"), "{done:#?}");
    team.sandbox.write(&config, r#"{"credsStore":"x/here"}"#);
    let done = team.sandbox.hookexec(pull).run().exits(1);
    assert!(done.stderr.contains("its name has a slash"), "{done:#?}");
    assert!(!project.with_file_name("ran").exists());
    team.sandbox.write(&config, &login);
    fs::remove_file(team.sandbox.project().join("pulled.tar")).unwrap();

    team.make_key("other");
    let done = team.bundle(&["pull", &address, "--key", "other.pub", "-o", "pulled.tar"]).exits(1);
    assert!(done.stderr.contains("the bundle was not written"), "{done:#?}");
    assert!(!team.sandbox.project().join("pulled.tar").exists());
    let done = team.bundle(&["pull", &address.replace("stable", "gone"), "--key", "fleet.pub"]);
    assert!(done.exits(1).stderr.contains("the registry has no oci://"));
}

#[test]
fn a_bundle_comes_from_a_file() {
    let team = Team::new();
    let path = team.signed(2);
    let source = format!("file://{}", path.display());
    let done = team.bundle(&["pull", &source, "--key", "fleet.pub"]).exits(0);
    assert!(done.stdout.starts_with("version 2:"), "{done:#?}");
    fs::remove_file(path.with_extension("tar.minisig")).unwrap();
    let _ = team.bundle(&["pull", &source, "--key", "fleet.pub"]).exits(1);
    let _ = team.bundle(&["pull", "http://registry.example/x", "--key", "fleet.pub"]).exits(64);
}
