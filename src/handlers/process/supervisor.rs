//! Starts a process when it is needed, keeps it running, and starts it again when it crashed.
//!
//! Nothing runs on its own here: a crash is noticed by the task of the child at once, but what follows from
//! it is decided when the process is needed next.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout_at;

use super::connection::{CallError, Connection, Request};
use super::error::ProcessError;
use super::handshake::Roles;
use super::health::{Gate, Health, TOO_MANY};
use super::launch::{Launch, Running};
use super::notifications::NotificationQueue;
use super::start::{Start, StartError};
use super::statistics::{Counters, ProcessStatistics};
use crate::config::Process;
use crate::handler::{BuildError, Failure};
use crate::locks::locked;
use crate::rpc;

/// A process of the configuration, running or not.
#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) process: Process,
    /// How it is started, or why it can't be.
    pub(super) launch: Result<Launch, BuildError>,
    roles: Mutex<Roles>,
    pub(super) notifications: Arc<NotificationQueue>,
    pub(super) counters: Arc<Counters>,
    state: Mutex<State>,
    /// Told whenever a start has ended.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    health: Health,
    /// How many starts were attempted.
    attempts: u64,
    /// The attempt that failed last, and why.
    failed: Option<(u64, ProcessError)>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    Starting {
        /// `None` while the task is being spawned.
        task: Option<AbortHandle>,
    },
    Running(Running),
    /// It does not want to be a hook here; it ends once no hook calls it any more.
    Refused {
        error: ProcessError,
        leaving: Option<Running>,
    },
    Stopped,
}

/// What a caller can do now.
enum Step {
    Call(Arc<Connection>),
    /// A start is under way: the attempt of this number.
    AwaitStart(u64),
    /// It rests after a crash.
    AwaitRest {
        until: Instant,
        error: ProcessError,
    },
    Fail(ProcessError),
}

