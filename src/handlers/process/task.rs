//! The task that owns a child: it reads and writes the child's pipes, notices its end, and stops it
//! in good order.

use std::future::{pending, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::{Sleep, sleep_until};

use super::connection::{CallError, Channels, End, Request, SharedGroup};
use super::conversation::Conversation;
use super::notifications::NotificationQueue;
use super::stream::Stream;
use crate::handlers::command::group::Group;
use crate::locks::locked;
use crate::platform::system::ending_signal;

/// How long a child may take to end after the end of its input.
const EOF_GRACE: Duration = Duration::from_secs(2);

/// How long its group may take to end after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(1);

/// How long the system may take to end a killed child.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// How long a child that closed a pipe may take to end: usually it is ending already.
const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// The longest line of stderr.
const MAX_STDERR_LINE: usize = 64 * 1024;

const STDOUT_BUFFER: usize = 64 * 1024;
const STDERR_BUFFER: usize = 8 * 1024;

/// The task that owns one child until it has ended.
///
/// * **Order**: when the child exits, everything that it wrote before is read, then open calls fail.
/// * **Drop** before that, as when the runtime is shut down: the group is killed, open calls fail.
/// * **Descendants** in the child's group end with it. A process that left the group (`setsid`)
///   lives on, and nothing here waits for it.
#[derive(Debug)]
pub(super) struct Task {
    talk: Conversation,
    channels: Channels,
    notifications: Arc<NotificationQueue>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// Whether the child was asked to end.
    stopping: bool,
}

/// What ends the usual reading and writing.
#[derive(Debug)]
enum Interruption {
    Exited(io::Result<ExitStatus>),
    /// The handle of the connection took the child away.
    Abandoned,
    StdoutClosed,
    StdinClosed(io::Error),
    StopRequested,
    TimeUp,
}

impl Task {
    pub(super) fn new(
        talk: Conversation,
        channels: Channels,
        notifications: Arc<NotificationQueue>,
        (stdout, stderr): (ChildStdout, ChildStderr),
        max_line: usize,
    ) -> Self {
        Self {
            talk,
            channels,
            notifications,
            stdout: Stream::new(stdout, STDOUT_BUFFER, max_line),
            stderr: Stream::new(stderr, STDERR_BUFFER, MAX_STDERR_LINE),
            stopping: false,
        }
    }

    pub(super) async fn run(mut self) {
        let (cause, crashed) = match self.attend(None).await {
            Interruption::Exited(status) => self.exited(status).await,
            Interruption::StopRequested => self.stop().await,
            Interruption::StdoutClosed => self.closed("it closed its stdout").await,
            Interruption::StdinClosed(error) => {
                self.closed(&format!("it closed its stdin ({error})")).await
            }
            Interruption::Abandoned | Interruption::TimeUp => ("it was stopped".to_owned(), false),
        };
        self.end(cause, crashed);
    }

    /// End of input, then SIGTERM, then SIGKILL; replies count until the end. A child that hangs gets
    /// SIGTERM at once: it would not notice the end of its input.
    async fn stop(&mut self) -> (String, bool) {
        self.stopping = true;
        self.talk.outgoing.closing = true;
        if self.talk.hangs || !self.ends_within(EOF_GRACE).await {
            tracing::warn!(process = %self.talk.name, "process did not end with its input; sending SIGTERM");
            self.signal(Group::terminate);
            if !self.ends_within(TERM_GRACE).await {
                tracing::warn!(process = %self.talk.name, "process did not end on SIGTERM; sending SIGKILL");
                self.signal(Group::kill);
                self.ends_within(KILL_GRACE).await;
            }
        }
        self.read_rest().await;
        ("it was stopped".to_owned(), false)
    }

    /// A child that closed a pipe can't be talked to any more. If it does not end by itself, it is
    /// killed.
    async fn closed(&mut self, cause: &str) -> (String, bool) {
        let until = Instant::now() + CLOSE_GRACE;
        loop {
            match self.attend(Some(until)).await {
                Interruption::Exited(status) => return self.exited(status).await,
                Interruption::StdoutClosed | Interruption::StdinClosed(_) => {}
                Interruption::StopRequested => self.stopping = true,
                Interruption::Abandoned | Interruption::TimeUp => break,
            }
        }
        self.signal(Group::kill);
        self.ends_within(KILL_GRACE).await;
        self.read_rest().await;
        (format!("{cause} and was killed"), !self.stopping)
    }

    async fn exited(&mut self, status: io::Result<ExitStatus>) -> (String, bool) {
        self.read_rest().await;
        let clean = matches!(&status, Ok(status) if status.success());
        let cause = match status {
            Ok(status) => match status.code() {
                Some(code) => format!("it exited with code {code}"),
                None => format!("it was ended by signal {}", signal_name(status)),
            },
            Err(error) => format!("it ended ({error}; does the host ignore SIGCHLD?)"),
        };
        // A child that exits with 0 and owes no reply may be started again at once.
        let crashed = !self.stopping && (!clean || self.talk.calls.owes());
        (cause, crashed)
    }

    /// Attends until the child is gone; returns whether it is within `time`.
    async fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            match self.attend(Some(until)).await {
                Interruption::Exited(_) | Interruption::Abandoned => return true,
                Interruption::TimeUp => return false,
                Interruption::StdoutClosed
                | Interruption::StdinClosed(_)
                | Interruption::StopRequested => {}
            }
        }
    }

    /// Reads and writes until something happens that needs a decision.
    async fn attend(&mut self, until: Option<Instant>) -> Interruption {
        let Self { talk, channels, notifications, stdout, stderr, stopping } = self;
        let mut alarm = pin!(Alarm::default());
        let mut time_up = pin!(async {
            match until {
                Some(until) => sleep_until(until.into()).await,
                None => pending().await,
            }
        });
        loop {
            alarm.as_mut().set(talk.calls.alarm());
            tokio::select! {
                biased;
                // Deadlines and requests first, or a child that never stops talking would hold up
                // the calls to it.
                () = alarm.as_mut().ring() => {
                    // An answer that is there counts, also if this thread was busy in the meantime.
                    stdout.read_written(|line| talk.receive(line)).await;
                    talk.expire(Instant::now());
                }
                request = channels.requests.recv() => match request {
                    Some(Request::Stop) if !*stopping => return Interruption::StopRequested,
                    Some(request) => talk.handle(request),
                    None => return Interruption::Abandoned,
                },
                written = talk.outgoing.write(&mut talk.calls, notifications) => {
                    if let Err(error) = written {
                        return Interruption::StdinClosed(error);
                    }
                }
                open = stdout.read() => {
                    stdout.hand_over(|line| talk.receive(line));
                    if !open {
                        return Interruption::StdoutClosed;
                    }
                }
                _ = stderr.read() => stderr.hand_over(|line| talk.overhear(line)),
                exit = exit(&channels.group) => {
                    return exit.map_or(Interruption::Abandoned, Interruption::Exited);
                }
                () = time_up.as_mut() => return Interruption::TimeUp,
            }
        }
    }

    async fn read_rest(&mut self) {
        let Self { talk, stdout, stderr, .. } = self;
        stdout.read_rest(|line| talk.receive(line)).await;
        stderr.read_rest(|line| talk.overhear(line)).await;
    }

    fn signal(&self, send: impl FnOnce(&mut Group)) {
        if let Some(group) = locked(&self.channels.group).as_mut() {
            send(group);
        }
    }

    /// Fails every open call and closes the connection, once.
    fn end(&mut self, cause: String, crashed: bool) {
        if self.channels.ending.borrow().is_some() {
            return;
        }
        let talk = &mut self.talk;
        let end = End {
            cause,
            stderr: talk.last_words(),
            crashed,
            served: talk.served,
            at: Instant::now(),
        };
        let end = Arc::new(end);
        // Dropping the guard kills every process that is left in the group.
        drop(locked(&self.channels.group).take());
        locked(&talk.counters).notifications_dropped += talk.outgoing.close();
        self.channels.room.close();
        self.channels.requests.close();
        let calls = talk.calls.fail(&CallError::Ended(Arc::clone(&end)));
        self.channels.ending.send_replace(Some(Arc::clone(&end)));
        // A start that fails is counted and reported by the supervisor.
        if crashed && talk.outgoing.ready {
            locked(&talk.counters).crashes += 1;
            tracing::warn!(process = %talk.name, calls, "process ended: {end}");
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let killed = locked(&self.channels.group).is_none();
        let cause = if killed {
            "it was stopped at once"
        } else {
            "the Tokio runtime that it was started on has ended"
        };
        self.end(cause.to_owned(), false);
    }
}

