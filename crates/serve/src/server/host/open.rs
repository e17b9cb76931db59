//! A tool call or a model call that the host runs between two requests.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use hookexec::lifecycle::{
    Approval, ApprovalRequest, CallerDeadline, ModelCall, ModelRequest, Outcome, Session, ToolCall,
    ToolEnd, ToolError, ToolOutcome, ToolRun, Turn, TurnEnd,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use super::super::params::{Params, missing};
use super::super::protocol::Refusal;
use super::{refused, trail};

/// The result of a tool or a model, or its error. For an approval the reason: granted or refused.
type HostAnswer = Result<Value, Value>;

/// A point at which the host must act.
struct Pause {
    /// The next action of the host.
    step: Value,
    /// Whether it is an approval, and not work, that the host must answer.
    is_approval: bool,
    answer: oneshot::Sender<HostAnswer>,
}

/// A call on its way. It makes progress only in [`step`](Self::step).
pub(super) struct OpenCall {
    /// When the host needs the next answer.
    deadline: CallerDeadline,
    driver: Pin<Box<dyn Future<Output = Value> + Send>>,
    pauses: mpsc::Receiver<Pause>,
    /// `None` once the host has answered.
    waiting: Option<Pause>,
    cancel: Arc<Notify>,
}

impl OpenCall {
    fn new<D>(deadline: CallerDeadline, drive: impl FnOnce(HostLink) -> D) -> Self
    where
        D: Future<Output = Value> + Send + 'static,
    {
        let (sender, pauses) = mpsc::channel(1);
        let cancel = Arc::new(Notify::new());
        let driver = Box::pin(drive(HostLink { sender, cancel: Arc::clone(&cancel) }));
        Self { deadline, driver, pauses, waiting: None, cancel }
    }

    /// Begins a tool call.
    pub(super) fn tool(
        session: &Session,
        turn: Option<Turn>,
        mut params: Params,
        deadline: CallerDeadline,
    ) -> Result<Self, Refusal> {
        let name = params.required("tool_name")?;
        let mut call = ToolCall::new(name, params.object("tool_input")?.unwrap_or_default());
        call.id = params.text("tool_use_id")?;
        let mut run = match turn {
            Some(turn) => turn.tool_call(call),
            None => session.tool_call(call),
        };
        if let Some(reason) = params.text("ask")? {
            run = run.ask_unless_allowed(reason);
        }
        let can_ask = params.flag("can_ask")?.unwrap_or_default();
        Ok(Self::new(deadline, move |host| drive_tool(run, can_ask, host)))
    }

    /// Begins a model call.
    pub(super) fn model(
        session: &Session,
        turn: Option<Turn>,
        mut params: Params,
        deadline: CallerDeadline,
    ) -> Result<Self, Refusal> {
        let mut request = ModelRequest::new(params.list("messages")?);
        request.model = params.text("model")?;
        request.tools = params.list("tools")?;
        request.options = params.object("options")?.unwrap_or_default();
        let call = match &turn {
            Some(turn) => turn.model_call(request),
            None => session.model_call(request),
        };
        Ok(Self::new(deadline, |host| drive_model(call, turn, host)))
    }

    /// Takes the host's answer in the parameters of `tool.approve`, `tool.end` or `model.end`. The host
    /// needs the next step by the time `until`.
    pub(super) fn take(
        &mut self,
        method: &str,
        mut params: Params,
        until: Option<Instant>,
    ) -> Result<(), Refusal> {
        let is_approval = method == "tool.approve";
        let answer = if is_approval {
            let granted = params.flag("granted")?.ok_or_else(|| missing("granted"))?;
            let reason = json!(params.text("reason")?);
            if granted { Ok(reason) } else { Err(reason) }
        } else {
            let is_cancelled = params.flag("cancelled")?.unwrap_or_default();
            match (params.value("response"), params.value("error"), is_cancelled) {
                (Some(response), None, false) => Ok(response),
                (None, Some(error), false) => Err(error),
                (None, None, true) => {
                    // What waits stays: the driver must not take its end for an answer.
                    self.cancel.notify_one();
                    self.deadline.set(until);
                    return Ok(());
                }
                _ => {
                    return Err(Refusal::params("give one of `response`, `error` and `cancelled`"));
                }
            }
        };
        let Some(pause) = self.waiting.take_if(|pause| pause.is_approval == is_approval) else {
            let next = if is_approval { "the end of its work" } else { "an approval" };
            return Err(Refusal::params(format!("the call waits for {next}")));
        };
        let _ = pause.answer.send(answer);
        self.deadline.set(until);
        Ok(())
    }

    /// Drives the call until the host must act, and returns the call with that action. Returns no call,
    /// but how it ended, when it is done.
    pub(super) async fn step(mut self) -> (Option<Self>, Value) {
        tokio::select! {
            biased;
            Some(mut pause) = self.pauses.recv() => {
                let step = pause.step.take();
                self.waiting = Some(pause);
                (Some(self), step)
            }
            end = &mut self.driver => (None, end),
        }
    }
}

