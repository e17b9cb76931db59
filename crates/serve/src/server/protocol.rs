//! The messages: requests in, answers out.

use hookexec::wire::{JsonObject, parse_strict};
use hookexec_files::rpc;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::params::Params;

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

/// A line of a client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A request. Without an `id` the client wants no answer.
    Request { id: Option<Value>, method: String, params: Params },
    /// The answer to a question of the server.
    Reply { id: u64, answer: Result<Value, Refusal> },
}

impl Incoming {
    /// Reads one line.
    ///
    /// # Errors
    /// With the id as far as it could be read.
    pub(super) fn read(line: &[u8]) -> Result<Self, (Value, Refusal)> {
        let mut object = match read_object(line) {
            Ok(object) => object,
            Err(refusal) => return Err((Value::Null, refusal)),
        };
        let id = object.remove("id");
        if let Some(id) = id.as_ref().and_then(Value::as_u64)
            && !object.contains_key("method")
            && let Some(answer) = reply(&mut object)
        {
            return Ok(Self::Reply { id, answer });
        }
        let answer_to = id.clone().unwrap_or_default();
        let Some(Value::String(method)) = object.remove("method") else {
            let refusal = Refusal::new(ErrorCode::InvalidRequest, "`method` must be a text");
            return Err((answer_to, refusal));
        };
        let params = match object.remove("params").unwrap_or_default() {
            Value::Null => Params::default(),
            Value::Object(params) => Params(params),
            _ => return Err((answer_to, Refusal::params("`params` must be an object"))),
        };
        Ok(Self::Request { id, method, params })
    }
}

/// Takes out what a client answers.
fn reply(object: &mut JsonObject) -> Option<Result<Value, Refusal>> {
    if let Some(error) = object.remove("error") {
        let message = error["message"].as_str().unwrap_or("an error without a message");
        return Some(Err(Refusal::new(ErrorCode::Internal, message)));
    }
    object.remove("result").map(Ok)
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
        let (id, refusal) = Incoming::read(line.as_bytes()).unwrap_err();
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
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, json!(7), -32602),
        ];
        for (line, id, code) in cases {
            assert_eq!(refused(line), (id, code), "{line}");
        }
    }

    #[test]
    fn an_id_comes_back_as_it_was_sent() {
        let line = br#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#;
        let Ok(Incoming::Request { id: Some(id), .. }) = Incoming::read(line) else {
            panic!("a request")
        };
        let answer = answer(&id, &Ok(1));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"result\":1}\n";
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
}
