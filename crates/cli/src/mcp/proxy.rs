//! What goes from the client to the server, and back.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use hookexec::Executor;
use hookexec::internal::{locked, tools};
use hookexec::lifecycle::{Session, ToolFacts};
use hookexec::wire::{JsonObject, parse_strict};
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Semaphore, oneshot};

use super::call::{Call, Reply, failure_or_text};
use super::message::{self, Kind, Message, tool_call};
use crate::server::ErrorCode;
use crate::server::connection::{Gone, Lines, TooLong};
use crate::server::engine::Engine;
use crate::server::protocol::Refusal;

/// The longest line of either side.
const MAX_LINE: usize = 64 << 20;
/// How many requests of the client may be open.
const MOST_REQUESTS: usize = 1024;
/// How many calls go through the hooks at once; more wait.
const MOST_CALLS: usize = 64;

/// Requests that would get the result of a call past the hooks.
const PAST_HOOKS: [&str; 2] = ["tasks/get", "tasks/result"];

/// One connection of a client and a server.
pub(super) struct Proxy {
    pub(super) engine: Arc<Engine>,
    /// What the names of the tools begin with: `mcp__SERVER__`.
    pub(super) prefix: String,
    session_id: String,
    /// Whether each call is shown on stderr.
    pub(super) is_verbose: bool,
    requests: Mutex<Requests>,
    room: Semaphore,
}

/// The requests of the client, by the JSON of their ids.
#[derive(Default)]
struct Requests {
    /// Those that the client waits for.
    open: HashMap<String, Open>,
    /// Those that the server has and has not answered. It may still answer one that was cancelled,
    /// and a new request with its id would get that answer.
    at_server: HashSet<String>,
    /// Whether the server has ended.
    has_ended: bool,
}

/// A request of the client that is not answered.
enum Open {
    Call {
        /// `None` once the client has cancelled it.
        cancel: Option<oneshot::Sender<()>>,
        /// `None` unless the server has the call and has not answered it.
        reply: Option<oneshot::Sender<Reply>>,
    },
    Other,
}

impl Proxy {
    pub(super) fn new(
        engine: Arc<Engine>,
        server: &str,
        session_id: String,
        is_verbose: bool,
    ) -> Self {
        let (requests, room) = (Mutex::default(), Semaphore::new(MOST_CALLS));
        let prefix = format!("mcp__{server}__");
        Self { engine, prefix, session_id, is_verbose, requests, room }
    }

    /// Returns the session of this connection. Its start and its end are the client's affair.
    pub(super) fn session(&self, executor: Arc<Executor>) -> Session {
        let describe = |name: &str| {
            let mut facts = ToolFacts::default();
            facts.kinds = tools::kinds_anywhere(name);
            facts
        };
        Session::builder(&self.session_id).tools(describe).attach(executor)
    }

