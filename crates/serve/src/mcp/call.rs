//! One call of a tool, from the client through the hooks to the server and back.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::future::pending;
use std::sync::Arc;

use hookexec::lifecycle::{
    AuthorizedCall, Session, ToolCall, ToolEnd, ToolError, ToolFacts, ToolOutcome,
};
use hookexec::wire::JsonObject;
use hookexec_agents::tools;
use hookexec_files::locks::locked;
use hookexec_files::rpc::mcp::text_result;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc::Sender;

use super::proxy::Proxy;
use super::requests::{CallHandle, Response};
use crate::server::ErrorCode;
use crate::server::protocol::{Refusal, answer};

/// A call as the client sent it.
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) line: Vec<u8>,
    pub(super) message: JsonObject,
    pub(super) tool: ToolCall,
    pub(super) handle: CallHandle,
}

impl Proxy {
    /// Takes a call through the hooks and answers it, unless the client has cancelled it.
    pub(super) async fn run_call(self: Arc<Self>, call: Call, to_server: Sender<Vec<u8>>) {
        let server_id = call.handle.id;
        let line = self.judge(call, to_server).await;
        if locked(&self.requests).end_call(server_id) {
            let _ = self.to_client.send(line).await;
        }
    }

    /// Returns the line that answers a call.
    async fn judge(&self, call: Call, to_server: Sender<Vec<u8>>) -> Vec<u8> {
        let Call { id, line, message, tool, handle } = call;
        let current = match self.setup.engine.current(None).await {
            Ok(current) => current,
            Err(problem) => return denied(&id, problem),
        };
        let executor = Arc::clone(&current.executor);
        let session = Session::builder(&self.setup.session_id).tools(facts).attach(executor);
        let mut received = None;
        let (sent, response) = (&tool, &mut received);
        let cancelled = async { drop(handle.open.await) };
        let run = session.tool_call(tool.clone()).cancelled_by(cancelled);
        let running = run.run(async move |authorized| {
            let is_changed =
                authorized.name() != sent.name || *authorized.arguments() != sent.arguments;
            let line = if is_changed { self.changed(message, &authorized)? } else { line };
            let line = with_id(&line, &handle.id.into())?;
            to_server.send(line).await.map_err(|_| ToolError::new("the MCP server has ended"))?;
            // The server's stdin is closed when nothing more can be sent.
            drop(to_server);
            // A cancelled call gets no reply: it ends by `cancelled`.
            let Ok(reply) = handle.reply.await else { return pending().await };
            match &response.insert(reply?).answer {
                Ok(result) => ToolError::of_mcp_result(result.clone()),
                Err(failed) => Err(ToolError::with_response(failed.clone())),
            }
        });
        let outcome = running.await;
        for (_, message) in outcome.trail.system_messages() {
            (self.setup.tell)(message);
        }
        line_for_client(&id, &outcome, received)
    }

    /// Returns a call as the hooks have changed it.
    fn changed(
        &self,
        mut message: JsonObject,
        call: &AuthorizedCall,
    ) -> Result<Vec<u8>, ToolError> {
        let Some(name) = call.name().strip_prefix(&self.setup.prefix) else {
            return Err(ToolError::new(format!(
                "Tool call denied: a hook wants the tool `{}` instead, and this server does not \
                 have it",
                call.name()
            )));
        };
        let params = &mut message["params"];
        params["name"] = name.into();
        params["arguments"] = Value::Object(call.arguments().clone());
        Ok(serde_json::to_vec(&message)?)
    }
}

/// Returns a message with another id. All else stays as it was written.
fn with_id(line: &[u8], id: &Value) -> serde_json::Result<Vec<u8>> {
    let mut message: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(line)?;
    message.insert("id".to_owned(), to_raw_value(id)?);
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    Ok(line)
}

fn facts(tool: &str) -> ToolFacts {
    let mut facts = ToolFacts::default();
    facts.kinds = tools::kinds_anywhere(tool);
    facts
}

/// Returns the line that the client gets: the server's, unless the hooks have anything to say.
fn line_for_client(id: &Value, outcome: &ToolOutcome, received: Option<Response>) -> Vec<u8> {
    if let ToolEnd::Ran { rewritten: false, .. } | ToolEnd::Failed { rewritten: false, .. } =
        &outcome.end
        && outcome.guidance().is_none()
        && let Some(Response { line, .. }) = received
        && let Ok(line) = with_id(&line, id)
    {
        return line;
    }
    answer(id, &Ok(&outcome.mcp_result()))
}

/// Reads the call of a tool, which is named `mcp__server__tool` from here on.
pub(super) fn tool_call(prefix: &str, message: &JsonObject) -> Result<ToolCall, Refusal> {
    let Some(Value::Object(params)) = message.get("params") else {
        return Err(invalid("`params` must be an object"));
    };
    let Some(Value::String(tool)) = params.get("name") else {
        return Err(invalid("`name` must be a text"));
    };
    for key in params.keys() {
        for known in ["name", "arguments"] {
            // In upper case, because Go also takes `ſ` for `s`.
            if key != known && key.to_uppercase() == known.to_uppercase() {
                return Err(invalid(format!("`{key}` must be written `{known}`")));
            }
        }
    }
    if params.contains_key("task") {
        let problem = "a call can't be a task behind `hookexec mcp`: hooks would miss its result";
        return Err(invalid(problem));
    }
    let arguments = params.get("arguments").cloned().unwrap_or_default();
    ToolCall::from_value(format!("{prefix}{tool}"), arguments)
        .map_err(|error| invalid(error.to_string()))
}

fn invalid(problem: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidParams, problem)
}

/// Returns the line that answers a call which was denied before the hooks were asked.
fn denied(id: &Value, why: impl Display) -> Vec<u8> {
    let result = text_result(&format!("Tool call denied: {why}"), true);
    answer(id, &Ok(&result))
}
