//! What all connections share: the engine, the limits, and the methods.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use hookexec::Event;
use hookexec::config::Diagnostics;
use hookexec::wire::Verdict;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::VERSION;
use super::connection;
use super::engine::{Engine, Loaded};
use super::host::{self, Host};
use super::params::Params;
use super::protocol::{ErrorCode, Refusal};
use super::socket::Socket;
use crate::config::tell_absent;
use crate::moment::Moment;

/// What a server takes on at once. What is more is answered with an error, at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections.
    pub connections: usize,
    /// Dispatches of all connections together.
    pub dispatches: usize,
    /// Dispatches of one connection.
    pub dispatches_per_connection: usize,
    /// The longest line that a client may send, in bytes.
    pub line: usize,
    /// Answers of one connection that wait to be read by its client.
    pub unsent: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            dispatches: 256,
            dispatches_per_connection: 64,
            line: 8 << 20,
            unsent: 256,
        }
    }
}

/// The engine as a server of JSON-RPC 2.0.
///
/// * Order: requests of one connection run at the same time; each answer carries its request's id.
/// * Cancellation: when a client goes away, the hooks that run for it are stopped.
/// * Isolation: a connection has its own tasks and its own limits; nothing that one client sends, or
///   does not read, holds up another.
/// * Reload: before each dispatch the files are looked at; a new configuration takes the old one's
///   place as a whole. A broken one does not: the old one goes on, and every verdict says so.
/// * Clone: clones are the same server.
#[derive(Clone)]
pub struct Server {
    engine: Arc<Engine>,
    /// The only project it answers for.
    project: Arc<Path>,
    pub(super) limits: Limits,
    dispatches: Arc<Semaphore>,
    stopping: watch::Sender<bool>,
}

impl Server {
    /// Returns a server for a project, with the configuration that `load` returns now. It is called
    /// again, on another thread, when a place that it named has changed.
    ///
    /// # Errors
    /// Those of `load`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime: processes with `start: eager` start now.
    pub fn new(
        project: impl Into<PathBuf>,
        limits: Limits,
        load: impl Fn() -> Result<Loaded, Diagnostics> + Send + Sync + 'static,
    ) -> Result<Self, Diagnostics> {
        Ok(Self {
            engine: Arc::new(Engine::new(Box::new(load))?),
            project: project.into().into(),
            limits,
            dispatches: Arc::new(Semaphore::new(limits.dispatches)),
            stopping: watch::Sender::new(false),
        })
    }

