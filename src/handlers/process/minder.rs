//! Minds one child: reads its output, keeps the deadlines of its calls, notices its end, and stops it
//! in good order.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Sleep, sleep_until};

use super::connection::{Connection, Request};
use super::conversation::Conversation;
use super::notifications::NotificationQueue;
use super::statistics::Counters;
use super::stream::Stream;
use crate::config::Process;
use crate::handlers::command::group::Group;
use crate::handlers::command::launch::Launch;
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

const STOPPED: &str = "it was stopped";

/// A running child and the task of its minder.
///
/// **Drop**: the child and its group are killed at once, its open calls fail.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) connection: Arc<Connection>,
    task: JoinHandle<()>,
}

impl Child {
    /// Starts the child and the task that minds it.
    ///
    /// # Errors
    /// When the system can't start it: the cause, in words.
    pub(super) async fn start(
        launch: &Launch,
        process: &Process,
        notifications: &Arc<NotificationQueue>,
        counters: &Arc<Counters>,
    ) -> Result<Self, String> {
        let deadline = Instant::now() + process.start_timeout;
        let mut group = launch.start(deadline, |_| {}).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.take_pipes() else {
            return Err("its pipes are missing".to_owned());
        };
        let (connection, requests) = Connection::new(group, stdin);
        let minder = Minder {
            talk: Conversation::new(process, Arc::clone(&connection), Arc::clone(counters)),
            requests,
            notifications: Arc::clone(notifications),
            stdout: Stream::new(stdout, STDOUT_BUFFER, process.max_line),
            stderr: Stream::new(stderr, STDERR_BUFFER, MAX_STDERR_LINE),
            stopping: false,
        };
        let task = tokio::spawn(minder.run());
        Ok(Self { connection, task })
    }

    /// Stops the child in good order and waits until it is gone.
    pub(super) async fn stop(mut self) {
        self.connection.request(Request::Stop);
        // It fails only with its runtime, and then the child is gone, too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.connection.kill();
        self.task.abort();
    }
}

/// Owns one child until it has ended.
///
/// * **Order**: when the child exits, everything that it wrote before is read, then open calls fail.
/// * **Drop** before that, as when the runtime is shut down: the group is killed, open calls fail.
/// * **Descendants** in the child's group end with it. A process that left the group (`setsid`)
///   lives on, and nothing here waits for it.
#[derive(Debug)]
struct Minder {
    talk: Conversation,
    requests: mpsc::UnboundedReceiver<Request>,
    notifications: Arc<NotificationQueue>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// Whether the child was asked to end.
    stopping: bool,
}

/// An event that ends the usual reading and writing.
#[derive(Debug)]
enum Interruption {
    Exited(io::Result<ExitStatus>),
    /// The handle of the connection took the child away.
    Abandoned,
    /// The child closed its stdin or stdout, in words.
    PipeClosed(String),
    StopRequested,
    TimeUp,
}

impl Minder {
    async fn run(mut self) {
        let (cause, crashed) = match self.attend(None).await {
            Interruption::Exited(status) => self.exited(status).await,
            Interruption::PipeClosed(problem) => self.closed(&problem).await,
            Interruption::StopRequested => {
                self.stop().await;
                (STOPPED.to_owned(), false)
            }
            Interruption::Abandoned | Interruption::TimeUp => (STOPPED.to_owned(), false),
        };
        self.end(cause, crashed);
    }

    /// End of input, then SIGTERM, then SIGKILL; replies count until the end. A child that hangs gets
    /// SIGTERM at once: it would not notice the end of its input.
    async fn stop(&mut self) {
        if self.talk.hangs || self.ends_within(EOF_GRACE).await.is_none() {
            tracing::warn!(process = %self.talk.name, "process did not end with its input; sending SIGTERM");
            self.signal(Group::terminate);
            if self.ends_within(TERM_GRACE).await.is_none() {
                tracing::warn!(process = %self.talk.name, "process did not end on SIGTERM; sending SIGKILL");
                self.signal(Group::kill);
                self.ends_within(KILL_GRACE).await;
            }
        }
        self.read_rest().await;
    }

    /// A child that closed a pipe can't be talked to any more. If it does not end by itself, it is
    /// killed.
    async fn closed(&mut self, problem: &str) -> (String, bool) {
        if let Some(status) = self.ends_within(CLOSE_GRACE).await {
            return self.exited(status).await;
        }
        self.signal(Group::kill);
        self.ends_within(KILL_GRACE).await;
        self.read_rest().await;
        (format!("{problem} and was killed"), !self.stopping)
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
        let owes = self.talk.connection.calls().owes();
        let crashed = !self.stopping && (!clean || owes);
        (cause, crashed)
    }

    /// Attends until the child has ended; `None` if it does not within `time`.
    async fn ends_within(&mut self, time: Duration) -> Option<io::Result<ExitStatus>> {
        let until = Instant::now() + time;
        loop {
            match self.attend(Some(until)).await {
                Interruption::Exited(status) => return Some(status),
                Interruption::Abandoned | Interruption::TimeUp => return None,
                Interruption::PipeClosed(_) | Interruption::StopRequested => {}
            }
        }
    }

