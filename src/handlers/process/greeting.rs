//! The handshake: `hook.hello`, or `initialize` with an MCP server.

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout_at;

use super::connection::Connection;
use crate::config::{Process, Protocol};
use crate::event::Event;
use crate::handler::{Failure, HandlerError};
use crate::wire::json_bytes;
use hookexec_files::json::parse_object;
use hookexec_files::rpc::{self, mcp};

const HELLO: &str = "hook.hello";

/// The hint for a process that does not answer in time.
const HINT: &str =
    "does it flush its stdout after each line? If it needs longer, raise its `start_timeout`";

/// The modes of PicoClaw, in the order in which it names them.
const MODES: [&str; 4] = ["observe", "llm", "tool", "approve"];

/// The modes and events that a process is called for.
#[derive(Debug, Default)]
pub(super) struct Roles {
    modes: BTreeSet<&'static str>,
    events: BTreeSet<Event>,
}

impl Roles {
    /// Notes that the process is called, or told, at `event`.
    pub(super) fn add(&mut self, mode: Option<&'static str>, event: Event) {
        self.modes.extend(mode);
        self.events.insert(event);
    }

    /// Returns the params of the handshake.
    pub(super) fn greeting(&self, protocol: Protocol, name: &str) -> Vec<u8> {
        if protocol == Protocol::Mcp {
            return mcp::initialize_params();
        }
        let modes: Vec<&str> = MODES.into_iter().filter(|mode| self.modes.contains(mode)).collect();
        // The version of the protocol.
        json_bytes(&json!({ "name": name, "version": 1, "modes": modes, "events": self.events }))
    }
}

/// The answer to `hook.hello`. Other keys are the process's own.
#[derive(Debug, Deserialize)]
struct Greeting {
    ok: Option<bool>,
    reason: Option<String>,
    /// Whether the process wants to hear of calls that were given up.
    cancel: Option<bool>,
}

/// Sends a child the greeting and waits for its answer. Returns whether it wants to hear of calls that
/// were given up.
pub(super) async fn greet(
    connection: &Connection,
    process: &Process,
    params: &[u8],
) -> Result<bool, HandlerError> {
    let Process { protocol, start_timeout, .. } = process;
    let method = match protocol {
        Protocol::Hooks => HELLO,
        Protocol::Mcp => mcp::INITIALIZE,
    };
    let deadline = Instant::now() + *start_timeout;
    let reply = match connection.call(method, params, deadline).await {
        Ok(reply) => reply,
        Err(error) => return Err(error.into_failure("it", method, *start_timeout, HINT)),
    };
    if *protocol == Protocol::Hooks {
        return read_greeting(&reply);
    }
    if let Err(problem) = mcp::read_initialized(&reply) {
        return Err(unusable(method, &problem.to_string()));
    }
    let line = rpc::notification(mcp::INITIALIZED, b"{}");
    // If it can't be written, the next call finds out why.
    let _ = timeout_at(deadline.into(), connection.send(line)).await;
    Ok(true)
}

fn read_greeting(result: &str) -> Result<bool, HandlerError> {
    let answer = parse_object(result).map_err(|error| unusable(HELLO, &error.to_string()))?;
    let answer = Value::Object(answer.unwrap_or_default());
    let greeting =
        Greeting::deserialize(answer).map_err(|error| unusable(HELLO, &error.to_string()))?;
    if greeting.ok == Some(false) {
        let reason = greeting.reason.unwrap_or_else(|| "it gave no reason".to_owned());
        return Err(HandlerError::new(Failure::Start, format!("it refused to serve: {reason}")));
    }
    Ok(greeting.cancel == Some(true))
}

fn unusable(method: &str, problem: &str) -> HandlerError {
    let message = format!("its answer to `{method}` can't be used: {problem}");
    HandlerError::new(Failure::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greeting_names_modes_in_a_fixed_order() {
        let mut roles = Roles::default();
        roles.add(Some("tool"), Event::PostToolUse);
        roles.add(Some("observe"), Event::Stop);
        roles.add(Some("tool"), Event::PreToolUse);
        roles.add(None, Event::SessionStart);
        let params: Value =
            serde_json::from_slice(&roles.greeting(Protocol::Hooks, "gate")).unwrap();
        assert_eq!(
            params,
            json!({
                "name": "gate",
                "version": 1,
                "modes": ["observe", "tool"],
                "events": ["pre_tool_use", "post_tool_use", "session_start", "stop"],
            })
        );
    }

    #[test]
    fn every_answer_that_is_not_a_refusal_is_welcome() {
        for answer in ["null", "{}", r#"{"ok":true,"name":"g","version":"7","capabilities":[]}"#] {
            assert_eq!(read_greeting(answer), Ok(false), "{answer}");
        }
        assert_eq!(read_greeting(r#"{"ok":true,"cancel":true}"#), Ok(true));
    }

    #[test]
    fn a_refusal_is_heard_with_its_reason() {
        for (answer, message) in [
            (r#"{"ok":false,"reason":"no key"}"#, "it refused to serve: no key"),
            (r#"{"ok":false}"#, "it refused to serve: it gave no reason"),
        ] {
            assert_eq!(read_greeting(answer).unwrap_err().message, message);
        }
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_one() {
        for answer in
            ["[]", "\"ok\"", r#"{"ok":"false"}"#, r#"{"ok":false,"ok":true}"#, r#"{"cancel":1}"#]
        {
            let error = read_greeting(answer).unwrap_err();
            assert_eq!(error.failure, Failure::Protocol, "{answer}");
        }
    }
}
