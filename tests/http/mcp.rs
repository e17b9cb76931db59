//! Hooks of type `mcp` over HTTP: against a server of the official SDK, and scripted replies.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::*;
use crate::server::Server;

#[path = "../support/mcp.rs"]
mod sdk;

use sdk::failed;

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hook(with: &Value, more: &str) -> String {
    format!("pre_tool_use: [{{ hooks: [{{ type: mcp, name: guard, with: {with}, {more} }}] }}]")
}

async fn judged(url: &str, tool: &str, command: &str) -> Verdict {
    let with = json!({ "url": url, "tool": tool, "allow_private": true });
    let executor = load(&hook(&with, "timeout: 10s")).unwrap();
    executor.dispatch(Event::PreToolUse, &call(command)).await
}

#[tokio::test]
async fn tools_of_the_official_sdk_are_hooks() {
    let Some([python, program]) = sdk::server() else { return };
    let mut command = Command::new(python);
    let child = command.arg(program).arg("http").stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    let mut port = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    for (tool, command, expected) in [
        ("guard", "rm -r x", Ok(Some(Decision::Deny))),
        ("guard", "ls", Ok(Some(Decision::Allow))),
        ("words", "rm -r x", Ok(Some(Decision::Deny))),
        ("quiet", "rm -r x", Ok(None)),
        ("prose", "ls", Err("text that is not a JSON object")),
        ("crash", "ls", Err("the tool `crash` of 127.0.0.1 failed")),
        ("missing", "ls", Err("Unknown tool")),
    ] {
        let verdict = judged(&url, tool, command).await;
        match expected {
            Ok(decision) => assert_eq!(verdict.decision, decision, "{tool}: {verdict:#?}"),
            Err(cause) => failed(&verdict, cause),
        }
    }
    let elsewhere = url.replace("/mcp", "/nowhere");
    failed(&judged(&elsewhere, "guard", "ls").await, "127.0.0.1 answered 404");
}

/// Returns one reply that answers the handshake and the call: each reads its own message.
fn reply(kind: &str, result: &str) -> String {
    let welcome = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}"#;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#);
    let body = format!("event: message\r\ndata: {welcome}\r\n\r\ndata: {answer}\r\n\r\n");
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nMcp-Session-Id: s-1\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn a_session_is_opened_used_and_ended() {
    let server = Server::new(reply("text/event-stream", r#"{"structuredContent":{}}"#)).await;
    let with = json!({
        "url": server.url, "tool": "judge", "allow_private": true,
        "headers": { "Authorization": "Bearer ${env.TOKEN}" },
    });
    let executor = load(&hook(&with, "")).unwrap();
    let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!((verdict.decision, &verdict.hooks[0].error), (None, &None));
    let requests = server.requests();
    let methods: Vec<Value> = requests[..3]
        .iter()
        .map(|it| serde_json::from_str::<Value>(&it.body).unwrap()["method"].clone())
        .collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call"]);
    assert!(requests[3].head.starts_with("DELETE "), "{}", requests[3].head);
    for (at, request) in requests.iter().enumerate() {
        let head = request.head.to_lowercase();
        assert!(head.contains("authorization: bearer correct-horse"), "{head}");
        assert_eq!(head.contains("mcp-session-id: s-1"), at > 0, "{head}");
        assert_eq!(head.contains("mcp-protocol-version: 2025-06-18"), at > 0, "{head}");
    }
}

#[tokio::test]
async fn whatever_is_no_answer_has_failed() {
    for (reply, cause) in [
        (reply("application/json", r#"{"structuredContent":{}}"#), "has no answer to `initialize`"),
        (reply("text/event-stream", r#"{"structuredContent":{"decision":"alow"}}"#), "`alow`"),
        (reply("text/event-stream", r#"{"content":[],"isError":true}"#), "failed"),
        (answer("500 Oh No", ""), "answered 500"),
        (answer("302 Found", ""), "answered 302"),
        (answer("200 OK", "{}"), "has no answer to `initialize`"),
        (String::new(), "failed"),
    ] {
        let server = Server::new(reply).await;
        failed(&judged(&server.url, "judge", "ls").await, cause);
    }
    let server = Server::new(reply("text/event-stream", r#"{"structuredContent":{}}"#)).await;
    let with = json!({ "url": server.url.replace("http:", "https:"), "tool": "judge" });
    let executor = load(&hook(&with, "")).unwrap();
    failed(&executor.dispatch(Event::PreToolUse, &call("ls")).await, "is not public");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_server_that_hangs_is_left_at_the_timeout() {
    let server = Server::hanging("").await;
    let with = json!({ "url": server.url, "tool": "judge", "allow_private": true });
    let executor = load(&hook(&with, "timeout: 300ms")).unwrap();
    let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    let limited = format!("defaults: {{ http_hosts: [example.com] }}\n{}", hook(&with, ""));
    assert!(load(&limited).unwrap_err().contains("`http_hosts` does not list `127.0.0.1`"));
}
