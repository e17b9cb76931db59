//! An MCP server behind an address: streamable HTTP.
//!
//! Each call has a session of its own, if the server keeps sessions. So no call depends on what
//! another one left behind, and the server keeps nothing.

use std::time::{Duration, Instant};

use super::CALL;
use crate::client::{Ask, Reply};
use crate::endpoint::Endpoint;
use hookexec::{Failure, HandlerError};
use hookexec_files::rpc::{self, Incoming, mcp};

/// The headers of MCP.
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// The headers of a session.
type Session<'s> = [(&'s str, &'s str)];

/// Calls a tool and returns the JSON text of the result. Blocks until `deadline`.
pub(super) fn call(
    server: &Endpoint,
    params: &[u8],
    deadline: Instant,
) -> Result<String, HandlerError> {
    let hello = rpc::request(1, mcp::INITIALIZE, &mcp::initialize_params());
    let welcome = post(server, &hello, &[], deadline)?;
    let host = server.client.host();
    let result = result_in(host, &welcome, 1, mcp::INITIALIZE)?;
    let version = mcp::read_initialized(&result).map_err(|problem| {
        unusable(host, &format!("its answer to `{}`: {problem}", mcp::INITIALIZE))
    })?;
    let mut session = vec![(VERSION, version.as_str())];
    let Some(id) = welcome.header(SESSION) else {
        return call_in(server, &session, params, deadline);
    };
    session.push((SESSION, id));
    let result = call_in(server, &session, params, deadline);
    let left = deadline.saturating_duration_since(Instant::now()) / 2;
    // How long the end of a session may take: the answer waits for it.
    server.client.delete(&session, left.min(Duration::from_millis(500)));
    result
}

fn call_in(
    server: &Endpoint,
    session: &Session<'_>,
    params: &[u8],
    deadline: Instant,
) -> Result<String, HandlerError> {
    post(server, &rpc::notification(mcp::INITIALIZED, b"{}"), session, deadline)?;
    let reply = post(server, &rpc::request(2, CALL, params), session, deadline)?;
    result_in(server.client.host(), &reply, 2, CALL)
}

fn post(
    server: &Endpoint,
    message: &[u8],
    session: &Session<'_>,
    deadline: Instant,
) -> Result<Reply, HandlerError> {
    let reply = server.ask(Ask::Post(message), session, deadline)?;
    if reply.status.is_success() {
        return Ok(reply);
    }
    let message = format!("{} answered {}", server.client.host(), reply.status);
    Err(HandlerError::new(Failure::Other, message))
}

/// Returns the result of the call `id` in a reply of `host`: one message, or a stream of them.
fn result_in(host: &str, reply: &Reply, id: u64, method: &str) -> Result<String, HandlerError> {
    let kind = reply.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let messages = match kind.trim() {
        "text/event-stream" => events(&reply.body),
        _ => vec![reply.body.clone()],
    };
    for message in messages {
        match Incoming::read(&message) {
            Incoming::Result { id: found, text } if found == id => return Ok(text),
            Incoming::Error { id: found, error } if found == id => {
                let message = format!("{host} answered `{method}` with {error}");
                return Err(HandlerError::new(Failure::Other, message));
            }
            Incoming::Unreadable { id: found, problem } if found == id => {
                return Err(unusable(host, &problem));
            }
            _ => {}
        }
    }
    Err(unusable(host, &format!("it has no answer to `{method}`")))
}

fn unusable(host: &str, problem: &str) -> HandlerError {
    let message = format!("the reply of {host} can't be used: {problem}");
    HandlerError::new(Failure::Protocol, message)
}

/// Returns the data of each event of a stream. The data of an event that was cut off is left out.
fn events(stream: &[u8]) -> Vec<Vec<u8>> {
    let (mut events, mut data): (Vec<Vec<u8>>, Vec<u8>) = (Vec::new(), Vec::new());
    for line in stream.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(text) = line.strip_prefix(b"data:") {
            data.extend_from_slice(text.strip_prefix(b" ").unwrap_or(text));
            data.push(b'\n');
        } else if line.is_empty() && !data.is_empty() {
            events.push(std::mem::take(&mut data));
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_whole_events_is_read() {
        let stream = b": hi\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid: 7\ndata:{}\n\ndata: {\"cut\"";
        assert_eq!(events(stream), [b"{\"a\":\n1}\n".to_vec(), b"{}\n".to_vec()]);
    }
}
