//! One attempt to start a process: the child, and the handshake with it.

use std::time::Instant;

use tokio::time::timeout_at;

use super::connection::{CallError, Request};
use super::handshake;
use super::launch::Running;
use super::supervisor::Supervisor;
use crate::handler::{Failure, HandlerError};
use crate::locks::locked;

/// Why a process was not started.
pub(super) enum StartError {
    Failed(HandlerError),
    /// The process said no.
    Refused(HandlerError, Running),
}

impl Supervisor {
    /// Starts the child and waits for its greeting.
    pub(super) async fn greet(&self) -> Result<Running, StartError> {
        let Self { process, launch, notifications, counters, .. } = self;
        let failed = |failure, cause: &str, stderr: String| {
            let message = format!("process `{}` could not be started: {cause}", process.name);
            let error = HandlerError::new(failure, message).with_stderr(stderr.into_bytes());
            StartError::Failed(error)
        };
        let launch = launch
            .as_ref()
            .map_err(|error| failed(Failure::Start, &error.message, String::new()))?;
        locked(counters).starts += 1;
        let running = Running::start(launch, process, notifications, counters)
            .await
            .map_err(|error| failed(Failure::Start, &error, String::new()))?;
        let method = handshake::method(process.protocol);
        let params = self.roles().greeting(process.protocol, &process.name);
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
            let stderr = match error {
                CallError::Ended(end) => end.stderr.clone(),
                _ => String::new(),
            };
            // Not a timeout: it had another limit than the call that waits for it.
            failed(Failure::Start, &cause, stderr)
        })?;
        match handshake::read(process.protocol, &reply) {
            Ok(greeting) => {
                connection.request(Request::Ready { cancels: greeting.cancels });
                tracing::debug!(process = %process.name, says = ?greeting.name, "process started");
                Ok(running)
            }
            Err(handshake::Unwelcome::Refused(reason)) => {
                let message = format!("process `{}` refused to serve: {reason}", process.name);
                Err(StartError::Refused(HandlerError::new(Failure::Start, message), running))
            }
            Err(handshake::Unwelcome::Unreadable(problem)) => {
                Err(failed(Failure::Protocol, &problem, String::new()))
            }
        }
    }
}
