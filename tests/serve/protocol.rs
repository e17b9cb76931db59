//! What is said, and what happens when a client says too much, nothing, or goes away.

use std::time::Duration;

use hookexec_serve::server::Limits;
use serde_json::{Value, json};

use crate::serve::partner::{Gate, Partner, server};

const HOOKS: &str = r#"
pre_tool_use:
  - matcher: shell
    hooks: [{ type: builtin, name: guard, command: say, args: ['{"decision":"deny","reason":"no"}'] }]
  - matcher: slow
    hooks: [{ type: builtin, name: slow, command: wait, timeout: 90 }]
session_start: [{ type: builtin, command: wait }]
"#;

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

#[tokio::test]
async fn an_event_is_answered_with_its_verdict() {
    let server = server(HOOKS, &Gate::new(), Limits::default());
    let mut client = Partner::new(&server);
    let input =
        json!({ "tool_name": "shell", "tool_input": { "n": 12_345_678_901_234_567_890_u128 } });
    let params = json!({ "event": "pre_tool_use", "input": input, "project": "/project" });
    let verdict = client.result("dispatch", params).await;
    assert_eq!(verdict["decision"], "deny");
    assert_eq!(verdict["allowed"], false);
    assert_eq!(verdict["message"], "no");
    assert_eq!(verdict["hooks"][0]["name"], "guard");
    let verdict = client.result("dispatch", json!({ "event": "stop", "input": {} })).await;
    assert_eq!(verdict, json!({ "event": "stop", "decision": null, "allowed": true, "hooks": [] }));
}

#[tokio::test]
async fn a_ping_is_answered_while_hooks_run() {
    let gate = Gate::new();
    let server = server(HOOKS, &gate, limits(|limits| limits.dispatches_per_connection = 1));
    let mut client = Partner::new(&server);
    client.dispatch(1, "session_start").await;
    Gate::reached(&gate.waiting, 1).await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    gate.open.add_permits(1);
    assert!(client.next().await.unwrap()["result"].is_object());
}

