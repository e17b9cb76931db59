//! Keys that are spelt like the private names of the JSON library are keys like any other: a model or
//! a server of tools may write them anywhere.

use std::fmt::Write as _;
use std::fs;

use hookexec::wire::{JsonObject, parse_strict};
use hookexec_agents::{answer, read};
use serde_json::{Value, json};

use crate::agents::golden::{files, verdicts};
use crate::agents::run::run;
use crate::support::Sandbox;

const NAMES: [&str; 2] = ["$serde_json::private::Number", "$serde_json::private::RawValue"];
/// A key like any other, which is sorted as those are.
const OTHER: &str = "$serde_json::private::Other";

/// Adds `name` to every object in `value`.
fn spread(value: &mut Value, name: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| spread(item, name)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| spread(value, name));
            object.insert(name.to_owned(), json!("1"));
        }
        // Arguments in a string.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(mut inner) = parse_strict(text) {
                spread(&mut inner, name);
                *text = inner.to_string();
            }
        }
        _ => {}
    }
}

fn object(name: &str) -> JsonObject {
    let mut value = json!({"command": "ls", "deep": [{"a": {}}], "stdout": ""});
    spread(&mut value, name);
    value.as_object().cloned().unwrap()
}

#[test]
fn every_adapter_reads_and_writes_them_like_other_keys() {
    let mut seen = 0;
    for (agent, path) in files() {
        let golden: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let hint = golden.get("hint").and_then(Value::as_str);
        let said = |name: &str| -> String {
            let mut payload = golden["payload"].clone();
            spread(&mut payload, name);
            let call = match read(agent, hint, payload.to_string().as_bytes(), |_| None) {
                Ok(call) => call,
                Err(error) => return error.to_string(),
            };
            let mut said = serde_json::to_string(&call.input).unwrap();
            assert!(call.event.is_none() || said.contains(name), "{said}");
            if call.event.is_none() {
                return said;
            }
            for (_, mut verdict) in verdicts(&call) {
                verdict.updated_input = verdict.updated_input.map(|_| object(name));
                verdict.updated_tool_response =
                    verdict.updated_tool_response.map(|_| Value::Object(object(name)));
                for key in ["terminalSequence", "classifierContext"] {
                    verdict.claude_code.insert(key.to_owned(), object(name).into());
                }
                let answer = answer(&call, &verdict);
                let _ = write!(said, "\n{}\n{}\n", answer.exit_code, answer.stdout);
                said.push_str(&answer.stderr);
            }
            said
        };
        let expected = said(OTHER);
        for name in NAMES {
            assert_eq!(said(name).replace(name, OTHER), expected, "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 100, "only {seen} payloads found");
}

fn prints(answer: &Value, more: &str) -> String {
    let answer = json!(answer.to_string());
    format!("{{ type: command, command: [printf, '%s', {answer}]{more} }}")
}

#[test]
fn a_call_with_such_a_key_is_asked_about_and_rewritten_all_the_same() {
    let boxes = prints(&json!({"updated_input": {"command": "box"}}), ", mutates: true");
    let asks = json!({"decision": "ask", "reason": "sure?", "terminalSequence": "\u{7}"});
    let sandbox = Sandbox::new();
    let hooks = format!("pre_tool_use: [{{ hooks: [{boxes}, {}] }}]\n", prints(&asks, ""));
    sandbox.write("hooks.yaml", &hooks);
    for inner in [json!("1"), json!("rm"), json!({"a": 1})] {
        for name in NAMES {
            for arguments in [json!({"command": "rm", name: inner}), json!({"d": [{name: inner}]})]
            {
                let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s",
                    "tool_name": "Bash", "tool_input": arguments});
                let done = run(&sandbox, "claude-code", "PreToolUse", &payload, &[]).exits(0);
                let said = parse_strict(&done.stdout).unwrap();
                let specific = &said["hookSpecificOutput"];
                assert_eq!(specific["permissionDecision"], "ask", "{done:#?}");
                assert_eq!(specific["updatedInput"]["command"], "box", "{done:#?}");
                assert_eq!(said["terminalSequence"], "\u{7}", "{done:#?}");
            }
        }
    }
}

#[test]
fn a_response_with_such_a_key_is_redacted_and_objected_to_all_the_same() {
    let sandbox = Sandbox::new();
    let stops = json!({"decision": "block", "reason": "stop it", "continue": false});
    let redacts =
        "tool_response_transform: [{ hooks: [{ type: builtin, command: redact_secrets }] }]";
    let hooks = format!("{redacts}\npost_tool_use: [{{ hooks: [{}] }}]\n", prints(&stops, ""));
    sandbox.write("hooks.yaml", &hooks);
    for name in NAMES {
        let secret = "AKIAIOSFODNN7EXAMPLE";
        let response = json!({"stdout": secret, name: "1", "d": [{name: secret}]});
        let payload = json!({"hook_event_name": "PostToolUse", "session_id": "s",
            "tool_name": "mcp__kit__run", "tool_input": {}, "tool_response": response});
        let done = run(&sandbox, "claude-code", "PostToolUse", &payload, &[]).exits(0);
        assert!(!done.stdout.contains(secret), "{done:#?}");
        let said = parse_strict(&done.stdout).unwrap();
        assert_eq!((&said["decision"], &said["reason"]), (&json!("block"), &json!("stop it")));
        assert_eq!(said["continue"], false, "{done:#?}");
        for key in ["updatedToolOutput", "updatedMCPToolOutput"] {
            let output = &said["hookSpecificOutput"][key];
            assert!(output[name] == "1" && output["d"][0][name].is_string(), "{key}: {done:#?}");
        }
    }
}
