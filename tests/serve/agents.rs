//! `hookexec run --from AGENT --connect`: an agent's call is answered by a server that runs already.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::serve::process::{Serving, sandbox};
use crate::support::{Done, Sandbox, signal, until, wait};

fn payload(event: &str, sandbox: &Sandbox, command: &str) -> Value {
    json!({ "hook_event_name": event, "session_id": "s", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": { "command": command } })
}

fn call<'a>(event: &'a str, socket: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let socket = socket.to_str().unwrap();
    let start = ["run", "--from", "claude-code", "--event", event, "--connect", socket];
    [&start, more].concat()
}

fn run(sandbox: &Sandbox, event: &str, socket: &Path, command: &str) -> Done {
    let payload = payload(event, sandbox, command);
    sandbox.hookexec(call(event, socket, &[])).stdin(payload.to_string()).run()
}

/// Returns the reason of a denial in the dialect of Claude Code.
#[track_caller]
fn denial(done: &Done) -> String {
    let output = &done.json_line()["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{done:?}");
    output["permissionDecisionReason"].as_str().unwrap().to_owned()
}

/// A process that notes each of its starts, and says with each call which one it is.
const COUNTS: &str = r#"echo start >> starts; n=0; while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; case $line in *hook.hello*) answer='{}';; *) n=$((n+1)); answer="{\"decision\":\"deny\",\"reason\":\"call $n\"}";; esac; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$answer}"; done"#;

#[test]
fn a_process_starts_once_and_is_asked_once_for_each_call() {
    let sandbox = Sandbox::new();
    let guard = json!({ "guard": { "command": ["/bin/sh", "-c", COUNTS] } });
    sandbox.write_users_hooks(&format!(
        "processes: {guard}\nhooks:\n  pre_tool_use: [{{ hooks: [{{ type: process, command: guard }}] }}]\n"
    ));
    let serving = Serving::start(&sandbox);
    for number in 1..5 {
        let done = run(&sandbox, "PreToolUse", &serving.socket, "ls");
        assert!(denial(&done).contains(&format!("call {number}")), "{done:?}");
    }
    assert_eq!(sandbox.read("starts"), "start\n");
    // Without the server each call starts it.
    let alone = ["run", "--from", "claude-code", "--event", "PreToolUse"];
    let alone = sandbox.hookexec(alone).stdin(payload("PreToolUse", &sandbox, "ls").to_string());
    let done = alone.run();
    assert!(denial(&done).contains("call 1"), "{done:?}");
    assert_eq!(sandbox.read("starts"), "start\nstart\n");
}

#[test]
fn the_answer_is_the_one_that_the_command_itself_gives() {
    let sandbox = Sandbox::new();
    // A rewrite, context, a guard by kind, a hook of Claude Code, and one that asks.
    sandbox.write_users_hooks(
        r#"
pre_tool_use:
  - matcher: shell
    hooks:
      - { type: command, mutates: true, command: "sed -n 's/.*change me.*/{\"updated_input\":{\"command\":\"changed\"}}/p'" }
      - { type: command, command: "grep -q rm && { echo no rm >&2; exit 2; } || exit 0" }
      - { type: command, command: "grep -q sudo && echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}' || exit 0" }
  - matcher: Bash
    hooks: [{ type: command, dialect: claude-code, command: "grep -q '\"tool_name\":\"Bash\"' || exit 2" }]
session_start: [{ type: command, command: "echo '{\"additional_context\":\"be kind\"}'" }]
"#,
    );
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.to_str().unwrap();
    for (agent, before, tool) in [
        ("claude-code", "PreToolUse", "Bash"),
        ("codex", "PreToolUse", "Bash"),
        ("gemini", "BeforeTool", "run_shell_command"),
        ("cursor", "preToolUse", "Shell"),
    ] {
        for (event, command) in [
            (before, "ls"),
            (before, "rm x"),
            (before, "sudo x"),
            (before, "change me"),
            (before, "hookexec trust add"),
            ("SessionStart", ""),
        ] {
            if event == "SessionStart" && agent == "cursor" {
                continue;
            }
            let mut payload = payload(event, &sandbox, command);
            payload["tool_name"] = tool.into();
            let from = ["run", "--from", agent, "--event", event];
            let alone = sandbox.hookexec(from).stdin(payload.to_string()).run();
            let connected = [&from[..], &["--connect", socket]].concat();
            let asked = sandbox.hookexec(connected).stdin(payload.to_string()).run();
            assert_eq!(alone.whole(), asked.whole(), "{agent} {event} {command}");
        }
    }
}

#[test]
fn what_no_server_has_to_say_is_said_at_the_start_of_a_session() {
    let sandbox = Sandbox::new();
    let serving = Serving::start(&sandbox);
    let done = run(&sandbox, "SessionStart", &serving.socket, "");
    assert!(done.stdout.contains("nothing is guarded"), "{done:?}");
}

#[test]
fn a_server_that_is_gone_denies_what_fails_closed() {
    let sandbox = sandbox();
    let gone = sandbox.home().join("nobody");
    let done = run(&sandbox, "PreToolUse", &gone, "ls");
    let said = denial(&done);
    let socket = sandbox.plain(gone.to_str().unwrap());
    assert!(said.contains(&format!("the server at {socket} is not there")), "{said}");
    assert!(said.contains(&format!("`hookexec serve --socket {socket}`")), "{said}");
    // An event that only observes goes on.
    let done = run(&sandbox, "Notification", &gone, "").exits(0);
    assert!(!done.stdout.contains("deny") && !done.stdout.contains("block"), "{done:?}");
}

#[test]
fn a_hook_that_must_not_fail_counts_without_its_server() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(
        "user_prompt_submit: [{ type: command, command: 'true', on_error: block }]\n",
    );
    let gone = sandbox.home().join("nobody");
    let mut payload = payload("UserPromptSubmit", &sandbox, "");
    payload["prompt"] = "hello".into();
    let call = call("UserPromptSubmit", &gone, &[]);
    let done = sandbox.hookexec(call).stdin(payload.to_string()).run();
    assert!(format!("{}{}", done.stdout, done.stderr).contains("is not there"), "{done:?}");
    assert!(done.code() == Some(2) || done.stdout.contains("block"), "{done:?}");
}

