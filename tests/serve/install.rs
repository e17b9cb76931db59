//! `hookexec install --connect`: entries that ask a server, and what `doctor` says about it.

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::process::{HOOKS, Serving, sandbox};
use crate::support::{Done, Sandbox, wait};

fn hookexec(sandbox: &Sandbox, args: &[&str]) -> Done {
    sandbox.hookexec(args).run()
}

fn install(sandbox: &Sandbox, agent: &str, socket: &Path) -> Done {
    hookexec(sandbox, &["install", agent, "--connect", socket.to_str().unwrap()])
}

fn settings(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home().join(".claude/settings.json")).unwrap()
}

/// Runs the entry before a tool as Claude Code does: by a shell.
fn call(sandbox: &Sandbox, command: &str) -> Output {
    let settings: Value = serde_json::from_str(&settings(sandbox)).unwrap();
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
        "cwd": sandbox.project(), "tool_name": "Bash", "tool_input": { "command": command } });
    let mut shell = Command::new("sh");
    let mut child = sandbox
        .dress(shell.args(["-c", entry.as_str().unwrap()]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &payload).unwrap();
    wait(child)
}

/// Returns the line of `doctor` about a socket.
#[track_caller]
fn line<'d>(done: &'d Done, socket: &Path, sandbox: &Sandbox) -> &'d str {
    let socket = sandbox.plain(socket.to_str().unwrap());
    let mut lines = done.stdout.lines().filter(|line| line.contains(&socket));
    let line = lines.next().unwrap_or_else(|| panic!("{done:?}"));
    assert!(lines.next().is_none(), "each server has one line: {done:?}");
    line.trim_start()
}

#[test]
fn an_installed_entry_asks_the_server_and_denies_when_it_is_gone() {
    let sandbox = Sandbox::new();
    // Each start of the process is noted: under the server there is one.
    let count = r#"echo start >> starts; while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; case $line in *hook.hello*) answer='{}';; *) answer='{"decision":"deny","reason":"not today"}';; esac; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$answer}"; done"#;
    let guard = json!({ "guard": { "command": ["/bin/sh", "-c", count] } });
    sandbox.write_users_hooks(&format!(
        "processes: {guard}\nhooks:\n  pre_tool_use: [{{ hooks: [{{ type: process, command: guard }}] }}]\n"
    ));
    let serving = Serving::start(&sandbox);
    let done = install(&sandbox, "claude-code", &serving.socket).exits(0);
    assert!(done.stderr.contains("keep `hookexec serve --socket [SANDBOX]/home/"), "{done:?}");
    for _ in 0..3 {
        let output = call(&sandbox, "ls");
        assert!(String::from_utf8_lossy(&output.stdout).contains("not today"), "{output:?}");
    }
    assert_eq!(sandbox.read("starts"), "start\n");
    let doctor = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0);
    let fine = "ok       15 events in [SANDBOX]/home/.claude/settings.json: the server at ";
    assert!(line(&doctor, &serving.socket, &sandbox).starts_with(fine), "{doctor:?}");

    let socket = serving.socket.clone();
    serving.signal("-TERM");
    assert_eq!(serving.ended(), Some(0));
    let output = call(&sandbox, "ls");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("\"deny\"") && said.contains("is not there"), "{output:?}");
    let doctor = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1);
    let line = line(&doctor, &socket, &sandbox);
    for part in [
        "PROBLEM  15 events in [SANDBOX]/home/.claude/settings.json: the server at ",
        "a guarded call is denied and never allowed",
        "start it anew with `hookexec serve --socket [SANDBOX]/home/",
    ] {
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn the_socket_is_kept_replaced_and_taken_out() {
    let sandbox = Sandbox::new();
    let path = sandbox.home().join(".claude/settings.json");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let before = "{ \"model\": \"x\" }\n";
    fs::write(&path, before).unwrap();
    // A relative path is written as an absolute one, in quotes where a shell needs them.
    let _ = hookexec(&sandbox, &["install", "claude-code", "--connect", "my run/socket"]).exits(0);
    let first = settings(&sandbox);
    let project = fs::canonicalize(sandbox.project()).unwrap();
    let written = format!(" --connect '{}/my run/socket'", project.display());
    assert_eq!(first.matches(&written).count(), 15, "{first}");
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    assert_eq!(settings(&sandbox), first, "a second time changes nothing");
    let doctor = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1).stdout;
    assert!(doctor.contains("`hookexec serve --socket '[SANDBOX]/project/my run/"), "{doctor}");

    let _ = hookexec(&sandbox, &["install", "claude-code", "--connect", "/run/other"]).exits(0);
    let other = settings(&sandbox);
    assert_eq!(other.matches(" --connect /run/other").count(), 15, "{other}");
    assert_eq!(other.matches(" --connect ").count(), 15, "{other}");
    let json = hookexec(&sandbox, &["doctor", "claude-code", "--format", "json"]).exits(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["agents"][0]["sockets"], json!(["/run/other"]));

    let _ = hookexec(&sandbox, &["uninstall", "claude-code"]).exits(0);
    assert_eq!(settings(&sandbox), before);
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    assert!(!settings(&sandbox).contains("--connect"));
}

