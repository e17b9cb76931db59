//! Reads the messages of both sides.
//!
//! The proxy and the other side must read the same message in a line. A line that two readers could
//! read differently is therefore an error, and is not sent on.

use std::borrow::Cow;
use std::fmt::Display;

use hookexec::lifecycle::ToolCall;
use hookexec::wire::JsonObject;
use hookexec_files::rpc::mcp::text_result;
use serde_json::Value;

use crate::server::ErrorCode;
use crate::server::protocol::{Refusal, answer, read_object};

/// The keys of messages. Servers written in Go take `Method` for `method`, so that no other key may
/// be there.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A message of either side.
pub(super) enum Message {
    Request { id: Value, method: String, object: JsonObject },
    Notification { method: String, object: JsonObject },
    Response { id: Value, answer: Result<Value, Value> },
}

/// An error for the client, and the id that it carries: `null` if none can be read.
pub(super) type Refused = (Value, Refusal);

impl Message {
    /// Reads one line.
    pub(super) fn read(line: &[u8]) -> Result<Self, Refused> {
        let object = read_object(line).map_err(|refusal| (Value::Null, refusal))?;
        let id = object.get("id").cloned().unwrap_or_default();
        match Self::from_object(line, object) {
            Ok(message) => Ok(message),
            Err(problem) => Err((id, Refusal::new(ErrorCode::InvalidRequest, problem))),
        }
    }

    fn from_object(line: &[u8], mut object: JsonObject) -> Result<Self, Cow<'static, str>> {
        // Python's text streams end a line at it, so that the rest would be a message of its own.
        if line.contains(&b'\r') {
            return Err("a carriage return is inside of the line".into());
        }
        if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("a message has no key `{key}`").into());
        }
        let (method, id) = (object.get("method").cloned(), object.get("id").cloned());
        match (method, id, object.remove("result"), object.remove("error")) {
            (Some(Value::String(method)), None, None, None) => {
                Ok(Self::Notification { method, object })
            }
            (Some(Value::String(method)), Some(id), None, None) => match id {
                Value::String(_) | Value::Number(_) => Ok(Self::Request { id, method, object }),
                _ => Err("`id` must be a text or a number".into()),
            },
            (None, Some(id), Some(result), None) => Ok(Self::Response { id, answer: Ok(result) }),
            (None, Some(id), None, Some(error)) => Ok(Self::Response { id, answer: Err(error) }),
            _ => Err("give one of `method`, `result` and `error`, the last two with `id`".into()),
        }
    }
}

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
