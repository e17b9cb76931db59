//! An agent's payload: the bytes on standard input, as they really come.

use std::borrow::Cow;

use serde_json::Value;

use hookexec::wire::{JsonObject, WireError, parse_strict, repair_lone_surrogates};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The problem of a payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PayloadError {
    #[error("standard input is UTF-16, and must be UTF-8")]
    Utf16,
    #[error("standard input is empty")]
    Empty,
    #[error("standard input is JSON, but not an object")]
    NotAnObject,
    #[error("standard input is not JSON: {0}")]
    NotJson(WireError),
    #[error("its arguments are JSON, but not an object")]
    NoObjectInText,
    #[error("its arguments are not valid JSON: {0}")]
    NoJsonInText(WireError),
    #[error("its arguments are not an object")]
    OtherArguments,
    #[error("it names no event, and `{0}` is none of this agent's")]
    EventOfAnotherAgent(String),
    #[error("it names no event, and none was given")]
    NoEvent,
    #[error("unknown event `{0}`")]
    UnknownEvent(String),
    #[error("it says `{0}`, configured is `{1}`")]
    OtherEvent(String, &'static str),
    #[error("it is about a tool, but names none")]
    NoTool,
    #[error("its tool has a name of no tool's length")]
    LongTool,
    #[error("it gives the tool two names, `{0}` and `{1}`")]
    TwoNames(String, String),
    #[error("it gives the tool two sets of arguments, `{0}` and `{1}`")]
    TwoArguments(&'static str, &'static str),
    #[error("its `tool_info` is not an object")]
    ToolInfo,
    #[error("its `tool_info` says `command` and `command_line`, and not the same")]
    TwoCommands,
}

/// Reads the bytes an agent wrote into one JSON object.
///
/// Byte order marks are dropped (PowerShell writes one). A lone surrogate escape such as `\ud800`
/// becomes U+FFFD: Gemini and Qwen pass on what the model wrote, and no strict parser takes it. A
/// key that appears twice is refused: what the agent would run is then not what a guard would see.
pub(super) fn parse(bytes: &[u8]) -> Result<JsonObject, PayloadError> {
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") || bytes.get(1) == Some(&0)
    {
        return Err(PayloadError::Utf16);
    }
    let mut bytes = bytes;
    while let Some(rest) = bytes.strip_prefix(BOM) {
        bytes = rest;
    }
    let mut bytes = bytes.to_vec();
    repair_lone_surrogates(&mut bytes);
    let text = text_of(&bytes);
    if text.trim().is_empty() {
        return Err(PayloadError::Empty);
    }
    match parse_strict(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(PayloadError::NotAnObject),
        Err(error) => Err(PayloadError::NotJson(error)),
    }
}

/// Returns bytes as text; what is not UTF-8 in it is replaced. Nearly all is UTF-8, and that is checked
/// faster.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Returns tool arguments as an object: some agents send an object, some its JSON in a string. The
/// bare text of a patch stands under `input`.
///
/// # Errors
/// When they are neither, or a string that looks like an object and can't be read as one: the agent
/// may read it all the same, and a guard would look for a command that it does not see.
pub(super) fn arguments(value: &Value) -> Result<JsonObject, PayloadError> {
    match value {
        Value::Object(object) => Ok(object.clone()),
        Value::Null => Ok(JsonObject::new()),
        Value::String(text) => {
            if !text.trim_start_matches(begins_text).starts_with('{') {
                return Ok(one_argument(value));
            }
            let mut bytes = text.as_bytes().to_vec();
            repair_lone_surrogates(&mut bytes);
            match parse_strict(&String::from_utf8_lossy(&bytes)) {
                Ok(Value::Object(object)) => Ok(object),
                Ok(_) => Err(PayloadError::NoObjectInText),
                Err(error) => Err(PayloadError::NoJsonInText(error)),
            }
        }
        _ => Err(PayloadError::OtherArguments),
    }
}

fn begins_text(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Returns any value but an object as the one argument `input`.
pub(super) fn one_argument(value: &Value) -> JsonObject {
    JsonObject::from_iter([("input".to_owned(), value.clone())])
}

/// Returns the text of the first of `keys` that holds a string.
pub(super) fn text(object: &JsonObject, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| Some(object.get(*key)?.as_str()?.to_owned()))
}

/// Returns the first of `keys` that is there and not `null`.
pub(super) fn value<'a>(object: &'a JsonObject, keys: &[&str]) -> Option<&'a Value> {
    for key in keys {
        if let Some(value) = object.get(*key)
            && !value.is_null()
        {
            return Some(value);
        }
    }
    None
}

/// Returns what a value says as text: a string as it is, anything else as JSON.
pub(super) fn spoken(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        _ => match value.get("for_llm") {
            Some(Value::String(text)) => Cow::Borrowed(text),
            _ => Cow::Owned(value.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payload_is_read_as_it_really_comes() {
        let mut bytes = BOM.to_vec();
        bytes.extend_from_slice(br#"{"a":"x\ud800y","b":"raw "#);
        bytes.extend_from_slice(b"\xED\xA0\x80 and \xff\"}\r\n");
        let object = parse(&bytes).unwrap();
        assert_eq!(object["a"], "x\u{FFFD}y");
        assert!(object["b"].as_str().unwrap().starts_with("raw \u{FFFD}"));
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_reason() {
        for (bytes, reason) in [
            ("", "standard input is empty"),
            (" \n", "standard input is empty"),
            ("[]", "standard input is JSON, but not an object"),
            (r#"{"a":1,"a":2}"#, "key `a` appears twice"),
            ("{\"a\":", "standard input is not JSON"),
            ("{} {}", "standard input is not JSON"),
        ] {
            let error = parse(bytes.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{bytes}: {error}");
        }
    }

    #[test]
    fn arguments_come_as_an_object_or_as_its_text() {
        let read = |text: &str| arguments(&serde_json::from_str(text).unwrap());
        for (text, expected) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#""*** Begin Patch""#, r#"{"input":"*** Begin Patch"}"#),
            (r#""{\"a\":\"\\ud800\"}""#, "{\"a\":\"\u{FFFD}\"}"),
            ("null", "{}"),
        ] {
            assert_eq!(Value::Object(read(text).unwrap()).to_string(), expected);
        }
        let deep = json!(format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200))).to_string();
        for text in ["[1]", "5", "true", r#""{\"a\":1,\"a\":2}""#, r#"" {oops""#, &deep] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("its arguments are no"), "{text}: {error}");
        }
    }
}
