//! The requests of the client that are not answered yet.

use std::collections::{HashMap, HashSet};

use hookexec::lifecycle::ToolError;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::server::ErrorCode;
use crate::server::protocol::{Refusal, refuse};

/// A response of the server: its line, and its `result` or `error`.
pub(super) struct Response {
    pub(super) line: Vec<u8>,
    pub(super) answer: Result<Value, Value>,
}

/// The response to a call, or why there is none.
pub(super) type Reply = Result<Response, ToolError>;

/// The requests that the client waits for.
///
/// A call has an id of its own at the server. A late answer to a call that was cancelled can
/// therefore not pass for the answer to a later request.
#[derive(Default)]
pub(super) struct Requests {
    /// How many calls there were.
    count: u64,
    /// The open calls, by their ids at the server.
    calls: HashMap<u64, PendingCall>,
    /// The ids of all others.
    others: HashSet<Value>,
}

struct PendingCall {
    /// Its id at the client.
    id: Value,
    /// `None` once the server has answered.
    reply: Option<oneshot::Sender<Reply>>,
    /// Dropped with the call, also when the client cancels it: that ends [`CallHandle::open`].
    _open: oneshot::Sender<()>,
}

/// The ends of an open call for the task that drives it.
pub(super) struct CallHandle {
    /// The id at the server.
    pub(super) id: u64,
    pub(super) reply: oneshot::Receiver<Reply>,
    /// Ends when the client cancels the call.
    pub(super) open: oneshot::Receiver<()>,
}

impl Requests {
    /// Returns whether a request of the client with this id is open.
    pub(super) fn has(&self, id: &Value) -> bool {
        self.others.contains(id) || self.calls.values().any(|call| call.id == *id)
    }

    /// Keeps a request that is not a call.
    pub(super) fn add(&mut self, id: Value) {
        self.others.insert(id);
    }

    /// Keeps a call.
    pub(super) fn add_call(&mut self, id: &Value) -> CallHandle {
        // Other requests keep the ids of the client, which usually count from 0 or 1: those of calls
        // begin far above. Some servers read ids as 32-bit numbers.
        let server_id = 1_000_000_000 + self.count;
        self.count += 1;
        let (sender, reply) = oneshot::channel();
        let (still_open, open) = oneshot::channel();
        let call = PendingCall { id: id.clone(), reply: Some(sender), _open: still_open };
        self.calls.insert(server_id, call);
        CallHandle { id: server_id, reply, open }
    }

    /// Forgets a request that the client has cancelled. Returns its id at the server.
    pub(super) fn cancel(&mut self, id: &Value) -> Value {
        self.others.remove(id);
        for (&server_id, call) in &self.calls {
            if call.id == *id {
                self.calls.remove(&server_id);
                return server_id.into();
            }
        }
        id.clone()
    }

    /// Ends a call. Returns whether the client still waits for it.
    pub(super) fn end_call(&mut self, server_id: u64) -> bool {
        self.calls.remove(&server_id).is_some()
    }

    /// Delivers a response of the server to the task of its call. Returns the line for the client if it
    /// is the response to another request.
    pub(super) fn take_response(&mut self, id: &Value, response: Response) -> Option<Vec<u8>> {
        let call = id.as_u64().and_then(|server_id| self.calls.get_mut(&server_id));
        if let Some(reply) = call.and_then(|call| call.reply.take()) {
            let _ = reply.send(Ok(response));
        } else if self.others.remove(id) {
            return Some(response.line);
        } else {
            let problem = format!("no request with the id {id} is open");
            tracing::warn!("a response of the MCP server is dropped: {problem}");
        }
        None
    }

    /// Fails all open requests. Returns the lines that the client gets now.
    pub(super) fn fail_all(&mut self, why: &str) -> Vec<Vec<u8>> {
        for call in self.calls.values_mut() {
            if let Some(reply) = call.reply.take() {
                let _ = reply.send(Err(ToolError::new(why)));
            }
        }
        let failed = self.others.drain();
        failed.map(|id| refuse(&id, Refusal::new(ErrorCode::Internal, why))).collect()
    }
}