    /// Talks to one client until its requests end and all are answered, it can't be written to any
    /// more, or `gone` returns.
    pub async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
        gone: impl Future<Output = ()> + Send,
    ) {
        connection::run(self, reader, writer, gone).await;
    }

    /// Talks to everybody who connects to `socket`, until [`stop`](Self::stop) is called and those
    /// who are connected have their answers.
    pub(crate) async fn listen(&self, socket: &Socket) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stopped() => break,
                accepted = socket.accept() => accepted,
            };
            while connections.try_join_next().is_some() {}
            let Some(stream) = accepted else { continue };
            if connections.len() >= self.limits.connections {
                connection::refuse(&stream, self.limits.connections);
                continue;
            }
            let server = self.clone();
            connections.spawn(async move { connection::over(&server, stream).await });
        }
        while connections.join_next().await.is_some() {}
    }

    /// Takes no more requests; those that run go on.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until background hooks are done, then stops the processes; whatever is not done within
    /// `patience` is killed.
    pub async fn shutdown(&self, patience: Duration) {
        self.stop();
        self.engine.shutdown(patience).await;
    }

    /// Returns once no more requests are taken.
    pub(super) async fn stopped(&self) {
        // An error would mean that the sender is gone, and `self` holds it.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// Answers a request.
    pub(super) async fn call(
        &self,
        host: &Host,
        method: &str,
        mut params: Params,
    ) -> Result<Reply, Refusal> {
        if method == "dispatch" {
            return Ok(Reply::Verdict(Box::new(self.dispatch(params).await?)));
        }
        if !host::METHODS.contains(&method) {
            let known = host::METHODS.join(", ");
            let message = format!("unknown method `{method}`; known are dispatch, ping, {known}");
            return Err(Refusal::new(ErrorCode::MethodNotFound, message));
        }
        let until = self.check_client(&mut params)?;
        let current = self.engine.current(until).await.map_err(unread)?;
        let answer = caught(host.call(current, method, params, until)).await?;
        Ok(Reply::Value(answer?))
    }

    /// Says that the server works. With `version` and `project` it refuses as it would refuse a dispatch.
    pub(super) fn ping(&self, mut params: Params) -> Result<Value, Refusal> {
        self.check_client(&mut params)?;
        Ok(json!({}))
    }

    /// Runs the hooks of an event. A refusal has the verdict that stands for the missing one, as soon
    /// as the event is known.
    async fn dispatch(&self, mut params: Params) -> Result<Verdict, Refusal> {
        let (event, moment) = params.moment()?;
        let verdict = self.judge(&moment, &mut params).await;
        verdict.map_err(|refusal| self.stand_in(refusal, event, &moment))
    }

    /// Returns the verdict on what happened.
    async fn judge(
        &self,
        moment: &Result<Moment, String>,
        params: &mut Params,
    ) -> Result<Verdict, Refusal> {
        let until = self.check_client(params)?;
        let moment = moment.as_ref().map_err(|problem| Refusal::from(problem.clone()))?;
        let current = self.engine.current(until).await.map_err(unread)?;
        let mut verdict = caught(moment.answer(current.executor(), until)).await?;
        if let Moment::Native(_) = moment {
            tell_absent(current.absent(), &mut verdict);
        }
        if let Some(problem) = &current.problem {
            let said = verdict.system_message.take().map(|said| said + "\n");
            verdict.system_message = Some(said.unwrap_or_default() + problem);
        }
        Ok(verdict)
    }

    /// Takes a place among the requests that run, for one more request of a connection that has
    /// `running` others, or says why there is none.
    pub(super) fn place(&self, running: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        if *self.stopping.borrow() {
            return Err(Refusal::new(ErrorCode::Stopping, "the server is about to end"));
        }
        let Limits { dispatches, dispatches_per_connection, .. } = self.limits;
        let overloaded = |message| Err(Refusal::new(ErrorCode::Overloaded, message));
        if running >= dispatches_per_connection {
            return overloaded(format!(
                "overloaded: {dispatches_per_connection} dispatches of this connection are running"
            ));
        }
        Arc::clone(&self.dispatches)
            .try_acquire_owned()
            .or_else(|_| overloaded(format!("overloaded: {dispatches} dispatches are running")))
    }

    /// Adds to the refusal of a dispatch that was not begun what stands for its verdict.
    pub(super) fn refuse_dispatch(&self, refusal: Refusal, mut params: Params) -> Refusal {
        match params.moment() {
            Ok((event, moment)) => self.stand_in(refusal, event, &moment),
            Err(_) => refusal,
        }
    }

    /// Adds the verdict that stands for the missing one: all hooks of the event have failed. Without
    /// an input that is meant for the hooks of this server, the event's own contract counts too.
    fn stand_in(
        &self,
        mut refusal: Refusal,
        event: Event,
        moment: &Result<Moment, String>,
    ) -> Refusal {
        let why = format!("hookexec serve: {}", refusal.message);
        let input = match (moment, refusal.code) {
            (_, ErrorCode::OtherProject | ErrorCode::OtherVersion | ErrorCode::InvalidParams) => {
                None
            }
            (moment, _) => moment.as_ref().ok().map(Moment::input),
        };
        let mut verdict = self.engine.in_use().executor().failed(event, input, &why);
        if input.is_none() {
            verdict.absorb(Verdict::failed(event, &why));
        }
        refusal.data = Some(json!({ "verdict": verdict }));
        refusal
    }

    /// Refuses a client of another version or another project, and returns when the client needs its
    /// answer.
    fn check_client(&self, params: &mut Params) -> Result<Option<Instant>, Refusal> {
        if let Some(client) = params.text("version")?.filter(|client| client != VERSION) {
            let message = format!("this server is hookexec {VERSION}, and the caller is {client}");
            return Err(Refusal::new(ErrorCode::OtherVersion, message));
        }
        match params.text("project")? {
            Some(project) if Path::new(&project) != &*self.project => {
                let own = self.project.display();
                let message = format!("this server has the hooks of {own}, not those of {project}");
                Err(Refusal::new(ErrorCode::OtherProject, message))
            }
            _ => Ok(params.deadline()?),
        }
    }
}

fn unread(problem: &str) -> Refusal {
    Refusal::new(ErrorCode::Internal, problem)
}

/// Does `work`, in which a panic is a refusal.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Refusal> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|_| Refusal::new(ErrorCode::Internal, "the server is at fault: it panicked"))
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    Verdict(Box<Verdict>),
    Value(Value),
}
