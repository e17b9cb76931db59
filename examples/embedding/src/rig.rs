//! An agent of `rig` behind hooks: each prompt is a turn, and each call of its model and of its tools
//! goes through the hooks.

use std::sync::{Arc, Mutex, PoisonError};

use hookexec::handler::BoxFuture;
use hookexec::lifecycle::{
    Approval, ApprovalRequest, ModelRequest, Outcome, Session, ToolCall, ToolError, Turn, TurnEnd,
};
use rig_agent::Agent;
use rig_core::effect::{EffectKind, HandlerDescriptor, Outcome as Answer};
use rig_core::error::{ErrorKind, ErrorReport};
use rig_core::message::AssistantContent;
use rig_core::serve::{Dispatch, Reply, Serve};
use rig_core::tool::{ToolExecutionError, ToolOutput, ToolResult};
use serde_json::{Value, json};

/// Asks the user.
pub type Approver = fn(ApprovalRequest) -> BoxFuture<'static, Approval>;

/// The hooks of one turn.
#[derive(Clone)]
pub struct Hooks {
    turn: Arc<Turn>,
    approver: Approver,
    /// Why a hook ended the turn.
    end: Arc<Mutex<Option<TurnEnd>>>,
}

/// Runs a prompt as a turn of `session`. `build` returns the agent, with its model and its tools
/// [behind](Hooks::before) the hooks.
pub async fn prompt(
    session: &Session,
    prompt: &str,
    approver: Approver,
    build: impl FnOnce(&Hooks) -> Result<Agent, ErrorReport>,
) -> Outcome<String> {
    let turn = async |turn: Arc<Turn>| {
        let hooks = Hooks { turn: Arc::clone(&turn), approver, end: Arc::default() };
        let agent = build(&hooks).map_err(TurnEnd::failed)?;
        let context = turn.opening().additional_context().unwrap_or_default();
        let (mut said, mut history) = (format!("{context}\n\n{prompt}"), Vec::new());
        loop {
            let answer = match agent.prompt(said.trim()).history(history.clone()).await {
                Ok(answer) => answer,
                Err(error) => return Err(hooks.ended().unwrap_or(TurnEnd::failed(error))),
            };
            history.extend(answer.messages.iter().cloned());
            match turn.finish(answer.output()).await {
                Ok(finished) => return Ok(finished),
                Err(reason) => said = reason,
            }
        }
    };
    session.run_turn(prompt, turn).await
}

impl Hooks {
    /// Puts a model or a tool behind the hooks.
    pub fn before<S: Serve>(&self, inner: S) -> Hooked<S> {
        Hooked { inner, hooks: self.clone() }
    }

    fn ended(&self) -> Option<TurnEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn stop(&self, end: TurnEnd) -> ErrorReport {
        let report = ErrorReport::new(ErrorKind::Cancelled, end.to_string());
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        report
    }
}

/// A model or a tool behind hooks.
pub struct Hooked<S> {
    inner: S,
    hooks: Hooks,
}

impl<S: Serve> Serve for Hooked<S> {
    type Family = S::Family;

    fn descriptor(&self) -> HandlerDescriptor {
        self.inner.descriptor()
    }

    async fn serve(&self, kind: EffectKind, dispatch: Dispatch) -> Reply {
        Reply::Outcome(match kind {
            EffectKind::ToolCall { name, args } => self.tool(&name, &args, dispatch).await,
            EffectKind::Completion { .. } => self.model(kind, dispatch).await,
            _ => return self.inner.serve(kind, dispatch).await,
        })
    }
}

impl<S: Serve> Hooked<S> {
    async fn tool(&self, name: &str, args: &str, to: Dispatch) -> Result<Answer, ErrorReport> {
        let call = ToolCall::parse(name, args);
        let call = call.map_err(|error| ErrorReport::new(ErrorKind::Json, error.to_string()))?;
        let run = self.hooks.turn.tool_call(call).approve_with(self.hooks.approver);
        let run = run.run(async |call| {
            if call.name() != name {
                return Err(ToolError::new("hooks can't rename the tools of rig"));
            }
            let args = json!(call.arguments()).to_string();
            let kind = EffectKind::ToolCall { name: name.to_owned(), args };
            match self.inner.serve(kind, to).await.into_outcome().await {
                Ok(Answer::ToolResult { result }) if result.is_success() => {
                    Ok(result.output().render().into())
                }
                Ok(Answer::ToolResult { result }) => Err(ToolError::new(result.output().render())),
                Ok(_) => Err(ToolError::new("that is not the result of a tool")),
                Err(report) => Err(ToolError::new(report.to_string())),
            }
        });
        let outcome = run.await;
        outcome.go_on().map_err(|end| self.hooks.stop(end))?;
        let text = outcome.for_model();
        let result = match outcome.is_error() {
            true => ToolResult::failed(ToolExecutionError::other(text)),
            false => ToolResult::success(ToolOutput::text(text)),
        };
        Ok(Answer::ToolResult { result })
    }

    async fn model(&self, kind: EffectKind, to: Dispatch) -> Result<Answer, ErrorReport> {
        let EffectKind::Completion { mut request, stream } = kind else { return Err(no_answer()) };
        let messages = request.chat_history.iter().map(|message| json!(message)).collect();
        let mut answer = None;
        let call = self.hooks.turn.model_call(ModelRequest::new(messages)).run(async |changed| {
            request.chat_history = serde_json::from_value(changed.messages.into())?;
            let kind = EffectKind::Completion { request, stream };
            let response = self.inner.serve(kind, to).await.into_outcome().await?;
            let Answer::Completion(response) = response else { return Err(no_answer().into()) };
            let text = response.text();
            answer = Some(response);
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Value::from(text))
        });
        let text = call.await.end.map_err(|end| self.hooks.stop(end))?;
        let mut response = answer.ok_or_else(no_answer)?;
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
