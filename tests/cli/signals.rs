//! A signal to `hookexec run` stops the hooks and all their children.

use std::io::Write;
use std::process::Command;

use crate::state::lives;
use crate::support::{Sandbox, until, wait};

fn send(signal: &str, pid: &str) -> bool {
    Command::new("kill").args([signal, pid]).output().unwrap().status.success()
}

#[test]
fn a_signal_stops_the_hooks_and_is_no_answer() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let sandbox = Sandbox::new();
        // A shell with a child, both of which would outlive the test.
        sandbox.write(
            "hooks.yaml",
            "stop: { type: command, command: 'sleep 1000 & echo $$ $! > pids.new; mv pids.new pids; wait' }",
        );
        let mut child = sandbox.hookexec(["run", "stop", "--config", "hooks.yaml"]).spawn();
        child.stdin.take().unwrap().write_all(b"{}").unwrap();
        until("the hook starts", || sandbox.project().join("pids").exists());
        assert!(send(signal, &child.id().to_string()));
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
