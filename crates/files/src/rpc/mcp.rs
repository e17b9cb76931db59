//! The greeting of MCP, the Model Context Protocol, and results in its form.
//!
//! The greeting is read like all that comes from outside: with each key once.

use serde_json::{Value, json};

use crate::json::{StrictJsonError, parse_object};

/// The methods of a conversation.
pub const INITIALIZE: &str = "initialize";
/// The notification that ends the greeting.
pub const INITIALIZED: &str = "notifications/initialized";
/// The notification that withdraws a request.
pub const CANCELLED: &str = "notifications/cancelled";
/// The request that asks whether the other side is there.
pub const PING: &str = "ping";

/// The versions that begin with a handshake, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Why a server can't be used after the handshake.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// Its answer can't be read.
    #[error(transparent)]
    Json(#[from] StrictJsonError),
    /// It names no version.
    #[error("it has no `protocolVersion`")]
    NoVersion,
    /// It speaks a version that is not known.
    #[error("it speaks version `{0}` of MCP, and hookexec {known}", known = VERSIONS.join(", "))]
    Version(String),
    /// It offers nothing to call.
    #[error("it is a server without tools")]
    NoTools,
}

/// Returns a text as a block in the content of a result.
pub fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Returns the result of a tool call that is a text alone.
pub fn text_result(text: &str, is_error: bool) -> Value {
    // Clients of the revision 2026-07-28 want `resultType`, and all others ignore it.
    json!({ "resultType": "complete", "content": [text_block(text)], "isError": is_error })
}

/// Returns the params of the handshake.
pub fn initialize_params() -> Vec<u8> {
    json!({
        "protocolVersion": VERSIONS[0],
        "capabilities": {},
        "clientInfo": { "name": "hookexec", "version": env!("CARGO_PKG_VERSION") },
    })
    .to_string()
    .into_bytes()
}

/// Reads the result of the handshake, and returns the version that is spoken from now on.
pub fn read_initialized(result: &str) -> Result<String, HandshakeError> {
    let Some(object) = parse_object(result)? else {
        return Err(StrictJsonError::NotAnObject.into());
    };
    let result = Value::Object(object);
    let Some(version) = result["protocolVersion"].as_str() else {
        return Err(HandshakeError::NoVersion);
    };
    if !VERSIONS.contains(&version) {
        return Err(HandshakeError::Version(version.to_owned()));
    }
    if !result["capabilities"]["tools"].is_object() {
        return Err(HandshakeError::NoTools);
    }
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_must_have_tools_and_speak_a_known_version() {
        let sound = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s"}}"#;
        assert_eq!(read_initialized(sound).unwrap(), "2025-06-18");
        for (result, cause) in [
            (sound.replace("2025-06-18", "2030-01-01"), "speaks version `2030-01-01`"),
            (sound.replace("tools", "prompts"), "without tools"),
            ("{}".to_owned(), "no `protocolVersion`"),
            ("[]".to_owned(), "not an object"),
        ] {
            let problem = read_initialized(&result).unwrap_err().to_string();
            assert!(problem.contains(cause), "{result}: {problem}");
        }
    }
}
