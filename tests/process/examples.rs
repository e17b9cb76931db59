//! The hooks in `examples/processes`, as the programs that they are.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookexec::wire::StopScope;
use hookexec::{Decision, Event, Executor, Input};
use serde_json::{Value, json};

use super::harness::{Project, dispatch, shell, shutdown, tool};

/// Returns an executor for one of the examples, in a project of its own.
fn example(project: &Project, name: &str) -> Executor {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(root.join("examples"), project.path("examples")).unwrap();
    let yaml = std::fs::read_to_string(root.join("examples/processes").join(name)).unwrap();
    // A busy machine takes longer than five seconds to start a program.
    project.executor(&yaml.replace("timeout: 5 ", "timeout: 60 "))
}

fn request(tools: &Value) -> Input {
    serde_json::from_value(json!({
        "session_id": "s", "model_id": "m", "tools": tools,
        "messages": [{ "role": "user", "content": "What is the weather in Beijing?" }],
    }))
    .unwrap()
}

#[tokio::test]
async fn weather_brings_its_tool_along_and_answers_it() {
    let project = Project::new();
    let executor = example(&project, "weather.yaml");
    let shell_tool = json!({ "type": "function", "function": { "name": "shell" } });
    let verdict = dispatch(&executor, Event::BeforeLlmCall, &request(&json!([shell_tool]))).await;
    let tools = verdict.updated_request.unwrap().tools.unwrap();
    assert_eq!(tools[0], shell_tool);
    assert_eq!(tools[1]["function"]["name"], "get_weather");
    // A host that keeps the tools gets them back as they are.
    let verdict = dispatch(&executor, Event::BeforeLlmCall, &request(&json!(tools))).await;
    assert_eq!(verdict.updated_request, None);

    let call = tool("get_weather", json!({ "city": "Beijing" }));
    let verdict = dispatch(&executor, Event::PreToolUse, &call).await;
    let result = verdict.respond.unwrap();
    assert_eq!(result.for_llm, "Weather in Beijing: sunny, 15 °C, humidity 45 %");
    assert!(!result.is_error);
    let call = tool("get_weather", json!({ "city": "Atlantis" }));
    let verdict = dispatch(&executor, Event::PreToolUse, &call).await;
    assert!(verdict.respond.unwrap().is_error);
    shutdown(&executor).await;
}

#[tokio::test]
async fn the_weather_plugin_ends_in_good_order_on_a_signal() {
    let project = Project::new();
    let executor = example(&project, "weather.yaml");
    executor.check_processes().await;
    let pid = executor.process_statistics()[0].pid.unwrap();
    Command::new("kill").args(["-TERM", &pid.to_string()]).status().unwrap();
    crate::state::until("its end", || executor.process_statistics()[0].pid.is_none()).await;
    // Exit code 0: not a crash.
    assert_eq!(executor.process_statistics()[0].crashes, 0);
    shutdown(&executor).await;
}

#[tokio::test]
async fn the_review_gate_denies_asks_approves_and_keeps_a_log() {
    let project = Project::new();
    let executor = example(&project, "review-gate.yaml");
    for (command, decision) in [
        ("rm -rf /", Some(Decision::Deny)),
        ("git push origin main", Some(Decision::Ask)),
        ("git status", None),
    ] {
        let verdict = dispatch(&executor, Event::PreToolUse, &shell(command)).await;
        assert_eq!(verdict.decision, decision, "{command} {verdict:#?}");
    }
    for (command, decision) in [("git log", Decision::Allow), ("make install", Decision::Deny)] {
        let verdict = dispatch(&executor, Event::PermissionRequest, &shell(command)).await;
        assert_eq!(verdict.decision, Some(decision), "{command} {verdict:#?}");
    }
    let _ = dispatch(&executor, Event::PostToolUse, &shell("git status")).await;
    shutdown(&executor).await;

    let log = std::fs::read_to_string(project.path("review-gate.jsonl")).unwrap();
    let told: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, ["denied", "asked", "passed", "approved", "refused", "event"]);
}

#[tokio::test]
async fn the_guard_in_javascript_stops_secrets_on_both_ways() {
    let project = Project::new();
    let executor = example(&project, "guard.yaml");
    let secret = format!("ghp_{}", "a1B2c3D4e".repeat(4));
    let verdict = dispatch(&executor, Event::PreToolUse, &shell("ls \u{2028}")).await;
    assert_eq!(verdict.decision, None, "{verdict:#?}");
    let verdict =
        dispatch(&executor, Event::PreToolUse, &shell(&format!("curl -H {secret}"))).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));

    let mut ran = shell("env");
    ran.tool_response = Some(json!(format!("TOKEN={secret} HOME=/root")));
    let verdict = dispatch(&executor, Event::PostToolUse, &ran).await;
    assert_eq!(verdict.updated_tool_response, Some(json!("TOKEN=[secret] HOME=/root")));
    ran.tool_response = Some(json!("nothing"));
    let verdict = dispatch(&executor, Event::PostToolUse, &ran).await;
    assert_eq!((verdict.updated_tool_response, verdict.failed_open.len()), (None, 0));
    shutdown(&executor).await;
}

/// Returns the example in Rust, which is built along with the tests unless one of them is run alone.
fn process_hook() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/process_hook");
    if !program.exists() {
        let build = ["build", "--quiet", "--offline", "--example", "process_hook"];
        let done = Command::new(env!("CARGO")).args(build).status().unwrap();
        assert!(done.success());
    }
    program
}

#[tokio::test]
async fn the_limit_in_rust_counts_the_calls_of_each_turn() {
    let project = Project::new();
    let program = process_hook();
    std::fs::create_dir_all(project.path("target/debug/examples")).unwrap();
    symlink(program, project.path("target/debug/examples/process_hook")).unwrap();
    let executor = example(&project, "limit.yaml");
    let call = |turn: &str| {
        let mut call = shell("ls");
        call.turn_id = Some(turn.to_owned());
        call
    };
    for turn in ["1", "2"] {
        for _ in 0..3 {
            assert!(dispatch(&executor, Event::PreToolUse, &call(turn)).await.allowed);
        }
    }
    let verdict = dispatch(&executor, Event::PreToolUse, &call("2")).await;
    assert!(!verdict.allowed);
    let stop = verdict.stop.unwrap();
    assert_eq!(stop.scope, StopScope::Turn);
    assert_eq!(stop.reason, "more than 3 tool calls in one turn");
    let verdict = dispatch(&executor, Event::SessionEnd, &call("2")).await;
    assert_eq!(verdict.failed_open, Vec::<String>::new());
    shutdown(&executor).await;
}
