//! The drivers of [`hookexec::lifecycle`] for hosts in other languages: the order of events around a
//! session, a turn, a model call and a tool call stays in one place.
//!
//! A host names its session and its turn in every request, so a new server can go on where another
//! one ended. The server keeps only the calls that are open: a tool or a model that the host runs
//! between two requests. They belong to one connection, and end with it.

mod open;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hookexec::Executor;
use hookexec::lifecycle::{CallerDeadline, Refused, Trail};
use hookexec_files::locks::locked;
use serde_json::{Value, json};

use self::open::OpenCall;
use super::params::{Params, missing};
use super::protocol::{ErrorCode, Refusal};

/// The methods of hosts, each with its parameters beside those that all of them may have.
const METHODS: [(&str, &[&str]); 10] = [
    ("session.begin", &["source"]),
    ("session.end", &["reason"]),
    ("turn.begin", &["turn_id", "prompt"]),
    ("turn.finish", &["response"]),
    ("turn.end", &["response", "error", "reason"]),
    ("tool.begin", &["tool_name", "tool_input", "tool_use_id", "ask", "can_ask"]),
    ("tool.approve", &["call", "granted", "reason"]),
    ("tool.end", &["call", "response", "error", "cancelled"]),
    ("model.begin", &["messages", "model", "tools", "options"]),
    ("model.end", &["call", "response", "error", "cancelled"]),
];

/// Checks that a host may call `method` with these parameters.
pub(super) fn check(method: &str, params: &Params) -> Result<(), Refusal> {
    if let Some((_, known)) = METHODS.iter().find(|(name, _)| *name == method) {
        return params.check(known);
    }
    Err(unknown(method))
}

fn unknown(method: &str) -> Refusal {
    let known = METHODS.map(|(name, _)| name).join(", ");
    let message = format!("unknown method `{method}`; known are dispatch, ping, {known}");
    Refusal::new(ErrorCode::MethodNotFound, message)
}

/// The host at the other end of a connection.
#[derive(Clone, Default)]
pub(super) struct Host(Arc<Mutex<OpenCalls>>);

#[derive(Default)]
struct OpenCalls {
    last: u64,
    by_id: HashMap<u64, OpenCall>,
}

impl Host {
    /// Answers a method that was [checked](check) by the time `until`. After an error no hook ran.
    pub(super) async fn answer(
        &self,
        executor: Arc<Executor>,
        method: &str,
        mut params: Params,
        until: Option<Instant>,
    ) -> Result<Value, Refusal> {
        if let "tool.approve" | "tool.end" | "model.end" = method {
            return self.resume(method, params, until).await;
        }
        let deadline = CallerDeadline::default();
        deadline.set(until);
        let session = params.session(&deadline)?;
        if method == "session.begin" {
            let session = session.start(executor, params.source()?).await;
            let mut answer = trail(session.opening());
            let unfired: Vec<String> = session.unfired().iter().map(ToString::to_string).collect();
            answer["unfired"] = json!(unfired);
            session.detach();
            return Ok(answer);
        }
        let session = session.attach(executor);
        let turn = params.turn()?.map(|turn| session.attach_turn(turn));
        match method {
            "session.end" => {
                let reason = params.text("reason")?.unwrap_or_else(|| "exit".to_owned());
                Ok(trail(&session.end(reason).await))
            }
            "turn.begin" => {
                let (turn_id, prompt) = (params.required("turn_id")?, params.text("prompt")?);
                let turn = match session.begin_turn(turn_id, prompt).await {
                    Ok(turn) => turn,
                    Err(refused) => return Ok(self::refused(&refused)),
                };
                let mut answer = trail(turn.opening());
                answer["turn"] = json!(turn.detach());
                Ok(answer)
            }
            "turn.finish" => {
                let turn = turn.ok_or_else(|| missing("turn"))?;
                let go_on = turn.finish(params.required("response")?).await.err();
                Ok(json!({ "go_on": go_on, "turn": turn.state() }))
            }
            "turn.end" => {
                let turn = turn.ok_or_else(|| missing("turn"))?;
                let end = params.turn_end(&turn).await?;
                Ok(trail(&turn.end(end).await))
            }
            "tool.begin" => {
                let call = OpenCall::tool(&session, turn, params, deadline)?;
                Ok(self.proceed(self.new_id(), call).await)
            }
            "model.begin" => {
                let call = OpenCall::model(&session, turn, params, deadline)?;
                Ok(self.proceed(self.new_id(), call).await)
            }
            _ => Err(unknown(method)),
        }
    }

    fn new_id(&self) -> u64 {
        let mut calls = locked(&self.0);
        calls.last += 1;
        calls.last
    }

    /// Goes on with an open call by what the host has done.
    async fn resume(
        &self,
        method: &str,
        mut params: Params,
        until: Option<Instant>,
    ) -> Result<Value, Refusal> {
        let Some(id) = params.number("call")? else {
            return Err(Refusal::params("`call` must be a whole number"));
        };
        let call = {
            let mut calls = locked(&self.0);
            let Some(mut call) = calls.by_id.remove(&id) else {
                let problem = format!("`call` {id} is not open, or another request is about it");
                return Err(Refusal::params(problem));
            };
            if let Err(refusal) = call.take(method, params, until) {
                calls.by_id.insert(id, call);
                return Err(refusal);
            }
            call
        };
        Ok(self.proceed(id, call).await)
    }

    /// Drives a call until the host must act or it has ended.
    async fn proceed(&self, id: u64, call: OpenCall) -> Value {
        let (call, mut step) = call.step().await;
        if let Some(call) = call {
            step["call"] = id.into();
            locked(&self.0).by_id.insert(id, call);
        }
        step
    }
}

/// Returns what hooks said on the way, for the model, the user and the operators.
fn trail(trail: &Trail) -> Value {
    let messages: Vec<&str> = trail.system_messages().map(|(_, message)| message).collect();
    let failed_open: Vec<&str> = trail.failed_open().map(|(_, hook)| hook).collect();
    json!({
        "additional_context": trail.additional_context(),
        "system_messages": messages,
        "failed_open": failed_open,
    })
}

fn refused(refused: &Refused) -> Value {
    let mut answer = trail(&refused.trail);
    let Refused { by, message, stop, .. } = refused;
    answer["refused"] = json!({ "by": by, "message": message, "stop": stop });
    answer
}
