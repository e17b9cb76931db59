//! The drivers of [`hookexec::lifecycle`] for hosts in other languages: the order of events around a
//! session, a turn, a model call and a tool call stays in one place.
//!
//! A host names its session and its turn in every request, so a new server can go on where another
//! one ended. The server keeps only the calls that are open: a tool or a model that the host runs
//! between two requests. They belong to one connection, and end with it.

mod answers;
mod open;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use self::open::{HostAnswer, OpenCall};
use super::engine::InUse;
use super::params::Params;
use hookexec::internal::locked;

/// The methods of hosts.
pub(super) const METHODS: [&str; 10] = [
    "session.begin", "session.end", "turn.begin", "turn.finish", "turn.end", "tool.begin",
    "tool.approve", "tool.end", "model.begin", "model.end",
];

/// How many tool calls and model calls of one connection may be open at once.
const MOST_OPEN: usize = 1024;

/// The host at the other end of a connection.
#[derive(Clone, Default)]
pub(super) struct Host(Arc<Mutex<OpenCalls>>);

#[derive(Default)]
struct OpenCalls {
    last: u64,
    by_id: HashMap<u64, OpenCall>,
}

impl Host {
    /// Answers one of [`METHODS`]; an error is about the parameters, and no hook ran.
    pub(super) async fn call(
        &self,
        current: InUse,
        method: &str,
        mut params: Params,
    ) -> Result<Value, String> {
        match method {
            "session.begin" => session_begin(&current, params).await,
            "session.end" => session_end(&current, params).await,
            "turn.begin" => turn_begin(&current, params).await,
            "turn.finish" => turn_finish(&current, params).await,
            "turn.end" => turn_end(&current, params).await,
            "tool.begin" => self.begin(OpenCall::tool(current, params)?).await,
            "model.begin" => self.begin(OpenCall::model(current, params)?).await,
            _ => {
                let id = params.number("call")?.ok_or("`call` must be a whole number")?;
                let until = params.until();
                self.resume(id, HostAnswer::read(method, params)?, until).await
            }
        }
    }

    async fn begin(&self, call: OpenCall) -> Result<Value, String> {
        let id = {
            let mut calls = locked(&self.0);
            if calls.by_id.len() >= MOST_OPEN {
                return Err(format!("overloaded: {MOST_OPEN} calls of this connection are open"));
            }
            calls.last += 1;
            calls.last
        };
        Ok(self.proceed(id, call).await)
    }

    /// Goes on with an open call by what the host has done.
    async fn resume(
        &self,
        id: u64,
        answer: HostAnswer,
        until: Option<Instant>,
    ) -> Result<Value, String> {
        let call = {
            let mut calls = locked(&self.0);
            let unknown = || format!("`call` {id} is not open, or another request is about it");
            let mut call = calls.by_id.remove(&id).ok_or_else(unknown)?;
            if let Err(problem) = call.take(answer) {
                calls.by_id.insert(id, call);
                return Err(problem);
            }
            call.deadline.set(until);
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

async fn session_begin(current: &InUse, mut params: Params) -> Result<Value, String> {
    let (session, _) = params.session()?;
    let source = params.source()?;
    params.end()?;
    let session = session.start(current.shared(), source).await;
    let mut answer = answers::trail(session.opening(), current);
    let unfired: Vec<String> = session.unfired().iter().map(ToString::to_string).collect();
    answer["unfired"] = json!(unfired);
    session.detach();
    Ok(answer)
}

async fn session_end(current: &InUse, mut params: Params) -> Result<Value, String> {
    let (session, _) = params.session()?;
    let reason = params.text("reason")?.unwrap_or_else(|| "exit".to_owned());
    params.end()?;
    let trail = session.attach(current.shared()).end(reason).await;
    Ok(answers::trail(&trail, current))
}

async fn turn_begin(current: &InUse, mut params: Params) -> Result<Value, String> {
    let (session, _) = params.session()?;
    let turn_id = params.required("turn_id")?;
    let prompt = params.text("prompt")?;
    params.end()?;
    match session.attach(current.shared()).begin_turn(turn_id, prompt).await {
        Ok(turn) => {
            let mut answer = answers::trail(turn.opening(), current);
            answer["turn"] = json!(turn.detach());
            Ok(answer)
        }
        Err(refused) => Ok(answers::refused(&refused, current)),
    }
}

async fn turn_finish(current: &InUse, mut params: Params) -> Result<Value, String> {
    let (session, _) = params.session()?;
    let turn = params.turn()?.ok_or("`turn` is missing")?;
    let response = params.required("response")?;
    params.end()?;
    let turn = session.attach(current.shared()).attach_turn(turn);
    let go_on = turn.finish(&response).await;
    Ok(json!({ "go_on": go_on, "turn": turn.state() }))
}

async fn turn_end(current: &InUse, mut params: Params) -> Result<Value, String> {
    let (session, _) = params.session()?;
    let turn = params.turn()?.ok_or("`turn` is missing")?;
    let end = params.turn_end()?;
    params.end()?;
    let trail = session.attach(current.shared()).attach_turn(turn).end(end).await;
    Ok(answers::trail(&trail, current))
}
