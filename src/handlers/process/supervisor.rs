//! Starts a process when it is needed, keeps it running, and starts it again when it crashed.
//!
//! Nothing runs on its own here: a crash is noticed by the task of the child at once, but what follows from
//! it is decided when the process is needed next.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout_at;

use super::connection::{CallError, Connection, End, Request};
use super::handshake::Roles;
use super::health::{Gate, Health, TOO_MANY};
use super::launch::Running;
use super::notifications::NotificationQueue;
use super::start::StartError;
use super::statistics::{Counters, ProcessStatistics};
use crate::config::Process;
use crate::handler::{BuildError, Failure, HandlerError};
use crate::handlers::command::launch::Launch;
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
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    health: Health,
}

/// What came of an attempt to start the process: nothing yet while it is under way, and nothing ever
/// when its task was dropped.
type Outcome = watch::Receiver<Option<Result<(), HandlerError>>>;

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    Starting {
        task: AbortHandle,
        outcome: Outcome,
    },
    Running(Running),
    /// It does not want to be a hook here; it ends once no hook calls it any more.
    Refused {
        error: HandlerError,
        leaving: Running,
    },
    Stopped,
}

/// What a caller can do now.
enum Step {
    Call(Arc<Connection>),
    /// A start is under way.
    AwaitStart(Outcome),
    /// It rests after a crash.
    AwaitRest {
        until: Instant,
        error: HandlerError,
    },
    Fail(HandlerError),
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
        })
    }

    /// Returns whether the other one is of the same definition in the same file, and of the same
    /// environment.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.process == other.process
            && match (&self.launch, &other.launch) {
                (Ok(own), Ok(other)) => {
                    own.environment == other.environment && own.directory == other.directory
                }
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
    ) -> Result<String, HandlerError> {
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
    ) -> Result<String, HandlerError> {
        let started = Instant::now();
        let mut connection = self.connect(deadline).await?;
        let mut result = connection.call(method, params, deadline).await;
        if matches!(result, Err(CallError::Unsent)) {
            // It ended just before. The call can't have been seen, so a new child may have it.
            self.end_of(&connection, deadline).await?;
            connection = self.connect(deadline).await?;
            result = connection.call(method, params, deadline).await;
        }
        // Twice is bad luck, and the caller's affair; the cause is that of the second end.
        let end = match result {
            Err(CallError::Unsent) => self.end_of(&connection, deadline).await?,
            _ => None,
        };
        result.map_err(|error| match end {
            Some(end) => end.before(&self.process.name, method),
            None => error.into_failure(&self.process.name, method, deadline - started),
        })
    }

    /// Waits until the process of a connection has ended, and returns how.
    async fn end_of(
        &self,
        connection: &Connection,
        deadline: Instant,
    ) -> Result<Option<Arc<End>>, HandlerError> {
        timeout_at(deadline.into(), connection.wait_end()).await.map_err(|_| {
            let message = format!("process `{}` was still ending", self.process.name);
            HandlerError::new(Failure::TimedOut, message)
        })
    }

    /// Returns a connection to the running process, starting it when it does not run.
    pub(super) async fn connect(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Arc<Connection>, HandlerError> {
        loop {
            match self.step() {
                Step::Call(connection) => return Ok(connection),
                Step::Fail(error) => return Err(error),
                Step::AwaitStart(mut outcome) => {
                    let ended = outcome.wait_for(Option::is_some);
                    let Ok(ended) = timeout_at(deadline.into(), ended).await else {
                        let message = format!("process `{}` was still starting", self.process.name);
                        return Err(HandlerError::new(Failure::TimedOut, message));
                    };
                    let ended = ended.ok().and_then(|ended| ended.clone());
                    ended.unwrap_or_else(|| Err(self.cut_off()))?;
                }
                // It rests until after the deadline.
                Step::AwaitRest { until, error } if until >= deadline => {
                    return Err(HandlerError::new(Failure::TimedOut, error.message));
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
    ) -> Result<(), HandlerError> {
        let step = self.step();
        if let Step::Fail(error) = step {
            self.drop_news(1, &error.message);
            return Err(error);
        }
        if let Err(waiting) = self.notifications.push(rpc::notification(method, params)) {
            let error = HandlerError::new(
                Failure::Other,
                format!(
                    "process `{}` does not keep up: {waiting} notifications wait, this one was dropped",
                    self.process.name
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
        if let Step::Fail(error) = self.step() {
            tracing::warn!(process = %self.process.name, "process not started: {error}");
        }
    }

    /// Stops the process in good order: it gets the notifications that wait, then its input ends,
    /// then it gets SIGTERM, then SIGKILL.
    pub(super) async fn shutdown(&self) {
        // Notifications that wait are sent first, also when the child is only just starting.
        let starting = match &locked(&self.state).phase {
            Phase::Starting { outcome, .. } if !self.notifications.is_empty() => {
                Some(outcome.clone())
            }
            _ => None,
        };
        if let Some(mut outcome) = starting {
            let _ = outcome.wait_for(Option::is_some).await;
        }
        match self.end() {
            Phase::Running(running) | Phase::Refused { leaving: running, .. } => {
                running.stop().await;
            }
            Phase::Idle | Phase::Starting { .. } | Phase::Stopped => {}
        }
        let lost = self.notifications.clear();
        if lost > 0 {
            self.drop_news(lost, "it was stopped");
        }
    }

    /// Ends the process at once.
    pub(super) fn abandon(&self) {
        drop(self.end());
    }

    /// Lets no call start the process any more, and returns what it was at.
    fn end(&self) -> Phase {
        let phase = std::mem::replace(&mut locked(&self.state).phase, Phase::Stopped);
        if let Phase::Starting { task, .. } = &phase {
            task.abort();
        }
        phase
    }

    fn drop_news(&self, count: usize, why: &str) {
        let mut counters = locked(&self.counters);
        counters.notifications_dropped += count as u64;
        let total = counters.notifications_dropped;
        drop(counters);
        tracing::warn!(process = %self.process.name, dropped = count, total, "notifications dropped: {why}");
    }

    /// Returns what a caller can do now, and starts the process when that is what is to be done.
    fn step(self: &Arc<Self>) -> Step {
        let mut state = locked(&self.state);
        let State { phase, health } = &mut *state;
        match phase {
            Phase::Running(running) => match running.connection().ending() {
                None => return Step::Call(Arc::clone(running.connection())),
                Some(end) if end.crashed => health.crashed(end.at, end.served, end.to_string()),
                Some(_) => {}
            },
            Phase::Starting { task, outcome } if !task.is_finished() => {
                return Step::AwaitStart(outcome.clone());
            }
            Phase::Refused { error, .. } => return Step::Fail(error.clone()),
            Phase::Stopped => return Step::Fail(self.stopped()),
            // A start that was cut off has left its phase behind.
            Phase::Starting { .. } | Phase::Idle => {}
        }
        *phase = Phase::Idle;
        self.closed_gate(health).unwrap_or_else(|| self.start_task(phase))
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
                let error = HandlerError::new(Failure::Start, message);
                Some(Step::AwaitRest { until, error })
            }
            Gate::Broken { until, cause, crashes } => {
                let message = format!(
                    "process `{name}` crashed {crashes} times in a row without answering a call and is left alone for another {:.0?}: {cause}",
                    left(until)
                );
                Some(Step::Fail(HandlerError::new(Failure::Start, message)))
            }
        }
    }

    /// Starts the process in a task of its own: a caller that goes away does not undo what the others
    /// wait for.
    fn start_task(self: &Arc<Self>, phase: &mut Phase) -> Step {
        let Ok(runtime) = Handle::try_current() else {
            let message =
                format!("process `{}` can't be started outside a Tokio runtime", self.process.name);
            return Step::Fail(HandlerError::new(Failure::Start, message));
        };
        let (told, outcome) = watch::channel(None);
        let supervisor = Arc::clone(self);
        let start = async move {
            let result = supervisor.greet().await;
            told.send_replace(Some(supervisor.end_start(result)));
        };
        let task = runtime.spawn(start).abort_handle();
        *phase = Phase::Starting { task, outcome: outcome.clone() };
        Step::AwaitStart(outcome)
    }

    fn stopped(&self) -> HandlerError {
        let message = format!("process `{}` was shut down with its executor", self.process.name);
        HandlerError::new(Failure::Start, message)
    }

    /// Returns why a start has no outcome: its task was dropped, with its runtime or at the end of the
    /// executor.
    fn cut_off(&self) -> HandlerError {
        if matches!(locked(&self.state).phase, Phase::Stopped) {
            return self.stopped();
        }
        let message = format!("the start of process `{}` was cut off", self.process.name);
        HandlerError::new(Failure::Start, message)
    }

    /// Takes the end of an attempt to start it, and returns its outcome.
    fn end_start(&self, result: Result<Running, StartError>) -> Result<(), HandlerError> {
        let mut state = locked(&self.state);
        // Stopped meanwhile: what was started is dropped, which ends it.
        if !matches!(state.phase, Phase::Starting { .. }) {
            return Err(self.stopped());
        }
        let error = match result {
            Ok(running) => {
                state.phase = Phase::Running(running);
                return Ok(());
            }
            Err(StartError::Refused(error, leaving)) => {
                leaving.connection().request(Request::Stop);
                state.phase = Phase::Refused { error: error.clone(), leaving };
                error
            }
            Err(StartError::Failed(error)) => {
                locked(&self.counters).crashes += 1;
                state.health.crashed(Instant::now(), false, error.message.clone());
                state.phase = Phase::Idle;
                error
            }
        };
        tracing::warn!(process = %self.process.name, "{error}");
        if let Gate::Broken { crashes: TOO_MANY, .. } = state.health.gate(Instant::now()) {
            tracing::warn!(process = %self.process.name, "it crashed {TOO_MANY} times in a row and is left alone for a while");
        }
        Err(error)
    }
}
