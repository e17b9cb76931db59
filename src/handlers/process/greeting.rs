//! The handshake: `hook.hello`, or `initialize` with an MCP server.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::time::timeout_at;

use super::connection::{CallError, Connection};
use crate::config::{Process, Protocol};
use crate::event::Event;
use crate::handler::{Failure, HandlerError};
use crate::handlers::mcp::wire as mcp;
use crate::wire::{JsonObject, parse_object};

/// Returns the method of the handshake.
const fn method(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Hooks => "hook.hello",
        Protocol::Mcp => mcp::INITIALIZE,
    }
}

/// The hint for a process that does not answer in time.
const HINT: &str =
    "does it flush its stdout after each line? If it needs longer, raise its `start_timeout`";

/// The version of the protocol.
const VERSION: u32 = 1;

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
        let events: Vec<&str> = self.events.iter().map(|event| event.name()).collect();
        json!({ "name": name, "version": VERSION, "modes": modes, "events": events })
            .to_string()
            .into_bytes()
    }
}

/// The answer of a process to the greeting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The name that it gives itself.
    pub(super) name: Option<String>,
    /// Whether it wants to hear of calls that were given up.
    pub(super) cancels: bool,
}

/// Why there is no greeting.
#[derive(Debug, PartialEq)]
pub(super) enum Unwelcome {
    /// The process does not want to serve; why.
    Refused(String),
    /// There was no answer, or it can't be understood.
    Failed(HandlerError),
}

/// Sends a child the greeting and waits for its answer.
pub(super) async fn greet(
    connection: &Connection,
    process: &Process,
    params: &[u8],
) -> Result<Greeting, Unwelcome> {
    let Process { protocol, start_timeout, .. } = process;
    let method = method(*protocol);
    let deadline = Instant::now() + *start_timeout;
    let mut reply = connection.call(method, params, deadline).await;
    if let Err(CallError::Unsent) = reply
        && let Ok(end) = timeout_at(deadline.into(), connection.wait_end()).await
    {
        reply = Err(CallError::Ended(end));
    }
    let reply = reply.map_err(|error| {
        Unwelcome::Failed(error.into_failure("it", method, *start_timeout, HINT))
    })?;
    let greeting = read_greeting(*protocol, &reply)?;
    if *protocol == Protocol::Mcp {
        // If it can't be written, the next call finds out why.
        let _ = connection.notify(mcp::INITIALIZED, b"{}", deadline).await;
    }
    Ok(greeting)
}

/// Reads the result of the handshake. Whatever else stands in it is the process's own affair.
fn read_greeting(protocol: Protocol, result: &str) -> Result<Greeting, Unwelcome> {
    if protocol == Protocol::Mcp {
        let server =
            mcp::read_initialized(result).map_err(|problem| unusable(protocol, &problem))?;
        return Ok(Greeting { name: server.name, cancels: true });
    }
    let answer = parse_object(result).map_err(|problem| unusable(protocol, &problem))?;
    let answer = answer.unwrap_or_default();
    if !boolean(&answer, "ok", true)? {
        let keys = ["reason", "error", "message"];
        let reason = keys.into_iter().find_map(|key| text(&answer, key));
        return Err(Unwelcome::Refused(reason.unwrap_or_else(|| "it gave no reason".to_owned())));
    }
    let cancels = boolean(&answer, "cancel", false)?;
    Ok(Greeting { name: text(&answer, "name"), cancels })
}

fn boolean(answer: &JsonObject, key: &str, default: bool) -> Result<bool, Unwelcome> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(unusable(Protocol::Hooks, &format!("`{key}` must be true or false"))),
    }
}

/// Returns a text that is not empty.
fn text(answer: &JsonObject, key: &str) -> Option<String> {
    let text = answer.get(key)?.as_str()?;
    if text.is_empty() { None } else { Some(text.to_owned()) }
}

fn unusable(protocol: Protocol, problem: &str) -> Unwelcome {
    let method = method(protocol);
    let message = format!("its answer to `{method}` can't be used: {problem}");
    Unwelcome::Failed(HandlerError::new(Failure::Protocol, message))
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
        for answer in ["null", "{}", r#"{"ok":true,"version":"7","capabilities":[]}"#] {
            assert_eq!(read_greeting(Protocol::Hooks, answer), Ok(Greeting::default()), "{answer}");
        }
        let greeting = Greeting { name: Some("gate".into()), cancels: true };
        assert_eq!(
            read_greeting(Protocol::Hooks, r#"{"ok":true,"name":"gate","cancel":true}"#),
            Ok(greeting)
        );
    }

    #[test]
    fn a_refusal_is_heard_with_its_reason() {
        let refused = |reason: &str| Err(Unwelcome::Refused(reason.to_owned()));
        assert_eq!(
            read_greeting(Protocol::Hooks, r#"{"ok":false,"reason":"no key"}"#),
            refused("no key")
        );
        assert_eq!(
            read_greeting(Protocol::Hooks, r#"{"ok":false,"error":"no key"}"#),
            refused("no key")
        );
        assert_eq!(read_greeting(Protocol::Hooks, r#"{"ok":false}"#), refused("it gave no reason"));
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_one() {
        for answer in
            ["[]", "\"ok\"", r#"{"ok":"false"}"#, r#"{"ok":false,"ok":true}"#, r#"{"cancel":1}"#]
        {
            assert!(
                matches!(read_greeting(Protocol::Hooks, answer), Err(Unwelcome::Failed(_))),
                "{answer}"
            );
        }
    }
}
