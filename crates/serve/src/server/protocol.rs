//! The messages: requests in, answers out.
//!
//! Two sides must read the same message in a line. A line that two readers could read differently is
//! therefore an error.

use std::borrow::Cow;

use hookexec::wire::{JsonObject, parse_strict};
use hookexec_files::rpc;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The kinds of errors, by their codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum ErrorCode {
    /// The line is not JSON.
    Parse = -32700,
    /// The line is not a request, or too long.
    InvalidRequest = -32600,
    /// The method is not known.
    MethodNotFound = -32601,
    /// The parameters can't be read.
    InvalidParams = -32602,
    /// The server is at fault.
    Internal = -32603,
    /// Too much is going on; nothing was run, and the request can be sent again later.
    Overloaded = -32000,
    /// The client works in a project that this server has no hooks for.
    OtherProject = -32001,
    /// The client is another version of hookexec.
    OtherVersion = -32004,
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(*self as i32)
    }
}

/// An error in the place of a result.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    pub(super) code: ErrorCode,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns an error about the parameters.
    pub(super) fn params(problem: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidParams, problem)
    }
}

/// The keys of messages. Servers written in Go take `Method` for `method`, so that no other key may
/// be there.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A message of either side.
pub(crate) enum Message {
    Request { id: Value, method: String, object: JsonObject },
    Notification { method: String, object: JsonObject },
    Response { id: Value, answer: Result<Value, Value> },
}

/// An error for the client, and the id that it carries: `null` if none can be read.
pub(crate) type Refused = (Value, Refusal);

impl Message {
    /// Reads one line.
    pub(crate) fn read(line: &[u8]) -> Result<Self, Refused> {
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

/// Reads the object that a message is.
pub(crate) fn read_object(line: &[u8]) -> Result<JsonObject, Refusal> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Err(not_json(&error)),
    };
    match parse_strict(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => {
            let problem = "a message is one JSON object; batches are not taken";
            Err(Refusal::new(ErrorCode::InvalidRequest, problem))
        }
        Err(error) => Err(not_json(&error)),
    }
}

fn not_json(problem: &dyn std::error::Error) -> Refusal {
    Refusal::new(ErrorCode::Parse, format!("the line is not JSON: {problem}"))
}

/// Returns the line that answers a request.
pub(crate) fn answer(id: &Value, outcome: &Result<impl Serialize, Refusal>) -> Vec<u8> {
    let (key, said) = match outcome {
        Ok(result) => ("result", serde_json::to_string(result)),
        Err(refusal) => ("error", serde_json::to_string(refusal)),
    };
    // Verdicts, texts and JSON values: nothing in a message can fail to serialise.
    let said = said.unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{key}\":{said}}}\n").into_bytes()
}

/// Returns the line that answers a request with an error.
pub(crate) fn refuse(id: &Value, refusal: Refusal) -> Vec<u8> {
    answer(id, &Err::<(), _>(refusal))
}

/// Returns the line that asks the other end.
pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    rpc::request(id, method, &serde_json::to_vec(params).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(line: &str) -> (Value, i32) {
        let Err((id, refusal)) = Message::read(line.as_bytes()) else { panic!("{line} is read") };
        (id, refusal.code as i32)
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_id_where_there_is_one() {
        let cases = [
            ("", Value::Null, -32700),
            ("{", Value::Null, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Value::Null, -32700),
            ("[]", Value::Null, -32600),
            (r#"{"jsonrpc":"2.0","id":"x"}"#, json!("x"), -32600),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","more":1}"#, json!(7), -32600),
        ];
        for (line, id, code) in cases {
            assert_eq!(refused(line), (id, code), "{line}");
        }
    }

    #[test]
    fn an_id_comes_back_as_it_was_sent() {
        let line = br#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#;
        let Ok(Message::Request { id, .. }) = Message::read(line) else { panic!("a request") };
        let answer = answer(&id, &Ok(1));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"result\":1}\n";
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
}
