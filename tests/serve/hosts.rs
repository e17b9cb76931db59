//! The packages for hosts in other languages, by their own tests, and the methods that they call.

use std::process::{Command, Stdio};

use hookexec_serve::server::Limits;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::serve::partner::{Gate, Partner, server};
use crate::support::{ROOT, Sandbox, needs, wait};

fn passes(program: &str, arguments: &[&str]) {
    needs(program);
    let sandbox = Sandbox::new();
    let mut command = Command::new(program);
    let child = sandbox
        .dress(&mut command)
        .args(arguments)
        .current_dir(ROOT)
        .env("HOOKEXEC", env!("CARGO_BIN_EXE_hookexec"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = wait(child);
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn the_python_package_passes_its_tests() {
    passes("python3", &["tests/hosts/test_python.py"]);
}

#[test]
fn the_node_package_passes_its_tests() {
    passes("node", &["--test", "tests/hosts/node.test.mjs"]);
}

#[test]
fn the_code_of_the_page_runs() {
    needs("node");
    passes("python3", &["tests/hosts/test_page.py"]);
}

fn session() -> Value {
    json!({ "session_id": "s" })
}

/// Sends a request and returns its result, or the message of its error.
async fn ask(partner: &mut Partner, method: &str, params: Value) -> Result<Value, String> {
    partner.ask(1, method, params).await;
    let mut answer = partner.next().await.unwrap();
    match answer.get("error") {
        Some(error) => Err(error["message"].as_str().unwrap().to_owned()),
        None => Ok(answer["result"].take()),
    }
}

#[tokio::test]
async fn a_call_goes_on_only_by_what_it_waits_for() {
    let server = server("{}", &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    let call = json!({ "session": session(), "tool_name": "x", "tool_input": { "n": 1 } });
    let step = ask(&mut host, "tool.begin", call.clone()).await.unwrap();
    let expected = json!({ "next": "run", "call": 1, "tool_name": "x", "tool_input": { "n": 1 } });
    assert_eq!(step, expected);
    for (method, params, told) in [
        ("tool.approve", json!({ "call": 1, "granted": true }), "the call waits for the end"),
        ("tool.end", json!({ "call": 1 }), "give one of `response`, `error` and `cancelled`"),
        ("tool.end", json!({ "call": 1, "response": 1, "error": 1 }), "give one of"),
        ("tool.end", json!({ "call": 1, "respond": 1 }), "unknown parameter `respond`"),
        ("tool.end", json!({ "call": 2, "response": 1 }), "`call` 2 is not open"),
        ("tool.end", json!({ "response": 1 }), "`call` must be a whole number"),
    ] {
        let problem = ask(&mut host, method, params).await.unwrap_err();
        assert!(problem.starts_with(told), "{problem}");
    }
    // An open call belongs to its connection.
    let end = json!({ "call": 1, "response": { "n": 1 } });
    let mut other = Partner::new(&server);
    assert!(ask(&mut other, "tool.end", end.clone()).await.unwrap_err().contains("not open"));
    let done = ask(&mut host, "tool.end", end.clone()).await.unwrap();
    assert_eq!((&done["end"], &done["response"]), (&json!("ran"), &json!({ "n": 1 })));
    assert!(ask(&mut host, "tool.end", end).await.unwrap_err().contains("not open"));
}

#[tokio::test]
async fn a_host_says_which_further_events_it_fires() {
    let hooks = "{hooks: {before_agent_run: [{type: command, command: 'true'}]}}";
    let server = server(hooks, &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    for (fires, unfired) in [(json!([]), 1), (json!(["before_agent_run"]), 0)] {
        let session = json!({ "session": { "session_id": "s", "fires": fires } });
        let begun = ask(&mut host, "session.begin", session).await.unwrap();
        assert_eq!(begun["unfired"].as_array().unwrap().len(), unfired, "{begun}");
    }
}

#[tokio::test]
async fn an_unknown_parameter_is_an_error() {
    let server = server("{}", &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    let turn = json!({ "turn_id": "t" });
    for (method, params, told) in [
        ("session.begin", json!({}), "`session` is missing"),
        ("session.begin", json!({ "session": { "session_id": "s", "cwd_": "" } }), "cwd_"),
        (
            "session.begin",
            json!({ "session": session(), "source": "x" }),
            "`source` must be startup, resume",
        ),
        ("session.end", json!({ "session": session(), "why": "x" }), "unknown parameter `why`"),
        ("turn.begin", json!({ "session": session() }), "`turn_id` is missing"),
        ("turn.end", json!({ "session": session(), "turn": turn }), "give one of"),
        ("turn.end", json!({ "session": session(), "turn": { "id": 1 } }), "`turn`: "),
        ("tool.begin", json!({ "session": session() }), "`tool_name` is missing"),
        (
            "tool.begin",
            json!({ "session": session(), "tool_name": "x", "tool_input": [] }),
            "an object",
        ),
        ("tool.begin", json!({ "session": session(), "tool_name": "x", "asks": "y" }), "`asks`"),
        (
            "tool.begin",
            json!({ "session": session(), "tool_name": "x", "project": 1 }),
            "`project`",
        ),
        ("model.begin", json!({ "session": session(), "messages": {} }), "must be a list"),
    ] {
        let problem = ask(&mut host, method, params).await.unwrap_err();
        assert!(problem.contains(told), "{method}: {problem}");
    }
}

#[tokio::test]
async fn each_request_about_a_call_has_a_deadline_of_its_own() {
    let stops = r#"{"continue": false, "stop_reason": "enough"}"#;
    let hooks = format!(
        "post_tool_use: [{{ hooks: [{{ type: builtin, command: wait, timeout: 90 }}, \
         {{ type: builtin, command: say, args: ['{stops}'] }}] }}]"
    );
    let server = server(&hooks, &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    let call = json!({ "session": session(), "tool_name": "x", "within_ms": 60_000 });
    let call = ask(&mut host, "tool.begin", call).await.unwrap()["call"].take();
    let end = json!({ "call": call, "response": "done", "within_ms": 100 });
    let end = ask(&mut host, "tool.end", end).await.unwrap();
    assert_eq!((&end["end"], &end["stop"]["reason"]), (&json!("aborted"), &json!("enough")));
}

#[tokio::test]
async fn the_hooks_of_another_project_drive_nothing() {
    let server = server("{}", &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    let call = json!({ "session": session(), "tool_name": "x", "project": "/other" });
    let problem = ask(&mut host, "tool.begin", call).await.unwrap_err();
    assert!(problem.contains("not those of /other"), "{problem}");
}

#[tokio::test]
async fn calls_that_are_left_open_do_not_keep_the_connection() {
    let server = server("{}", &Gate::new(), Limits::default());
    let mut host = Partner::new(&server);
    let call = json!({ "session": session(), "tool_name": "x" });
    assert_eq!(ask(&mut host, "tool.begin", call).await.unwrap()["next"], "run");
    host.writer.shutdown().await.unwrap();
    host.served.await.unwrap();
}
