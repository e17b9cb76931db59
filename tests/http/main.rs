//! Hooks of the types `http` and `model` against servers on this machine, good ones and bad ones.
#![cfg(test)]
#![cfg(feature = "http")]

mod approval;
mod contract;
mod mcp;
mod model;
#[path = "../support/registry.rs"]
mod registry;
mod server;

use std::time::Duration;

use hookexec::wire::HookStatus;
use hookexec::{Config, Decision, Event, Executor, Input, Verdict};
use serde_json::{Value, json};
use server::{Server, answer};

fn call(command: &str) -> Input {
    Input::for_tool("shell", json!({ "cmd": command }).as_object().unwrap().clone())
}

/// Returns a hooks file with one http hook.
fn file(event: Event, with: &Value, more: &str) -> String {
    let hook = format!("{{ type: http, name: guard, with: {with}, {more} }}");
    if event.contract().tool_matched {
        format!("{event}: [{{ hooks: [{hook}] }}]")
    } else {
        format!("{event}: [{hook}]")
    }
}

fn load(text: &str) -> Result<Executor, String> {
    let config = Config::from_yaml(text, "hooks.yaml").map_err(|it| it.to_string())?;
    let env = [("TOKEN".into(), "correct-horse".into())];
    Executor::builder(config)
        .registry(registry::everything())
        .env(env)
        .build()
        .map_err(|it| it.to_string())
}

fn local(server: &Server) -> Value {
    json!({ "url": server.url, "allow_private": true })
}

async fn verdict(server: &Server, more: &str) -> Verdict {
    let executor = load(&file(Event::PreToolUse, &local(server), more)).unwrap();
    executor.dispatch(Event::PreToolUse, &call("ls")).await
}

