//! Claude Code: `~/.claude/projects/DIRECTORY/SESSION.jsonl`, and those of subagents below it.

use serde_json::Value;

use super::{Session, Transcripts};
use crate::payload::spoken;
use crate::{Agent, user_directory};

pub(crate) static TRANSCRIPTS: Transcripts = Transcripts {
    directory: || user_directory(Agent::ClaudeCode.settings()?),
    within: "projects",
    endings: &[".jsonl"],
    print: None,
    // Results are in the lines of the user.
    marks: &["\"tool_use\"", "\"user\""],
    before: "PreToolUse",
    take,
};

fn take(line: &Value, session: &mut Session<'_>) {
    // Requests to the model repeat the messages under other types.
    if line["type"] != "assistant" && line["type"] != "user" {
        return;
    }
    let fields = ["sessionId", "cwd", "timestamp", "version"].map(|key| line[key].as_str());
    let [Some(id), Some(cwd), Some(time), version] = fields else { return };
    session.is_known = true;
    id.clone_into(&mut session.id);
    time.clone_into(&mut session.time);
    session.version = version.map(str::to_owned);
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