/// A timer for the earliest deadline of all calls.
///
/// It is set anew only for a deadline before the current one: each setting can cost the runtime a
/// wake-up, which would be a good part of the time of a call.
#[derive(Default)]
struct Alarm {
    at: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    fn set(mut self: Pin<&mut Self>, at: Option<Instant>) {
        if self.at != at {
            self.at = at;
            self.sleep = at.map(|at| Box::pin(sleep_until(at.into())));
        }
    }

    async fn ring(mut self: Pin<&mut Self>) {
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().await,
            None => pending().await,
        }
        *self = Self::default();
    }
}

/// Waits for the child's exit, reaps it, and ends what is left of its group; `None` when the handle
/// of the connection took the child away.
async fn exit(group: &SharedGroup) -> Option<io::Result<ExitStatus>> {
    poll_fn(|context| match locked(group).as_mut() {
        None => Poll::Ready(None),
        // Losing this future loses nothing, so that it can be made anew for each look.
        Some(group) => pin!(group.wait_and_sweep()).poll(context).map(Some),
    })
    .await
}

fn signal_name(status: ExitStatus) -> String {
    // The standard library's text is `signal: 9 (SIGKILL)`.
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(name) => name.to_owned(),
        None => ending_signal(status).map_or(text, |signal| signal.to_string()),
    }
}