#[tokio::test]
async fn a_server_answers_as_a_command_does() {
    for (body, decision, message) in [
        (r#"{"decision": "deny", "reason": "no"}"#, Some(Decision::Deny), Some("no")),
        (r#"{"decision": "ask", "reason": "sure?"}"#, Some(Decision::Ask), Some("sure?")),
        (r#"{"decision": "allow"}"#, Some(Decision::Allow), None),
        ("{}", None, None),
        ("", None, None),
    ] {
        let server = Server::new(answer("200 OK", body)).await;
        let verdict = verdict(&server, "").await;
        assert_eq!((verdict.decision, verdict.message.as_deref()), (decision, message), "{body}");
        assert_eq!(verdict.hooks[0].error, None, "{verdict:#?}");
    }
    let server = Server::new(answer("200 OK", "it rains")).await;
    let executor = load(&file(Event::UserPromptSubmit, &local(&server), "")).unwrap();
    let verdict = executor.dispatch(Event::UserPromptSubmit, &Input::default()).await;
    assert_eq!(verdict.additional_context.as_deref(), Some("it rains"));
}

#[tokio::test]
async fn the_server_gets_the_input_and_the_headers() {
    let server = Server::new(answer("200 OK", "")).await;
    let mut with = local(&server);
    with["headers"] = json!({ "Authorization": "Bearer ${env.TOKEN}", "X-Team": "a $5 team" });
    let executor = load(&file(Event::PreToolUse, &with, "")).unwrap();
    let _ = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    let request = server.requests().pop().unwrap();
    for header in [
        "authorization: bearer correct-horse",
        "x-team: a $5 team",
        "content-type: application/json",
    ] {
        assert!(request.head.to_lowercase().contains(header), "{}", request.head);
    }
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["hook_event_name"], "pre_tool_use");
    assert_eq!(body["tool_input"], json!({ "cmd": "ls" }));
}

#[tokio::test]
async fn a_secret_that_is_missing_fails_its_hook() {
    let server = Server::new(answer("200 OK", r#"{"decision": "allow"}"#)).await;
    let mut with = local(&server);
    with["headers"] = json!({ "Authorization": "Bearer ${env.MISSING}" });
    let executor = load(&file(Event::PreToolUse, &with, "")).unwrap();
    let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert!(verdict.message.unwrap().contains("`MISSING`, which is not set"));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_server_that_speaks_the_words_of_claude_code_is_understood() {
    let body = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
    let server = Server::new(answer("200 OK", body)).await;
    let verdict = verdict(&server, "dialect: claude-code").await;
    assert_eq!(verdict.decision, Some(Decision::Deny), "{verdict:#?}");
    let sent: Value = serde_json::from_str(&server.requests()[0].body).unwrap();
    assert_eq!(
        (&sent["tool_name"], &sent["tool_input"]["command"]),
        (&json!("Bash"), &json!("ls"))
    );
}

#[tokio::test]
async fn whatever_is_no_answer_denies_where_the_event_fails_closed() {
    let huge = format!(r#"{{"decision": "allow", "reason": "{}"}}"#, "x".repeat(4096));
    for (reply, cause) in [
        (answer("500 Oh No", ""), "answered 500"),
        (answer("500 Oh No", r#"{"decision": "allow"}"#), "answered 500"),
        (answer("302 Found", ""), "answered 302"),
        (answer("404 Not Found", "{}"), "answered 404"),
        (answer("200 OK", r#"{"decision": "allow""#), "not valid JSON"),
        (answer("200 OK", r#"{"decision": "alow"}"#), "can't be `alow`"),
        (answer("200 OK", r#"{"permission": "allow"}"#), "`permission`"),
        (answer("200 OK", &huge), "more than 1024 bytes"),
        (answer("200 OK", "<html>sign in</html>"), "not a JSON object"),
        (answer("200 OK", "null"), "not a JSON object"),
        ("HTTP/1.1 200 OK\r\n\r\n".to_owned(), "has no length"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n".to_owned(), "failed"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(), "failed"),
        ("HTTP/1.1 200 OK\r\n\r\n{\"decision\": \"allow\"}".to_owned(), "has no length"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{\"decision\": \"allow\"}".to_owned(),
            "failed",
        ),
        ("no server of the web\r\n\r\n".to_owned(), "failed"),
        (String::new(), "failed"),
    ] {
        let server = Server::new(reply.clone()).await;
        let verdict = verdict(&server, "max_output: 1KiB").await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{reply}: {verdict:#?}");
        let said = verdict.message.unwrap();
        assert!(said.starts_with("hook `guard` (hooks.yaml:1) failed: "), "{said}");
        assert!(said.contains(cause), "{reply}: {said}");
        assert!(!said.contains("k1"), "the address may hold a key: {said}");
    }
}

#[tokio::test]
async fn a_denial_counts_whatever_the_status() {
    let server = Server::new(answer("503 Busy", r#"{"decision": "deny", "reason": "no"}"#)).await;
    let verdict = verdict(&server, "on_error: ignore").await;
    assert_eq!((verdict.decision, verdict.message.as_deref()), (Some(Decision::Deny), Some("no")));
}

#[tokio::test]
async fn a_server_that_hangs_is_stopped_at_the_timeout() {
    for partial in ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"] {
        let server = Server::hanging(partial).await;
        let verdict = verdict(&server, "timeout: 200ms").await;
        assert_eq!(verdict.decision, Some(Decision::Deny));
        let said = verdict.message.unwrap();
        assert!(said.contains("timeout") || said.contains("in time"), "{said}");
    }
    let nobody = json!({ "url": "http://127.0.0.1:1/", "allow_private": true });
    let executor = load(&file(Event::PreToolUse, &nobody, "")).unwrap();
    let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_nothing_waiting() {
    let server = Server::hanging("").await;
    let executor = load(&file(Event::PreToolUse, &local(&server), "timeout: 300ms")).unwrap();
    let input = call("ls");
    let dispatch = executor.dispatch(Event::PreToolUse, &input);
    assert!(tokio::time::timeout(Duration::from_millis(50), dispatch).await.is_err());
    // The server sees the connection end, because the thread ends at the hook's deadline.
    server.closed().await;
}

#[tokio::test]
async fn an_answer_that_was_sent_too_early_is_not_that_of_the_next_call() {
    let server = Server::new(answer("200 OK", "{}")).await;
    let executor = load(&file(Event::PreToolUse, &local(&server), "")).unwrap();
    for command in ["a", "b", "c"] {
        let verdict = executor.dispatch(Event::PreToolUse, &call(command)).await;
        assert_eq!(verdict.hooks[0].status, HookStatus::Ok);
    }
    // On a connection that is used again, it would be.
    assert_eq!((server.requests().len(), server.connections()), (3, 3));
}

#[tokio::test]
async fn private_networks_are_not_posted_to_unless_said() {
    let server = Server::new(answer("200 OK", r#"{"decision": "allow"}"#)).await;
    let port = server.url.rsplit_once(':').unwrap().1;
    for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"] {
        let with = json!({ "url": format!("https://{host}:{port}") });
        let executor = load(&file(Event::PreToolUse, &with, "")).unwrap();
        let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
        assert_eq!(verdict.decision, Some(Decision::Deny));
        assert!(verdict.message.unwrap().contains("is not public"), "{host}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn mistakes_are_found_when_the_file_is_loaded() {
    let with = json!({ "url": "https://policy.example.com/check" });
    let hook = |with: Value, more: &str| load(&file(Event::PreToolUse, &with, more));
    assert!(hook(with.clone(), "").is_ok());
    for (with, more, problem) in [
        (Value::Null, "", "`with`"),
        (json!({}), "", "missing field `url`"),
        (json!({ "url": "ftp://example.com" }), "", "must begin with `https://`"),
        (json!({ "url": "http://example.com" }), "", "must begin with `https://`"),
        (json!({ "url": "https://" }), "", "the address must be"),
        (json!({ "url": "https://example.com", "header": {} }), "", "unknown field `header`"),
        (json!({ "url": "https://example.com", "headers": { "A B": "x" } }), "", "is not a header"),
        (with.clone(), "command: ls", "`command` has no meaning for hooks of type `http`"),
        (with.clone(), "env: { A: b }", "`env` has no meaning for hooks of type `http`"),
    ] {
        let error = hook(with.clone(), more).unwrap_err();
        assert!(error.contains(problem) && error.contains("hooks.yaml"), "{with} {more}: {error}");
    }
}

#[test]
fn the_hosts_of_a_file_can_be_limited() {
    let with = json!({ "url": "https://policy.example.com/check" });
    let limited = |hosts: &str| {
        let hooks = file(Event::PreToolUse, &with, "");
        load(&format!("defaults: {{ http_hosts: [{hosts}] }}\n{hooks}"))
    };
    assert!(limited("policy.example.com, other.example.com").is_ok());
    for hosts in ["", "example.com", "other.example.com", "\"*.example.com\""] {
        let error = limited(hosts).unwrap_err();
        assert!(error.contains("`http_hosts` does not list `policy.example.com`"), "{error}");
    }
}
