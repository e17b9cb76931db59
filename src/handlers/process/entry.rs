//! One entry of `processes:`. Starts its child when a call needs it, and again after a crash.
//!
//! Nothing runs on its own here: the task of a child notices a crash at once, but what follows from it
//! is decided when the process is needed next.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout_at;

use super::connection::{CallError, Connection, Request};
use super::crashes::{Crashes, Rest};
use super::greeting::{self, Roles, Unwelcome};
use super::minder::Child;
use super::notifications::NotificationQueue;
use super::statistics::{Counters, ProcessStatistics};
use crate::config;
use crate::handler::{BuildError, Failure, HandlerError};
use crate::handlers::command::launch::Launch;
use crate::locks::locked;
use crate::rpc;

/// A process of the configuration, running or not.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) definition: config::Process,
    /// How it is started, or why it can't be.
    pub(super) launch: Result<Launch, BuildError>,
    roles: Mutex<Roles>,
    notifications: Arc<NotificationQueue>,
    counters: Arc<Counters>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    crashes: Crashes,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    Starting {
        task: AbortHandle,
        outcome: StartOutcome,
    },
    Running(Child),
    /// It does not want to be a hook here. It ends once no hook calls it any more.
    Refused {
        error: HandlerError,
        leaving: Child,
    },
    Stopped,
}

/// The outcome of a start: `None` while it is under way. The channel closes when its task was dropped.
type StartOutcome = watch::Receiver<Option<Result<(), HandlerError>>>;

/// Describes what a caller can do now.
enum Step {
    Call(Arc<Connection>),
    AwaitStart(StartOutcome),
    /// It rests after a crash.
    AwaitRest {
        until: Instant,
        error: HandlerError,
    },
}

/// Why a start failed.
enum StartError {
    Failed(HandlerError),
    Refused(HandlerError, Child),
}

impl From<HandlerError> for StartError {
    fn from(error: HandlerError) -> Self {
        Self::Failed(error)
    }
}

impl Process {
    pub(super) fn new(
        definition: config::Process,
        launch: Result<Launch, BuildError>,
    ) -> Arc<Self> {
        let counters =
            ProcessStatistics { name: definition.name.clone(), ..ProcessStatistics::default() };
        Arc::new(Self {
            definition,
            launch,
            roles: Mutex::default(),
            notifications: Arc::default(),
            counters: Arc::new(counters.into()),
            state: Mutex::default(),
        })
    }

