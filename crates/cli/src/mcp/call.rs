//! One call of a tool, from the client through the hooks to the server and back.

use hookexec::internal::tools;
use hookexec::lifecycle::{AuthorizedCall, ToolCall, ToolEnd, ToolError, ToolOutcome};
use hookexec::wire::JsonObject;
use hookexec::{Event, Executor, Input};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::message;
use super::proxy::Proxy;
use crate::runtime::sent;
use crate::{output, plain, report};

/// A call as the client sent it.
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) line: Vec<u8>,
    pub(super) message: JsonObject,
    pub(super) tool: ToolCall,
}

/// What the server answered to a call.
pub(super) enum Reply {
    /// A response, as a line and as JSON: its `result`, or its `error`.
    Response { line: Vec<u8>, answer: Result<Value, Value> },
    /// Why there is none.
    Lost(String),
}

impl Call {
    /// Takes the call through the hooks, and returns the line that answers it.
    pub(super) async fn drive(
        self,
        proxy: &Proxy,
        to_server: Sender<Vec<u8>>,
        cancelled: oneshot::Receiver<()>,
    ) -> Vec<u8> {
        let current = match proxy.engine.current(None).await {
            Ok(current) => current,
            Err(problem) => {
                return failure_or_text(&self.id, &format!("Tool call denied: {problem}"), true);
            }
        };
        let session = proxy.session(current.shared());
        let mut reply = None;
        let (call, said) = (&self, &mut reply);
        let work = async move |authorized: AuthorizedCall| {
            let line = call.line_of(&proxy.prefix, &authorized)?;
            let gone = || ToolError::new("the MCP server has ended");
            let answer = proxy.awaits(&call.id).ok_or_else(gone)?;
            to_server.send(line).await.map_err(|_| gone())?;
            // The server's stdin is closed when nothing more can be sent.
            drop(to_server);
            let reply = said.insert(answer.await.map_err(|_| gone())?);
            match reply {
                Reply::Response { answer: Ok(result), .. } if result["isError"] != true => {
                    Ok(result.clone())
                }
                Reply::Response { answer: Ok(failed) | Err(failed), .. } => {
                    Err(ToolError::with_response(failed.clone()))
                }
                Reply::Lost(why) => Err(ToolError::new(why.clone())),
            }
        };
        let not_run = proxy.is_verbose.then(|| self.not_run(current.shared().as_ref()));
        let outcome =
            session.tool_call(self.tool.clone()).cancelled_by(sent(cancelled)).run(work).await;
        for (_, told) in outcome.trail.system_messages() {
            output::talk(&format!("{told}\n"));
        }
        if let Some(not_run) = not_run {
            let verdicts = outcome.trail.verdicts().iter();
            let ran: String = verdicts.map(|verdict| report::hooks(&verdict.hooks)).collect();
            output::talk(&format!("{}\n{ran}{not_run}", plain::line(&self.tool.name)));
        }
        answer(&self.id, &outcome, reply)
    }

    /// Returns a line for each hook that does not judge this call before the server gets it.
    fn not_run(&self, executor: &Executor) -> String {
        let mut input = Input::for_tool(&self.tool.name, self.tool.arguments.clone());
        input.tool_kinds = tools::kinds_anywhere(&self.tool.name);
        let events = [Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse];
        events.map(|event| report::not_run(&executor.explain(event, &input))).concat()
    }

    /// Returns the line for the server: the client's own, unless a hook has changed the call.
    fn line_of(&self, prefix: &str, authorized: &AuthorizedCall) -> Result<Vec<u8>, ToolError> {
        let (name, arguments) = (authorized.name(), authorized.arguments());
        if *name == self.tool.name && *arguments == self.tool.arguments {
            return Ok(self.line.clone());
        }
        let Some(tool) = name.strip_prefix(prefix) else {
            let problem = format!(
                "Tool call denied: a hook wants the tool `{name}` instead, and this server does \
                 not have it"
            );
            return Err(ToolError::new(problem));
        };
        let mut message = Value::Object(self.message.clone());
        message["params"]["name"] = tool.into();
        message["params"]["arguments"] = Value::Object(arguments.clone());
        Ok(format!("{message}\n").into_bytes())
    }
}

/// Returns the line for the client: the server's own, unless the hooks have anything to say.
fn answer(id: &Value, outcome: &ToolOutcome, reply: Option<Reply>) -> Vec<u8> {
    if let ToolEnd::Ran { response, objection } | ToolEnd::Failed { response, objection, .. } =
        &outcome.end
    {
        let mut told: Vec<String> = objection.iter().cloned().collect();
        told.extend(outcome.trail.additional_context());
        if let Some(Reply::Response { line, answer: Ok(given) | Err(given) }) = reply
            && told.is_empty()
            && given == *response
        {
            return line;
        }
        if let Some(Value::Array(content)) = response.get("content") {
            let mut result = response.clone();
            let told = told.iter().map(|text| message::text(text));
            result["content"] = content.iter().cloned().chain(told).collect();
            return message::result(id, &result);
        }
    }
    failure_or_text(id, &outcome.for_model(), outcome.is_error())
}

/// Returns the line that answers a call with a text for the model.
pub(super) fn failure_or_text(id: &Value, text: &str, is_error: bool) -> Vec<u8> {
    // Clients of the revision 2026-07-28 want `resultType`, and all others ignore it.
    let result = json!({
        "resultType": "complete",
        "content": [message::text(text)],
        "isError": is_error,
    });
    message::result(id, &result)
}
