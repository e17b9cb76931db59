//! Messages of JSON-RPC 2.0: writes ours, and reads a child's.
//!
//! A reply that can't be read but still tells which call it answers fails that call at once, with
//! the cause, instead of leaving it to its timeout.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::parse_strict;

/// A message from a child.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// An answer to the call `id`: the JSON text of its result, `null` when it has none.
    Result { id: u64, text: String },
    /// The call `id` failed.
    Error { id: u64, error: RpcError },
    /// An answer to the call `id` that can't be read, and why.
    Unreadable { id: u64, problem: String },
    /// A call of the child to us, with its id as JSON text.
    Request { id: String, method: String },
    /// News from the child.
    Notification { method: String },
    /// Nothing that is a message, and why.
    Noise { problem: String },
}

/// The error of a call, as the child says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    pub code: Option<i64>,
    pub message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.message.as_str()) {
            (Some(code), "") => write!(formatter, "error {code}"),
            (Some(code), message) => write!(formatter, "error {code}: {message}"),
            (None, "") => formatter.write_str("an error without code or message"),
            (None, message) => write!(formatter, "error: {message}"),
        }
    }
}

impl RpcError {
    fn read(text: &str) -> Self {
        let value = parse_strict(text).unwrap_or_else(|_| text.into());
        let message = match &value {
            Value::String(message) => message.as_str(),
            other => other.get("message").and_then(Value::as_str).unwrap_or_default(),
        };
        Self { code: value.get("code").and_then(Value::as_i64), message: message.to_owned() }
    }
}

/// Returns the line that calls `method`; `params` is JSON.
pub fn request(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(params.len() + method.len() + 80);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    // Writing into memory can't fail.
    let _ = write!(line, "{id}");
    finish(line, method, params)
}