    /// Takes what the client sends, to its end.
    pub(super) async fn read_client(
        self: Arc<Self>,
        client: impl AsyncRead + Unpin,
        to_server: Sender<Vec<u8>>,
        to_client: Sender<Vec<u8>>,
    ) -> Result<(), Gone> {
        let mut lines = Lines::new(client, MAX_LINE);
        while let Some(line) = lines.next().await {
            let passed = match line {
                Ok(line) => self.pass_to_server(line, &to_server, &to_client),
                Err(TooLong) => Err(message::error(&Value::Null, too_long())),
            };
            let sent = match passed {
                Ok(Some(line)) => to_server.send(line).await,
                Ok(None) => Ok(()),
                Err(refusal) => to_client.send(refusal).await,
            };
            sent.map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// Takes what the server sends, to its end.
    pub(super) async fn read_server(
        self: Arc<Self>,
        server: impl AsyncRead + Unpin,
        to_client: Sender<Vec<u8>>,
    ) -> Result<(), Gone> {
        let mut lines = Lines::new(server, MAX_LINE);
        while let Some(line) = lines.next().await {
            let passed = if let Ok(line) = line {
                self.pass_to_client(line)
            } else {
                // The id may stand at its end.
                let problem = format!("the MCP server: {}", too_long().message);
                tracing::warn!("{problem}");
                self.fail_all(&problem)
            };
            for line in passed {
                to_client.send(line).await.map_err(|_| Gone)?;
            }
        }
        for line in self.end() {
            to_client.send(line).await.map_err(|_| Gone)?;
        }
        Ok(())
    }

    /// Returns what the server gets of a line of the client now.
    ///
    /// # Errors
    /// With the line that refuses it.
    fn pass_to_server(
        self: &Arc<Self>,
        mut line: Vec<u8>,
        to_server: &Sender<Vec<u8>>,
        to_client: &Sender<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Vec<u8>> {
        let message = Message::read(&line)
            .map_err(|(id, refusal)| message::error(&id.unwrap_or_default(), refusal))?;
        line.push(b'\n');
        let Message { kind, object } = message;
        match kind {
            Kind::Notification { method } if method == "tools/call" => {
                tracing::warn!("a `tools/call` without `id` is not sent to the MCP server");
                return Ok(None);
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel(&object);
            }
            Kind::Notification { .. } | Kind::Response { .. } => {}
            Kind::Request { id, method } if PAST_HOOKS.contains(&method.as_str()) => {
                let problem = format!("`{method}` does not work behind `hookexec mcp`");
                let refusal = Refusal::new(ErrorCode::MethodNotFound, problem);
                return Err(message::error(&id, refusal));
            }
            Kind::Request { id, method } if method == "tools/call" => {
                let tool = tool_call(&self.prefix, &id, &object)
                    .map_err(|refusal| message::error(&id, refusal))?;
                let (cancel, cancelled) = oneshot::channel();
                self.admit(&id, Open::Call { cancel: Some(cancel), reply: None })?;
                let call = Call { id, line, message: object, tool };
                let (to_server, to_client) = (to_server.clone(), to_client.clone());
                tokio::spawn(Arc::clone(self).run(call, to_server, to_client, cancelled));
                return Ok(None);
            }
            Kind::Request { id, .. } => self.admit(&id, Open::Other)?,
        }
        Ok(Some(line))
    }

    /// Drives a call and answers it, unless the client has cancelled it.
    async fn run(
        self: Arc<Self>,
        call: Call,
        to_server: Sender<Vec<u8>>,
        to_client: Sender<Vec<u8>>,
        cancelled: oneshot::Receiver<()>,
    ) {
        let id = call.id.clone();
        let _permit = self.room.acquire().await;
        let driven = AssertUnwindSafe(call.drive(&self, to_server, cancelled)).catch_unwind();
        let line = driven.await.unwrap_or_else(|_| {
            failure_or_text(&id, "Tool call denied: `hookexec mcp` is at fault: it panicked", true)
        });
        let open = locked(&self.requests).open.remove(&id.to_string());
        if let Some(Open::Call { cancel: Some(_), .. }) = open {
            let _ = to_client.send(line).await;
        }
    }

    /// Keeps an open request, by whose id the server will answer.
    fn admit(&self, id: &Value, request: Open) -> Result<(), Vec<u8>> {
        let mut requests = locked(&self.requests);
        // With its id, the client would take it for the answer to the other request.
        let refuse =
            |code, problem: String| Err(message::error(&Value::Null, Refusal::new(code, problem)));
        if requests.open.len() >= MOST_REQUESTS {
            return refuse(ErrorCode::Overloaded, format!("{MOST_REQUESTS} requests are open"));
        }
        let key = id.to_string();
        if requests.open.contains_key(&key) || requests.at_server.contains(&key) {
            let problem = format!("a request with the id {id} is open");
            return refuse(ErrorCode::InvalidRequest, problem);
        }
        if matches!(request, Open::Other) {
            requests.at_server.insert(key.clone());
        }
        requests.open.insert(key, request);
        Ok(())
    }

    /// Stops the hooks of a call that the client has cancelled.
    fn cancel(&self, notification: &JsonObject) {
        let Some(id) = notification.get("params").and_then(|params| params.get("requestId")) else {
            return;
        };
        let mut requests = locked(&self.requests);
        match requests.open.get_mut(&id.to_string()) {
            Some(Open::Call { cancel, .. }) => {
                let _ = cancel.take().map(|cancel| cancel.send(()));
            }
            // The server need not answer it.
            Some(Open::Other) => drop(requests.open.remove(&id.to_string())),
            None => {}
        }
    }

    /// Returns where the answer arrives to a call that is about to be sent to the server; `None` if
    /// it must not be sent.
    pub(super) fn awaits(&self, id: &Value) -> Option<oneshot::Receiver<Reply>> {
        let Requests { open, at_server, has_ended } = &mut *locked(&self.requests);
        match open.get_mut(&id.to_string()) {
            Some(Open::Call { cancel: Some(_), reply }) if !*has_ended => {
                let (sender, answer) = oneshot::channel();
                *reply = Some(sender);
                at_server.insert(id.to_string());
                Some(answer)
            }
            _ => None,
        }
    }

    /// Returns what the client gets of a line of the server now.
    ///
    /// A response must answer an open request: the client could take another one for the result of
    /// a call that the hooks have not seen.
    fn pass_to_client(&self, mut line: Vec<u8>) -> Vec<Vec<u8>> {
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err((id, refusal)) => {
                let problem =
                    format!("a line of the MCP server can't be read: {}", refusal.message);
                tracing::warn!("{problem}");
                return match id {
                    Some(id) => self.answered(&id, Reply::Lost(problem)),
                    None => self.fail_all(&problem),
                };
            }
        };
        line.push(b'\n');
        let Message { kind: Kind::Response { id }, mut object } = message else {
            return vec![line];
        };
        let error = object.remove("error");
        if id.is_null() && error.is_some() {
            return vec![line];
        }
        let answer = error.map_or_else(|| Ok(object.remove("result").unwrap_or_default()), Err);
        self.answered(&id, Reply::Response { line, answer })
    }

    /// Takes what the server answered to a request.
    fn answered(&self, id: &Value, reply: Reply) -> Vec<Vec<u8>> {
        let (mut requests, id) = (locked(&self.requests), id.to_string());
        requests.at_server.remove(&id);
        requests.settle(&id, reply).into_iter().collect()
    }

    /// Fails all open requests, and those that follow: the server has ended.
    pub(super) fn end(&self) -> Vec<Vec<u8>> {
        locked(&self.requests).has_ended = true;
        self.fail_all("the MCP server has ended")
    }

    /// Fails all open requests that the server has.
    fn fail_all(&self, why: &str) -> Vec<Vec<u8>> {
        let mut requests = locked(&self.requests);
        let ids: Vec<String> = requests.open.keys().cloned().collect();
        ids.iter().filter_map(|id| requests.settle(id, Reply::Lost(why.to_owned()))).collect()
    }
}

impl Requests {
    /// Gives an open request its answer: a line for the client now, unless it is a call.
    fn settle(&mut self, id: &str, reply: Reply) -> Option<Vec<u8>> {
        match (self.open.get_mut(id), reply) {
            (Some(Open::Call { reply: waiting @ Some(_), .. }), reply) => {
                let _ = waiting.take().map(|waiting| waiting.send(reply));
                None
            }
            (Some(Open::Other), reply) => {
                self.open.remove(id);
                Some(match reply {
                    Reply::Response { line, .. } => line,
                    Reply::Lost(why) => {
                        let id = parse_strict(id).unwrap_or_default();
                        message::error(&id, Refusal::new(ErrorCode::Internal, why))
                    }
                })
            }
            (_, Reply::Response { .. }) => {
                let problem = format!("no request with the id {id} is open");
                tracing::warn!("a response of the MCP server is dropped: {problem}");
                None
            }
            (_, Reply::Lost(_)) => None,
        }
    }
}

fn too_long() -> Refusal {
    let problem = format!("a line is longer than {} MiB", MAX_LINE >> 20);
    Refusal::new(ErrorCode::InvalidRequest, problem)
}
