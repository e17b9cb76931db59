//! A tool call or a model call that the host runs between two requests.

use std::pin::Pin;
use std::time::Instant;

use hookexec::internal::CallerDeadline;
use hookexec::lifecycle::{
    Approval, ApprovalRequest, AuthorizedCall, ModelRequest, ToolCall, ToolError, ToolRun, Turn,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::super::engine::InUse;
use super::super::params::Params;
use super::{HostRequest, answers};
use crate::runtime::sent;

/// What the host has done.
enum HostAnswer {
    /// Whether the user granted it, and why.
    Approval(bool, Option<String>),
    /// What the tool or the model returned, or its error.
    Work(Result<Value, Value>),
}

/// What waits for the host's answer.
struct Waiting {
    /// Whether it is an approval, and not work, that the host must answer.
    is_approval: bool,
    answer: oneshot::Sender<HostAnswer>,
}

type Driver = Pin<Box<dyn Future<Output = Value> + Send>>;

/// A call on its way. It makes progress only in [`step`](Self::step).
pub(super) struct OpenCall {
    /// When the host needs the next answer.
    deadline: CallerDeadline,
    driver: Driver,
    /// The points at which the host must act.
    pauses: mpsc::Receiver<(Value, Waiting)>,
    /// `None` once the host has answered.
    waiting: Option<Waiting>,
    cancel: Option<oneshot::Sender<()>>,
}

impl OpenCall {
    fn new<D>(
        deadline: CallerDeadline,
        drive: impl FnOnce(Host, oneshot::Receiver<()>) -> D,
    ) -> Self
    where
        D: Future<Output = Value> + Send + 'static,
    {
        let (host, pauses) = mpsc::channel(1);
        let (cancel, cancelled) = oneshot::channel();
        let driver = Box::pin(drive(Host(host), cancelled));
        Self { deadline, driver, pauses, waiting: None, cancel: Some(cancel) }
    }

    /// Begins a tool call.
    pub(super) fn tool(request: HostRequest) -> Result<Self, String> {
        let HostRequest { session, turn, mut params, current, deadline } = request;
        let name = params.required("tool_name")?;
        let mut call = ToolCall::new(name, params.object("tool_input")?.unwrap_or_default());
        call.id = params.text("tool_use_id")?;
        let (asks, can_ask) = (params.text("ask")?, params.flag("can_ask")?.unwrap_or_default());
        params.end()?;
        let mut run = match turn {
            Some(turn) => turn.tool_call(call),
            None => session.tool_call(call),
        };
        if let Some(reason) = asks {
            run = run.ask_unless_allowed(reason);
        }
        Ok(Self::new(deadline, |host, cancelled| {
            drive_tool(run, can_ask, host, cancelled, current)
        }))
    }

    /// Begins a model call.
    pub(super) fn model(request: HostRequest) -> Result<Self, String> {
        let HostRequest { session, turn, mut params, current, deadline } = request;
        let mut request = ModelRequest::new(params.list("messages")?.unwrap_or_default());
        request.model = params.text("model")?;
        request.tools = params.list("tools")?.unwrap_or_default();
        request.options = params.object("options")?.unwrap_or_default();
        params.end()?;
        let call = match &turn {
            Some(turn) => turn.model_call(request),
            None => session.model_call(request),
        };
        Ok(Self::new(deadline, |host, cancelled| async move {
            let state = || turn.as_ref().map(Turn::state);
            let work = async |request: ModelRequest| {
                let step = json!({
                    "next": "run",
                    "messages": request.messages,
                    "model": request.model,
                    "tools": request.tools,
                    "options": request.options,
                    "turn": state(),
                });
                host.work(step).await.map_err(|error| match error {
                    Value::String(text) => text,
                    error => error.to_string(),
                })
            };
            let outcome = call.cancelled_by(sent(cancelled)).run(work).await;
            let mut answer = answers::model(outcome, &current);
            answer["turn"] = json!(state());
            answer
        }))
    }

    /// Takes the host's answer in the parameters of `tool.approve`, `tool.end` or `model.end`. The host
    /// needs the next step by the time `until`.
    pub(super) fn take(
        &mut self,
        method: &str,
        mut params: Params,
        until: Option<Instant>,
    ) -> Result<(), String> {
        let is_approval = method == "tool.approve";
        let answer = if is_approval {
            let granted = params.flag("granted")?.ok_or("`granted` is missing")?;
            Some(HostAnswer::Approval(granted, params.text("reason")?))
        } else {
            let is_cancelled = params.flag("cancelled")?.unwrap_or_default();
            match (params.value("response"), params.value("error"), is_cancelled) {
                (Some(response), None, false) => Some(HostAnswer::Work(Ok(response))),
                (None, Some(error), false) => Some(HostAnswer::Work(Err(error))),
                (None, None, true) => None,
                _ => return Err("give one of `response`, `error` and `cancelled`".to_owned()),
            }
        };
        params.end()?;
        if let Some(answer) = answer {
            let Some(waiting) = self.waiting.take_if(|waits| waits.is_approval == is_approval)
            else {
                let next = if is_approval { "the end of its work" } else { "an approval" };
                return Err(format!("the call waits for {next}"));
            };
            let _ = waiting.answer.send(answer);
        } else if let Some(cancel) = self.cancel.take() {
            // What waits stays: the driver must not take its end for an answer.
            let _ = cancel.send(());
        }
        self.deadline.set(until);
        Ok(())
    }

    /// Drives the call until the host must act, or returns only how it ended.
    pub(super) async fn step(mut self) -> (Option<Self>, Value) {
        tokio::select! {
            biased;
            Some((step, waiting)) = self.pauses.recv() => {
                self.waiting = Some(waiting);
                (Some(self), step)
            }
            end = &mut self.driver => (None, end),
        }
    }
}

/// The host, as a driver calls it.
#[derive(Clone)]
struct Host(mpsc::Sender<(Value, Waiting)>);

impl Host {
    async fn ask(&self, step: Value, is_approval: bool) -> Option<HostAnswer> {
        let (answer, given) = oneshot::channel();
        let _ = self.0.send((step, Waiting { is_approval, answer })).await;
        given.await.ok()
    }

    async fn work(&self, step: Value) -> Result<Value, Value> {
        match self.ask(step, false).await {
            Some(HostAnswer::Work(done)) => done,
            _ => Err("the host gave no answer".into()),
        }
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
            Some(HostAnswer::Approval(true, None)) => request.grant(),
            Some(HostAnswer::Approval(true, Some(source))) => request.grant_as(source),
            Some(HostAnswer::Approval(false, reason)) => {
                request.refuse(reason.unwrap_or_else(|| "the user refused".to_owned()))
            }
            _ => request.cancel(),
        }
    }
}

async fn drive_tool(
    mut run: ToolRun<'static>,
    can_ask: bool,
    host: Host,
    cancelled: oneshot::Receiver<()>,
    current: InUse,
) -> Value {
    if can_ask {
        let host = host.clone();
        run = run.approve_with(async move |request| host.approve(request).await);
    }
    let work = async |call: AuthorizedCall| {
        let step = json!({
            "next": "run",
            "tool_name": call.name(),
            "tool_input": call.arguments(),
        });
        host.work(step).await.map_err(ToolError::with_response)
    };
    let outcome = run.cancelled_by(sent(cancelled)).run(work).await;
    answers::tool(&outcome, &current)
}
