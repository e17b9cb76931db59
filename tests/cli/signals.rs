//! A signal to `hookexec run` stops the hooks and all their children.

use std::io::Write;

use crate::state::lives;
use crate::support::{Sandbox, signal, until, wait};

#[test]
fn a_signal_stops_the_hooks_and_is_no_answer() {
    for (name, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let sandbox = Sandbox::new();
        // A shell with a child, both of which would outlive the test.
        sandbox.write(
            "hooks.yaml",
            "stop: { type: command, command: 'sleep 1000 & echo $$ $! > pids.new; mv pids.new pids; wait' }",
        );
        let mut child = sandbox.hookexec(["run", "stop", "--config", "hooks.yaml"]).spawn();
        child.stdin.take().unwrap().write_all(b"{}").unwrap();
        until("the hook starts", || sandbox.project().join("pids").exists());
        signal(&child, name);
        let output = wait(child);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert_eq!(output.stdout, b"", "no verdict");
        assert!(stderr.contains("before there was an answer"), "{stderr}");
        for pid in sandbox.read("pids").split_whitespace() {
            until("nothing of the hook is left", || !lives(pid));
        }
    }
}

#[test]
fn a_server_does_not_outlive_its_signal_for_a_hook() {
    let sandbox = Sandbox::new();
    let hook = "{ type: command, timeout: 10m, command: 'sleep 1000 & echo $$ $! > pids.new; mv pids.new pids; wait' }";
    sandbox.write("hooks.yaml", &format!("stop: {hook}"));
    let mut child = sandbox.hookexec(["serve", "--config", "hooks.yaml"]).spawn();
    let request =
        r#"{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{"event":"stop","input":{}}}"#;
    writeln!(child.stdin.as_mut().unwrap(), "{request}").unwrap();
    until("the hook starts", || sandbox.project().join("pids").exists());
    signal(&child, "-TERM");
    assert_eq!(wait(child).status.code(), Some(0));
    for pid in sandbox.read("pids").split_whitespace() {
        until("nothing of the hook is left", || !lives(pid));
    }
}
