//! The messages of MCP, the Model Context Protocol, as far as hooks need them.
//!
//! They are read like all that comes from outside: with each key once. The official SDK, `rmcp` 3.11,
//! takes the last of `{"decision": "deny", "decision": "allow"}`.

use serde_json::{Value, json};

use crate::handler::{Failure, HandlerError};
use crate::handlers::remote::request::excerpt;
use crate::wire::{JsonObject, parse_object, parse_strict};

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const INITIALIZED: &str = "notifications/initialized";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
pub(crate) const PING: &str = "ping";
pub(super) const CALL: &str = "tools/call";

/// The versions that begin with a handshake, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The answer of a server in the handshake.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its own name.
    pub(crate) name: Option<String>,
    /// The version that is spoken from now on.
    #[cfg_attr(
        not(any(feature = "http", test)),
        expect(dead_code, reason = "only HTTP repeats it")
    )]
    pub(crate) version: String,
}

/// Returns the params of the handshake.
pub(crate) fn initialize_params() -> Vec<u8> {
    json!({
        "protocolVersion": VERSIONS[0],
        "capabilities": {},
        "clientInfo": { "name": "hookexec", "version": env!("CARGO_PKG_VERSION") },
    })
    .to_string()
    .into_bytes()
}

/// Reads the result of the handshake.
pub(crate) fn read_initialized(result: &str) -> Result<Server, String> {
    let result = Value::Object(object(result)?);
    let version = result["protocolVersion"].as_str().ok_or("it has no `protocolVersion`")?;
    if !VERSIONS.contains(&version) {
        let known = VERSIONS.join(", ");
        return Err(format!("it speaks version `{version}` of MCP, and hookexec {known}"));
    }
    if !result["capabilities"]["tools"].is_object() {
        return Err("it is a server without tools".to_owned());
    }
    let name = result["serverInfo"]["name"].as_str();
    Ok(Server { name: name.map(str::to_owned), version: version.to_owned() })
}

/// Returns the params of a call; `arguments` is one JSON object.
pub(super) fn call_params(tool: &str, arguments: &str) -> Vec<u8> {
    format!("{{\"name\":{},\"arguments\":{arguments}}}", Value::from(tool)).into_bytes()
}

/// Reads the result of a call: the text that is the hook's answer.
///
/// # Errors
/// When the tool failed, or gave no single answer. A denial in the text of a failed tool counts.
pub(super) fn read_result(from: &str, text: &str) -> Result<Vec<u8>, HandlerError> {
    let unusable = |problem: String| {
        let message = format!("the result of {from} can't be used: {problem}");
        HandlerError::new(Failure::Protocol, message)
    };
    let result = object(text).map_err(unusable)?;
    if result.get("resultType").is_some_and(|kind| kind != "complete") {
        return Err(unusable("it asks for more, and a hook has no one to ask".to_owned()));
    }
    let answer = answer(&result);
    match result.get("isError") {
        None | Some(Value::Bool(false)) => answer.map_err(unusable),
        Some(Value::Bool(true)) => {
            let answer = answer.unwrap_or_default();
            let said = String::from_utf8_lossy(&answer);
            let message = format!("{from} failed: {}", excerpt(&said));
            Err(HandlerError::new(Failure::Other, message).with_stdout(answer))
        }
        Some(_) => Err(unusable("`isError` must be true or false".to_owned())),
    }
}

/// Returns the structured content of a result, else its only content, if that is a text.
///
/// Servers repeat a structured content as a text. One that says something else there has given two
/// answers.
fn answer(result: &JsonObject) -> Result<Vec<u8>, String> {
    let structured = match result.get("structuredContent") {
        None | Some(Value::Null) => None,
        Some(content) => Some(unwrapped(content)),
    };
    let content = match (result.get("content"), structured) {
        (Some(Value::Array(content)), _) => content,
        (Some(_), _) => return Err("its `content` is not a list".to_owned()),
        (None, Some(structured)) => return Ok(written(structured)),
        (None, None) => {
            return Err("it has neither `structuredContent` nor `content`".to_owned());
        }
    };
    if let Some(structured) = structured {
        for block in content {
            let text = block["text"].as_str().unwrap_or_default();
            if text.trim_start().starts_with('{')
                && parse_strict(text).ok().as_ref() != Some(structured)
            {
                return Err("its text is another answer than its `structuredContent`".to_owned());
            }
        }
        return Ok(written(structured));
    }
    match content.as_slice() {
        [] => Ok(Vec::new()),
        [only] if only["type"] == "text" => match only["text"].as_str() {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Err("its text is missing".to_owned()),
        },
        _ => Err("it is not one text".to_owned()),
    }
}

