//! Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-*`, lines since 0.40 and one object before.

use serde_json::{Value, json};

use super::{Session, Transcripts};
use crate::{Agent, user_directory};
use hookexec_files::files::read_regular;

pub(crate) static TRANSCRIPTS: Transcripts = Transcripts {
    directory: || user_directory(Agent::Gemini.settings()?),
    within: "tmp",
    endings: &[".jsonl", ".json"],
    print: None,
    marks: &["\"toolCalls\"", "\"sessionId\""],
    before: "BeforeTool",
    take,
};

fn take(line: &Value, session: &mut Session<'_>) {
    if let Some(id) = line["sessionId"].as_str() {
        session.is_known = true;
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