/// Returns the line that tells `method`; `params` is JSON.
pub fn notification(method: &str, params: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(params.len() + method.len() + 60);
    line.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    finish(line, method, params)
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

fn finish(mut line: Vec<u8>, method: &str, params: &[u8]) -> Vec<u8> {
    line.extend_from_slice(br#","method":""#);
    line.extend_from_slice(method.as_bytes());
    line.extend_from_slice(br#"","params":"#);
    extend_escaped(&mut line, params);
    line.extend_from_slice(b"}\n");
    line
}

/// Appends JSON with U+2028 and U+2029 escaped: JavaScript's readers take them for line ends. They
/// can stand in strings only.
fn extend_escaped(line: &mut Vec<u8>, mut json: &[u8]) {
    // The usual case is found out by the library's search, which takes many bytes at once.
    while json.contains(&0xE2)
        && let Some(at) = json.iter().position(|byte| *byte == 0xE2)
    {
        let (before, rest) = json.split_at(at);
        line.extend_from_slice(before);
        let (escape, length): (&[u8], _) = match rest {
            [_, 0x80, 0xA8, ..] => (br"\u2028", 3),
            [_, 0x80, 0xA9, ..] => (br"\u2029", 3),
            _ => (&rest[..1], 1),
        };
        line.extend_from_slice(escape);
        json = &rest[length..];
    }
    line.extend_from_slice(json);
}

impl Incoming {
    /// Reads one line.
    pub fn read(line: &[u8]) -> Self {
        let (text, mut problem) = match std::str::from_utf8(line) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(_) => (String::from_utf8_lossy(line), Some("it is not UTF-8".to_owned())),
        };
        let mut envelope = Envelope::default();
        if let Err(error) = envelope.fill(&text) {
            problem = problem.or(Some(error));
        }
        match problem {
            Some(problem) => envelope.broken(problem),
            None => envelope.sort(),
        }
    }

    /// Reads the beginning of a line that was longer than `max`.
    pub fn oversized(start: &[u8], max: usize) -> Self {
        let start = String::from_utf8_lossy(start);
        let mut envelope = Envelope::default();
        // It ends in the middle of things, so this always fails; what stood before the id counts.
        let _ = envelope.fill(&start);
        envelope.broken(format!("it is longer than {max} bytes (`max_line`)"))
    }
}

/// The keys of a message as far as they were read.
#[derive(Default)]
struct Envelope<'t> {
    jsonrpc: bool,
    id: Option<&'t str>,
    method: Option<String>,
    result: Option<&'t str>,
    error: Option<&'t str>,
    /// A key that no message has.
    unknown: Option<String>,
    /// Whether it looked like an answer before it broke off.
    answers: bool,
    twice: Option<&'static str>,
}

impl<'t> Envelope<'t> {
    fn fill(&mut self, text: &'t str) -> Result<(), String> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Fill(self).deserialize(&mut deserializer).map_err(|error| error.to_string())?;
        deserializer.end().map_err(|error| error.to_string())
    }

    fn sort(self) -> Incoming {
        if let Some(key) = self.twice {
            return self.broken(format!("its key `{key}` appears twice"));
        }
        let id = self.id.and_then(number);
        match self {
            Self { error: Some(error), .. } if error != "null" => {
                let error = RpcError::read(error);
                match id {
                    Some(id) => Incoming::Error { id, error },
                    None => Incoming::Noise { problem: format!("{error}, to no call") },
                }
            }
            Self { result: None, error: None, method: Some(method), id: raw, .. } => match raw {
                Some(id) if id != "null" => Incoming::Request { id: id.to_owned(), method },
                _ => Incoming::Notification { method },
            },
            // Without `jsonrpc` it must at least look like an answer: a log line may have an `id`.
            Self { jsonrpc, result, error, unknown, .. }
                if jsonrpc || result.is_some() || error.is_some() =>
            {
                match (id, result) {
                    (Some(id), Some(_)) if let Some(key) = unknown => Incoming::Unreadable {
                        id,
                        problem: format!("unknown key `{key}` beside its `result`"),
                    },
                    (Some(id), Some(text)) => Incoming::Result { id, text: text.to_owned() },
                    // What it wanted to say is in the wrong place, and must not be silence.
                    (Some(id), None) => Incoming::Unreadable {
                        id,
                        problem: "it has neither `result` nor `error`".to_owned(),
                    },
                    (None, _) => Incoming::Noise { problem: "its `id` is of no call".to_owned() },
                }
            }
            _ => Incoming::Noise { problem: "it is not a JSON-RPC message".to_owned() },
        }
    }

    fn broken(self, problem: String) -> Incoming {
        match self.id.and_then(number) {
            Some(id) if self.answers && self.twice != Some("id") => {
                Incoming::Unreadable { id, problem }
            }
            _ => Incoming::Noise { problem },
        }
    }
}

/// Reads the id of a call: we send plain numbers, and children return `2`, `"2"` and `2.0` for 2.
fn number(id: &str) -> Option<u64> {
    let id = id.trim_matches('"');
    id.parse().ok().or_else(|| {
        let whole = id.strip_suffix(".0").or_else(|| id.strip_suffix(".00"))?;
        whole.parse().ok()
    })
}

/// The keys of all messages; `params` come back from children that return the call with a `result`.
const KEYS: [&str; 6] = ["jsonrpc", "id", "result", "error", "method", "params"];

/// Fills an envelope key by key; on an error the keys before it are kept.
struct Fill<'e, 't>(&'e mut Envelope<'t>);

impl<'de> DeserializeSeed<'de> for Fill<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(envelope) = self;
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            // Children of hosts written in Go got away with any case.
            let known = KEYS.into_iter().find(|known| key.eq_ignore_ascii_case(known));
            let (name, slot) = match known {
                Some(name @ "id") => (name, &mut envelope.id),
                Some(name @ "result") => {
                    envelope.answers = true;
                    (name, &mut envelope.result)
                }
                Some(name @ "error") => {
                    envelope.answers = true;
                    (name, &mut envelope.error)
                }
                Some("method") => {
                    let text = map.next_value::<&'de RawValue>()?.get();
                    envelope.method = Some(match parse_strict(text) {
                        Ok(Value::String(method)) => method,
                        _ => text.to_owned(),
                    });
                    continue;
                }
                Some(name) => {
                    envelope.jsonrpc |= name == "jsonrpc";
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                None => {
                    envelope.unknown = Some(key.into_owned());
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let text = map.next_value::<&'de RawValue>()?.get();
            if slot.replace(text).is_some() {
                envelope.twice = Some(name);
            }
        }
        Ok(())
    }
}

/// A key of an object, copied only when something in it is escaped.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests;
