//! The Tokio runtime, and the signals that end it.
//!
//! Hooks run in process groups of their own, so a signal to this process reaches none of them. What
//! each signal does is therefore the same: the work in hand is dropped, which stops the hooks and
//! their children, and the process exits with 128 and the signal's number.
//!
//! | signal | sent by |
//! |---|---|
//! | SIGINT | Ctrl-C in the terminal |
//! | SIGTERM | an agent that gives up on the event |
//! | SIGHUP | a terminal that closes |
//!
//! SIGXFSZ does nothing. On Windows, Ctrl-C, Ctrl-Break and a console that closes take their places.

use std::future::Future;
use std::time::Duration;

use hookexec::Executor;
use tokio::runtime::{Builder, Runtime as Tokio};

use crate::CommandError;
use crate::error::OrCommandError as _;
use crate::system::Signals;

/// Waits for the hooks in the background, longer than any may take, and stops the processes.
pub(crate) async fn finish(executor: &Executor) {
    executor.shutdown(Duration::from_hours(24)).await;
}

/// A single-threaded runtime: building a thread per core costs more than a whole hook.
pub(crate) struct Runtime(Option<Tokio>);

impl Runtime {
    /// Builds the runtime.
    pub(crate) fn new() -> Result<Self, CommandError> {
        let tokio = Builder::new_current_thread().enable_all().build();
        Ok(Self(Some(tokio.or_internal("can't start the asynchronous runtime")?)))
    }

    /// Runs `work` to its end, or until a signal arrives; then `work` is dropped.
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, CommandError> {
        self.block_on(async {
            let mut signals = listen()?;
            tokio::select! {
                biased;
                (name, number) = signals.next() => Err(CommandError::interrupted(name, number)),
                done = work => Ok(done),
            }
        })?
    }

    /// Runs `work` to its end, whatever signals arrive.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, CommandError> {
        let tokio = self.0.as_ref();
        let tokio =
            tokio.ok_or_else(|| CommandError::internal("the asynchronous runtime is gone"))?;
        Ok(tokio.block_on(work))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // A hook's function that still blocks a thread must not hold up the answer.
        if let Some(tokio) = self.0.take() {
            tokio.shutdown_background();
        }
    }
}

/// Takes over the signals that end a command.
pub(crate) fn listen() -> Result<Signals, CommandError> {
    Signals::listen().or_internal("can't listen for signals")
}
