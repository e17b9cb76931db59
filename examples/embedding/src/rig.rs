//! An agent of `rig` behind hooks: each prompt is a turn, and each call of its model and of its tools
//! goes through the hooks.

use std::error::Error;
use std::sync::Arc;

use hookexec::BoxFuture;
use hookexec::lifecycle::{
    Approval, ApprovalRequest, ModelRequest, Outcome, Session, ToolCall, ToolError, Turn, TurnEnd,
};
use rig_agent::Agent;
use rig_core::completion::CompletionRequest;
use rig_core::effect::{EffectKind, HandlerDescriptor, Outcome as Answer};
use rig_core::error::{ErrorKind, ErrorReport};
use rig_core::serve::{Dispatch, Reply, Serve};
use rig_core::tool::ToolResult;
use serde_json::{from_value, json};
use tokio_util::sync::CancellationToken;

/// Runs a prompt as a turn of `session`. `build` returns the agent, whose model and tools are
/// [`Hooked`] and have the same `cancel`.
pub async fn prompt(
    session: &Session,
    prompt: &str,
    build: impl FnOnce(&Arc<Turn>) -> Result<Agent, Box<ErrorReport>>,
    cancel: &CancellationToken,
) -> Outcome<String> {
    let turn = session.run_turn(prompt, async |turn| {
        let agent = build(&turn).map_err(TurnEnd::failed)?;
        let context = turn.opening().additional_context().unwrap_or_default();
        let (mut said, mut history) = (format!("{context}\n\n{prompt}"), Vec::new());
        loop {
            let answer = agent.prompt(said.trim()).history(history.clone()).await;
            let answer = answer.map_err(|error| match cancel.is_cancelled() {
                true => TurnEnd::Cancelled,
                false => TurnEnd::failed(error),
            })?;
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
    /// Cancels the turn.
    pub cancel: CancellationToken,
}

impl<S: Serve> Serve for Hooked<S> {
    type Family = S::Family;

    fn descriptor(&self) -> HandlerDescriptor {
        self.inner.descriptor()
    }

    async fn serve(&self, kind: EffectKind, to: Dispatch) -> Reply {
        let answer = match kind {
            EffectKind::ToolCall { name, args } => self.tool(name, &args, to).await,
            EffectKind::Completion { request, stream } => self.model(request, stream, to).await,
            _ => return self.inner.serve(kind, to).await,
        };
        // It ends the run. `prompt` and the turn already know what ended it.
        Reply::Outcome(
            answer.map_err(|end| ErrorReport::new(ErrorKind::Cancelled, end.to_string())),
        )
    }
}

type Answered = Result<Answer, Box<dyn Error + Send + Sync>>;

impl<S: Serve> Hooked<S> {
    async fn tool(&self, name: String, args: &str, to: Dispatch) -> Answered {
        let call = ToolCall::parse(&name, args)?;
        let mut ran = ToolResult::skipped("");
        let run = self.turn.tool_call(call).approve_with(self.approver);
        let run = run.cancelled_by(self.cancel.cancelled()).run(async |call| {
            // rig has chosen the handler of the tool by its name.
            if call.name() != name {
                return Err(ToolError::new("a hook can't rename a tool of rig"));
            }
            let kind = EffectKind::ToolCall { name, args: json!(call.arguments()).to_string() };
            let answer = self.inner.serve(kind, to).await.into_outcome().await?;
            if let Answer::ToolResult { result } = answer {
                ran = result;
            }
            ToolError::of_mcp_result(
                json!({ "content": ran.output(), "isError": !ran.is_success() }),
            )
        });
        let outcome = run.await;
        outcome.go_on()?;
        let output = from_value(outcome.mcp_result()["content"].take())?;
        let ran = if outcome.is_error() { ran } else { ToolResult::success("".into()) };
        Ok(Answer::ToolResult { result: ran.with_output(output) })
    }

    async fn model(&self, mut request: CompletionRequest, stream: bool, to: Dispatch) -> Answered {
        let messages = request.chat_history.iter().map(|message| json!(message)).collect();
        let call = self.turn.model_call(ModelRequest::new(messages));
        let (changed, pending) = call.cancelled_by(self.cancel.cancelled()).begin().await?;
        request.chat_history = from_value(changed.messages.into())?;
        let kind = EffectKind::Completion { request, stream };
        let asking = async { self.inner.serve(kind, to).await.into_outcome().await };
        let answer = self.cancel.run_until_cancelled(asking).await;
        let mut answer = answer.ok_or(TurnEnd::Cancelled)?;
        if let Ok(Answer::Completion(response)) = &mut answer {
            let said = pending.finish(Ok::<_, ErrorReport>(json!(response.choice))).await;
            response.choice = from_value(said.end?)?;
        }
        Ok(answer?)
    }
}
