//! The messages: requests in, answers out.

use std::fmt::Display;

use hookexec::wire::{JsonObject, parse_strict};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use super::params::Params;

/// Why a request was not answered with a result.
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
    /// The server is about to end.
    Stopping = -32003,
    /// The client is another version of hookexec.
    OtherVersion = -32004,
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(*self as i32)
    }
}

/// An answer that is an error.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    pub(super) code: ErrorCode,
    pub(crate) message: String,
    pub(super) data: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// Says what is wrong with the parameters.
impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self::new(ErrorCode::InvalidParams, problem)
    }
}

/// What a client wants, and the `id` that its answer must carry.
#[derive(Debug)]
pub(super) struct Request {
    /// `None` when no answer is wanted.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Params,
}

/// A client's answer to a question of the server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: u64,
    /// The result, or the message of the error.
    pub(super) outcome: Result<Value, String>,
}

/// What a client sends.
#[derive(Debug)]
pub(super) enum Incoming {
    Request(Request),
    Reply(Reply),
}

impl Incoming {
    /// Reads one line.
    ///
    /// # Errors
    /// With the id as far as it could be read.
    pub(super) fn read(line: &[u8]) -> Result<Self, (Value, Refusal)> {
        let mut object = read_object(line).map_err(|refusal| (Value::Null, refusal))?;
        let invalid = |id: &Value, problem: &str| {
            (id.clone(), Refusal::new(ErrorCode::InvalidRequest, problem))
        };
        if let Some(reply) = Self::reply(&mut object) {
            return Ok(Self::Reply(reply));
        }
        let id = object.remove("id");
        if !matches!(&id, None | Some(Value::Null | Value::String(_) | Value::Number(_))) {
            return Err(invalid(&Value::Null, "`id` must be a number, a text or null"));
        }
        let answer_to = id.clone().unwrap_or_default();
        if object.remove("jsonrpc").is_none_or(|version| version != "2.0") {
            return Err(invalid(&answer_to, "`jsonrpc` must be \"2.0\""));
        }
        let Some(Value::String(method)) = object.remove("method") else {
            return Err(invalid(&answer_to, "`method` must be a text"));
        };
        let params = match object.remove("params") {
            None | Some(Value::Null) => Params::default(),
            Some(Value::Object(params)) => Params::new(params),
            Some(_) => {
                let problem = "`params` must be an object";
                return Err((answer_to, Refusal::new(ErrorCode::InvalidParams, problem)));
            }
        };
        Ok(Self::Request(Request { id, method, params }))
    }

    fn reply(object: &mut JsonObject) -> Option<Reply> {
        if object.contains_key("method") {
            return None;
        }
        let id = object.get("id")?.as_u64()?;
        let outcome = match (object.remove("error"), object.remove("result")) {
            (Some(error), _) => {
                let message = error.get("message").and_then(Value::as_str);
                Err(message.unwrap_or("an error without a message").to_owned())
            }
            (None, Some(result)) => Ok(result),
            (None, None) => return None,
        };
        Some(Reply { id, outcome })
    }
}

/// Reads the object that a message is.
pub(crate) fn read_object(line: &[u8]) -> Result<JsonObject, Refusal> {
    let no_json = |problem: &dyn Display| {
        Refusal::new(ErrorCode::Parse, format!("the line is not JSON: {problem}"))
    };
    let text = std::str::from_utf8(line).map_err(|error| no_json(&error))?;
    let Value::Object(object) = parse_strict(text).map_err(|error| no_json(&error))? else {
        let problem = "a message is one JSON object; batches are not taken";
        return Err(Refusal::new(ErrorCode::InvalidRequest, problem));
    };
    Ok(object)
}

/// Returns the line that answers a request.
pub(crate) fn answer(id: &Value, outcome: &Result<impl Serialize, Refusal>) -> Vec<u8> {
    #[skip_serializing_none]
    #[derive(Serialize)]
    struct Answer<'a, T> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: Option<&'a T>,
        error: Option<&'a Refusal>,
    }
    let (result, error) = (outcome.as_ref().ok(), outcome.as_ref().err());
    line(&Answer { jsonrpc: "2.0", id, result, error })
}

/// Returns the line that answers a request with an error.
pub(crate) fn refuse(id: &Value, refusal: Refusal) -> Vec<u8> {
    answer(id, &Err::<(), _>(refusal))
}

/// Returns the line that asks the other end.
pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Question<'a, P> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    line(&Question { jsonrpc: "2.0", id, method, params })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Verdicts, texts and JSON values: nothing in a message can fail to serialise.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
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
            (r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, Value::Null, -32600),
            (r#"{"id":7,"method":"ping"}"#, json!(7), -32600),
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
        let Ok(Incoming::Request(request)) = Incoming::read(line) else { panic!("a request") };
        let answer = answer(&request.id.unwrap(), &Ok(1));
        let expected = "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"result\":1}\n";
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
    }
}
