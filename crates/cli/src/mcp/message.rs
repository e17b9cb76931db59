//! Reads the messages of both sides.
//!
//! The proxy and the other side must read the same message in a line. A line that two readers could
//! read differently is therefore an error, and is not sent on.

use hookexec::lifecycle::ToolCall;
use hookexec::wire::JsonObject;
use serde_json::{Value, json};

use crate::server::ErrorCode;
use crate::server::protocol::{Refusal, answer, read_object, refuse};

/// The keys of messages. Servers written in Go take `Method` for `method`, so that no other key may
/// be there.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

const NO_ID: &str = "`id` must be a text or an integer of plain digits";

/// A message, and what it is.
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) object: JsonObject,
}

pub(super) enum Kind {
    Request { id: Value, method: String },
    Notification { method: String },
    Response { id: Value },
}

impl Message {
    /// Reads one line.
    ///
    /// # Errors
    /// With the id: `null` if there is none, and `None` if it can't be read.
    pub(super) fn read(line: &[u8]) -> Result<Self, (Option<Value>, Refusal)> {
        let invalid =
            |problem: &str| (id_of(line), Refusal::new(ErrorCode::InvalidRequest, problem));
        // Python's text streams end a line at it, so that the rest would be a message of its own.
        if line.contains(&b'\r') {
            return Err(invalid("a carriage return is inside of the line"));
        }
        let object = read_object(line).map_err(|refusal| (id_of(line), refusal))?;
        if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(invalid(&format!("a message has no key `{key}`")));
        }
        let has = |key| object.contains_key(key);
        let kind = match (object.get("method"), has("result"), has("error")) {
            (Some(Value::String(method)), false, false) => {
                let method = method.clone();
                match object.get("id") {
                    None => Kind::Notification { method },
                    Some(id) if is_id(id) => Kind::Request { id: id.clone(), method },
                    Some(_) => return Err(invalid(NO_ID)),
                }
            }
            (None, true, false) | (None, false, true) => {
                let id = object.get("id").cloned().unwrap_or_default();
                if !(id.is_null() || is_id(&id)) {
                    return Err(invalid(NO_ID));
                }
                Kind::Response { id }
            }
            _ => return Err(invalid("give one of `method`, `result` and `error`")),
        };
        Ok(Self { kind, object })
    }
}

/// Returns whether both sides write `id` in the same way: `7.0` could be answered as `7`.
fn is_id(id: &Value) -> bool {
    let text = id.to_string();
    id.is_string() || text.parse::<i64>().is_ok_and(|number| number.to_string() == text)
}

/// Returns the id of a message that is refused: `null` if there is none, and `None` if it can't be
/// read.
fn id_of(line: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => match object.get("id") {
            None => Some(Value::Null),
            Some(id) => Some(id.clone()).filter(|id| id.is_null() || is_id(id)),
        },
        // Some servers write text for people to stdout, too.
        _ => (!text.trim_start_matches(['[', ' ', '\t']).starts_with('{')).then_some(Value::Null),
    }
}

/// Reads the call of a tool, which is named `mcp__server__tool` from here on.
pub(super) fn tool_call(
    prefix: &str,
    id: &Value,
    message: &JsonObject,
) -> Result<ToolCall, Refusal> {
    let invalid = |problem: &str| Err(Refusal::new(ErrorCode::InvalidParams, problem));
    let Some(Value::Object(params)) = message.get("params") else {
        return invalid("`params` must be an object");
    };
    let Some(Value::String(tool)) = params.get("name") else {
        return invalid("`name` must be a text");
    };
    for known in ["name", "arguments"] {
        // In upper case, because Go also takes `ſ` for `s`.
        let same = |key: &str| key != known && key.to_uppercase() == known.to_uppercase();
        if let Some(key) = params.keys().find(|key| same(key)) {
            return invalid(&format!("`{key}` must be written `{known}`"));
        }
    }
    if params.contains_key("task") {
        return invalid(
            "a call can't be a task behind `hookexec mcp`: hooks would miss its result",
        );
    }
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    match ToolCall::from_value(format!("{prefix}{tool}"), arguments) {
        Ok(call) => Ok(call.with_id(id)),
        Err(error) => invalid(&error.to_string()),
    }
}

/// Returns the line that answers a request with a result.
pub(super) fn result(id: &Value, result: &Value) -> Vec<u8> {
    answer(id, &Ok(result))
}

/// Returns the line that answers a request with an error.
pub(super) fn error(id: &Value, refusal: Refusal) -> Vec<u8> {
    refuse(id, refusal)
}

/// Returns a block of text, as it stands in the result of a tool.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
