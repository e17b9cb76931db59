//! The example programs do what they say.

use std::time::Duration;

use hookexec::{Decision, Event, Input};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::support::object;

#[path = "../../examples/agent.rs"]
#[expect(dead_code, reason = "its `main` is not called")]
mod agent;

#[path = "../../examples/custom_handler.rs"]
#[expect(dead_code, reason = "its `main` is not called")]
mod custom_handler;

/// Serves one answer of a model after the other, and brings back the requests.
async fn scripted_model(answers: Vec<Value>) -> (String, tokio::task::JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    // Without it the model below would wait for its first request without end.
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connected = tokio::net::TcpStream::connect(other.local_addr().unwrap()).await;
    assert!(connected.is_ok(), "this test needs the loopback interface: {connected:?}");
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = Vec::new();
            let request = loop {
                let mut piece = [0; 4096];
                let count = stream.read(&mut piece).await.unwrap();
                assert!(count > 0, "the request broke off");
                text.extend_from_slice(&piece[..count]);
                let so_far = String::from_utf8_lossy(&text);
                assert!(so_far.starts_with("POST /v1/chat/completions HTTP/1.0\r\n"), "{so_far}");
                let body = so_far.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                if let Ok(request) = serde_json::from_str(body) {
                    break request;
                }
            };
            requests.push(request);
            let body = json!({ "choices": [{ "message": answer }] }).to_string();
            let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.unwrap();
        }
        requests
    });
    (url, serving)
}

fn wants(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "type": "function",
          "function": { "name": tool, "arguments": arguments.to_string() } }
    ]})
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// Returns the message of a request that answers the call `id`.
fn answer_to(request: &Value, id: &str) -> String {
    let messages = request["messages"].as_array().unwrap();
    let answer = messages.iter().find(|message| message["tool_call_id"] == id).unwrap();
    answer["content"].as_str().unwrap().to_owned()
}

const HOOKS: &str = r#"
hooks:
  session_start: { type: command, command: echo "Be brief." }
  turn_start: { type: command, command: echo "It is Monday." }
  pre_tool_use:
    - matcher: shell
      hooks:
        - type: command
          when: { field: tool_input.cmd, regex: "^rm " }
          command: echo "nothing is deleted here" >&2; exit 2
    - matcher: write
      hooks:
        - type: command
          command: |
            echo '{"hook_specific_output":{"permission_decision":"ask","permission_decision_reason":"it writes"}}'
  post_tool_use:
    - hooks:
        - { type: command, command: 'echo "$HOOKEXEC_TOOL_NAME" >> post.log' }
  session_end: { type: command, command: echo over >> post.log }
"#;

#[tokio::test]
async fn the_agent_works_under_its_hooks() {
    let directory = tempfile::tempdir().unwrap();
    let hooks = directory.path().join("hooks.yaml");
    std::fs::write(&hooks, HOOKS).unwrap();
    std::fs::write(directory.path().join("notes.txt"), "milk\n").unwrap();
    let (url, serving) = scripted_model(vec![
        wants("1", "read_file", &json!({ "path": "notes.txt" })),
        wants("2", "shell", &json!({ "cmd": "rm notes.txt" })),
        wants("3", "shell", &json!({ "cmd": "echo eggs >> notes.txt; cat notes.txt" })),
        wants("4", "write_file", &json!({ "path": "secret.txt", "text": "x" })),
        wants("5", "write_file", &json!({ "path": "done.txt", "text": "yes" })),
        wants("6", "fly", &json!({})),
        says("All done."),
    ])
    .await;
    let (_interrupt, interrupted) = watch::channel(false);
    let options = agent::Options {
        hooks: Some(hooks),
        directory: directory.path().to_owned(),
        url,
        model: "scripted".to_owned(),
        prompt: "Tidy up.".to_owned(),
        approver: |request| {
            Box::pin(async move {
                assert_eq!(request.reasons()[0].1, "it writes");
                match request.arguments()["path"].as_str() {
                    Some("done.txt") => request.grant(),
                    _ => request.refuse("not that file"),
                }
            })
        },
    };
    let answer = agent::run(options, interrupted).await.unwrap();
    assert_eq!(answer, "All done.");

    let requests = serving.await.unwrap();
    let first = requests[0]["messages"].to_string();
    assert!(first.contains("Be brief.") && first.contains("It is Monday."), "{first}");
    assert_eq!(requests[0]["tools"].as_array().unwrap().len(), 3);
    let last = requests.last().unwrap();
    assert_eq!(answer_to(last, "1"), "milk\n");
    assert_eq!(answer_to(last, "2"), "Tool call denied: nothing is deleted here");
    assert_eq!(answer_to(last, "3"), "milk\neggs\n");
    assert_eq!(answer_to(last, "4"), "Tool call denied: not that file");
    assert_eq!(answer_to(last, "5"), "wrote 3 bytes");
    assert_eq!(answer_to(last, "6"), "there is no tool `fly`");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name));
    assert_eq!(read("done.txt").unwrap(), "yes");
    assert!(read("secret.txt").is_err());
    assert_eq!(read("post.log").unwrap(), "read_file\nshell\nwrite_file\nfly\nover\n");
}