    /// Returns whether the other one has the same definition, from the same file, and the same
    /// environment.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (Ok(own), Ok(others)) = (&self.launch, &other.launch) else { return false };
        self.definition == other.definition
            && own.environment == others.environment
            && own.directory == others.directory
    }

    /// Returns the events and modes that the process is told in the handshake.
    pub(super) fn roles(&self) -> MutexGuard<'_, Roles> {
        locked(&self.roles)
    }

    pub(super) fn statistics(&self) -> ProcessStatistics {
        let pid = match &locked(&self.state).phase {
            Phase::Running(child) => child.connection.pid(),
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
        let mut is_second = false;
        loop {
            let connection = self.connect(deadline).await?;
            match connection.call(method, params, deadline).await {
                Ok(text) => return Ok(text),
                // It ended just before. The call can't have been seen, so a new child may have it, once.
                Err(CallError::Unsent) => {
                    let ended = timeout_at(deadline.into(), connection.wait_end());
                    let Ok(end) = ended.await else {
                        return Err(self.failure(Failure::TimedOut, "was still ending"));
                    };
                    if is_second {
                        let problem = format!("ended before `{method}` could be sent: {end}");
                        return Err(self.failure(Failure::Other, &problem));
                    }
                    is_second = true;
                }
                Err(error) => {
                    let who = format!("process `{}`", self.definition.name);
                    let hint = "raise the `timeout` if it needs longer";
                    return Err(error.into_failure(&who, method, deadline - started, hint));
                }
            }
        }
    }

    /// Returns a connection to the running process, starting it when it does not run.
    pub(super) async fn connect(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<Arc<Connection>, HandlerError> {
        loop {
            match self.step()? {
                Step::Call(connection) => return Ok(connection),
                Step::AwaitStart(mut outcome) => {
                    let ended = outcome.wait_for(Option::is_some);
                    let Ok(ended) = timeout_at(deadline.into(), ended).await else {
                        return Err(self.failure(Failure::TimedOut, "was still starting"));
                    };
                    // Without an outcome its task was dropped, with its runtime or its executor.
                    if let Some(outcome) = ended.ok().and_then(|ended| ended.clone()) {
                        outcome?;
                    }
                }
                // It rests until after the deadline.
                Step::AwaitRest { until, error } if until >= deadline => {
                    return Err(HandlerError::new(Failure::TimedOut, error.message));
                }
                Step::AwaitRest { until, .. } => tokio::time::sleep_until(until.into()).await,
            }
        }
    }

    /// Sends the process a notification, without waiting for anything.
    ///
    /// # Errors
    /// When it was dropped: why, in words.
    pub(super) fn notify(
        self: &Arc<Self>,
        method: &str,
        params: &[u8],
    ) -> Result<(), HandlerError> {
        let step = self.step().inspect_err(|error| self.drop_news(1, &error.message))?;
        if let Err(waiting) = self.notifications.push(rpc::notification(method, params)) {
            let problem =
                format!("does not keep up: {waiting} notifications wait, this one was dropped");
            let error = self.failure(Failure::Other, &problem);
            self.drop_news(1, &error.message);
            return Err(error);
        }
        locked(&self.counters).notifications += 1;
        if let Step::Call(connection) = step {
            connection.request(Request::Look);
        }
        Ok(())
    }

    /// Starts the process without waiting for it.
    pub(super) fn start(self: &Arc<Self>) {
        if let Err(error) = self.step() {
            tracing::warn!(process = %self.definition.name, "process not started: {error}");
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
            Phase::Running(child) | Phase::Refused { leaving: child, .. } => child.stop().await,
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

    /// Lets no call start the process any more, and returns its phase until now.
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
        tracing::warn!(process = %self.definition.name, dropped = count, total, "notifications dropped: {why}");
    }

    /// Returns what a caller can do now, and starts the process if nothing keeps it from that.
    ///
    /// # Errors
    /// When the process can't be called for now, or never.
    fn step(self: &Arc<Self>) -> Result<Step, HandlerError> {
        let mut state = locked(&self.state);
        let State { phase, crashes } = &mut *state;
        match phase {
            Phase::Running(child) => match child.connection.ending() {
                None => return Ok(Step::Call(Arc::clone(&child.connection))),
                Some(end) if end.crashed => crashes.add(end.at, end.served, end.to_string()),
                Some(_) => {}
            },
            Phase::Starting { task, outcome } if !task.is_finished() => {
                return Ok(Step::AwaitStart(outcome.clone()));
            }
            Phase::Refused { error, .. } => return Err(error.clone()),
            Phase::Stopped => return Err(self.stopped()),
            // A start that was cut off has left its phase behind.
            Phase::Starting { .. } | Phase::Idle => {}
        }
        *phase = Phase::Idle;
        if let Some(Rest { until, is_short, problem }) = crashes.resting(Instant::now()) {
            let error = self.failure(Failure::Start, &problem);
            return if is_short { Ok(Step::AwaitRest { until, error }) } else { Err(error) };
        }
        let (task, outcome) = self.start_task()?;
        *phase = Phase::Starting { task, outcome: outcome.clone() };
        Ok(Step::AwaitStart(outcome))
    }

    /// Starts the process in a task of its own: a caller that goes away does not undo what the others
    /// wait for.
    fn start_task(self: &Arc<Self>) -> Result<(AbortHandle, StartOutcome), HandlerError> {
        let runtime = Handle::try_current().map_err(|_| {
            self.failure(Failure::Start, "can't be started outside a Tokio runtime")
        })?;
        let (sender, outcome) = watch::channel(None);
        let process = Arc::clone(self);
        let start = async move {
            let result = process.start_child().await;
            sender.send_replace(Some(process.end_start(result)));
        };
        Ok((runtime.spawn(start).abort_handle(), outcome))
    }

    /// Starts the child and waits for its answer to the handshake.
    async fn start_child(&self) -> Result<Child, StartError> {
        let Self { definition, launch, notifications, counters, .. } = self;
        let launch = launch.as_ref().map_err(|problem| self.not_started(&problem.message))?;
        locked(counters).starts += 1;
        let child = Child::start(launch, definition, notifications, counters)
            .await
            .map_err(|cause| self.not_started(&cause))?;
        let params = self.roles().greeting(definition.protocol, &definition.name);
        match greeting::greet(&child.connection, definition, &params).await {
            Ok(greeting) => {
                child.connection.request(Request::Ready { cancels: greeting.cancels });
                tracing::debug!(process = %definition.name, says = ?greeting.name, "process started");
                Ok(child)
            }
            Err(Unwelcome::Refused(reason)) => {
                let error = self.failure(Failure::Start, &format!("refused to serve: {reason}"));
                Err(StartError::Refused(error, child))
            }
            Err(Unwelcome::Failed(error)) => {
                Err(self.not_started(&error.message).with_stderr(error.stderr).into())
            }
        }
    }

    /// Takes the end of an attempt to start it, and returns its outcome.
    fn end_start(&self, result: Result<Child, StartError>) -> Result<(), HandlerError> {
        let mut state = locked(&self.state);
        // Stopped meanwhile: what was started is dropped, which ends it.
        if !matches!(state.phase, Phase::Starting { .. }) {
            return Err(self.stopped());
        }
        let error = match result {
            Ok(child) => {
                state.phase = Phase::Running(child);
                return Ok(());
            }
            Err(StartError::Refused(error, leaving)) => {
                leaving.connection.request(Request::Stop);
                state.phase = Phase::Refused { error: error.clone(), leaving };
                error
            }
            Err(StartError::Failed(error)) => {
                locked(&self.counters).crashes += 1;
                state.crashes.add(Instant::now(), false, error.message.clone());
                state.phase = Phase::Idle;
                error
            }
        };
        tracing::warn!(process = %self.definition.name, "{error}");
        Err(error)
    }

    fn stopped(&self) -> HandlerError {
        self.failure(Failure::Start, "was shut down with its executor")
    }

    /// Returns the failure of a start. It is not a timeout: a start has another limit than the call that
    /// waits for it.
    fn not_started(&self, cause: &str) -> HandlerError {
        self.failure(Failure::Start, &format!("could not be started: {cause}"))
    }

    fn failure(&self, failure: Failure, problem: &str) -> HandlerError {
        HandlerError::new(failure, format!("process `{}` {problem}", self.definition.name))
    }
}