#[test]
fn a_server_that_answers_is_not_called_dead_in_another_project() {
    let (theirs, own) = (Sandbox::new(), sandbox());
    let serving = Serving::start(&theirs);
    let _ = install(&own, "claude-code", &serving.socket).exits(0);
    let _ = install(&own, "codex", &serving.socket).exits(0);
    let doctor = hookexec(&own, &["doctor", "claude-code"]).exits(0);
    let line = line(&doctor, &serving.socket, &own);
    assert!(line.starts_with("ok "), "{line}");
    assert!(line.contains("this server has the hooks of "), "{line}");
    assert!(line.ends_with("here the hooks run in the process of the call"), "{line}");
    let output = call(&own, "rm x");
    assert!(String::from_utf8_lossy(&output.stdout).contains("no rm"), "{output:?}");
    // One line for all agents that ask it.
    let doctor = hookexec(&own, &["doctor"]);
    let line = self::line(&doctor, &serving.socket, &own);
    assert!(line.contains(".claude/settings.json, 12 events in [SANDBOX]/home/.codex/"), "{line}");
}

/// Listens at a new socket, and gives each connection to `answer`.
fn listening(sandbox: &Sandbox, answer: fn(std::os::unix::net::UnixStream)) -> std::path::PathBuf {
    let socket = sandbox.home().join("listening");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    socket
}

#[test]
fn a_server_of_another_version_is_a_problem() {
    let sandbox = sandbox();
    let socket = listening(&sandbox, |mut stream| {
        use std::io::{BufRead as _, Write as _};
        let mut line = String::new();
        std::io::BufReader::new(&stream).read_line(&mut line).unwrap();
        let asked: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(asked["params"]["version"], env!("CARGO_PKG_VERSION"));
        let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"this server is hookexec 9\"}}\n");
    });
    let _ = install(&sandbox, "claude-code", &socket).exits(0);
    let doctor = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1);
    let line = line(&doctor, &socket, &sandbox);
    assert!(line.starts_with("PROBLEM") && line.contains("this server is hookexec 9"), "{line}");
}

#[test]
fn a_server_that_hangs_costs_the_doctor_seconds() {
    let sandbox = sandbox();
    let socket = listening(&sandbox, |mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let _ = install(&sandbox, "claude-code", &socket).exits(0);
    let started = Instant::now();
    let doctor = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let line = line(&doctor, &socket, &sandbox);
    assert!(line.contains("does not answer: timed out"), "{line}");
}

#[test]
fn what_can_ask_no_server_is_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("policy.yaml", HOOKS);
    for (args, problem) in [
        (&["install", "claude-code", "--connect"][..], "--connect <SOCKET>"),
        (&["install", "claude-code", "--connect", ""], "--connect <SOCKET>"),
        (
            &["install", "claude-code", "--connect", "/s", "--config", "policy.yaml"],
            "'--connect <SOCKET>' cannot be used with '--config <FILE>'",
        ),
        (
            &["install", "claude-code", "--connect", "/s", "--scope", "project"],
            "`--connect` would write a path of yours into settings that others use as well",
        ),
        (
            &["install", "claude-code", "opencode", "--connect", "/s"],
            "the plugin of OpenCode takes no `--connect`",
        ),
        (
            &["install", "claude-code", "opencode", "--config", "policy.yaml"],
            "the plugin of OpenCode takes no `--config`",
        ),
    ] {
        let done = hookexec(&sandbox, args).exits(64);
        assert!(done.stderr.contains(problem), "{args:?}: {done:?}");
        assert!(!sandbox.home().join(".claude").exists(), "{args:?}");
    }
    // Neither takes the place of the other: a file with guards would no longer count.
    let _ = hookexec(&sandbox, &["install", "claude-code", "--config", "policy.yaml"]).exits(0);
    let done = install(&sandbox, "claude-code", Path::new("/s")).exits(64);
    assert!(done.stderr.contains("no entry can have both"), "{done:?}");
    assert!(done.stderr.contains("`hookexec uninstall claude-code --scope user`"), "{done:?}");
    let _ = hookexec(&sandbox, &["uninstall", "claude-code"]).exits(0);
    let _ = install(&sandbox, "claude-code", Path::new("/s")).exits(0);
    let done = hookexec(&sandbox, &["install", "claude-code", "--config", "policy.yaml"]).exits(64);
    assert!(done.stderr.contains("no entry can have both"), "{done:?}");
}