/// Listens at a new socket and answers the first request with `said`, then hangs up.
fn answering(sandbox: &Sandbox, said: &'static str) -> std::path::PathBuf {
    let socket = sandbox.home().join("socket");
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut stream = BufReader::new(stream);
        stream.read_line(&mut String::new()).unwrap();
        let _ = stream.get_mut().write_all(said.as_bytes());
    });
    socket
}

#[test]
fn a_server_that_is_not_to_be_believed_denies() {
    let sandbox = sandbox();
    for (said, cause) in [
        ("", "ended before it answered"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"res", "is not understood"),
        ("HTTP/1.1 200 OK\r\n\r\n", "is not understood"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"allowed\":true}}\n", "`decision` is missing"),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"event\":\"stop\",\"decision\":\"allow\",\"allowed\":true,\"hooks\":[]}}\n",
            "is on `stop`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"event\":\"pre_tool_use\",\"decision\":\"allow\",\"allowed\":true,\"hooks\":[]}}\n",
            "another `id`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"unknown method `dispatch`\"}}\n",
            "-32601",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32004,\"message\":\"this server is hookexec 9\"}}\n",
            "hookexec 9",
        ),
    ] {
        let socket = answering(&sandbox, said);
        let reason = denial(&run(&sandbox, "PreToolUse", &socket, "ls"));
        assert!(reason.contains(cause), "{said}: {reason}");
        assert!(reason.contains("[SANDBOX]/home/socket"), "{said}: {reason}");
        assert!(reason.contains("start it anew"), "{said}: {reason}");
    }
}

#[test]
fn the_hooks_run_in_the_call_if_the_server_says_that_none_ran() {
    let (theirs, own) = (Sandbox::new(), sandbox());
    let serving = Serving::start(&theirs);
    assert!(denial(&run(&own, "PreToolUse", &serving.socket, "rm x")).contains("no rm"));
    let done = run(&own, "PreToolUse", &serving.socket, "ls").exits(0);
    assert!(done.stderr.contains("the hooks run without it"), "{done:?}");
    let overloaded = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"overloaded\"}}\n";
    let socket = answering(&own, overloaded);
    assert!(denial(&run(&own, "PreToolUse", &socket, "rm x")).contains("no rm"));
}

#[test]
fn the_callers_deadline_goes_along() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(
        "pre_tool_use: [{ hooks: [{ type: command, name: slow, command: 'exec sleep 100' }] }]\n",
    );
    let serving = Serving::start(&sandbox);
    let call = call("PreToolUse", &serving.socket, &["--within", "2"]);
    let payload = payload("PreToolUse", &sandbox, "ls").to_string();
    let done = sandbox.hookexec(call).stdin(payload).run();
    // The server says it: the hook has failed.
    let said = denial(&done);
    assert!(said.contains("slow") && said.contains("the time for an answer passed"), "{said}");
}

#[test]
fn a_server_that_hangs_is_not_waited_for_longer_than_the_agent_waits() {
    let sandbox = sandbox();
    let socket = sandbox.home().join("hangs");
    let listener = UnixListener::bind(&socket).unwrap();
    let hanging = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let call = call("PreToolUse", &socket, &["--within", "2"]);
    let payload = payload("PreToolUse", &sandbox, "ls").to_string();
    let said = denial(&sandbox.hookexec(call).stdin(payload).run());
    assert!(said.contains("[SANDBOX]/home/hangs does not answer"), "{said}");
    hanging.join().unwrap();
}

#[test]
fn a_signal_is_answered_while_a_server_hangs() {
    let sandbox = sandbox();
    let socket = sandbox.home().join("hangs");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut child = sandbox.hookexec(call("PreToolUse", &socket, &["--within", "1000"])).spawn();
    let payload = payload("PreToolUse", &sandbox, "ls").to_string();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let (asked, _) = listener.accept().unwrap();
    signal(&child, "-TERM");
    let stdout = String::from_utf8(wait(child).stdout).unwrap();
    assert!(stdout.contains("\"deny\"") && stdout.contains("SIGTERM"), "{stdout}");
    drop(asked);
}

#[test]
fn a_server_that_is_killed_in_mid_answer_denies() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(
        "pre_tool_use: [{ hooks: [{ type: command, command: 'echo > begun; exec sleep 100' }] }]\n",
    );
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.clone();
    let mut child = sandbox.hookexec(call("PreToolUse", &socket, &[])).spawn();
    let payload = payload("PreToolUse", &sandbox, "ls").to_string();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    until("the hook runs", || sandbox.project().join("begun").exists());
    serving.signal("-KILL");
    let output = wait(child);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("\"deny\"") && said.contains("ended before it answered"), "{said}");
    assert_eq!(serving.ended(), None);
}
