//! One attempt to start a process: the child, and the handshake with it.

use std::sync::Arc;
use std::time::Instant;

use tokio::time::timeout_at;

use super::connection::{CallError, Request};
use super::error::ProcessError;
use super::handshake;
use super::launch::Running;
use super::supervisor::Supervisor;
use crate::handler::Failure;
use crate::locks::locked;

/// One attempt to start a process, in a task of its own: a caller that goes away does not undo what
/// the others wait for.
pub(super) struct Start {
    supervisor: Arc<Supervisor>,
    attempt: u64,
    ended: bool,
}

/// Why a process was not started.
pub(super) enum StartError {
    Failed(ProcessError),
    /// The process said no.
    Refused(ProcessError, Running),
    /// The task was dropped, with its runtime or at the end of the executor.
    Interrupted,
}

impl Start {
    /// Returns an attempt, whose end the supervisor is told in any case.
    pub(super) fn new(supervisor: &Arc<Supervisor>, attempt: u64) -> Self {
        Self { supervisor: Arc::clone(supervisor), attempt, ended: false }
    }

    pub(super) async fn run(mut self) {
        let result = self.greet().await;
        self.ended = true;
        self.supervisor.end_start(self.attempt, result);
    }

    async fn greet(&self) -> Result<Running, StartError> {
        let Supervisor { process, launch, notifications, counters, .. } = &*self.supervisor;
        let failed = |failure, cause: &str| {
            let message = format!("process `{}` could not be started: {cause}", process.name);
            StartError::Failed(ProcessError::new(failure, message))
        };
        let launch = launch.as_ref().map_err(|error| failed(Failure::Start, &error.message))?;
        locked(counters).starts += 1;
        let running = launch
            .start(process, notifications, counters)
            .await
            .map_err(|error| failed(Failure::Start, &error))?;
        let method = handshake::method(process.protocol);
        let params = self.supervisor.roles().greeting(process.protocol, &process.name);
        let deadline = Instant::now() + process.start_timeout;
        let connection = running.connection();
        let mut reply = connection.call(method, &params, deadline).await;
        if let Err(CallError::Unsent) = reply
            && let Ok(Some(end)) = timeout_at(deadline.into(), connection.wait_end()).await
        {
            reply = Err(CallError::Ended(end));
        }
        let reply = reply.map_err(|error| {
            let cause = handshake::failure(&error, method, process.start_timeout);
            match &error {
                CallError::TimedOut(_) => failed(Failure::TimedOut, &cause),
                _ => failed(Failure::Start, &cause),
            }
        })?;
        match handshake::read(process.protocol, &reply) {
            Ok(greeting) => {
                connection.request(Request::Ready { cancels: greeting.cancels });
                tracing::debug!(process = %process.name, says = ?greeting.name, "process started");
                Ok(running)
            }
            Err(handshake::Unwelcome::Refused(reason)) => {
                let message = format!("process `{}` refused to serve: {reason}", process.name);
                Err(StartError::Refused(ProcessError::new(Failure::Start, message), running))
            }
            Err(handshake::Unwelcome::Unreadable(problem)) => {
                Err(failed(Failure::Protocol, &problem))
            }
        }
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        if !self.ended {
            self.supervisor.end_start(self.attempt, Err(StartError::Interrupted));
        }
    }
}