    /// Reads and writes until something happens that needs a decision.
    async fn attend(&mut self, until: Option<Instant>) -> Interruption {
        let mut alarm = Alarm::default();
        let mut time_up = pin!(async {
            match until {
                Some(until) => sleep_until(until.into()).await,
                None => pending().await,
            }
        });
        let Self { talk, requests, notifications, stdout, stderr, stopping } = self;
        loop {
            alarm.set(talk.connection.calls().alarm);
            let notifications = talk.cancels.map(|_| &**notifications);
            tokio::select! {
                biased;
                // Deadlines and requests first, or a child that never stops talking would hold up
                // the calls to it.
                () = alarm.ring() => {
                    // An answer that is there counts, also if this thread was busy in the meantime.
                    stdout.read_written(|line| talk.receive(line)).await;
                    talk.expire(Instant::now());
                }
                request = requests.recv() => match request {
                    None => return Interruption::Abandoned,
                    Some(Request::Look) => {}
                    Some(Request::GaveUp(id)) => talk.gave_up(id),
                    Some(Request::Hangs) => talk.hangs = true,
                    Some(Request::Ready { cancels }) => talk.cancels = Some(cancels),
                    Some(Request::StdinClosed(error)) => return stdin_closed(&error),
                    Some(Request::Stop) if *stopping => {}
                    Some(Request::Stop) => {
                        *stopping = true;
                        return Interruption::StopRequested;
                    }
                },
                error = write_out(&talk.connection, &mut talk.asides, notifications, *stopping) => {
                    return stdin_closed(&error);
                }
                open = stdout.read() => {
                    stdout.hand_over(|line| talk.receive(line));
                    if !open {
                        return Interruption::PipeClosed("it closed its stdout".to_owned());
                    }
                }
                _ = stderr.read() => stderr.hand_over(|line| talk.overhear(line)),
                exit = exit(&talk.connection) => {
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
        if let Some(group) = self.talk.connection.group().as_mut() {
            send(group);
        }
    }

    /// Fails every open call and closes the connection, once.
    fn end(&mut self, cause: String, crashed: bool) {
        let talk = &mut self.talk;
        if talk.connection.ending().is_some() {
            return;
        }
        let end = Arc::new(talk.ended(cause, crashed));
        // This kills every process that is left in the group.
        talk.connection.kill();
        // A start that fails is counted and reported by the process.
        let counts = crashed && talk.cancels.is_some();
        locked(&talk.counters).crashes += u64::from(counts);
        let calls = talk.connection.end(&end);
        if counts {
            tracing::warn!(process = %talk.name, calls, "process ended: {end}");
        }
    }
}

impl Drop for Minder {
    fn drop(&mut self) {
        let killed = self.talk.connection.group().is_none();
        let cause = if killed {
            "it was stopped at once"
        } else {
            "the Tokio runtime that it was started on has ended"
        };
        self.end(cause.to_owned(), false);
    }
}

/// Writes the refusals and cancellations, after the handshake the notifications, and when the child
/// is to stop the end of its input. With nothing to write it waits for ever.
///
/// Returns the error when the child closed its end. Cancellation: dropping the future loses nothing.
async fn write_out(
    connection: &Connection,
    asides: &mut VecDeque<Vec<u8>>,
    notifications: Option<&NotificationQueue>,
    stopping: bool,
) -> io::Error {
    loop {
        let notifications = notifications.filter(|queue| !queue.is_empty());
        if asides.is_empty() && notifications.is_none() && !stopping {
            return pending().await;
        }
        let mut writer = connection.writer().lock().await;
        if !writer.is_open() {
            drop(writer);
            return pending().await;
        }
        let written = if let Some(aside) = asides.front().cloned() {
            writer.write(aside, || drop(asides.pop_front())).await
        } else if let Some(queue) = notifications
            && let Some(oldest) = queue.oldest()
        {
            writer.write(oldest, || drop(queue.pop())).await
        } else {
            let finished = writer.finish().await;
            writer.close();
            finished
        };
        if let Err(error) = written {
            return error;
        }
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
    fn set(&mut self, at: Option<Instant>) {
        if self.at != at {
            self.at = at;
            self.sleep = at.map(|at| Box::pin(sleep_until(at.into())));
        }
    }

    async fn ring(&mut self) {
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().await,
            None => pending().await,
        }
        *self = Self::default();
    }
}

/// Waits for the child's exit, reaps it, and ends what is left of its group; `None` when the handle
/// of the connection took the child away.
async fn exit(connection: &Connection) -> Option<io::Result<ExitStatus>> {
    poll_fn(|context| match connection.group().as_mut() {
        None => Poll::Ready(None),
        // Losing this future loses nothing, so that it can be made anew for each look.
        Some(group) => pin!(group.wait_and_sweep()).poll(context).map(Some),
    })
    .await
}

fn stdin_closed(error: &io::Error) -> Interruption {
    Interruption::PipeClosed(format!("it closed its stdin ({error})"))
}

fn signal_name(status: ExitStatus) -> String {
    // The standard library's text is `signal: 9 (SIGKILL)`.
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(name) => name.to_owned(),
        None => ending_signal(status).map_or(text, |signal| signal.to_string()),
    }
}
