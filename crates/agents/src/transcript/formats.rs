//! The transcripts of Claude Code, Codex, Gemini CLI and `OpenCode`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::Session;
use crate::payload::{arguments, spoken};
use hookexec_calls::shell::{is_shell, quoted_words};
use hookexec_files::files::read_regular;

/// Takes a line of `~/.claude/projects/DIRECTORY/SESSION.jsonl`, or of a subagent below it.
pub(super) fn take_claude_code(line: &Value, session: &mut Session<'_>) {
    // Requests to the model repeat the messages under other types.
    if line["type"] != "assistant" && line["type"] != "user" {
        return;
    }
    let fields = ["sessionId", "cwd", "timestamp", "version"].map(|key| line[key].as_str());
    let [Some(id), Some(cwd), Some(time), version] = fields else { return };
    session.transcript.is_known = true;
    id.clone_into(&mut session.id);
    time.clone_into(&mut session.time);
    session.transcript.version = version.map(str::to_owned);
    session.work_in(cwd);
    let Some(parts) = line["message"]["content"].as_array() else { return };
    for part in parts {
        if let (Some(id), Some(tool)) = (part["id"].as_str(), part["name"].as_str())
            && part["type"] == "tool_use"
        {
            session.call(id, tool, &part["input"]);
        }
        let Some(id) = part["tool_use_id"].as_str() else { continue };
        if part["is_error"] == true {
            let error = Value::from(spoken(&part["content"]));
            session.result(id, "PostToolUseFailure", "error", &error);
        } else {
            let response = line.get("toolUseResult").filter(|_| parts.len() == 1);
            let response = response.unwrap_or(&part["content"]);
            session.result(id, "PostToolUse", "tool_response", response);
        }
    }
}

const AFTER: &str = "PostToolUse";
const RESPONSE: &str = "tool_response";

/// Takes a line of `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
pub(super) fn take_codex(line: &Value, session: &mut Session<'_>) {
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
                session.call(id, "apply_patch", &json!({ "command": patch_of(changes) }));
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
fn patch_of(changes: &Map<String, Value>) -> String {
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

/// Takes a part of `~/.gemini/tmp/PROJECT/chats/session-*`: a line since 0.40, and the one object before.
pub(super) fn take_gemini(line: &Value, session: &mut Session<'_>) {
    if let Some(id) = line["sessionId"].as_str() {
        session.transcript.is_known = true;
        id.clone_into(&mut session.id);
        // The project is named in a file beside the directory of the sessions.
        if let Some(directory) = session.path.ancestors().nth(2)
            && let Ok(project) = read_regular(&directory.join(".project_root"), 1 << 16)
        {
            session.work_in(String::from_utf8_lossy(&project).trim());
        }
    }
    take_message(line, session);
    for messages in [&line["messages"], &line["$set"]["messages"]] {
        for message in messages.as_array().into_iter().flatten() {
            take_message(message, session);
        }
    }
}

fn take_message(message: &Value, session: &mut Session<'_>) {
    if let Some(time) = message["timestamp"].as_str() {
        time.clone_into(&mut session.time);
    }
    for call in message["toolCalls"].as_array().into_iter().flatten() {
        let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str()) else { continue };
        session.call(id, name, &call["args"]);
        let response = &call["result"][0]["functionResponse"]["response"];
        if response.is_null() {
            continue;
        }
        let mut told =
            json!({ "llmContent": response["output"], "returnDisplay": call["resultDisplay"] });
        if let Some(error) = response.get("error") {
            told["error"] = json!({ "message": error });
        }
        session.result(id, "AfterTool", "tool_response", &told);
    }
}

/// The calls since a time, an object each. The name of the column is the first line, and JSON as well.
const QUERY: &str = r#"
select json_object(
    'id', part.id, 'session', session.id, 'directory', session.directory, 'version', session.version,
    'time', strftime('%Y-%m-%dT%H:%M:%fZ', part.time_created / 1000.0, 'unixepoch'),
    'tool', json_extract(part.data, '$.tool'), 'state', json_extract(part.data, '$.state')
) as "{}"
from part join session on session.id = part.session_id
where json_extract(part.data, '$.type') = 'tool' and part.time_created >= unixepoch('SINCE') * 1000
order by part.time_created"#;

/// Returns what OpenCode's own program prints of its database.
pub(super) fn print(database: &Path, since: &str) -> io::Result<File> {
    // Into a pipe it prints only what the reader takes before it exits.
    let mut printed = tempfile::tempfile()?;
    let mut command = Command::new("opencode");
    command.args(["db", "--pure", "--format", "tsv", &QUERY.replace("SINCE", since)]);
    command.current_dir(database.parent().unwrap_or(database));
    command.stdin(Stdio::null()).stdout(printed.try_clone()?);
    let status = command.status();
    let status =
        status.map_err(|error| io::Error::other(format!("can't run `opencode db`: {error}")))?;
    if !status.success() {
        return Err(io::Error::other(format!("`opencode db` failed: {status}")));
    }
    printed.rewind()?;
    Ok(printed)
}

/// Takes a call of `~/.local/share/opencode/opencode.db`.
pub(super) fn take_opencode(line: &Value, session: &mut Session<'_>) {
    session.transcript.is_known = true;
    let keys = ["id", "session", "directory", "time", "tool"].map(|key| line[key].as_str());
    let [Some(id), Some(of), Some(directory), Some(time), Some(tool)] = keys else { return };
    of.clone_into(&mut session.id);
    // Each line may be of another project.
    directory.clone_into(&mut session.cwd);
    directory.clone_into(&mut session.project);
    time.clone_into(&mut session.time);
    session.transcript.version = line["version"].as_str().map(str::to_owned);
    let state = &line["state"];
    session.call(id, tool, &state["input"]);
    // Its plugins see no result of a call that failed.
    if state["status"] == "completed" {
        session.result(id, "tool.execute.after", "tool_response", &state["output"]);
    }
}
