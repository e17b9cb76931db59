//! Messages of JSON-RPC 2.0: writes ours, and reads a child's.
//!
//! A reply that can't be read but still tells which call it answers fails that call at once, with
//! the cause, instead of leaving it to its timeout.

use std::fmt;
use std::io::Write as _;

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::parse_json;

/// A message from a child. The id of a call of ours is a number; that of its own call is JSON text.
#[derive(Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of a message")]
pub enum Incoming {
    /// An answer to the call `id`: the JSON text of its result.
    Result { id: u64, text: String },
    /// The call `id` failed.
    Error { id: u64, error: RpcError },
    /// An answer to the call `id` that can't be read, and why.
    Unreadable { id: u64, problem: String },
    /// A call of the child to us, with its id as JSON text.
    Request { id: String, method: String },
    /// A notification from the child.
    Notification { method: String },
    /// A line that is not a message, and why.
    Noise { problem: String },
}

/// The error of a call, as the child says it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct RpcError {
    /// Its number.
    #[serde(default)]
    pub code: i64,
    /// Its text.
    #[serde(default)]
    pub message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(formatter, "error {}", self.code),
            message => write!(formatter, "error {}: {message}", self.code),
        }
    }
}

/// Returns the line that calls `method`; `params` is JSON.
pub fn request(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    call(Some(id), method, params)
}

/// Returns the line that notifies of `method`; `params` is JSON.
pub fn notification(method: &str, params: &[u8]) -> Vec<u8> {
    call(None, method, params)
}

/// Returns the line that refuses a child's call; `id` is JSON.
pub fn refusal(id: &str) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"a hook can't call its host\"}}}}\n"
    )
    .into_bytes()
}

/// Returns the line that answers a child's call with an empty result; `id` is JSON.
pub fn nothing(id: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").into_bytes()
}

fn call(id: Option<u64>, method: &str, params: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(params.len() + method.len() + 80);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        // Writing into memory can't fail.
        let _ = write!(line, "\"id\":{id},");
    }
    line.extend_from_slice(br#""method":""#);
    line.extend_from_slice(method.as_bytes());
    line.extend_from_slice(br#"","params":"#);
    // U+2028 and U+2029 can stand in strings only, and JavaScript's readers take them for line ends.
    if params.contains(&0xE2) {
        let params = String::from_utf8_lossy(params);
        let params = params.replace('\u{2028}', r"\u2028").replace('\u{2029}', r"\u2029");
        line.extend_from_slice(params.as_bytes());
    } else {
        line.extend_from_slice(params);
    }
    line.extend_from_slice(b"}\n");
    line
}

/// The keys of all messages. Children may return a call with a `result` added to it, so all keys
/// may stand together.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'t> {
    jsonrpc: Option<IgnoredAny>,
    #[serde(borrow)]
    id: Option<&'t RawValue>,
    method: Option<String>,
    #[serde(rename = "params")]
    _params: Option<IgnoredAny>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'t RawValue>,
    error: Option<RpcError>,
}

/// Reads a value that is there: `null` is a result, too.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

impl Incoming {
    /// Reads one line.
    pub fn read(line: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(line) else {
            return Self::broken(&String::from_utf8_lossy(line), "it is not UTF-8".to_owned());
        };
        match serde_json::from_str::<Message<'_>>(text) {
            // A struct can be read from a list, too.
            Ok(message) if text.starts_with('{') => message.sort(),
            Ok(_) => Self::noise("it is not an object"),
            Err(error) => Self::broken(text, error.to_string()),
        }
    }

    /// Reads the beginning of a line that was longer than `max`.
    pub fn oversized(start: &[u8], max: usize) -> Self {
        let problem = format!("it is longer than {max} bytes (`max_line`)");
        Self::broken(&String::from_utf8_lossy(start), problem)
    }

    fn broken(text: &str, problem: String) -> Self {
        let id = match parse_json(text) {
            Ok(message) => id_of_reply(&message),
            Err(_) => id_of_broken_reply(text),
        };
        match id {
            Some(id) => Self::Unreadable { id, problem },
            None => Self::Noise { problem },
        }
    }

    fn noise(problem: &str) -> Self {
        Self::Noise { problem: problem.to_owned() }
    }
}

impl Message<'_> {
    fn sort(self) -> Incoming {
        let id = self.id.map(RawValue::get);
        if let (Some(method), None, None) = (&self.method, self.result, &self.error) {
            let method = method.clone();
            return match id {
                Some(id) => Incoming::Request { id: id.to_owned(), method },
                None => Incoming::Notification { method },
            };
        }
        // Without `jsonrpc` it must at least look like a reply: a log line may have an `id`.
        if self.jsonrpc.is_none() && self.result.is_none() && self.error.is_none() {
            return Incoming::noise("it is not a JSON-RPC message");
        }
        let Some(id) = id.and_then(|id| id.parse().ok()) else {
            return Incoming::noise("its `id` is not the id of a call");
        };
        match (self.error, self.result) {
            (Some(error), _) => Incoming::Error { id, error },
            (None, Some(result)) => Incoming::Result { id, text: result.get().to_owned() },
            // The child put its answer in the wrong place. That must not count as no opinion.
            (None, None) => {
                let problem = "it has neither `result` nor `error`".to_owned();
                Incoming::Unreadable { id, problem }
            }
        }
    }
}

/// Returns the call that a message answers whose keys are not those of a message.
fn id_of_reply(message: &Value) -> Option<u64> {
    let is_reply = ["jsonrpc", "result", "error"].iter().any(|key| message.get(key).is_some());
    if is_reply { message.get("id")?.as_u64() } else { None }
}

/// Returns the call that a text answers that is not JSON, if its id comes before all that is nested.
fn id_of_broken_reply(text: &str) -> Option<u64> {
    if !text.contains("\"result\":") && !text.contains("\"error\":") {
        return None;
    }
    let head = text.strip_prefix('{')?.split('{').next()?;
    let (_, rest) = head.split_once("\"id\":")?;
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests;
