//! The server: what all connections share, and the methods.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use hookexec::config::Diagnostics;
use hookexec::{Event, Verdict};
use hookexec_agents::Subject;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use super::engine::{Engine, Loaded, Reading, tell_absent};
use super::host::{self, Host};
use super::params::Params;
use super::protocol::{ErrorCode, Refusal, answer};
use super::socket::Socket;
use super::{VERSION, connection};

/// The work that a server takes on at once. A request beyond it gets an error at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Dispatches of all connections together.
    pub dispatches: usize,
    /// Dispatches of one connection.
    pub dispatches_per_connection: usize,
    /// The longest line that a client may send, in bytes.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { dispatches: 256, dispatches_per_connection: 64, line: 8 << 20 }
    }
}

/// A place among the requests that run, or why there is none.
pub(super) type Place = Result<OwnedSemaphorePermit, Refusal>;

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
    /// The errors of `load`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime: processes with `start: eager` start now.
    pub fn new(
        project: impl Into<PathBuf>,
        limits: Limits,
        load: impl Fn(Reading) -> Result<Loaded, Diagnostics> + Send + Sync + 'static,
    ) -> Result<Self, Diagnostics> {
        Ok(Self {
            engine: Arc::new(Engine::new(Box::new(load))?),
            project: project.into().into(),
            limits,
            dispatches: Arc::new(Semaphore::new(limits.dispatches)),
            stopping: watch::Sender::new(false),
        })
    }

    /// Talks to everybody who connects to `socket`, until [`stop`](Self::stop) is called and those
    /// who are connected have their answers.
    pub async fn listen(&self, socket: &Socket) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stopped() => break,
                accepted = socket.accept() => accepted,
            };
            while connections.try_join_next().is_some() {}
            if let Some(stream) = accepted {
                connections.spawn(connection::over(self.clone(), stream));
            }
        }
        while connections.join_next().await.is_some() {}
    }

    /// Reads no more requests; those that run go on.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until background hooks are done, then stops the processes; whatever is not done within
    /// `patience` is killed.
    pub async fn shutdown(&self, patience: Duration) {
        self.stop();
        self.engine.shutdown(patience).await;
    }

    /// Returns once no more requests are read.
    pub(super) async fn stopped(&self) {
        // An error would mean that the sender is gone, and `self` holds it.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// Takes a place among the requests that run, for one more request of a connection that has
    /// `running` others, or says why there is none.
    pub(super) fn place(&self, running: usize) -> Place {
        let Limits { dispatches, dispatches_per_connection, .. } = self.limits;
        let problem = if running >= dispatches_per_connection {
            format!("{dispatches_per_connection} dispatches of this connection are running")
        } else {
            match Arc::clone(&self.dispatches).try_acquire_owned() {
                Ok(place) => return Ok(place),
                Err(_) => format!("{dispatches} dispatches are running"),
            }
        };
        Err(Refusal::new(ErrorCode::Overloaded, format!("overloaded: {problem}")))
    }

    /// Returns the line that answers a request. Without a `place` no hook runs.
    pub(super) async fn answer(
        &self,
        host: &Host,
        id: &Value,
        method: &str,
        params: Params,
        place: Place,
    ) -> Vec<u8> {
        match method {
            "ping" => answer(id, &self.ping(params)),
            "dispatch" => answer(id, &self.dispatch(params, place).await),
            _ => answer(id, &caught(self.drive(host, method, params, place)).await),
        }
    }

    /// Says that the server works. With `version` and `project` it refuses as it would refuse a dispatch.
    fn ping(&self, mut params: Params) -> Result<Value, Refusal> {
        self.check_client(&mut params)?;
        Ok(json!({}))
    }

    /// Runs the hooks of an event. As soon as the event is known, an error has the verdict that stands
    /// for the missing one.
    async fn dispatch(&self, mut params: Params, place: Place) -> Result<Verdict, Refusal> {
        let (event, subject) = params.subject()?;
        let verdict = caught(self.judge(&subject, &mut params, place)).await;
        verdict.map_err(|refusal| self.stand_in(refusal, event, &subject))
    }

    /// Returns the verdict on what happened.
    async fn judge(
        &self,
        subject: &Result<Subject, Refusal>,
        params: &mut Params,
        place: Place,
    ) -> Result<Verdict, Refusal> {
        let _place = place?;
        let until = self.check_client(params)?;
        let subject = subject.as_ref().map_err(Refusal::clone)?;
        let current = self.engine.current(until).await?;
        let mut verdict = subject.answer(&current.executor, until).await;
        if let Subject::Native(_) = subject {
            tell_absent(&current.absent, &mut verdict);
        }
        Ok(verdict)
    }

    /// Adds the verdict that stands for the missing one: all hooks of the event have failed. Without
    /// an input that is meant for the hooks of this server, the event's own contract counts too.
    fn stand_in(
        &self,
        mut refusal: Refusal,
        event: Event,
        subject: &Result<Subject, Refusal>,
    ) -> Refusal {
        let why = format!("hookexec serve: {}", refusal.message);
        let input = match (subject, refusal.code) {
            (_, ErrorCode::OtherProject | ErrorCode::OtherVersion | ErrorCode::InvalidParams) => {
                None
            }
            (subject, _) => subject.as_ref().ok().map(Subject::input),
        };
        let mut verdict = self.engine.in_use().executor.failed(event, input, &why);
        if input.is_none() {
            verdict.absorb(Verdict::failed(event, &why));
        }
        refusal.data = Some(json!({ "verdict": verdict }));
        refusal
    }

    /// Does what a host wants next of a session, a turn or a call.
    async fn drive(
        &self,
        host: &Host,
        method: &str,
        mut params: Params,
        place: Place,
    ) -> Result<Value, Refusal> {
        host::check(method, &params)?;
        let _place = place?;
        let until = self.check_client(&mut params)?;
        let current = self.engine.current(until).await?;
        host.answer(Arc::clone(&current.executor), method, params, until).await
    }

    /// Refuses a client of another version or another project, and returns when the client needs its
    /// answer.
    fn check_client(&self, params: &mut Params) -> Result<Option<Instant>, Refusal> {
        if let Some(client) = params.text("version")?
            && client != VERSION
        {
            let message = format!("this server is hookexec {VERSION}, and the caller is {client}");
            return Err(Refusal::new(ErrorCode::OtherVersion, message));
        }
        if let Some(project) = params.text("project")?
            && Path::new(&project) != &*self.project
        {
            let own = self.project.display();
            let message = format!("this server has the hooks of {own}, not those of {project}");
            return Err(Refusal::new(ErrorCode::OtherProject, message));
        }
        params.deadline()
    }
}

/// Does `work`, in which a panic is an error.
async fn caught<T>(work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        Err(Refusal::new(ErrorCode::Internal, "the server is at fault: it panicked"))
    })
}