#[tokio::test]
async fn another_version_is_refused() {
    let server = server(HOOKS, &Gate::new(), Limits::default());
    let mut client = Partner::new(&server);
    let input = json!({ "tool_name": "shell" });
    for (version, code) in [("0.0.9", json!(-32004)), (env!("CARGO_PKG_VERSION"), Value::Null)] {
        let params = json!({ "event": "pre_tool_use", "input": input, "version": version });
        client.ask(1, "dispatch", params).await;
        let answer = client.next().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}

#[tokio::test]
async fn an_agents_call_fires_all_events_of_its_moment() {
    let guard = r#"[{ hooks: [{ type: builtin, name: guard, command: say, args: ['{"decision":"deny","reason":"no"}'] }] }]"#;
    let server = server(&format!("tool_guard: {guard}"), &Gate::new(), Limits::default());
    let mut client = Partner::new(&server);
    let input = json!({ "tool_name": "Bash", "agent_name": "claude-code" });
    let params = json!({ "agent": "claude-code", "event": "PreToolUse", "input": input });
    let verdict = client.result("dispatch", params).await;
    assert_eq!((&verdict["event"], &verdict["message"]), (&json!("pre_tool_use"), &json!("no")));
    for (agent, event, said) in [
        ("claude", "PreToolUse", "known agents: claude-code, "),
        ("claude-code", "Nothing", "no hook runs at the event `Nothing` of Claude Code"),
    ] {
        client.ask(1, "dispatch", json!({ "agent": agent, "event": event, "input": input })).await;
        let answer = client.next().await.unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    }
}

#[tokio::test]
async fn a_quick_answer_does_not_wait_for_a_slow_one() {
    let gate = Gate::new();
    let server = server(HOOKS, &gate, Limits::default());
    let mut client = Partner::new(&server);
    client.dispatch(1, "session_start").await;
    Gate::reached(&gate.waiting, 1).await;
    client.dispatch(2, "pre_tool_use").await;
    assert_eq!(client.next().await.unwrap()["id"], 2);
    gate.open.add_permits(1);
    assert_eq!(client.next().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn hooks_end_before_the_client_stops_waiting() {
    let server = server(HOOKS, &Gate::new(), Limits::default());
    let mut client = Partner::new(&server);
    let params = json!({ "event": "session_start", "input": {}, "within_ms": 100 });
    let verdict = client.result("dispatch", params).await;
    let error = verdict["hooks"][0]["error"].as_str().unwrap();
    assert!(error.contains("the time for an answer passed"), "{verdict}");
    client.ask(1, "dispatch", json!({ "event": "stop", "input": {}, "within_ms": "1" })).await;
    let refused = client.next().await.unwrap();
    assert_eq!(refused["error"]["message"], "`within_ms` must be a whole number");
}

#[tokio::test]
async fn nothing_that_is_said_ends_a_conversation() {
    let server = server(HOOKS, &Gate::new(), limits(|limits| limits.line = 1000));
    let mut client = Partner::new(&server);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(5000));
    let guard = r#""event":"pre_tool_use""#;
    let cases = [
        ("no json".to_owned(), -32700, None),
        ("\u{feff}[]".to_owned(), -32600, None),
        (long, -32600, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"dispach"}"#.to_owned(), -32601, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"dispatch"}"#.to_owned(), -32602, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#.to_owned(), -32602, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","parms":{}}"#.to_owned(), -32600, None),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{"event":"pre_tool_usee"}}"#
                .to_owned(),
            -32602,
            None,
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{{{guard},"input":[]}}}}"#),
            -32602,
            Some(false),
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{{{guard},"input":{{"cwd":5}}}}}}"#
            ),
            -32602,
            Some(false),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{"event":"stop","input":{"cwd":5}}}"#
                .to_owned(),
            -32602,
            Some(true),
        ),
    ];
    for (line, code, allowed) in cases {
        client.send(&line).await;
        let answer = client.next().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        let stands_for = answer["error"]["data"]["verdict"]["allowed"].as_bool();
        assert_eq!(stands_for, allowed, "{line}: {answer}");
    }
    client.send(r#"{"jsonrpc":"2.0","method":"dispatch","params":{"event":"nonsense"}}"#).await;
    client.send("").await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn what_is_too_much_is_refused_at_once_and_closed_for_guards() {
    let gate = Gate::new();
    let limits = limits(|limits| (limits.dispatches_per_connection, limits.dispatches) = (2, 3));
    let server = server(HOOKS, &gate, limits);
    let (mut greedy, mut other) = (Partner::new(&server), Partner::new(&server));
    greedy.dispatch(1, "session_start").await;
    greedy.dispatch(2, "session_start").await;
    Gate::reached(&gate.waiting, 2).await;

    greedy.dispatch(3, "pre_tool_use").await;
    let refused = greedy.next().await.unwrap();
    assert_eq!(refused["id"], 3);
    assert_eq!(refused["error"]["code"], -32000);
    assert_eq!(refused["error"]["data"]["verdict"]["decision"], "deny");
    greedy.dispatch(4, "session_start").await;
    let verdict = &greedy.next().await.unwrap()["error"]["data"]["verdict"];
    assert_eq!(verdict["allowed"], true);
    let said = verdict["system_message"].as_str().unwrap();
    assert!(said.contains("overloaded") && said.contains("wait"), "{said}");

    // Another client has its share until all are taken together.
    other.dispatch(1, "session_start").await;
    Gate::reached(&gate.waiting, 1).await;
    other.dispatch(2, "pre_tool_use").await;
    assert_eq!(other.next().await.unwrap()["error"]["code"], -32000);
    assert_eq!(other.result("ping", json!({})).await, json!({}));

    gate.open.add_permits(3);
    assert_eq!(other.next().await.unwrap()["id"], 1);
    other.dispatch(5, "pre_tool_use").await;
    assert_eq!(other.next().await.unwrap()["result"]["decision"], "deny");
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_hooks_along_and_nobody_elses() {
    let gate = Gate::new();
    let server = server(HOOKS, &gate, Limits::default());
    let (gone, went) = tokio::sync::oneshot::channel::<()>();
    let (own, theirs) = tokio::io::duplex(1024);
    let serving = tokio::spawn({
        let server = server.clone();
        async move {
            let (reader, writer) = tokio::io::split(theirs);
            let gone = async {
                let _ = went.await;
            };
            server.serve(reader, writer, gone).await;
        }
    });
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{"event":"session_start","input":{}}}"#;
    let (mut reader, mut writer) = tokio::io::split(own);
    tokio::io::AsyncWriteExt::write_all(&mut writer, format!("{request}\n").as_bytes())
        .await
        .unwrap();
    let mut other = Partner::new(&server);
    other.dispatch(1, "session_start").await;
    Gate::reached(&gate.waiting, 2).await;

    drop(gone);
    serving.await.unwrap();
    Gate::reached(&gate.dropped, 1).await;
    let mut said = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut said).await.unwrap();
    assert!(said.is_empty(), "{said:?}");
    gate.open.add_permits(1);
    assert_eq!(other.next().await.unwrap()["id"], 1);
    assert_eq!(gate.dropped.available_permits(), 0);
}

