//! That an answer arrives, whatever its length and whoever reads it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use hookexec_agents::Agent;
use rustix::fs::OFlags;
use serde_json::json;

use crate::agents::run::{GUARD, callers, run, says_no};
use crate::support::{Sandbox, wait};

#[test]
fn a_denial_with_a_reason_of_any_length_stays_one_that_every_agent_takes() {
    let sandbox = Sandbox::new();
    let guard = r#"
pre_tool_use:
  - hooks:
      - type: command
        command: |
          python3 -c "import sys; sys.stderr.write('no rm here ' + '\\1' * 700000)"; exit 2
"#;
    sandbox.write("hooks.yaml", guard);
    for (agent, event, payload) in callers("rm -rf x") {
        let done = run(&sandbox, agent, event, &payload, &[]);
        assert!(says_no(&done, "no rm here"), "{agent}: {done:#?}");
        assert!(done.stdout.len() + done.stderr.len() < 256 << 10, "{agent}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains("... (691819 more bytes)"));
    }
}

#[test]
fn arguments_of_any_length_leave_a_denial_that_every_agent_takes() {
    let sandbox = Sandbox::new();
    let rewrite = r#"
pre_tool_use: { hooks: { type: command, command: 'jq "{updated_input: {command: .tool_input.command}}" | sed s/rm/trash/' } }
"#;
    sandbox.write("hooks.yaml", rewrite);
    let command = format!("rm {}", "\u{1}".repeat(100_000));
    for (agent, event, payload) in callers(&command) {
        let done = run(&sandbox, agent, event, &payload, &[]);
        // Where changed arguments are taken they are passed on whole.
        let passed = done.code() == Some(0) && done.stdout.contains(&"\\u0001".repeat(100_000));
        let bounded = done.stdout.len() + done.stderr.len() < 1 << 20;
        assert!(passed || (bounded && says_no(&done, "Call again with")), "{agent}");
    }
}

/// Runs the guard of `rm` with stdout as `redirection` says.
fn redirected(
    sandbox: &Sandbox,
    redirection: &str,
    agent: &str,
    event: &str,
    payload: &str,
) -> (Option<i32>, String) {
    let script = format!(
        "exec {redirection}; exec \"$0\" run --from {agent} --event {event} --config hooks.yaml"
    );
    let mut command = Command::new("sh");
    let mut child = sandbox
        .dress(&mut command)
        .args(["-c", &script, env!("CARGO_BIN_EXE_hookexec")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // It may have ended without reading; that is not this test's concern.
    let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
    let output = wait(child);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_denial_that_nobody_can_read_on_stdout_is_exit_code_2_and_the_reason_on_stderr() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    // A pipe whose reader is gone; closed; leading nowhere; on a full disk.
    for redirection in ["2>&2", "1>&-", ">/dev/null", ">/dev/full"] {
        for (agent, event, payload) in callers("rm -rf x") {
            let (code, stderr) =
                redirected(&sandbox, redirection, agent, event, &payload.to_string());
            assert_eq!(code, Some(2), "{agent} {redirection}: {stderr}");
            assert!(stderr.contains("no rm here"), "{agent} {redirection}: {stderr}");
        }
    }
    let (agent, event, payload) = callers("date").swap_remove(0);
    let (code, stderr) = redirected(&sandbox, "1>&-", agent, event, &payload.to_string());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn changed_arguments_that_nobody_can_read_are_not_replaced_by_the_old_ones() {
    let sandbox = Sandbox::new();
    let rewrite = r#"pre_tool_use: { hooks: { type: command, command: 'echo "{\"updated_input\": {\"command\": \"ls\"}}"' } }"#;
    sandbox.write("hooks.yaml", rewrite);
    let (agent, event, payload) = callers("rm -rf x").swap_remove(0);
    let (code, stderr) = redirected(&sandbox, "1>&-", agent, event, &payload.to_string());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("could not be passed on"), "{stderr}");
}

#[test]
fn what_only_informs_is_lost_without_a_refusal() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "session_start: { type: command, command: 'echo hello' }");
    let payload = json!({"hook_event_name": "SessionStart"}).to_string();
    let (code, stderr) = redirected(&sandbox, "1>&-", "claude-code", "SessionStart", &payload);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("can't write to stdout"), "{stderr}");
}

#[test]
fn stderr_that_nobody_reads_holds_up_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    // Nobody approved it: that is said on stderr before there is an answer.
    sandbox.write(".hookexec/hooks.yaml", "stop: { type: command, command: 'true' }");
    for (agent, event, payload) in callers("rm -rf x") {
        let (reader, mut writer) = std::io::pipe().unwrap();
        rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
        while writer.write(&[b'x'; 512]).is_ok() {}
        rustix::fs::fcntl_setfl(&writer, OFlags::empty()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookexec"));
        let mut child = sandbox
            .dress(&mut command)
            .args(["run", "--from", agent, "--event", event, "--config", "hooks.yaml"])
            .args(["--within", "1000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(writer)
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = wait(child);
        let stdout = String::from_utf8(output.stdout).unwrap();
        let denied = stdout.contains("no rm here") || output.status.code() == Some(2);
        assert!(denied, "{agent}: {:?} {stdout}", output.status);
        drop(reader);
    }
}

#[test]
fn a_note_that_cannot_be_written_costs_no_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    for (agent, event, payload) in callers("rm -rf x") {
        let mut command = Command::new("sh");
        let script =
            "ulimit -f 0; exec \"$0\" run --from \"$1\" --event \"$2\" --config hooks.yaml";
        let mut child = sandbox
            .dress(&mut command)
            .args(["-c", script, env!("CARGO_BIN_EXE_hookexec"), agent, event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = wait(child);
        let said = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("no rm here"), "{agent}");
        assert!(matches!(output.status.code(), Some(0 | 2)), "{agent}: {:?}", output.status);
    }
}

#[test]
fn an_agent_that_called_is_noted_also_when_it_was_denied_for_a_broken_file() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "pre_tool_usee: []");
    let (agent, event, payload) = callers("date").swap_remove(0);
    let done = run(&sandbox, agent, event, &payload, &["--within", "54"]);
    assert!(says_no(&done, "pre_tool_use"), "{done:#?}");
    let notes = sandbox.home().join(".local/state/hookexec/agents").join(Agent::ClaudeCode.name());
    assert!(fs::exists(notes.join("PreToolUse")).unwrap());
}
