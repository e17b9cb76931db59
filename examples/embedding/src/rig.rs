//! An agent of `rig` behind hooks: each prompt is a turn, and each call of its model and of its tools
//! goes through the hooks.

use std::error::Error;
use std::fmt::Display;
use std::sync::Arc;

use hookexec::handler::BoxFuture;
use hookexec::lifecycle::{
    Approval, ApprovalRequest, ModelRequest, Outcome, Session, ToolCall, ToolError, Turn, TurnEnd,
};
use rig_agent::Agent;
use rig_core::completion::CompletionRequest;
use rig_core::effect::{EffectKind, HandlerDescriptor, Outcome as Answer};
use rig_core::error::{ErrorKind, ErrorReport};
use rig_core::message::AssistantContent;
use rig_core::serve::{Dispatch, Reply, Serve};
use rig_core::tool::{ToolOutput, ToolResult};
use serde_json::{Value, json};

/// Runs a prompt as a turn of `session`. `build` returns the agent, whose model and tools are
/// [`Hooked`].
pub async fn prompt(
    session: &Session,
    prompt: &str,
    build: impl FnOnce(&Arc<Turn>) -> Result<Agent, ErrorReport>,
) -> Outcome<String> {
    let turn = session.run_turn(prompt, async |turn| {
        let agent = build(&turn).map_err(TurnEnd::failed)?;
        let context = turn.opening().additional_context().unwrap_or_default();
        let (mut said, mut history) = (format!("{context}\n\n{prompt}"), Vec::new());
        loop {
            let answer = agent.prompt(said.trim()).history(history.clone()).await;
            let answer = answer.map_err(TurnEnd::failed)?;
            history.extend(answer.messages.iter().cloned());
            match turn.finish(answer.output()).await {
                Ok(finished) => return Ok(finished),
                Err(reason) => said = reason,
            }
        }
    });
    turn.await
}

/// A model or a tool behind the hooks of a turn.
pub struct Hooked<S> {
    /// The model or the tool.
    pub inner: S,
    /// The turn.
    pub turn: Arc<Turn>,
    /// Asks the user.
    pub approver: fn(ApprovalRequest) -> BoxFuture<'static, Approval>,
}

impl<S: Serve> Serve for Hooked<S> {
    type Family = S::Family;

    fn descriptor(&self) -> HandlerDescriptor {
        self.inner.descriptor()
    }

    async fn serve(&self, kind: EffectKind, to: Dispatch) -> Reply {
        Reply::Outcome(match kind {
            EffectKind::ToolCall { name, args } => self.tool(&name, &args, to).await,
            EffectKind::Completion { request, stream } => self.model(request, stream, to).await,
            _ => return self.inner.serve(kind, to).await,
        })
    }
}

impl<S: Serve> Hooked<S> {
    async fn tool(&self, name: &str, args: &str, to: Dispatch) -> Result<Answer, ErrorReport> {
        let call = ToolCall::parse(name, args);
        let call = call.map_err(|error| ErrorReport::new(ErrorKind::Json, error.to_string()))?;
        let mut ran = None;
        let run = self.turn.tool_call(call).approve_with(self.approver).run(async |call| {
            // rig has chosen the handler of the tool by its name.
            if call.name() != name {
                return Err(ToolError::new("a hook can't rename a tool of rig"));
            }
            let args = json!(call.arguments()).to_string();
            let kind = EffectKind::ToolCall { name: name.to_owned(), args };
            match self.inner.serve(kind, to).await.into_outcome().await? {
                Answer::ToolResult { result } => {
                    let text = result.output().render();
                    let is_success = ran.insert(result).is_success();
                    if is_success { Ok(text.into()) } else { Err(ToolError::new(text)) }
                }
                _ => Err(ToolError::new("that is not the result of a tool")),
            }
        });
        let outcome = run.await;
        outcome.go_on().map_err(ended)?;
        let text = outcome.for_model();
        let result = match ran {
            Some(result) => result.with_output(ToolOutput::text(text)),
            None if outcome.is_error() => ToolResult::skipped(text),
            None => ToolResult::success(ToolOutput::text(text)),
        };
        Ok(Answer::ToolResult { result })
    }

    async fn model(
        &self,
        mut request: CompletionRequest,
        stream: bool,
        to: Dispatch,
    ) -> Result<Answer, ErrorReport> {
        let messages = request.chat_history.iter().map(|message| json!(message)).collect();
        let mut answered = None;
        let call = self.turn.model_call(ModelRequest::new(messages)).run(async |changed| {
            request.chat_history = serde_json::from_value(changed.messages.into())?;
            let kind = EffectKind::Completion { request, stream };
            let answer = self.inner.serve(kind, to).await.into_outcome().await?;
            let Answer::Completion(response) = answer else { return Err(no_answer().into()) };
            let text = answered.insert(response).text();
            Ok::<_, Box<dyn Error + Send + Sync>>(Value::from(text))
        });
        let text = call.await.end.map_err(ended)?;
        let mut response = answered.ok_or_else(no_answer)?;
        if text != response.text() {
            response.choice.retain(|part| !matches!(part, AssistantContent::Text(_)));
            response.choice.insert(0, AssistantContent::text(text.as_str().unwrap_or_default()));
        }
        Ok(Answer::Completion(response))
    }
}

fn no_answer() -> ErrorReport {
    ErrorReport::new(ErrorKind::Response, "that is not the answer of a model")
}

/// Returns the error that ends the run. The turn knows by itself whether a hook ended it.
fn ended(end: impl Display) -> ErrorReport {
    ErrorReport::new(ErrorKind::Cancelled, end.to_string())
}
