//! `hookexec mcp` between a client and a server that are both played.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

use crate::state::lives;
use crate::support::{ROOT, Sandbox, needs, signal, until, wait};

const SECRET: &str = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";

/// The hooks go by the words in the arguments.
const HOOKS: &str = r#"
hooks:
  pre_tool_use:
    - matcher: mcp__kit__.*
      hooks:
        - type: command
          mutates: true
          command: |
            case "$(cat)" in
              *rewrite*) echo '{"updated_input": {"text": "tamed"}}' ;;
              *rename*) echo '{"updated_tool_name": "mcp__kit__renamed"}' ;;
              *foreign*) echo '{"updated_tool_name": "shell"}' ;;
            esac
        - type: command
          name: guard
          command: |
            case "$(cat)" in
              *forbidden*) echo not that >&2; exit 2 ;;
              *doubtful*|*granted*) echo '{"decision": "ask", "reason": "sure?"}' ;;
              *context*) echo '{"additional_context": "be brief"}' ;;
              *slow*) echo $$ > hook.pid; touch started; sleep 600 ;;
            esac
    - matcher: mcp
      hooks: [{ type: command, command: "grep -q any-server && exit 2 || exit 0" }]
  permission_request:
    - matcher: mcp__kit__.*
      hooks: [{ type: command, command: "grep -q granted && echo '{\"decision\": \"allow\"}' || true" }]
  tool_response_transform:
    - matcher: "*"
      hooks: [{ type: builtin, command: redact_secrets }]
  post_tool_use:
    - matcher: mcp
      hooks:
        - { type: command, command: "cat >> after; echo >> after" }
        - { type: command, command: "grep -q object && { echo do not trust it >&2; exit 2; } || exit 0" }
"#;

/// How long a line may take; no test waits this long for success.
const HANG: Duration = Duration::from_mins(2);

