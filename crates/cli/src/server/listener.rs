//! What all connections share: the engine, the limits, and the methods.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::connection;
use super::engine::{Engine, Files, InUse, Loaded};
use super::host;
use super::params::Params;
use super::protocol::{ErrorCode, Refusal};
use super::socket::Socket;
use crate::summary::HookSummary;
use hookexec::config::Diagnostics;
use hookexec::event::Event;
use hookexec::internal::{DispatchOptions, Observer};
use hookexec::wire::{Input, Verdict};

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
    /// Answers and notifications of one connection that wait to be read by its client.
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
    /// again, on another thread, when a place that it named has changed. After a second it is called
    /// once more for the files that are not the project's.
    ///
    /// # Errors
    /// Those of `load`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime: processes with `start: eager` start now.
    pub fn new(
        project: impl Into<PathBuf>,
        limits: Limits,
        load: impl Fn(Files) -> Result<Loaded, Diagnostics> + Send + Sync + 'static,
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

    /// Answers everything but `dispatch`.
    pub(super) async fn call(&self, method: &str, mut params: Params) -> Result<Value, Refusal> {
        match method {
            "has" => {
                let event = params.event().map_err(invalid)?;
                Ok(json!({ "has": self.engine.current(None).await.executor().has(event) }))
            }
            "list" => {
                let current = self.engine.current(None).await;
                let hooks: Vec<_> = current.executor().hooks().map(HookSummary::of).collect();
                Ok(json!({ "files": current.files(), "hooks": hooks }))
            }
            "reload" => {
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
            _ => {
                let mut known = vec!["dispatch", "has", "list", "reload"];
                known.extend(host::METHODS);
                let message = format!("unknown method `{method}`; known are {}", known.join(", "));
                Err(Refusal::new(ErrorCode::MethodNotFound, message))
            }
        }
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

    /// Adds to a refusal of a dispatch what stands for its verdict.
    pub(super) fn refuse(&self, refusal: Refusal, mut params: Params) -> Refusal {
        match params.event() {
            Ok(event) => {
                refusal.of(self.engine.in_use().executor(), event, params.input().ok().as_ref())
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

    /// Takes on a request of a host, or says why not.
    pub(super) async fn admit_host(&self, params: &mut Params) -> Result<InUse, Refusal> {
        let (project, until) = params.client().map_err(invalid)?;
        self.check_project(project.as_deref())?;
        Ok(self.engine.current(until).await)
    }

    /// Takes on a dispatch, or says why not.
    pub(super) async fn admit(
        &self,
        mut params: Params,
        place: OwnedSemaphorePermit,
    ) -> Result<Admitted, Refusal> {
        let client = params.client();
        let until = client.as_ref().ok().and_then(|(_, deadline)| *deadline);
        let current = self.engine.current(until).await;
        let named = params.event();
        let read = || {
            let (project, _) = client?;
            let (event, input) = (named.clone()?, params.input()?);
            Ok((project, event, input, params.flag("progress")?.unwrap_or_default()))
        };
        let (project, event, input, wants_progress) = read().map_err(|problem| match named {
            Ok(event) => invalid(problem).of(current.executor(), event, None),
            Err(_) => invalid(problem),
        })?;
        // This server does not know the hooks of another project.
        self.check_project(project.as_deref())
            .map_err(|refusal| refusal.of(current.executor(), event, None))?;
        Ok(Admitted { event, input, wants_progress, until, current, _place: place })
    }
}

fn invalid(problem: String) -> Refusal {
    Refusal::new(ErrorCode::InvalidParams, problem)
}

/// A dispatch that may run.
pub(super) struct Admitted {
    pub(super) event: Event,
    input: Input,
    /// Whether the client wants to know of each hook.
    pub(super) wants_progress: bool,
    until: Option<Instant>,
    current: InUse,
    _place: OwnedSemaphorePermit,
}

impl Admitted {
    /// Returns why it could not be run to its end.
    pub(super) fn refuse(&self, code: ErrorCode, message: &str) -> Refusal {
        let refusal = Refusal::new(code, message);
        refusal.of(self.current.executor(), self.event, Some(&self.input))
    }

    /// Runs it.
    pub(super) async fn run(&self, observer: Option<&dyn Observer>) -> Verdict {
        let Self { event, input, current, .. } = self;
        let executor = current.executor();
        let options = DispatchOptions { observer, until: self.until, ..DispatchOptions::default() };
        let verdict = executor.run(*event, input, options).await;
        let mut verdict = executor.approve_with(verdict, input, options).await;
        if let Some(problems) = &self.current.problem {
            let said = verdict.system_message.take().map(|said| said + "\n");
            verdict.system_message = Some(said.unwrap_or_default() + &broken(problems));
        }
        verdict
    }
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