/// Returns the content of a structured content. SDKs wrap what is not an object as
/// `{"result": ...}`, a key that no answer has.
fn unwrapped(content: &Value) -> &Value {
    match content {
        Value::Object(object) if object.len() == 1 => object.get("result").unwrap_or(content),
        _ => content,
    }
}

fn written(answer: &Value) -> Vec<u8> {
    match answer {
        Value::Null => Vec::new(),
        Value::String(text) => text.as_bytes().to_vec(),
        answer => answer.to_string().into_bytes(),
    }
}

fn object(text: &str) -> Result<JsonObject, String> {
    match parse_object(text)? {
        Some(object) => Ok(object),
        None => Err("it is not an object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        match read_result("tool `t`", text) {
            Ok(answer) => Ok(String::from_utf8(answer).unwrap()),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn an_answer_is_the_structured_content_or_the_only_text() {
        for (result, expected) in [
            (r#"{"content":[],"structuredContent":{"decision":"deny"}}"#, r#"{"decision":"deny"}"#),
            (r#"{"content":[{"type":"text","text":"{}"}],"isError":false}"#, "{}"),
            (r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"b"}}"#, "b"),
            (
                r#"{"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}}"#,
                r#"{"a":1}"#,
            ),
            (r#"{"content":[],"structuredContent":{"result":{"a":1}}}"#, r#"{"a":1}"#),
            (r#"{"content":[],"structuredContent":{"result":null}}"#, ""),
            (r#"{"content":[]}"#, ""),
        ] {
            assert_eq!(read(result).as_deref(), Ok(expected), "{result}");
        }
    }

    #[test]
    fn everything_else_has_failed() {
        for (result, cause) in [
            ("null", "not an object"),
            ("{}", "neither `structuredContent` nor `content`"),
            (r#"{"content":[{"type":"image","data":""}]}"#, "not one text"),
            (
                r#"{"content":[{"type":"text","text":"{}"},{"type":"text","text":"{}"}]}"#,
                "one text",
            ),
            (r#"{"content":[{"type":"text"}]}"#, "its text is missing"),
            (r#"{"content":[{"type":"text","text":"boom"}],"isError":true}"#, "failed: boom"),
            (r#"{"content":[],"isError":"false"}"#, "`isError` must be"),
            (r#"{"content":[],"resultType":"input_required"}"#, "asks for more"),
            (r#"{"structuredContent":{"decision":"deny","decision":"allow"}}"#, "decision"),
            (r#"{"content":{},"structuredContent":{}}"#, "not a list"),
        ] {
            let problem = read(result).unwrap_err();
            assert!(problem.contains(cause), "{result}: {problem}");
        }
        for structured in ["{}", r#"{"result":null}"#, r#"{"decision":"allow"}"#] {
            let content = r#"[{"type":"text","text":" {\"decision\":\"deny\"}"}]"#;
            let result = format!(r#"{{"content":{content},"structuredContent":{structured}}}"#);
            assert!(read(&result).unwrap_err().contains("another answer"), "{result}");
        }
        let denied = r#"{"structuredContent":{"decision":"deny"},"isError":true}"#;
        let error = read_result("tool `t`", denied).unwrap_err();
        assert_eq!(error.stdout, br#"{"decision":"deny"}"#);
    }

    #[test]
    fn a_server_must_have_tools_and_speak_a_known_version() {
        let sound = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s"}}"#;
        let server = read_initialized(sound).unwrap();
        assert_eq!((server.name.as_deref(), &*server.version), (Some("s"), "2025-06-18"));
        for (result, cause) in [
            (sound.replace("2025-06-18", "2030-01-01"), "speaks version `2030-01-01`"),
            (sound.replace("tools", "prompts"), "without tools"),
            ("{}".to_owned(), "no `protocolVersion`"),
            ("[]".to_owned(), "not an object"),
        ] {
            let problem = read_initialized(&result).unwrap_err();
            assert!(problem.contains(cause), "{result}: {problem}");
        }
    }
}