/// The client of a proxy.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Client {
    fn start(sandbox: &Sandbox) -> Self {
        sandbox.write("hooks.yaml", HOOKS);
        Self::of(sandbox, &["--name", "kit", "--isolated", "--config", "hooks.yaml"])
    }

    fn of(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        needs("python3");
        let script = Path::new(ROOT).join("tests/mcp/server.py");
        let server = ["--", "python3", script.to_str().unwrap()];
        let mut child = sandbox.hookexec([&["mcp"], arguments, &server].concat()).spawn();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, stdin, lines }
    }

    fn send(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), b"\n"].concat();
        self.stdin.as_mut().unwrap().write_all(&line).unwrap();
    }

    /// Returns the next line, as it is.
    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(HANG).unwrap()
    }

    #[track_caller]
    fn next(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send(call.to_string());
    }

    /// Calls a tool and returns its text, and whether it is an error.
    #[track_caller]
    fn tool(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        self.tool_as(1, tool, arguments)
    }

    #[track_caller]
    fn tool_as(&mut self, id: u32, tool: &str, arguments: &Value) -> (String, bool) {
        self.call(id, tool, arguments);
        text_of(&self.next())
    }

    /// Closes the client's side, and returns how the proxy ends and what it said on stderr.
    fn ends(mut self) -> (ExitStatus, String) {
        drop(self.stdin.take());
        let output = wait(self.child);
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Returns the texts of a call's result, a line for each, and whether it is an error.
#[track_caller]
fn text_of(answer: &Value) -> (String, bool) {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let texts: Vec<&str> = content.iter().filter_map(|block| block["text"].as_str()).collect();
    (texts.join("\n"), answer["result"]["isError"] == true)
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[test]
fn hooks_decide_on_calls_and_the_model_reads_it() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    for (word, told, is_error) in [
        ("plain", r#"echo {"text": "plain"}"#, false),
        ("forbidden", "Tool call denied: not that", true),
        ("any-server", "Tool call denied: ", true),
        ("doubtful", "Tool call denied: approval is needed and no one can be asked: sure?", true),
        ("granted", r#"echo {"text": "granted"}"#, false),
        ("rewrite", r#"echo {"text": "tamed"}"#, false),
        ("rename", r#"renamed {"text": "rename"}"#, false),
        (
            "foreign",
            "a hook wants the tool `shell` instead, and this server does not have it",
            true,
        ),
        ("context", "echo {\"text\": \"context\"}\nbe brief", false),
        ("object", "echo {\"text\": \"object\"}\ndo not trust it", false),
    ] {
        let (said, failed) = client.tool("echo", &text(word));
        assert!(said.contains(told), "{word}: {said}");
        assert_eq!(failed, is_error, "{word}: {said}");
    }
    let (status, stderr) = client.ends();
    assert_eq!(status.code(), Some(0), "{stderr}");
    let got = sandbox.read("got");
    for word in ["forbidden", "any-server", "doubtful", "rewrite", "foreign"] {
        assert!(!got.contains(word), "{word} reached the server: {got}");
    }
    assert!(got.ends_with("EOF\n"), "the server's stdin was closed");
}

#[test]
fn secrets_are_redacted_in_results_and_failures() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    for arguments in [json!({}), json!({ "fail": true })] {
        client.call(1, "secret", &arguments);
        let line = client.line();
        assert!(!line.contains(SECRET) && line.contains("structuredContent"), "{line}");
        let is_error = serde_json::from_str::<Value>(&line).unwrap()["result"]["isError"].clone();
        assert_eq!(is_error, arguments.get("fail").is_some());
    }
    assert_eq!(client.tool("fail", &json!({})), ("it broke".to_owned(), true));
    client.call(1, "error", &json!({}));
    let error = json!({ "code": -32602, "message": "no such thing", "data": { "n": 1 } });
    assert_eq!(client.next()["error"], error);
}

#[test]
fn other_messages_and_the_contents_of_calls_that_no_hook_changes_pass_byte_for_byte() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    let from_client = [
        r#"{ "params": {"_meta": {"a":1.0}}, "jsonrpc":"2.0","method":"notifications/x" }"#,
        r#"{"id":"é\u00e9","jsonrpc":"2.0","method":"resources/read","params":{"n":1e400}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#,
        r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":12345678901234567890},"arguments":{ "n": 1.10 },"name":"echo"}}"#,
    ];
    for line in from_client {
        client.send(line);
    }
    assert_eq!(
        client.line(),
        r#"{"jsonrpc": "2.0", "id": "\u00e9\u00e9", "result": {"of": "resources/read"}}"#
    );
    let answer = r#"{"id":5,"jsonrpc":"2.0","result":{"content": [{"type": "text", "text": "echo {\"n\": 1.1}"}]}}"#;
    assert_eq!(client.line(), answer);
    let from_server = [
        r#"{ "method": "notifications/progress", "params": {"progress": 1.0}, "jsonrpc":"2.0" }"#,
        r#"{"id":0,"jsonrpc":"2.0","method":"sampling/createMessage","params":{}}"#,
        r#"{"id":"a","jsonrpc":"2.0","method":"elicitation/create","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
    ];
    let params = json!({ "lines": from_server });
    client.send(
        json!({ "jsonrpc": "2.0", "id": 9, "method": "speak", "params": params }).to_string(),
    );
    for line in from_server {
        assert_eq!(client.line(), line);
    }
    client.next();
    client.ends();
    let got = sandbox.read("got");
    for line in &from_client[..4] {
        assert!(got.contains(&format!("{line}\n")), "{line}\n{got}");
    }
    // A call has an id of its own at the server.
    let params = r#""params":{"_meta":{"progressToken":12345678901234567890},"arguments":{ "n": 1.10 },"name":"echo"}"#;
    assert!(got.contains(params), "{got}");
}

#[test]
fn what_could_be_read_in_two_ways_is_refused_and_not_sent_on() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    let forbidden = r#"{"name":"echo","arguments":{"text":"forbidden"}}"#;
    let call = format!(r#""jsonrpc":"2.0","id":1,"method":"tools/call","params":{forbidden}"#);
    for line in [
        format!(r#"{{"method":"x",{call}}}"#),
        format!(r#"{{{call},"METHOD":"ping"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{forbidden}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo"}},"paramſ":{forbidden}}}"#),
        format!(r#"{{{call},"result":{{}}}}"#),
        format!("[{{{call}}}]"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":\r{{{call}}}\r}}}}"),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","text":"forbidden"}}}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Arguments":{"text":"forbidden"}}}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","argumentſ":{"text":"forbidden"}}}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","task":{},"arguments":{"text":"forbidden"}}}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":["forbidden"]}}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["forbidden"]}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#.into(),
        r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"echo"}}"#.into(),
        format!(r#"{{{},"id":null}}"#, call.replace(r#""id":1,"#, "")),
        r#"{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"forbidden"}}"#.into(),
        "forbidden".into(),
        "{}".into(),
    ] {
        client.send(&line);
        let answer = client.next();
        assert!(answer["error"]["code"].is_i64(), "{line}: {answer}");
    }
    client.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    assert_eq!(client.next()["error"]["code"], -32700);
    // A call without an id gets no answer.
    client.send(format!("{{{}}}", call.replace(r#""id":1,"#, "")));
    let (status, stderr) = client.ends();
    assert!(status.success() && stderr.contains("without `id`"), "{stderr}");
    assert_eq!(sandbox.read("got"), "EOF\n");
}

#[test]
fn only_the_first_answer_to_an_open_request_passes() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    assert_eq!(client.tool("twice", &json!({})).0, "first");
    assert_eq!(client.tool("other_id", &json!({})).0, "right");
    let (told, is_error) = client.tool("hidden", &json!({}));
    assert!(is_error && told.contains("a carriage return is inside of the line"), "{told}");
    let (told, is_error) = client.tool("doubled", &json!({}));
    assert!(is_error && told.contains("key `result` appears twice"), "{told}");
    // Two open requests with one id could get each other's answers.
    client.call(1, "hang", &json!({}));
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let answer = client.next();
    assert_eq!(answer["error"]["message"], "a request with the id 1 is open");
    assert_eq!(answer["id"], Value::Null);
    let (_, stderr) = client.ends();
    assert!(stderr.contains("no request with the id 1000 is open"), "{stderr}");
}

#[test]
fn a_cancelled_call_stops_its_hooks_and_gets_no_answer() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    client.next();
    client.call(1, "echo", &text("slow"));
    until("the hook runs", || sandbox.project().join("started").exists());
    let cancel = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    client.send(cancel(1.into()).to_string());
    client.call(2, "hang", &json!({}));
    until("the server has the call", || sandbox.read("got").contains("hang"));
    client.send(cancel(2.into()).to_string());
    until("the hooks behind the call run", || sandbox.project().join("after").exists());
    assert_eq!(client.tool("echo", &text("next")).0, r#"echo {"text": "next"}"#);
    client.ends();
    let got = sandbox.read("got");
    let sent = got.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
    let sent: Vec<Value> = sent.collect();
    let hang = sent.iter().find(|message| message["params"]["name"] == "hang").unwrap();
    assert!(!got.contains("slow") && sent.contains(&cancel(hang["id"].clone())), "{got}");
    assert!(sandbox.read("after").contains(r#""reason":"canceled""#));
}

#[test]
fn a_late_answer_to_a_cancelled_call_is_dropped() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.call(7, "hang", &json!({}));
    until("the server has it", || {
        sandbox.project().join("got").exists() && sandbox.read("got").contains("hang")
    });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    client.send(cancel.to_string());
    until("the hooks behind the call run", || sandbox.project().join("after").exists());
    // The client can use the id again.
    client.send(r#"{"jsonrpc":"2.0","id":7,"method":"mute"}"#);
    assert_eq!(client.tool("late", &json!({})).0, "done");
    client.call(8, "hang", &json!({}));
    assert_eq!(client.tool_as(9, "echo", &text("next")).0, r#"echo {"text": "next"}"#);
    for id in ["null", "true", "[7]"] {
        client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(client.next()["error"]["message"], "`id` must be a text or a number");
    }
}

#[test]
fn an_answer_that_cannot_be_read_fails_the_requests_that_it_may_be_for() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":["\ud800"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}{"a":1}"#,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
    ] {
        client.send(r#"{"jsonrpc":"2.0","id":2,"method":"mute"}"#);
        client.call(1, "line", &json!({ "line": line }));
        let mut answers = [client.next(), client.next()];
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let told = "a line of the MCP server can't be read";
        let (said, is_error) = text_of(&answers[0]);
        assert!(is_error && said.contains(told), "{line}: {said}");
        let said = answers[1]["error"]["message"].as_str().unwrap();
        assert!(said.contains(told), "{line}: {said}");
    }
    // What can't be an answer fails none.
    for line in ["[info] hello {", "hello", r#"{"level":"info"}"#, ""] {
        let arguments = json!({ "line": line, "then": "done" });
        assert_eq!(client.tool("line", &arguments).0, "done", "{line}");
    }
}

#[test]
fn many_calls_run_at_once_and_both_sides_may_write_at_once() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"flood","params":{"lines":2000}}"#);
    let long = "x".repeat(1 << 20);
    for id in 2..102 {
        client.call(id, "echo", &text(if id % 10 == 0 { &long } else { "short" }));
    }
    let mut ids: Vec<u64> = Vec::new();
    while ids.len() < 101 {
        ids.extend(client.next()["id"].as_u64());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..102).collect::<Vec<_>>());
}

#[test]
fn a_line_that_is_too_long_fails_the_calls_that_are_open() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"mute"}"#);
    let told = "the MCP server: a line is longer than 64 MiB";
    client.call(1, "huge", &json!({}));
    let mut answers = [client.next(), client.next()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(text_of(&answers[0]), (told.to_owned(), true));
    assert_eq!(answers[1]["error"]["message"], told);
    assert_eq!(client.tool_as(3, "echo", &text("next")).0, r#"echo {"text": "next"}"#);
    client.send("x".repeat((64 << 20) + 1));
    assert_eq!(client.next()["error"]["message"], "a line is longer than 64 MiB");
    assert_eq!(client.tool_as(3, "echo", &text("next")).0, r#"echo {"text": "next"}"#);
}

#[test]
fn the_end_of_the_server_fails_open_calls_and_is_the_end_of_the_proxy() {
    for (tool, code) in [("die", Some(7)), ("kill", Some(137)), ("close", Some(143))] {
        let sandbox = Sandbox::new();
        let mut client = Client::start(&sandbox);
        client.send(r#"{"jsonrpc":"2.0","id":2,"method":"mute"}"#);
        client.call(1, tool, &json!({}));
        let mut answers = [client.next(), client.next()];
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let told = "the MCP server has ended".to_owned();
        assert_eq!(answers[1]["error"]["message"], told);
        assert_eq!(text_of(&answers[0]), (told, true));
        assert!(sandbox.read("after").contains(r#""tool_error":true"#));
        // The client's side is still open.
        let stdin = client.stdin.take();
        let (status, stderr) = client.ends();
        assert_eq!(status.code(), code, "{tool}: {stderr}");
        drop(stdin);
    }
}

#[test]
fn the_end_of_the_client_ends_the_server() {
    let sandbox = Sandbox::new();
    sandbox.write("three", "");
    let client = Client::start(&sandbox);
    assert_eq!(client.ends().0.code(), Some(3), "its own exit code");

    // It does not read any more, and is stopped.
    let mut client = Client::start(&sandbox);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"stay"}"#);
    until("the server has it", || sandbox.read("got").contains("stay"));
    assert_eq!(client.ends().0.code(), Some(143));
}

#[test]
fn a_signal_ends_the_server_and_the_hooks() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    client.next();
    client.call(1, "echo", &text("slow"));
    until("the hook runs", || sandbox.project().join("started").exists());
    signal(&client.child, "-TERM");
    let stdin = client.stdin.take();
    assert_eq!(client.ends().0.code(), Some(143));
    drop(stdin);
    for file in ["server.pid", "hook.pid"] {
        until("it is gone", || !lives(sandbox.read(file).trim()));
    }
}

#[test]
fn a_hooks_file_that_fails_denies_every_call_and_a_new_one_counts_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("broken.yaml", "hooks: [");
    let arguments = ["--name", "kit", "--isolated", "--config", "broken.yaml"];
    let mut client = Client::of(&sandbox, &arguments);
    let (told, is_error) = client.tool("echo", &text("plain"));
    assert!(is_error && told.contains("broken.yaml"), "{told}");
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(client.next()["result"]["of"], "tools/list");
    sandbox.write("broken.yaml", HOOKS);
    assert_eq!(client.tool("echo", &text("plain")), (r#"echo {"text": "plain"}"#.into(), false));
    assert!(client.tool("echo", &text("forbidden")).1);
    client.ends();
}

#[test]
fn the_server_needs_a_name_for_matchers() {
    let sandbox = Sandbox::new();
    for arguments in [["mcp", "--", "true"].as_slice(), &["mcp", "--name", "", "--", "true"]] {
        let done = sandbox.hookexec(arguments).run().exits(64);
        assert!(done.stderr.contains("--name <NAME>"), "{}", done.stderr);
    }
    let done = sandbox.hookexec(["mcp", "--name", "kit", "--", "./missing"]).run().exits(64);
    assert!(done.stderr.contains("`./missing` can't be started"), "{}", done.stderr);
}
