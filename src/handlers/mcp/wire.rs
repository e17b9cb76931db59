//! The messages of MCP, the Model Context Protocol, as far as hooks need them.
//!
//! They are read like all that comes from outside: with each key once. The official SDK, `rmcp` 3.11,
//! takes the last of `{"decision": "deny", "decision": "allow"}`.

use serde_json::{Value, json};

use crate::handler::{Failure, HandlerError};
use crate::handlers::request::excerpt;
use crate::wire::{JsonObject, parse_object, parse_strict};

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const INITIALIZED: &str = "notifications/initialized";
pub(crate) const CANCELLED: &str = "notifications/cancelled";
pub(crate) const PING: &str = "ping";
pub(super) const CALL: &str = "tools/call";

/// The versions that begin with a handshake, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a server said in the handshake.
#[derive(Debug)]
pub(crate) struct Server {
    /// What it calls itself.
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
    let result = object(result)?;
    let version = result.get("protocolVersion").and_then(Value::as_str);
    let version = version.ok_or("it has no `protocolVersion`")?;
    if !VERSIONS.contains(&version) {
        let known = VERSIONS.join(", ");
        return Err(format!("it speaks version `{version}` of MCP, and hookexec {known}"));
    }
    let capabilities = result.get("capabilities");
    if !capabilities.and_then(|it| it.get("tools")).is_some_and(Value::is_object) {
        return Err("it is a server without tools".to_owned());
    }
    let name = result.get("serverInfo").and_then(|server| server.get("name")?.as_str());
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
    let structured = result.get("structuredContent").filter(|it| !it.is_null()).map(unwrapped);
    let Some(content) = result.get("content").map(Value::as_array) else {
        return structured
            .map(written)
            .ok_or_else(|| "it has neither `structuredContent` nor `content`".to_owned());
    };
    let content = content.ok_or("its `content` is not a list")?;
    if let Some(structured) = structured {
        let texts = content.iter().filter_map(|it| it.get("text")?.as_str());
        let mut answers = texts.filter(|text| text.trim_start().starts_with('{'));
        if answers.any(|text| parse_strict(text).ok().as_ref() != Some(structured)) {
            return Err("its text is another answer than its `structuredContent`".to_owned());
        }
        return Ok(written(structured));
    }
    match content.as_slice() {
        [] => Ok(Vec::new()),
        [only] if only.get("type").is_some_and(|kind| kind == "text") => {
            let text = only.get("text").and_then(Value::as_str);
            text.map(|text| text.as_bytes().to_vec()).ok_or_else(|| "its text is missing".into())
        }
        _ => Err("it is not one text".to_owned()),
    }
}

/// Returns what a structured content holds. SDKs wrap what is not an object as `{"result": ...}`, a
/// key that no answer has.
fn unwrapped(content: &Value) -> &Value {
    let wrapped = content.as_object().filter(|object| object.len() == 1);
    wrapped.and_then(|object| object.get("result")).unwrap_or(content)
}

fn written(answer: &Value) -> Vec<u8> {
    match answer {
        Value::Null => Vec::new(),
        Value::String(text) => text.as_bytes().to_vec(),
        answer => answer.to_string().into_bytes(),
    }
}

fn object(text: &str) -> Result<JsonObject, String> {
    parse_object(text)?.ok_or_else(|| "it is not an object".to_owned())
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
