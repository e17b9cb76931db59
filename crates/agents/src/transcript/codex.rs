//! Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Session;
use crate::payload::arguments;
use hookexec_calls::shell::{is_shell, quoted_words};

const AFTER: &str = "PostToolUse";
const RESPONSE: &str = "tool_response";

pub(super) fn take(line: &Value, session: &mut Session<'_>) {
    let payload = &line["payload"];
    let (Some(kind), Some(time)) = (line["type"].as_str(), line["timestamp"].as_str()) else {
        return;
    };
    time.clone_into(&mut session.time);
    if let Some(directory) = payload["cwd"].as_str() {
        session.work_in(directory);
    }
    match kind {
        "session_meta" => {
            session.transcript.is_known = true;
            payload["id"].as_str().unwrap_or_default().clone_into(&mut session.id);
            session.transcript.version = payload["cli_version"].as_str().map(str::to_owned);
        }
        "response_item" => take_item(payload, session),
        "event_msg" if payload["type"] == "item_completed" => {
            take_completed(&payload["item"], session);
        }
        _ => {}
    }
}

/// Takes what the model said, or was told.
fn take_item(item: &Value, session: &mut Session<'_>) {
    let (Some(kind), Some(id)) = (item["type"].as_str(), item["call_id"].as_str()) else { return };
    let name = item["name"].as_str().unwrap_or_default();
    match kind {
        // A program that calls tools: those have lines of their own.
        "custom_tool_call" if name == "exec" => {}
        "custom_tool_call" => session.call(id, name, &json!({ "command": item["input"] })),
        "local_shell_call" => {
            session.call(id, "Bash", &json!({ "command": typed(&item["action"]["command"]) }));
        }
        "function_call" => {
            let said = arguments(&item["arguments"]);
            let said = said.map_or_else(|_| item["arguments"].clone(), Value::Object);
            match (item["namespace"].as_str(), name) {
                // The server and the tool have other names there.
                (Some(namespace), _) => session.hold(id, &format!("{namespace}__{name}"), said),
                (None, "exec_command") => {
                    session.call(id, "Bash", &json!({ "command": said["cmd"] }));
                }
                (None, "shell" | "shell_command" | "local_shell") => {
                    session.call(id, "Bash", &json!({ "command": typed(&said["command"]) }));
                }
                (None, "apply_patch") => {
                    session.call(id, name, &json!({ "command": said["input"] }));
                }
                (None, _) => session.call(id, name, &said),
            }
        }
        "function_call_output" | "custom_tool_call_output" => {
            session.result(id, AFTER, RESPONSE, &item["output"]);
        }
        _ => {}
    }
}

/// Takes a call that has ended.
fn take_completed(item: &Value, session: &mut Session<'_>) {
    let (Some(kind), Some(id)) = (item["type"].as_str(), item["id"].as_str()) else { return };
    match kind {
        // The user's own commands are not the model's.
        "CommandExecution" if item["source"] != "user_shell" => {
            session.call(id, "Bash", &json!({ "command": typed(&item["command"]) }));
            session.result(id, AFTER, RESPONSE, &item["aggregated_output"]);
        }
        "FileChange" => {
            if let Some(changes) = item["changes"].as_object() {
                session.call(id, "apply_patch", &json!({ "command": patch(changes) }));
                session.result(id, AFTER, RESPONSE, &item["stdout"]);
            }
        }
        "McpToolCall" => {
            if let (Some(server), Some(tool)) = (item["server"].as_str(), item["tool"].as_str()) {
                session.call(id, &format!("mcp__{server}__{tool}"), &item["arguments"]);
                session.result(id, AFTER, RESPONSE, &item["result"]);
            }
        }
        _ => {}
    }
}

/// Returns the text that a shell reads, of a command in words or in a text.
fn typed(command: &Value) -> Value {
    let Some(words) = command.as_array() else { return command.clone() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words[..] {
        [program, "-lc" | "-c", text] if is_shell(program) => Value::from(text),
        _ => Value::from(quoted_words(words.iter().copied())),
    }
}

/// Returns the patch that makes these changes of files.
fn patch(changes: &Map<String, Value>) -> String {
    let mut patch = "*** Begin Patch\n".to_owned();
    for (path, change) in changes {
        let (verb, body, sign) = match change["type"].as_str() {
            Some("add") => ("Add", &change["content"], "+"),
            Some("delete") => ("Delete", &Value::Null, ""),
            _ => ("Update", &change["unified_diff"], ""),
        };
        let _ = writeln!(patch, "*** {verb} File: {path}");
        if let Some(target) = change["move_path"].as_str() {
            let _ = writeln!(patch, "*** Move to: {target}");
        }
        for line in body.as_str().unwrap_or_default().lines() {
            let _ = writeln!(patch, "{sign}{line}");
        }
    }
    patch + "*** End Patch"
}
