//! The suite of real clients itself: it must not pass without a client.

use std::path::Path;
use std::process::Command;

use crate::support::Sandbox;

/// Runs the suite with programs in the place of the clients.
fn suite(program: &str, clients: &[&str]) -> String {
    let sandbox = Sandbox::new();
    let bin = "node_modules/.bin";
    sandbox.script(format!("clients/claude/{bin}/claude"), program);
    sandbox.script(format!("clients/opencode/{bin}/opencode"), program);
    let script = Path::new(crate::support::ROOT).join("tests/agents/real/run.py");
    let output = Command::new("python3")
        .arg(script)
        .args(clients)
        .env("HOOKEXEC", env!("CARGO_BIN_EXE_hookexec"))
        .env("HOOKEXEC_CLIENTS", sandbox.project().join("clients"))
        .env("HOOKEXEC_ISOLATED", "1")
        .env_remove("KEEP")
        .output()
        .unwrap_or_else(|error| panic!("this test needs python3: {error}"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_scenario_passes_with_a_client_that_does_nothing() {
    for (program, clients) in [
        ("#!/bin/sh\nexit 1\n", &["claude", "opencode"][..]),
        ("#!/bin/sh\nexit 0\n", &["claude"]),
        ("not a program", &["claude"]),
    ] {
        let said = suite(program, clients);
        assert!(said.contains("\n0 passed, "), "{program}: {said}");
        for scenario in
            ["control", "deny", "broken", "slow", "crash", "killed", "missing", "ask", "mcp"]
        {
            let failed = format!("Claude     {scenario:<15} FAILED");
            assert!(said.contains(&failed), "{scenario}: {said}");
        }
    }
}
