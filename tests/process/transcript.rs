//! The conversation in `docs/serve.md`, held with the example it names; and, the other way round,
//! what the host really says in it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use hookexec::{Event, Input};
use serde_json::{Value, json};

use super::harness::{Project, dispatch, shutdown};

/// The lines of the transcript: who speaks, and what.
fn transcript() -> Vec<(&'static str, Value)> {
    let page = include_str!("../../docs/serve.md");
    let (_, rest) = page.split_once("```transcript\n").unwrap();
    let (lines, _) = rest.split_once("\n```").unwrap();
    lines
        .lines()
        .map(|line| {
            let (speaker, message) = line.split_once(": ").unwrap();
            (speaker, serde_json::from_str(message).unwrap())
        })
        .collect()
}

#[test]
fn the_example_answers_as_the_page_says() {
    let mut child = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/processes/review_gate.py"))
        .env_remove("REVIEW_GATE_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let transcript = transcript();
    assert!(transcript.len() > 10);
    for (speaker, message) in transcript {
        if speaker == "host" {
            writeln!(stdin, "{message}").unwrap();
        } else {
            let line = stdout.next().unwrap().unwrap();
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), message);
        }
    }
    // Nothing is answered to a notification, and the end of stdin is the end.
    drop(stdin);
    assert!(stdout.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn the_host_says_what_the_page_says() {
    let project = Project::with(
        "
hello = sys.stdin.readline()
reply(json.loads(hello), {})
said = [json.loads(hello)]
for message in messages():
    said.append(message)
    if 'id' in message:
        method = message['method']
        reply(message, {'approved': False} if method == 'hook.approve_tool' else {})
note('said', json.dumps(said))
",
    );
    let executor = project.executor(
        "
processes:
  review_gate: { command: [python3, p.py], observe: [tool_exec_end], intercept: [before_tool, approve_tool] }
",
    );
    let call = |id: &str, command: &str| -> Input {
        serde_json::from_value(json!({
            "session_id": "s", "cwd": "/project", "agent_name": "main", "turn_id": "t1", "iteration": 1,
            "tool_name": "shell", "tool_use_id": id, "tool_input": { "cmd": command },
        }))
        .unwrap()
    };
    for (id, command) in [("c1", "git status"), ("c2", "rm -rf /"), ("c3", "git push")] {
        let _ = dispatch(&executor, Event::PreToolUse, &call(id, command)).await;
    }
    let _ = dispatch(&executor, Event::PermissionRequest, &call("c3", "git push")).await;
    let mut ran = call("c1", "git status");
    ran.tool_duration_ms = Some(5);
    let _ = dispatch(&executor, Event::PostToolUse, &ran).await;
    shutdown(&executor).await;

    let mut said: Vec<Value> = serde_json::from_str(&project.noted("said").await).unwrap();
    let told = said.last_mut().unwrap();
    assert!(told["params"]["time"].is_string(), "{told}");
    told["params"]["time"] = json!("2026-01-01T00:00:00Z");
    // Events are counted over the whole program.
    assert!(told["params"]["id"].as_str().unwrap().starts_with("evt-"), "{told}");
    told["params"]["id"] = json!("evt-1");
    let page = transcript().into_iter().filter(|(speaker, _)| *speaker == "host");
    // The last is a call of an event that this configuration has no hook for.
    let page: Vec<Value> = page.map(|(_, message)| message).take(said.len()).collect();
    assert_eq!(said, page);
}
