//! The calls of tools among the messages of a client.

use std::fmt::Display;

use hookexec::lifecycle::ToolCall;
use hookexec::wire::JsonObject;
use hookexec_files::rpc::mcp::text_result;
use serde_json::Value;

use crate::server::ErrorCode;
use crate::server::protocol::{Refusal, answer};

/// Reads the call of a tool, which is named `mcp__server__tool` from here on.
pub(super) fn tool_call(prefix: &str, message: &JsonObject) -> Result<ToolCall, Refusal> {
    let Some(Value::Object(params)) = message.get("params") else {
        return Err(invalid("`params` must be an object"));
    };
    let Some(Value::String(tool)) = params.get("name") else {
        return Err(invalid("`name` must be a text"));
    };
    for key in params.keys() {
        for known in ["name", "arguments"] {
            // In upper case, because Go also takes `ſ` for `s`.
            if key != known && key.to_uppercase() == known.to_uppercase() {
                return Err(invalid(format!("`{key}` must be written `{known}`")));
            }
        }
    }
    if params.contains_key("task") {
        let problem = "a call can't be a task behind `hookexec mcp`: hooks would miss its result";
        return Err(invalid(problem));
    }
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    ToolCall::from_value(format!("{prefix}{tool}"), arguments)
        .map_err(|error| invalid(error.to_string()))
}

fn invalid(problem: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidParams, problem)
}

/// Returns the line that answers a call which was denied before the hooks were asked.
pub(super) fn denied(id: &Value, why: impl Display) -> Vec<u8> {
    let result = text_result(&format!("Tool call denied: {why}"), true);
    answer(id, &Ok(&result))
}
