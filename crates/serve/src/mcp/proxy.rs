//! The two directions: what goes from the client to the server, and back.

use std::sync::{Arc, Mutex};

use hookexec::wire::JsonObject;
use hookexec_files::bounded::MAX_MESSAGE;
use hookexec_files::locks::locked;
use hookexec_files::rpc::mcp;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc::Sender;

use super::Setup;
use super::call::{Call, tool_call};
use super::requests::{Requests, Response};
use crate::server::ErrorCode;
use crate::server::connection::{Lines, TooLong};
use crate::server::protocol::{Message, Refusal, Refused, refuse};

/// Requests that would get the result of a call past the hooks.
const PAST_HOOKS: [&str; 2] = ["tasks/get", "tasks/result"];

/// One connection of a client and a server.
pub(super) struct Proxy {
    pub(super) setup: Setup,
    pub(super) to_client: Sender<Vec<u8>>,
    pub(super) requests: Mutex<Requests>,
}

impl Proxy {
    /// Passes on the lines of the client, to their end.
    pub(super) async fn read_client(
        self: Arc<Self>,
        client: impl AsyncRead + Unpin,
        to_server: Sender<Vec<u8>>,
    ) {
        let mut lines = Lines::new(client, MAX_MESSAGE);
        while let Some(line) = lines.next().await {
            let passed = match line {
                Ok(line) => self.pass_to_server(line, &to_server),
                Err(TooLong) => Err((Value::Null, too_long())),
            };
            let sent = match passed {
                Ok(Some(line)) => to_server.send(line).await,
                Ok(None) => Ok(()),
                Err((id, refusal)) => self.to_client.send(refuse(&id, refusal)).await,
            };
            if sent.is_err() {
                return;
            }
        }
    }

    /// Passes on the lines of the server, to their end.
    pub(super) async fn read_server(self: Arc<Self>, server: impl AsyncRead + Unpin) {
        let mut lines = Lines::new(server, MAX_MESSAGE);
        while let Some(line) = lines.next().await {
            match line {
                Ok(line) => self.pass_to_client(line).await,
                // The id may stand at its end.
                Err(TooLong) => {
                    self.fail_all(&format!("the MCP server: {}", too_long().message)).await;
                }
            }
        }
    }

    /// Returns the line that the server gets of a line of the client now.
    fn pass_to_server(
        self: &Arc<Self>,
        mut line: Vec<u8>,
        to_server: &Sender<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Refused> {
        let message = Message::read(&line)?;
        line.push(b'\n');
        let mut requests = locked(&self.requests);
        match message {
            Message::Request { id, .. } if requests.has(&id) => {
                // With its id, the client would take the error for the answer to the other request.
                let problem = format!("a request with the id {id} is open");
                return Err((Value::Null, Refusal::new(ErrorCode::InvalidRequest, problem)));
            }
            Message::Request { id, method, .. } if PAST_HOOKS.contains(&method.as_str()) => {
                let problem = format!("`{method}` does not work behind `hookexec mcp`");
                return Err((id, Refusal::new(ErrorCode::MethodNotFound, problem)));
            }
            Message::Request { id, method, object } if method == "tools/call" => {
                drop(requests);
                let started = self.start_call(&id, line, object, to_server);
                return started.map(|()| None).map_err(|refusal| (id, refusal));
            }
            Message::Request { id, .. } => requests.add(id),
            Message::Notification { method, .. } if method == "tools/call" => {
                tracing::warn!("a `tools/call` without `id` is not sent to the MCP server");
                return Ok(None);
            }
            Message::Notification { method, mut object } if method == mcp::CANCELLED => {
                if let Some(Value::Object(params)) = object.get_mut("params")
                    && let Some(id) = params.get_mut("requestId")
                {
                    *id = requests.cancel(id);
                    line = format!("{}\n", Value::Object(object)).into_bytes();
                }
            }
            Message::Notification { .. } | Message::Response { .. } => {}
        }
        Ok(Some(line))
    }

    /// Starts a task that drives a call.
    fn start_call(
        self: &Arc<Self>,
        id: &Value,
        line: Vec<u8>,
        message: JsonObject,
        to_server: &Sender<Vec<u8>>,
    ) -> Result<(), Refusal> {
        let tool = tool_call(&self.setup.prefix, &message)?;
        let tool = tool.with_id(id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        let handle = locked(&self.requests).add_call(id);
        let call = Call { id: id.clone(), line, message, tool, handle };
        tokio::spawn(Arc::clone(self).run_call(call, to_server.clone()));
        Ok(())
    }

    /// Passes on a line of the server.
    ///
    /// A response must answer an open request: the client could take another one for the result of
    /// a call that the hooks have not seen.
    async fn pass_to_client(&self, mut line: Vec<u8>) {
        let message = Message::read(&line);
        let is_answer = String::from_utf8_lossy(&line).contains("\"id\"");
        line.push(b'\n');
        let passed = match message {
            // With a `null` id, the server says that it could not read a line.
            Ok(Message::Response { id, answer }) if !id.is_null() || answer.is_ok() => {
                locked(&self.requests).take_response(&id, Response { line, answer })
            }
            Ok(_) => Some(line),
            Err((_, refusal)) => {
                let cause = refusal.message;
                let problem = format!("a line of the MCP server can't be read: {cause}");
                if is_answer {
                    self.fail_all(&problem).await;
                } else {
                    tracing::warn!("{problem}");
                }
                None
            }
        };
        if let Some(line) = passed {
            // The proxy ends once the client is gone.
            let _ = self.to_client.send(line).await;
        }
    }

    /// Fails all open requests.
    pub(super) async fn fail_all(&self, problem: &str) {
        tracing::warn!("{problem}");
        let failed = locked(&self.requests).fail_all(problem);
        for line in failed {
            let _ = self.to_client.send(line).await;
        }
    }
}

fn too_long() -> Refusal {
    let problem = format!("a line is longer than {} MiB", MAX_MESSAGE >> 20);
    Refusal::new(ErrorCode::InvalidRequest, problem)
}
