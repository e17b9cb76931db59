//! One entry of `processes:`. Starts its child when a call needs it, and again after a crash.
//!
//! Nothing runs on its own here: the task of a child notices a crash at once, but what follows from it
//! is decided when the process is needed next.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep_until, timeout_at};

use super::connection::{CallError, Connection, Request};
use super::greeting::{self, Roles};
use super::minder::Child;
use super::notifications::NotificationQueue;
use super::processes::{Counters, ProcessStatistics};
use crate::config;
use crate::handler::{BoxFuture, BuildError, Failure, HandlerError};
use crate::handlers::command::launch::Launch;
use crate::locks::locked;
use hookexec_files::rpc;

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
    backoff: Mutex<Backoff>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Starting {
        task: AbortHandle,
        outcome: StartOutcome,
    },
    Running(Child),
    Stopped,
}

/// The outcome of a start, for all that wait for it; `None` if its task was dropped, with its runtime or
/// its executor.
type StartOutcome = Shared<BoxFuture<'static, Option<Result<(), HandlerError>>>>;

/// Describes what a caller can do now.
enum Step {
    Call(Arc<Connection>),
    AwaitStart(StartOutcome),
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
            backoff: Mutex::default(),
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

    /// Returns the events and modes that the handshake tells the process.
    pub(super) fn roles(&self) -> MutexGuard<'_, Roles> {
        locked(&self.roles)
    }

    pub(super) fn statistics(&self) -> ProcessStatistics {
        let pid = match &*locked(&self.state) {
            State::Running(child) => child.connection.pid(),
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
        let limit = deadline.saturating_duration_since(Instant::now());
        let mut is_second = false;
        loop {
            let connection = self.connect(deadline).await?;
            match connection.call(method, params, deadline).await {
                Ok(text) => return Ok(text),
                // The child can't have seen the call, so a new one may have it, once.
                Err(CallError::Unsent(_)) if !is_second => is_second = true,
                Err(error) => {
                    let (who, hint) =
                        (&self.definition.name, "raise the `timeout` if it needs longer");
                    let who = format!("process `{who}`");
                    return Err(error.into_failure(&who, method, limit, hint));
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
            let outcome = match self.step()? {
                Step::Call(connection) => return Ok(connection),
                Step::AwaitStart(outcome) => outcome,
            };
            match timeout_at(deadline.into(), outcome).await {
                Ok(Some(Err(error))) => return Err(error),
                Ok(_) => {}
                Err(_) => return Err(self.failure(Failure::TimedOut, "was still starting")),
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
        let result = self.enqueue(rpc::notification(method, params));
        match &result {
            Ok(()) => locked(&self.counters).notifications += 1,
            Err(error) => self.drop_news(1, &error.message),
        }
        result
    }

    fn enqueue(self: &Arc<Self>, notification: Vec<u8>) -> Result<(), HandlerError> {
        let step = self.step()?;
        if let Err(waiting) = self.notifications.push(notification) {
            let problem =
                format!("does not keep up: {waiting} notifications wait, this one was dropped");
            return Err(self.failure(Failure::Other, &problem));
        }
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
        let starting = match &*locked(&self.state) {
            State::Starting { outcome, .. } if self.notifications.oldest().is_some() => {
                Some(outcome.clone())
            }
            _ => None,
        };
        if let Some(outcome) = starting {
            let _ = outcome.await;
        }
        if let State::Running(child) = self.end() {
            child.stop().await;
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

    /// Lets no call start the process any more, and returns its state until now.
    fn end(&self) -> State {
        let state = std::mem::replace(&mut *locked(&self.state), State::Stopped);
        if let State::Starting { task, .. } = &state {
            task.abort();
        }
        state
    }

    fn drop_news(&self, count: usize, why: &str) {
        locked(&self.counters).notifications_dropped += count as u64;
        tracing::warn!(process = %self.definition.name, dropped = count, "notifications dropped: {why}");
    }

    /// Returns what a caller can do now, and starts the process if nothing keeps it from that.
    ///
    /// # Errors
    /// When the process can't be called for now, or never.
    fn step(self: &Arc<Self>) -> Result<Step, HandlerError> {
        let mut state = locked(&self.state);
        match &*state {
            State::Running(child) => match child.connection.ending() {
                None => return Ok(Step::Call(Arc::clone(&child.connection))),
                Some(end) if end.crashed => {
                    locked(&self.backoff).add(end.at, end.served, &end.cause);
                }
                Some(_) => {}
            },
            State::Starting { task, outcome } if !task.is_finished() => {
                return Ok(Step::AwaitStart(outcome.clone()));
            }
            State::Stopped => return Err(self.stopped()),
            // A start that was cut off has left its state behind.
            State::Starting { .. } | State::Idle => {}
        }
        *state = State::Idle;
        let now = Instant::now();
        let backoff = locked(&self.backoff);
        // The longest rest that a call waits for. The rest after the fifth crash is longer.
        if backoff.rest > Duration::from_secs(1) && backoff.until > Some(now) {
            return Err(self.failure(Failure::Start, &backoff.problem(now)));
        }
        let runtime = Handle::try_current().map_err(|_| {
            self.failure(Failure::Start, "can't be started outside a Tokio runtime")
        })?;
        let (process, rest_until) = (Arc::clone(self), backoff.until);
        // A task of its own: a caller that goes away does not undo what the others wait for.
        let start = runtime.spawn(async move {
            if let Some(until) = rest_until {
                sleep_until(until.into()).await;
            }
            let child = process.start_child().await;
            process.started(child)
        });
        let task = start.abort_handle();
        let outcome = async { start.await.ok() }.boxed().shared();
        *state = State::Starting { task, outcome: outcome.clone() };
        Ok(Step::AwaitStart(outcome))
    }

    /// Starts the child and waits for its answer to the handshake.
    async fn start_child(&self) -> Result<Child, HandlerError> {
        let Self { definition, launch, notifications, counters, .. } = self;
        let launch = launch.as_ref().map_err(|problem| self.not_started(&problem.message))?;
        locked(counters).starts += 1;
        let child = Child::start(launch, definition, notifications, counters)
            .await
            .map_err(|error| self.not_started(&error.message))?;
        let params = self.roles().greeting(definition.protocol, &definition.name);
        match greeting::greet(&child.connection, definition, &params).await {
            Ok(cancels) => {
                child.connection.request(Request::Ready { cancels });
                tracing::debug!(process = %definition.name, "process started");
                Ok(child)
            }
            Err(error) => Err(self.not_started(&error.message).with_stderr(error.stderr)),
        }
    }

    /// Takes the end of an attempt to start it, and returns its outcome.
    fn started(&self, result: Result<Child, HandlerError>) -> Result<(), HandlerError> {
        let mut state = locked(&self.state);
        // Stopped meanwhile: what was started is dropped, which ends it.
        if !matches!(*state, State::Starting { .. }) {
            return Err(self.stopped());
        }
        match result {
            Ok(child) => {
                *state = State::Running(child);
                Ok(())
            }
            Err(error) => {
                locked(&self.counters).crashes += 1;
                locked(&self.backoff).add(Instant::now(), false, &error.message);
                *state = State::Idle;
                tracing::warn!(process = %self.definition.name, "{error}");
                Err(error)
            }
        }
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

/// The rest of a process after its crashes in a row. An answered call makes up for all of them.
#[derive(Debug, Default)]
struct Backoff {
    crashes: u32,
    rest: Duration,
    until: Option<Instant>,
    cause: String,
}

impl Backoff {
    /// Notes a crash; `served` says whether the process had answered a call since its start.
    fn add(&mut self, at: Instant, served: bool, cause: &str) {
        self.crashes = if served { 1 } else { self.crashes.saturating_add(1) };
        let doublings = (self.crashes - 1).min(16);
        // Each further crash in a row doubles how long it rests.
        let rest = Duration::from_millis(100).saturating_mul(1 << doublings);
        self.rest = rest.min(Duration::from_mins(5));
        self.until = Some(at + self.rest);
        cause.clone_into(&mut self.cause);
    }

    /// Returns what is wrong with the process, in words that follow its name.
    fn problem(&self, now: Instant) -> String {
        let Self { crashes, until, cause, .. } = self;
        let left = until.unwrap_or(now).saturating_duration_since(now);
        format!(
            "crashed {crashes} times in a row without answering a call and is left alone for another {left:.1?}: {cause}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_until_an_answered_call_makes_up_for_all_crashes() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        for millis in [100, 200, 400, 800, 1600, 3200] {
            backoff.add(now, false, "x");
            assert_eq!(backoff.rest, Duration::from_millis(millis));
            assert_eq!(backoff.until, Some(now + backoff.rest));
        }
        for _ in 0..100 {
            backoff.add(now, false, "x");
        }
        assert_eq!(backoff.rest, Duration::from_mins(5));
        assert!(backoff.problem(now).ends_with("for another 300.0s: x"));
        backoff.add(now, true, "x");
        assert_eq!(backoff.rest, Duration::from_millis(100));
    }
}