#[tokio::test]
async fn the_agent_can_be_interrupted_and_its_hooks_see_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let hooks = directory.path().join("hooks.yaml");
    std::fs::write(&hooks, HOOKS).unwrap();
    let (url, serving) = scripted_model(vec![wants(
        "1",
        "shell",
        &json!({ "cmd": "touch started; while true; do sleep 1; done" }),
    )])
    .await;
    let (interrupt, interrupted) = watch::channel(false);
    let options = agent::Options {
        hooks: Some(hooks),
        directory: directory.path().to_owned(),
        url,
        model: "scripted".to_owned(),
        prompt: "Wait for ever.".to_owned(),
        approver: |request| Box::pin(async { request.refuse("no") }),
    };
    let started = directory.path().join("started");
    let interrupting = async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        interrupt.send_replace(true);
    };
    let (answer, ()) = tokio::join!(agent::run(options, interrupted), interrupting);
    assert_eq!(answer.unwrap(), "(no answer: it was cancelled)");
    serving.await.unwrap();
    let log = std::fs::read_to_string(directory.path().join("post.log")).unwrap();
    assert_eq!(log, "shell\nover\n");
}

#[tokio::test]
async fn the_agent_says_why_there_is_no_model() {
    let directory = tempfile::tempdir().unwrap();
    let (_interrupt, interrupted) = watch::channel(false);
    let options = agent::Options {
        hooks: None,
        directory: directory.path().to_owned(),
        url: "https://example.invalid/v1".to_owned(),
        model: "none".to_owned(),
        prompt: "Hello?".to_owned(),
        approver: |request| Box::pin(async { request.refuse("no") }),
    };
    let answer = agent::run(options, interrupted).await.unwrap();
    assert!(answer.contains("only http:// is spoken here"), "{answer}");
}

#[tokio::test]
async fn builtins_and_a_hook_type_of_ones_own() {
    let hooks = r"
hooks:
  turn_start:
    - { type: builtin, command: house_rules }
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: builtin, command: deny_words, args: [sudo] }
        - { type: rate_limit, with: { calls: 2, hint: rest } }
";
    let executor = custom_handler::executor(hooks).unwrap();
    let rules = executor.dispatch(Event::TurnStart, &Input::default()).await;
    assert!(rules.additional_context.unwrap().starts_with("Run the tests"));
    let call = |cmd: &str| Input::for_tool("shell", object(json!({ "cmd": cmd })));
    let sudo = executor.dispatch(Event::PreToolUse, &call("sudo ls")).await;
    assert_eq!(sudo.message.as_deref(), Some("`sudo` is not allowed here"));
    let second = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert!(second.allowed);
    let third = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!(third.decision, Some(Decision::Deny));
    assert_eq!(third.message.as_deref(), Some("more than 2 calls; rest"));
}

#[test]
fn parameters_are_checked_at_load() {
    let mistake = |hook: &str| {
        let text = format!("hooks:\n  stop:\n    - {hook}\n");
        custom_handler::executor(&text).map(|_| ()).unwrap_err().to_string()
    };
    for (hook, told) in [
        ("{ type: rate_limit, with: { calls: 0 } }", "`with`: invalid value: integer `0`"),
        ("{ type: rate_limit, with: { cals: 3 } }", "`with`: unknown field `cals`"),
        ("{ type: rate_limit }", "`with`: missing field `calls`"),
        (
            "{ type: builtin, command: ask_once_in_a_while, with: { every: x } }",
            "builtin `ask_once_in_a_while`: `with`: invalid type: string \"x\"",
        ),
        (
            "{ type: builtin, command: ask_once_in_a_while, args: [x] }",
            "builtin `ask_once_in_a_while`: it takes its parameters in `with`",
        ),
        (
            "{ type: builtin, command: deny_words, with: { x: 1 } }",
            "builtin `deny_words`: it takes its parameters in `args`",
        ),
    ] {
        let mistake = mistake(hook);
        assert!(mistake.starts_with(&format!("hooks.yaml:3: {told}")), "{hook}: {mistake}");
    }
}
