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

use hookexec::internal::{CallerDeadline, locked};
use hookexec::lifecycle::{Session, SessionBuilder, Turn};
use serde_json::{Value, json};

use self::open::OpenCall;
use super::engine::InUse;
use super::params::Params;

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
    /// Answers one of [`METHODS`] by the time `until`; an error is about the parameters, and no hook
    /// ran.
    pub(super) async fn call(
        &self,
        current: InUse,
        method: &str,
        mut params: Params,
        until: Option<Instant>,
    ) -> Result<Value, String> {
        if let "tool.approve" | "tool.end" | "model.end" = method {
            let id = params.number("call")?.ok_or("`call` must be a whole number")?;
            return self.resume(id, method, params, until).await;
        }
        let deadline = CallerDeadline::default();
        deadline.set(until);
        let session = params.session(&deadline)?;
        if method == "session.begin" {
            return session_begin(session, &current, params).await;
        }
        let session = session.attach(current.shared());
        let turn = params.turn()?.map(|turn| session.attach_turn(turn));
        let request = HostRequest { session, turn, params, current, deadline };
        match method {
            "session.end" => request.session_end().await,
            "turn.begin" => request.turn_begin().await,
            "turn.finish" => request.turn_finish().await,
            "turn.end" => request.turn_end().await,
            "tool.begin" => self.begin(OpenCall::tool(request)?).await,
            _ => self.begin(OpenCall::model(request)?).await,
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
        method: &str,
        params: Params,
        until: Option<Instant>,
    ) -> Result<Value, String> {
        let call = {
            let mut calls = locked(&self.0);
            let unknown = || format!("`call` {id} is not open, or another request is about it");
            calls.by_id.get_mut(&id).ok_or_else(unknown)?.take(method, params, until)?;
            calls.by_id.remove(&id).ok_or_else(unknown)?
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

async fn session_begin(
    session: SessionBuilder,
    current: &InUse,
    mut params: Params,
) -> Result<Value, String> {
    let source = params.source()?;
    params.end()?;
    let session = session.start(current.shared(), source).await;
    let mut answer = answers::trail(session.opening(), current);
    let unfired: Vec<String> = session.unfired().iter().map(ToString::to_string).collect();
    answer["unfired"] = json!(unfired);
    session.detach();
    Ok(answer)
}

/// A request within a session that has begun.
struct HostRequest {
    session: Session,
    turn: Option<Turn>,
    params: Params,
    current: InUse,
    deadline: CallerDeadline,
}

impl HostRequest {
    async fn session_end(mut self) -> Result<Value, String> {
        let reason = self.params.text("reason")?.unwrap_or_else(|| "exit".to_owned());
        self.params.end()?;
        Ok(answers::trail(&self.session.end(reason).await, &self.current))
    }

    async fn turn_begin(mut self) -> Result<Value, String> {
        let (turn_id, prompt) = (self.params.required("turn_id")?, self.params.text("prompt")?);
        self.params.end()?;
        match self.session.begin_turn(turn_id, prompt).await {
            Ok(turn) => {
                let mut answer = answers::trail(turn.opening(), &self.current);
                answer["turn"] = json!(turn.detach());
                Ok(answer)
            }
            Err(refused) => Ok(answers::refused(&refused, &self.current)),
        }
    }

    async fn turn_finish(mut self) -> Result<Value, String> {
        let turn = self.turn.ok_or("`turn` is missing")?;
        let response = self.params.required("response")?;
        self.params.end()?;
        let go_on = turn.finish(&response).await;
        Ok(json!({ "go_on": go_on, "turn": turn.state() }))
    }

    async fn turn_end(mut self) -> Result<Value, String> {
        let turn = self.turn.ok_or("`turn` is missing")?;
        let end = self.params.turn_end()?;
        self.params.end()?;
        Ok(answers::trail(&turn.end(end).await, &self.current))
    }
}
