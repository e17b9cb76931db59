//! Hooks of type `mcp` against servers over stdio: one of the official SDK, and scripted ones.

use std::collections::BTreeSet;
use std::fs;

use hookexec::{Config, Decision, Event, Executor, Input, Verdict};
use serde_json::{Value, json};

#[path = "../support/mcp.rs"]
mod sdk;

use crate::registry;
use sdk::failed;

/// A server that keeps what it is told in the file `told`, and does `CALL` with a call of number `i`.
const SCRIPT: &str = r#"
import json, sys
told = open("told", "a")
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def answer(result):
    say(id=i, result=result)
for line in sys.stdin:
    told.write(line)
    told.flush()
    message = json.loads(line)
    i, method = message.get("id"), message.get("method")
    if method == "initialize":
        VERSION
    elif method == "tools/call":
        CALL
"#;
const WELCOME: &str = r#"answer({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}})"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new(welcome: &str, call: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let script = SCRIPT.replace("VERSION", welcome).replace("CALL", call);
        fs::write(place.path().join("server.py"), script).unwrap();
        Self(place)
    }

    fn executor(&self, process: &str, with: &Value, more: &str) -> Result<Executor, String> {
        let text = format!(
            "processes: {{ guard: {{ {process} }} }}\nhooks:\n  pre_tool_use:\n    - hooks: [{{ type: mcp, name: guard, with: {with}, {more} }}]\n"
        );
        let config = Config::from_yaml(&text, "hooks.yaml").map_err(|it| it.to_string())?;
        let builder =
            Executor::builder(config).registry(registry::everything()).working_dir(self.0.path());
        builder.build().map_err(|it| it.to_string())
    }

    /// Returns what the server was told.
    fn told(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.0.path().join("told")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const PROCESS: &str = "command: [python3, server.py], protocol: mcp, start_timeout: 20s";

fn tool() -> Value {
    json!({ "server": "guard", "tool": "judge" })
}

fn call(command: &str) -> Input {
    Input::for_tool("shell", json!({ "cmd": command }).as_object().unwrap().clone())
}

async fn verdict(executor: &Executor) -> Verdict {
    executor.dispatch(Event::PreToolUse, &call("ls -l")).await
}

#[tokio::test]
async fn tools_of_the_official_sdk_are_hooks() {
    let Some([python, program]) = sdk::server() else { return };
    let cases = [
        ("guard", "rm -r x", Ok(Some(Decision::Deny))),
        ("guard", "ls", Ok(Some(Decision::Allow))),
        ("guard", "echo", Ok(None)),
        ("words", "rm -r x", Ok(Some(Decision::Deny))),
        ("quiet", "rm -r x", Ok(None)),
        ("prose", "ls", Err("text that is not a JSON object")),
        ("crash", "ls", Err("the tool `crash` of process `guard` failed")),
        ("hang", "ls", Err("did not answer `tools/call`")),
        ("missing", "ls", Err("Unknown tool")),
    ];
    let mut text = format!(
        "processes: {{ guard: {{ command: [{python:?}, {program:?}], protocol: mcp, start_timeout: 60s }} }}\nhooks:\n  pre_tool_use:\n"
    );
    let tools: BTreeSet<&str> = cases.iter().map(|(tool, ..)| *tool).collect();
    for tool in tools {
        let timeout = if tool == "hang" { "500ms" } else { "60s" };
        let hook =
            format!("type: mcp, with: {{ server: guard, tool: {tool} }}, timeout: {timeout}");
        text.extend(["    - matcher: ", tool, "\n      hooks: [{ ", &hook, " }]\n"]);
    }
    let executor = Executor::builder(Config::from_yaml(&text, "hooks.yaml").unwrap())
        .registry(registry::everything());
    let executor = executor.build().unwrap();
    assert_eq!(executor.check_processes().await[0].problem, None);
    for (tool, command, expected) in cases {
        let input = json!({ "cmd": command }).as_object().unwrap().clone();
        let verdict = executor.dispatch(Event::PreToolUse, &Input::for_tool(tool, input)).await;
        match expected {
            Ok(decision) => assert_eq!(verdict.decision, decision, "{tool}: {verdict:#?}"),
            Err(cause) => failed(&verdict, cause),
        }
    }
}

#[tokio::test]
async fn one_server_is_kept_and_gets_each_input() {
    let place = Place::new(WELCOME, r#"answer({"content": [{"type": "text", "text": "{}"}]})"#);
    let executor = place.executor(PROCESS, &tool(), "").unwrap();
    for _ in 0..2 {
        assert_eq!(verdict(&executor).await.decision, None);
    }
    let told = place.told();
    let methods: Vec<&str> = told.iter().map(|it| it["method"].as_str().unwrap()).collect();
    let wanted = ["initialize", "notifications/initialized", "tools/call", "tools/call"];
    assert_eq!(methods, wanted);
    assert_eq!(told[0]["params"]["clientInfo"]["name"], "hookexec");
    assert_eq!(told[3]["params"]["name"], "judge");
    let arguments = &told[3]["params"]["arguments"];
    assert_eq!(arguments["hook_event_name"], "pre_tool_use");
    assert_eq!(arguments["tool_input"], json!({ "cmd": "ls -l" }));
}

#[tokio::test]
async fn arguments_hold_what_they_refer_to() {
    let place = Place::new(WELCOME, r#"answer({"structuredContent": {}})"#);
    let mut with = tool();
    with["arguments"] = json!({ "text": "${tool_input.cmd}", "all": ["${tool_input}"], "n": 1 });
    let executor = place.executor(PROCESS, &with, "").unwrap();
    assert_eq!(verdict(&executor).await.hooks[0].error, None);
    let wanted = json!({ "text": "ls -l", "all": [{ "cmd": "ls -l" }], "n": 1 });
    assert_eq!(place.told()[2]["params"]["arguments"], wanted);

    with["arguments"] = json!({ "path": "${tool_input.path}" });
    let executor = place.executor(PROCESS, &with, "").unwrap();
    failed(&verdict(&executor).await, "the input has no `tool_input.path`");

    // In the words of Claude Code.
    with["arguments"] = json!({ "text": "${tool_input.command}" });
    let executor = place.executor(PROCESS, &with, "dialect: claude-code").unwrap();
    assert_eq!(verdict(&executor).await.hooks[0].error, None);
    assert_eq!(place.told().last().unwrap()["params"]["arguments"]["text"], "ls -l");
}

#[tokio::test]
async fn whatever_is_no_answer_has_failed() {
    for (call, cause) in [
        (r#"answer({"structuredContent": {"decision": "alow"}})"#, "can't be `alow`"),
        (r#"answer({"structuredContent": [1]})"#, "not a JSON object"),
        (r#"answer({"content": [{"type": "image"}]})"#, "not one text"),
        (r#"answer({"content": [{"type": "text", "text": "{\"decision\": \"allow\""}]})"#, "JSON"),
        (
            r#"answer({"content": [], "isError": True})"#,
            "the tool `judge` of process `guard` failed",
        ),
        ("answer(None)", "not an object"),
        (
            r#"print('{"jsonrpc":"2.0","id":%d,"result":{"structuredContent":{"decision":"deny","decision":"allow"}}}' % i, flush=True)"#,
            "decision",
        ),
        (r#"say(id=i, error={"code": -32602, "message": "unknown tool"})"#, "unknown tool"),
        ("sys.exit(3)", "exited with code 3"),
    ] {
        let place = Place::new(WELCOME, call);
        failed(&verdict(&place.executor(PROCESS, &tool(), "").unwrap()).await, cause);
    }
    for (welcome, cause) in [
        (r#"answer({"protocolVersion": "1999", "capabilities": {"tools": {}}})"#, "version `1999`"),
        (r#"answer({"protocolVersion": "2025-06-18", "capabilities": {}})"#, "without tools"),
        (r#"say(id=i, error={"code": 1, "message": "no"})"#, "answered `initialize` with error 1"),
        ("sys.exit(3)", "ended before it answered `initialize`"),
    ] {
        let place = Place::new(welcome, "pass");
        failed(&verdict(&place.executor(PROCESS, &tool(), "").unwrap()).await, cause);
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_and_a_ping_is_answered() {
    let place = Place::new(WELCOME, r#"say(id="p", method="ping")"#);
    let executor = place.executor(PROCESS, &tool(), "timeout: 1s").unwrap();
    executor.check_processes().await;
    failed(&verdict(&executor).await, "did not answer `tools/call`");
    let is_cancelled = |it: &&Value| it["method"] == "notifications/cancelled";
    let told = loop {
        let told = place.told();
        if told.iter().any(|it| is_cancelled(&it)) {
            break told;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    let reply = told.iter().find(|it| it["id"] == "p").unwrap();
    assert_eq!(reply["result"], json!({}));
    let cancelled = told.iter().find(is_cancelled).unwrap();
    assert_eq!(cancelled["params"]["requestId"], told[2]["id"]);
}

#[tokio::test]
async fn a_denial_of_a_tool_that_failed_counts() {
    let call =
        r#"answer({"structuredContent": {"decision": "deny", "reason": "no"}, "isError": True})"#;
    let place = Place::new(WELCOME, call);
    let executor = place.executor(PROCESS, &tool(), "on_error: ignore").unwrap();
    let verdict = verdict(&executor).await;
    assert_eq!((verdict.decision, verdict.message.as_deref()), (Some(Decision::Deny), Some("no")));
}

#[test]
fn mistakes_are_found_when_the_file_is_loaded() {
    let place = Place::new("", "");
    for (process, with, more, problem) in [
        (PROCESS, json!({ "server": "gard", "tool": "t" }), "", "unknown process `gard`"),
        (PROCESS, json!({ "server": "guard" }), "", "missing field `tool`"),
        (PROCESS, json!({ "server": "guard", "tool": "" }), "", "`tool` can't be empty"),
        (PROCESS, json!({ "tool": "t" }), "", "either a `server` or a `url`"),
        (
            PROCESS,
            json!({ "server": "guard", "url": "https://a.example", "tool": "t" }),
            "",
            "either a `server` or a `url`",
        ),
        (
            PROCESS,
            json!({ "server": "guard", "tool": "t", "headers": { "A": "b" } }),
            "",
            "belong to a `url`",
        ),
        (PROCESS, tool(), "command: x", "`command` has no meaning for hooks of type `mcp`"),
        ("command: [python3, server.py]", tool(), "", "process `guard` is not an MCP server"),
        ("command: [x], protocol: soap", tool(), "", "`soap`"),
    ] {
        let error = place.executor(process, &with, more).unwrap_err();
        assert!(error.contains(problem) && error.contains("hooks.yaml"), "{with}: {error}");
    }
    let text = format!(
        "processes: {{ guard: {{ {PROCESS} }} }}\nhooks: {{ pre_tool_use: [{{ hooks: [{{ type: process, command: guard }}] }}] }}\n"
    );
    let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
    let error =
        Executor::builder(config).registry(registry::everything()).build().unwrap_err().to_string();
    assert!(error.contains("process `guard` is an MCP server"), "{error}");
}
