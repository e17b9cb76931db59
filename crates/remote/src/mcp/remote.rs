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

pub(super) struct Remote(Endpoint);

/// The headers of a session.
type Session<'s> = [(&'s str, &'s str)];

impl Remote {
    pub(super) const fn new(endpoint: Endpoint) -> Self {
        Self(endpoint)
    }

    pub(super) fn host(&self) -> &str {
        self.0.client.host()
    }

    /// Calls a tool and returns the JSON text of the result. Blocks until `deadline`.
    pub(super) fn call(&self, params: &[u8], deadline: Instant) -> Result<String, HandlerError> {
        let hello = rpc::request(1, mcp::INITIALIZE, &mcp::initialize_params());
        let welcome = self.post(&hello, &[], deadline)?;
        let result = self.result(&welcome, 1, mcp::INITIALIZE)?;
        let server = mcp::read_initialized(&result).map_err(|problem| {
            self.protocol(&format!("its answer to `{}`: {problem}", mcp::INITIALIZE))
        })?;
        let version = (VERSION, server.version.as_str());
        let Some(id) = welcome.header(SESSION) else {
            return self.call_in(&[version], params, deadline);
        };
        let session = [(SESSION, id), version];
        let result = self.call_in(&session, params, deadline);
        let left = deadline.saturating_duration_since(Instant::now()) / 2;
        // How long the end of a session may take: the answer waits for it.
        self.0.client.delete(&session, left.min(Duration::from_millis(500)));
        result
    }

    fn call_in(
        &self,
        session: &Session<'_>,
        params: &[u8],
        deadline: Instant,
    ) -> Result<String, HandlerError> {
        self.post(&rpc::notification(mcp::INITIALIZED, b"{}"), session, deadline)?;
        let reply = self.post(&rpc::request(2, CALL, params), session, deadline)?;
        self.result(&reply, 2, CALL)
    }

    fn post(
        &self,
        message: &[u8],
        session: &Session<'_>,
        deadline: Instant,
    ) -> Result<Reply, HandlerError> {
        let reply = self.0.ask(Ask::Post(message), session, deadline)?;
        if reply.status.is_success() {
            return Ok(reply);
        }
        let message = format!("{} answered {}", self.host(), reply.status);
        Err(HandlerError::new(Failure::Other, message))
    }

    /// Returns the result of the call `id` in a reply: one message, or a stream of them.
    fn result(&self, reply: &Reply, id: u64, method: &str) -> Result<String, HandlerError> {
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
                    let message = format!("{} answered `{method}` with {error}", self.host());
                    return Err(HandlerError::new(Failure::Other, message));
                }
                Incoming::Unreadable { id: found, problem } if found == id => {
                    return Err(self.protocol(&problem));
                }
                _ => {}
            }
        }
        Err(self.protocol(&format!("it has no answer to `{method}`")))
    }

    fn protocol(&self, problem: &str) -> HandlerError {
        let message = format!("the reply of {} can't be used: {problem}", self.host());
        HandlerError::new(Failure::Protocol, message)
    }
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