#[tokio::test]
async fn who_has_asked_everything_still_gets_the_answers() {
    let gate = Gate::new();
    let server = server(HOOKS, &gate, Limits::default());
    let mut client = Partner::new(&server);
    client.dispatch(1, "session_start").await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.writer).await.unwrap();
    Gate::reached(&gate.waiting, 1).await;
    gate.open.add_permits(1);
    assert_eq!(client.next().await.unwrap()["id"], 1);
    assert_eq!(client.next().await, None);
    client.served.await.unwrap();
}

#[tokio::test]
async fn who_does_not_read_holds_up_only_himself() {
    let server = server(HOOKS, &Gate::new(), Limits::default());
    let mut deaf = Partner::with_room(&server, 512);
    // More answers than fit anywhere: the server stops to read, and the writer gets stuck.
    let flood = async {
        for id in 0..10_000 {
            deaf.dispatch(id, "pre_tool_use").await;
        }
    };
    let mut flood = Box::pin(flood);
    let stuck = tokio::time::timeout(Duration::from_millis(200), &mut flood).await;
    assert!(stuck.is_err(), "nothing is unbounded");
    let mut other = Partner::new(&server);
    assert_eq!(other.result("ping", json!({})).await, json!({}));
    drop(flood);
    deaf.served.abort();
}

#[tokio::test]
async fn a_server_that_ends_answers_what_runs_and_takes_nothing_new() {
    let gate = Gate::new();
    let server = server(HOOKS, &gate, Limits::default());
    let mut client = Partner::new(&server);
    client.dispatch(1, "session_start").await;
    Gate::reached(&gate.waiting, 1).await;
    server.stop();
    gate.open.add_permits(1);
    assert_eq!(client.next().await.unwrap()["result"]["event"], "session_start");
    assert_eq!(client.next().await, None);
    let mut late = Partner::new(&server);
    assert_eq!(late.next().await, None);
    server.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn another_project_is_not_answered_for() {
    let server = server(HOOKS, &Gate::new(), Limits::default());
    let mut client = Partner::new(&server);
    let input = json!({ "tool_name": "edit" });
    let params = json!({ "event": "pre_tool_use", "input": input, "project": "/other" });
    client.ask(1, "dispatch", params).await;
    let answer = client.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32001);
    assert_eq!(answer["error"]["data"]["verdict"]["decision"], "deny");
}

#[tokio::test]
async fn what_a_hook_asks_goes_to_a_person() {
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" }, "cwd": "/srv" });
    let digest = hookexec::wire::call_digest(&serde_json::from_value(input.clone()).unwrap());
    let allow = json!({ "decision": "allow", "digest": digest, "by": "ann" });
    let other = json!({ "decision": "allow", "digest": "sha256:0" });
    for (answer, decision) in [(&allow, "allow"), (&other, "deny"), (&json!({}), "deny")] {
        let say = |name: &str, answer: &Value| {
            let answer = Value::from(answer.to_string());
            format!(
                "[{{ hooks: [{{ type: builtin, name: {name}, command: say, args: [{answer}] }}] }}]"
            )
        };
        let asks = say("asker", &json!({ "decision": "ask", "reason": "sure?" }));
        let hooks = format!("pre_tool_use: {asks}\napproval: {}", say("phone", answer));
        let server = server(&hooks, &Gate::new(), Limits::default());
        let mut client = Partner::new(&server);
        let params = json!({ "event": "pre_tool_use", "input": input });
        let verdict = client.result("dispatch", params).await;
        assert_eq!(verdict["decision"], decision, "{verdict:#}");
        assert_eq!(verdict["approval"]["digest"], digest);
    }
}