impl Supervisor {
    pub(super) fn new(process: Process, launch: Result<Launch, BuildError>) -> Arc<Self> {
        let counters =
            ProcessStatistics { name: process.name.clone(), ..ProcessStatistics::default() };
        Arc::new(Self {
            process,
            launch,
            roles: Mutex::default(),
            notifications: Arc::default(),
            counters: Arc::new(counters.into()),
            state: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Returns whether the other one is of the same definition in the same file, and of the same
    /// environment.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.process == other.process
            && match (&self.launch, &other.launch) {
                (Ok(own), Ok(other)) => own.is_same(other),
                _ => false,
            }
    }

    /// Returns why the process can never be started.
    pub(super) fn obstacle(&self) -> Option<&BuildError> {
        self.launch.as_ref().err()
    }

    /// Returns what the process is called for; told to it in the handshake.
    pub(super) fn roles(&self) -> MutexGuard<'_, Roles> {
        locked(&self.roles)
    }

    pub(super) fn statistics(&self) -> ProcessStatistics {
        let pid = match &locked(&self.state).phase {
            Phase::Running(running) => running.connection().pid(),
            _ => None,
        };
        ProcessStatistics { pid, ..locked(&self.counters).clone() }
    }

    /// Calls the process, starting it when it does not run, and returns the JSON text of the result.
    pub(super) async fn call(
        self: &Arc<Self>,
        method: &str,
        params: &[u8],
        deadline: Instant,
    ) -> Result<String, ProcessError> {
        locked(&self.counters).calls += 1;
        let result = self.try_call(method, params, deadline).await;
        if let Err(error) = &result {
            let mut counters = locked(&self.counters);
            counters.failures += 1;
            counters.timeouts += u64::from(error.failure == Failure::TimedOut);
        }
        result
    }

    async fn try_call(
        self: &Arc<Self>,
        method: &str,
        params: &[u8],
        deadline: Instant,
    ) -> Result<String, ProcessError> {
        let started = Instant::now();
        let mut connection = self.connect(deadline).await?;
        let mut result = connection.call(method, params, deadline).await;
        if matches!(result, Err(CallError::Unsent)) {
            // It ended just before. The call can't have been seen, so a new child may have it.
            if timeout_at(deadline.into(), connection.wait_end()).await.is_ok() {
                connection = self.connect(deadline).await?;
                result = connection.call(method, params, deadline).await;
            }
        }
        // Twice is bad luck, and the caller's affair; the cause is that of the second end.
        let end = match result {
            Err(CallError::Unsent) => {
                timeout_at(deadline.into(), connection.wait_end()).await.ok().flatten()
            }
            _ => None,
        };
        result.map_err(|error| match end {
            Some(end) => ProcessError::unsent(&self.process.name, method, &end),
            None => ProcessError::of_call(&self.process.name, method, error, deadline - started),
        })
    }

    /// Returns a connection to the running process, starting it when it does not run.
    pub(super) async fn connect(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Arc<Connection>, ProcessError> {
        let mut awaited = None;
        loop {
            let changed = self.changed.notified();
            match self.step(awaited) {
                Step::Call(connection) => return Ok(connection),
                Step::Fail(error) => return Err(error),
                Step::AwaitStart(attempt) => {
                    awaited = Some(attempt);
                    if timeout_at(deadline.into(), changed).await.is_err() {
                        return Err(ProcessError::new(
                            Failure::TimedOut,
                            format!("process `{}` was still starting", self.process.name),
                        ));
                    }
                }
                // It rests until after the deadline.
                Step::AwaitRest { until, error } if until >= deadline => {
                    return Err(ProcessError::new(Failure::TimedOut, error.message));
                }
                Step::AwaitRest { until, .. } => tokio::time::sleep_until(until.into()).await,
            }
        }
    }

    /// Tells the process something, without waiting for anything.
    ///
    /// # Errors
    /// When it was dropped: why, in words.
    pub(super) fn notify(
        self: &Arc<Self>,
        method: &str,
        params: &[u8],
    ) -> Result<(), ProcessError> {
        let step = self.step(None);
        if let Step::Fail(error) = step {
            self.drop_news(1, &error.message);
            return Err(error);
        }
        if let Err(full) = self.notifications.push(rpc::notification(method, params)) {
            let error = ProcessError::new(
                Failure::Other,
                format!(
                    "process `{}` does not keep up: {} notifications wait, this one was dropped",
                    self.process.name, full.waiting
                ),
            );
            self.drop_news(1, &error.message);
            return Err(error);
        }
        locked(&self.counters).notifications += 1;
        if let Step::Call(connection) = step {
            connection.request(Request::Notify);
        }
        Ok(())
    }

    /// Starts the process without waiting for it.
    pub(super) fn start(self: &Arc<Self>) {
        if let Step::Fail(error) = self.step(None) {
            tracing::warn!(process = %self.process.name, "process not started: {error}");
        }
    }

    /// Stops the process in good order: it gets the notifications that wait, then its input ends,
    /// then it gets SIGTERM, then SIGKILL.
    pub(super) async fn shutdown(&self) {
        // Notifications that wait are sent first, also when the child is only just starting.
        while !self.notifications.is_empty() {
            let changed = self.changed.notified();
            if !matches!(locked(&self.state).phase, Phase::Starting { .. }) {
                break;
            }
            changed.await;
        }
        let phase = std::mem::replace(&mut locked(&self.state).phase, Phase::Stopped);
        self.changed.notify_waiters();
        match phase {
            Phase::Starting { task } => abort(task.as_ref()),
            Phase::Running(running) | Phase::Refused { leaving: Some(running), .. } => {
                running.stop().await;
            }
            Phase::Idle | Phase::Refused { .. } | Phase::Stopped => {}
        }
        let lost = self.notifications.clear();
        if lost > 0 {
            self.drop_news(lost, "it was stopped");
        }
    }

    /// Ends the process at once.
    pub(super) fn abandon(&self) {
        let phase = std::mem::replace(&mut locked(&self.state).phase, Phase::Stopped);
        if let Phase::Starting { task } = &phase {
            abort(task.as_ref());
        }
        drop(phase);
        self.changed.notify_waiters();
    }

    fn drop_news(&self, count: usize, why: &str) {
        let mut counters = locked(&self.counters);
        counters.notifications_dropped += count as u64;
        let total = counters.notifications_dropped;
        drop(counters);
        tracing::warn!(process = %self.process.name, dropped = count, total, "notifications dropped: {why}");
    }

    /// Returns what a caller can do now, and starts the process when that is what is to be done.
    /// `awaited` is the attempt to start it whose end the caller has waited for.
    fn step(self: &Arc<Self>, awaited: Option<u64>) -> Step {
        let mut state = locked(&self.state);
        if let Phase::Running(running) = &state.phase {
            match running.connection().ending() {
                None => return Step::Call(Arc::clone(running.connection())),
                Some(end) => {
                    state.phase = Phase::Idle;
                    if end.crashed {
                        state.health.crashed(end.at, end.served, end.to_string());
                    }
                }
            }
        }
        match &state.phase {
            Phase::Starting { .. } => return Step::AwaitStart(state.attempts),
            Phase::Refused { error, .. } => return Step::Fail(error.clone()),
            Phase::Stopped => return Step::Fail(self.stopped()),
            Phase::Idle | Phase::Running(_) => {}
        }
        if let Some((attempt, error)) = &state.failed
            && awaited == Some(*attempt)
        {
            return Step::Fail(error.clone());
        }
        if let Some(step) = self.closed_gate(&state.health) {
            return step;
        }
        state.attempts += 1;
        state.phase = Phase::Starting { task: None };
        let attempt = state.attempts;
        drop(state);
        self.spawn_start(attempt)
    }

    fn closed_gate(&self, health: &Health) -> Option<Step> {
        let name = &self.process.name;
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        match health.gate(Instant::now()) {
            Gate::Open => None,
            Gate::Resting { until, cause } => {
                let message = format!(
                    "process `{name}` crashed and is started again in {:.1?}: {cause}",
                    left(until)
                );
                let error = ProcessError::new(Failure::Start, message);
                Some(Step::AwaitRest { until, error })
            }
            Gate::Broken { until, cause, crashes } => {
                let message = format!(
                    "process `{name}` crashed {crashes} times in a row without answering a call and is left alone for another {:.0?}: {cause}",
                    left(until)
                );
                Some(Step::Fail(ProcessError::new(Failure::Start, message)))
            }
        }
    }

    /// Starts the process in a task. Not to be called under the lock: a runtime that is being shut
    /// down drops the task on the spot, which ends the start.
    fn spawn_start(self: &Arc<Self>, attempt: u64) -> Step {
        let start = Start::new(self, attempt);
        let Ok(runtime) = Handle::try_current() else {
            drop(start);
            let message =
                format!("process `{}` can't be started outside a Tokio runtime", self.process.name);
            return Step::Fail(ProcessError::new(Failure::Start, message));
        };
        let handle = runtime.spawn(start.run()).abort_handle();
        let mut state = locked(&self.state);
        let State { phase, attempts, .. } = &mut *state;
        match phase {
            Phase::Starting { task } if *attempts == attempt => *task = Some(handle),
            Phase::Stopped => handle.abort(),
            _ => {}
        }
        Step::AwaitStart(attempt)
    }

    fn stopped(&self) -> ProcessError {
        let message = format!("process `{}` was shut down with its executor", self.process.name);
        ProcessError::new(Failure::Start, message)
    }

    /// Takes the end of an attempt to start it.
    pub(super) fn end_start(&self, attempt: u64, result: Result<Running, StartError>) {
        let mut state = locked(&self.state);
        // Stopped meanwhile: what was started is dropped, which ends it.
        if !matches!(state.phase, Phase::Starting { .. }) || state.attempts != attempt {
            return;
        }
        state.phase = match result {
            Ok(running) => Phase::Running(running),
            Err(StartError::Refused(error, leaving)) => {
                tracing::warn!(process = %self.process.name, "{error}");
                leaving.connection().request(Request::Stop);
                Phase::Refused { error, leaving: Some(leaving) }
            }
            Err(StartError::Failed(error)) => {
                tracing::warn!(process = %self.process.name, "{error}");
                locked(&self.counters).crashes += 1;
                state.health.crashed(Instant::now(), false, error.message.clone());
                if let Gate::Broken { crashes: TOO_MANY, .. } = state.health.gate(Instant::now()) {
                    tracing::warn!(process = %self.process.name, "it crashed {TOO_MANY} times in a row and is left alone for a while");
                }
                state.failed = Some((attempt, error));
                Phase::Idle
            }
            Err(StartError::Interrupted) => {
                let message = format!("the start of process `{}` was cut off", self.process.name);
                state.failed = Some((attempt, ProcessError::new(Failure::Start, message)));
                Phase::Idle
            }
        };
        drop(state);
        self.changed.notify_waiters();
    }
}

fn abort(task: Option<&AbortHandle>) {
    if let Some(task) = task {
        task.abort();
    }
}
