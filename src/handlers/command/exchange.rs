//! One run of a child: its input, its output, and how it ends.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use hookexec_files::group::{Capture, Group, write_at_once};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Notify;
use tokio::time::{sleep_until, timeout};

use crate::answer::{MAX_ASYNC_LINE, asks_for_background};

/// How long a group that was asked to end (SIGTERM) may take before it is killed (SIGKILL).
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a pipe may stay open after the child has ended. What the child wrote is there by then,
/// so a process that holds the pipe is a background job, which may hold it for ever.
const LEAK_TIMEOUT: Duration = Duration::from_millis(100);

/// How long the system may take to end a killed child.
const REAP_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the longest that stopping a child takes, from its deadline on.
pub(super) fn stop_time() -> Duration {
    KILL_TIMEOUT + REAP_TIMEOUT + LEAK_TIMEOUT
}

/// A started child and its three pipes.
pub(super) struct Exchange {
    group: Group,
    stdin: Option<ChildStdin>,
    stdout: Capture<ChildStdout>,
    stderr: Capture<ChildStderr>,
}

/// How a run ended.
pub(super) enum End {
    /// On its own.
    Exited(ExitStatus),
    /// It was stopped at its deadline.
    TimedOut,
    /// This stream carried more than it may.
    Overflowed(&'static str),
    /// It runs on: it asked not to be waited for.
    Left,
    /// The system does not tell how it ended.
    Lost(io::Error),
}

impl Exchange {
    /// Takes over a started child whose three streams are pipes.
    pub(super) fn new(mut group: Group, max_output: usize) -> Self {
        let (stdin, stdout, stderr) = group.take_pipes();
        let stdout = Capture::new("stdout", stdout, max_output);
        let stderr = Capture::new("stderr", stderr, max_output);
        Self { group, stdin, stdout, stderr }
    }

    /// Writes `input` to the child, reads what it says and waits for its end, all at once and until
    /// `deadline`; then, or when it says too much, stops it and all of its group.
    ///
    /// When `may_leave`, a child whose first line asks not to be waited for is left as it is: it ends
    /// as [`End::Left`], and the exchange is to be [finished](Self::finish) or dropped.
    ///
    /// Dropping the exchange kills the group at once, unless the child has ended.
    pub(super) async fn run(&mut self, input: &[u8], deadline: Instant, may_leave: bool) -> End {
        let end = self.converse(input, deadline, may_leave).await;
        match end {
            End::Exited(_) => {
                // What the ended child left in its pipes.
                let rest = async { tokio::try_join!(self.stdout.fill(), self.stderr.fill()) };
                if let Ok(Err(overflow)) = timeout(LEAK_TIMEOUT, rest).await {
                    return End::Overflowed(overflow);
                }
            }
            End::TimedOut | End::Overflowed(_) => self.stop().await,
            End::Lost(_) | End::Left => {}
        }
        end
    }

    /// Takes what was read of standard output and of standard error.
    pub(super) fn take_output(&mut self) -> (Vec<u8>, Vec<u8>) {
        (std::mem::take(&mut self.stdout.bytes), std::mem::take(&mut self.stderr.bytes))
    }

    /// Returns the streams that a process holds open although the child has ended.
    pub(super) fn leaked(&self) -> Vec<&'static str> {
        [self.stdout.still_open(), self.stderr.still_open()].into_iter().flatten().collect()
    }

    /// Waits for a child that was left, and throws away what it says; stops it at `deadline`.
    pub(super) async fn finish(mut self, deadline: Instant) {
        let Self { group, stdout, stderr, .. } = &mut self;
        let drained = async {
            tokio::join!(stdout.drain(), stderr.drain());
            std::future::pending::<()>().await;
        };
        let ended = tokio::select! {
            () = drained => true,
            _ = group.wait() => true,
            () = sleep_until(deadline.into()) => false,
        };
        if !ended {
            self.stop().await;
        }
    }

    /// Closes the pipes of a child that was left, and lets it run on.
    pub(super) fn abandon(self) {
        self.group.leave();
    }

    async fn converse(&mut self, input: &[u8], deadline: Instant, may_leave: bool) -> End {
        let Self { group, stdin, stdout, stderr } = self;
        let streams = async {
            let has_input = Notify::new();
            let feed = async {
                feed(stdin, input).await;
                has_input.notify_one();
                Ok(())
            };
            let read = async {
                if may_leave {
                    stdout.fill_until(has_first_line).await.map_err(End::Overflowed)?;
                    if stdout.still_open().is_some() && asks_for_background(&stdout.bytes) {
                        // First write all of stdin and close it.
                        has_input.notified().await;
                        return Err(End::Left);
                    }
                }
                stdout.fill().await.map_err(End::Overflowed)
            };
            let errors = async { stderr.fill().await.map_err(End::Overflowed) };
            match tokio::try_join!(feed, read, errors) {
                Ok(_) => std::future::pending().await,
                Err(end) => end,
            }
        };
        // In this order: an answer that is there at the deadline counts.
        tokio::select! {
            biased;
            end = streams => end,
            status = group.wait() => status.map_or_else(End::Lost, End::Exited),
            () = sleep_until(deadline.into()) => End::TimedOut,
        }
    }

    /// SIGTERM to the group, half a second, SIGKILL to the group, reading on all the while.
    ///
    /// Stdin stays open, or a child could take half of its input for all of it.
    async fn stop(&mut self) {
        let Self { group, stdout, stderr, .. } = self;
        group.terminate();
        // Wait for the whole group: a process that holds a pipe still runs.
        let quiet = async { tokio::join!(group.exited(), stdout.drain(), stderr.drain()) };
        let _ = timeout(KILL_TIMEOUT, quiet).await;
        group.kill();
        let _ = timeout(REAP_TIMEOUT, group.wait()).await;
        // Only a process that left the group can hold a pipe now.
        let rest = async { tokio::join!(stdout.drain(), stderr.drain()) };
        let _ = timeout(LEAK_TIMEOUT, rest).await;
    }
}

/// Returns whether the line that asks for the background must have come, if there is one.
fn has_first_line(output: &[u8]) -> bool {
    let output = output.trim_ascii_start();
    output.len() > MAX_ASYNC_LINE || output.contains(&b'\n')
}

/// Writes `input` and closes the pipe. A child may close its end early, or never read.
async fn feed(stdin: &mut Option<ChildStdin>, input: &[u8]) {
    if let Some(pipe) = stdin {
        let written = write_at_once(pipe, input);
        let _ = pipe.write_all(&input[written..]).await;
        // On Windows a thread writes: only now all of it is in the pipe, and closing loses nothing.
        let _ = pipe.flush().await;
    }
    *stdin = None;
}