/// Runs a tool call to its end. The host runs the tool.
async fn drive_tool(mut run: ToolRun<'static>, can_ask: bool, host: HostLink) -> Value {
    if can_ask {
        let host = host.clone();
        run = run.approve_with(async move |request| host.approve(request).await);
    }
    let cancelled = Arc::clone(&host.cancel).notified_owned();
    let running = run.cancelled_by(cancelled).run(async |call| {
        let (name, input) = (call.name(), call.arguments());
        let step = json!({ "next": "run", "tool_name": name, "tool_input": input });
        host.work(step).await.map_err(ToolError::with_response)
    });
    tool_end(&running.await)
}

/// Runs a model call to its end. The host calls the model.
async fn drive_model(call: ModelCall<'static>, turn: Option<Turn>, host: HostLink) -> Value {
    let cancelled = Arc::clone(&host.cancel).notified_owned();
    let running = call.cancelled_by(cancelled).run(async |request| {
        let step = json!({
            "next": "run",
            "messages": request.messages,
            "model": request.model,
            "tools": request.tools,
            "options": request.options,
            "turn": turn.as_ref().map(Turn::state),
        });
        match host.work(step).await {
            Ok(response) => Ok(response),
            Err(Value::String(text)) => Err(text),
            Err(error) => Err(error.to_string()),
        }
    });
    let mut answer = model_end(running.await);
    answer["turn"] = json!(turn.as_ref().map(Turn::state));
    answer
}

/// The way from a driver to the host, which acts and answers.
#[derive(Clone)]
struct HostLink {
    sender: mpsc::Sender<Pause>,
    /// Told when the host cancels the call.
    cancel: Arc<Notify>,
}

impl HostLink {
    /// Asks the host for the next action, and returns its answer; `None` if it gives none.
    async fn ask(&self, step: Value, is_approval: bool) -> Option<HostAnswer> {
        let (answer, given) = oneshot::channel();
        let _ = self.sender.send(Pause { step, is_approval, answer }).await;
        given.await.ok()
    }

    async fn work(&self, step: Value) -> HostAnswer {
        let done = self.ask(step, false).await;
        done.unwrap_or_else(|| Err("the host gave no answer".into()))
    }

    async fn approve(&self, request: ApprovalRequest) -> Approval {
        let reasons: Vec<&str> = request.reasons().iter().map(|(_, why)| why.as_str()).collect();
        let step = json!({
            "next": "approve",
            "tool_name": request.tool_name(),
            "tool_input": request.arguments(),
            "reason": reasons.join("\n"),
            "metadata": request.metadata(),
        });
        match self.ask(step, true).await {
            Some(Ok(Value::String(source))) => request.grant_as(source),
            Some(Ok(_)) => request.grant(),
            Some(Err(Value::String(reason))) => request.refuse(reason),
            Some(Err(_)) => request.refuse("the user refused"),
            None => request.cancel(),
        }
    }
}

/// Returns how a tool call ended.
fn tool_end(outcome: &ToolOutcome) -> Value {
    let (end, response, message) = match &outcome.end {
        ToolEnd::Ran { response, objection, .. } => ("ran", json!(response), objection.clone()),
        ToolEnd::Failed { response, objection, .. } => {
            ("failed", json!(response), objection.clone())
        }
        ToolEnd::Responded { result } => ("responded", json!(result), None),
        ToolEnd::Denied { message, .. } => ("denied", Value::Null, Some(message.clone())),
        ToolEnd::Aborted { stop, response, objection, .. } => {
            let mut said: Vec<String> = objection.iter().cloned().collect();
            said.push(stop.reason.clone());
            ("aborted", json!(response), Some(said.join("\n")))
        }
        ToolEnd::Cancelled => ("cancelled", Value::Null, Some("cancelled".to_owned())),
    };
    let mut answer = trail(&outcome.trail);
    answer["next"] = "done".into();
    answer["tool_name"] = json!(outcome.call.name);
    answer["tool_input"] = json!(outcome.call.arguments);
    answer["for_model"] = json!(outcome.for_model());
    answer["is_error"] = json!(outcome.is_error());
    answer["stop"] = json!(outcome.stop());
    answer["end"] = end.into();
    answer["response"] = response;
    answer["message"] = json!(message);
    answer
}

/// Returns how a model call ended.
fn model_end(outcome: Outcome<Value>) -> Value {
    let mut answer = trail(&outcome.trail);
    match outcome.end {
        Ok(response) => answer["response"] = response,
        Err(TurnEnd::Refused(by)) => answer = refused(&by),
        Err(TurnEnd::Cancelled) => answer["error"] = "cancelled".into(),
        Err(end) => answer["error"] = end.to_string().into(),
    }
    answer["next"] = "done".into();
    answer
}
