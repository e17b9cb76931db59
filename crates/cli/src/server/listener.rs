//! What all connections share: the engine, the limits, and the methods.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
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
use hookexec::config::Diagnostics;
use hookexec::wire::Verdict;

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
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    engine: Arc<Engine>,
    /// The only project it answers for.
    project: PathBuf,
    pub(super) limits: Limits,
    connections: Arc<Semaphore>,
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
        let shared = Shared {
            engine: Arc::new(Engine::new(Box::new(load))?),
            project: project.into(),
            limits,
            connections: Arc::new(Semaphore::new(limits.connections)),
            dispatches: Arc::new(Semaphore::new(limits.dispatches)),
            stopping: watch::Sender::new(false),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Talks to one client until its requests end and all are answered, it can't be written to any
    /// more, or `gone` returns.
    pub async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
        gone: impl Future<Output = ()> + Send,
    ) {
        connection::run(&self.shared, reader, writer, gone).await;
    }

    /// Talks to everybody who connects to `socket`, until [`stop`](Self::stop) is called and those
    /// who are connected have their answers.
    pub(crate) async fn listen(&self, socket: &Socket) {
        let mut stopping = self.shared.stopping.subscribe();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopping.wait_for(|stopping| *stopping) => break,
                accepted = socket.accept() => accepted,
            };
            while connections.try_join_next().is_some() {}
            let Some(stream) = accepted else { continue };
            let room = Arc::clone(&self.shared.connections).try_acquire_owned();
            let shared = Arc::clone(&self.shared);
            connections.spawn(async move {
                match room {
                    Ok(_room) => connection::over(&shared, stream).await,
                    Err(_) => connection::refuse(&stream, shared.limits.connections),
                }
            });
        }
        while connections.join_next().await.is_some() {}
    }

    /// Takes no more requests; those that run go on.
    pub fn stop(&self) {
        self.shared.stopping.send_replace(true);
    }

    /// Waits until background hooks are done, then stops the processes; whatever is not done within
    /// `patience` is killed.
    pub async fn shutdown(&self, patience: Duration) {
        self.stop();
        self.shared.engine.shutdown(patience).await;
    }
}

impl Shared {
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
        match method {
            "dispatch" => Ok(Reply::Verdict(Box::new(self.dispatch(params).await?))),
            "reload" => self.reload().await.map(Reply::Value),
            _ if host::METHODS.contains(&method) => {
                let (project, until) = params.client().map_err(invalid)?;
                self.check_project(project.as_deref())?;
                let current = self.engine.current(until).await.map_err(unread)?;
                let answer = caught(host.call(current, method, params)).await?;
                answer.map(Reply::Value).map_err(invalid)
            }
            _ => {
                let mut known = vec!["dispatch", "ping", "reload"];
                known.extend(host::METHODS);
                let message = format!("unknown method `{method}`; known are {}", known.join(", "));
                Err(Refusal::new(ErrorCode::MethodNotFound, message))
            }
        }
    }

    async fn reload(&self) -> Result<Value, Refusal> {
        let current = self.engine.reload().await;
        let hooks = current.executor().hooks().len();
        match &current.problem {
            None => Ok(json!({ "files": current.files(), "hooks": hooks })),
            Some(problems) => {
                let data = Some(json!({ "problems": problems.as_ref() }));
                Err(Refusal { data, ..Refusal::new(ErrorCode::Broken, broken(problems)) })
            }
        }
    }

    /// Says that the server works. With `version` and `project` it refuses as it would refuse a dispatch.
    pub(super) fn ping(&self, mut params: Params) -> Result<Value, Refusal> {
        check_version(params.text("version").map_err(invalid)?.as_deref())?;
        self.check_project(params.text("project").map_err(invalid)?.as_deref())?;
        Ok(json!({}))
    }

    /// Runs the hooks of an event. A refusal has the verdict that stands for the missing one, as soon
    /// as the event is known.
    async fn dispatch(&self, mut params: Params) -> Result<Verdict, Refusal> {
        let fired = params.fired().map_err(invalid)?;
        let event = fired.event;
        let client = params.client();
        let current = self.engine.current(params.until()).await.map_err(|problem| {
            let (current, input) = (self.engine.in_use(), params.input().ok());
            unread(problem).of(current.executor(), event, input.as_ref())
        })?;
        let executor = current.executor();
        let asked = client.map_err(invalid).and_then(|(project, until)| {
            check_version(params.text("version").map_err(invalid)?.as_deref())?;
            self.check_project(project.as_deref())?;
            let input = params.input().map_err(invalid)?;
            Ok((fired.moment(input, project.unwrap_or_default()), until))
        });
        let (moment, until) = asked.map_err(|refusal| refusal.of(executor, event, None))?;
        let mut verdict = caught(moment.answer(executor, until))
            .await
            .map_err(|refusal| refusal.of(executor, event, Some(moment.input())))?;
        if let Moment::Native(_) = moment {
            tell_absent(current.absent(), &mut verdict);
        }
        if let Some(problems) = &current.problem {
            let said = verdict.system_message.take().map(|said| said + "\n");
            verdict.system_message = Some(said.unwrap_or_default() + &broken(problems));
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

    /// Adds to the refusal of a dispatch what stands for its verdict.
    pub(super) fn refuse_dispatch(&self, refusal: Refusal, mut params: Params) -> Refusal {
        match params.fired() {
            Ok(fired) => {
                let (current, input) = (self.engine.in_use(), params.input().ok());
                refusal.of(current.executor(), fired.event, input.as_ref())
            }
            Err(_) => refusal,
        }
    }

    /// Refuses a request of another project than the server's.
    fn check_project(&self, project: Option<&str>) -> Result<(), Refusal> {
        match project {
            Some(project) if Path::new(project) != self.project => {
                let own = self.project.display();
                let message = format!("this server has the hooks of {own}, not those of {project}");
                Err(Refusal::new(ErrorCode::OtherProject, message))
            }
            _ => Ok(()),
        }
    }
}

fn invalid(problem: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidParams, problem)
}

fn unread(problem: &str) -> Refusal {
    Refusal::new(ErrorCode::Internal, problem)
}

/// Refuses a client of another version of hookexec.
fn check_version(client: Option<&str>) -> Result<(), Refusal> {
    match client {
        Some(client) if client != VERSION => {
            let message = format!("this server is hookexec {VERSION}, and the caller is {client}");
            Err(Refusal::new(ErrorCode::OtherVersion, message))
        }
        _ => Ok(()),
    }
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

pub(super) fn broken(problems: &Diagnostics) -> String {
    let text = problems.to_string();
    let first = text.lines().next().unwrap_or_default();
    let more = match text.lines().count() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!(
        "the configuration has changed and is broken, the one loaded before still counts: {first}{more}"
    )
}
