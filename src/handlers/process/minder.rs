//! Minds one child: reads its output, keeps the deadlines of its calls, notices its end, and stops it
//! in good order.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep_until;

use super::connection::{Connection, Request};
use super::conversation::Conversation;
use super::notifications::NotificationQueue;
use super::processes::Counters;
use crate::config::Process;
use crate::handler::{Failure, HandlerError};
use crate::handlers::command::launch::Launch;
use crate::locks::locked;
use hookexec_files::group::Stream;

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
    ) -> Result<Self, HandlerError> {
        let deadline = Instant::now() + process.start_timeout;
        let mut group = launch.start(deadline, |_| {}).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.take_pipes() else {
            return Err(HandlerError::new(Failure::Start, "its pipes are missing"));
        };
        let (connection, requests) = Connection::new(group, stdin);
        let minder = Minder {
            talk: Conversation::new(process, Arc::clone(&connection), Arc::clone(counters)),
            requests,
            notifications: Arc::clone(notifications),
            stdout: Stream::new(stdout, 64 * 1024, process.max_line),
            // The longest line of stderr.
            stderr: Stream::new(stderr, 8 * 1024, 64 * 1024),
            ending: None,
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
struct Minder {
    talk: Conversation,
    requests: mpsc::UnboundedReceiver<Request>,
    notifications: Arc<NotificationQueue>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// How the child is brought to its end, once it is.
    ending: Option<Ending>,
}

/// The steps that end a child which does not end by itself. Replies count until it has ended.
struct Ending {
    /// The fault of the child; `None` if it was asked to stop.
    problem: Option<&'static str>,
    next: Step,
    at: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Terminate,
    Kill,
    GiveUp,
}

impl Ending {
    /// A child that hangs gets SIGTERM at once: it would not notice the end of its input.
    fn stop(hangs: bool) -> Self {
        // How long a child may take to end after the end of its input.
        let grace = if hangs { Duration::ZERO } else { Duration::from_secs(2) };
        Self { problem: None, next: Step::Terminate, at: Instant::now() + grace }
    }

    /// Takes the next step. Returns `false` when none is left.
    fn proceed(&mut self, talk: &Conversation) -> bool {
        let mut group = talk.connection.group();
        match (self.next, group.as_mut()) {
            (Step::GiveUp, _) | (_, None) => return false,
            (Step::Terminate, Some(group)) => {
                tracing::warn!(process = %talk.name, "process did not end with its input; sending SIGTERM");
                group.terminate();
                self.next = Step::Kill;
            }
            (Step::Kill, Some(group)) => {
                tracing::warn!(process = %talk.name, "process did not end; sending SIGKILL");
                group.kill();
                self.next = Step::GiveUp;
            }
        }
        // How long its group may take to end after SIGTERM, and the system to end a killed child.
        self.at = Instant::now() + Duration::from_secs(1);
        true
    }
}

impl Minder {
    async fn run(mut self) {
        let exit = self.attend().await;
        let Self { talk, stdout, stderr, .. } = &mut self;
        stdout.read_rest(|line| talk.receive(line)).await;
        stderr.read_rest(|line| talk.overhear(line)).await;
        let (cause, crashed) = self.cause(exit);
        self.end(&cause, crashed);
    }

    /// Reads and writes until the child has exited; returns `None` if it was killed or can't be ended.
    async fn attend(&mut self) -> Option<io::Result<ExitStatus>> {
        let Self { talk, requests, notifications, stdout, stderr, ending } = self;
        let connection = Arc::clone(&talk.connection);
        // The time of a timer that is not needed.
        let never = Instant::now() + Duration::from_hours(24 * 365);
        let mut timer = pin!(sleep_until(never.into()));
        loop {
            let mut next = connection.calls().alarm.unwrap_or(never);
            if let Some(ending) = ending {
                next = next.min(ending.at);
            }
            // Each setting can cost the runtime a wake-up, a good part of the time of a call.
            if timer.deadline().into_std() != next {
                timer.as_mut().reset(next.into());
            }
            let stopping = matches!(ending, Some(Ending { problem: None, .. }));
            let notifications = talk.cancels.map(|_| &**notifications);
            tokio::select! {
                biased;
                // Deadlines and requests first, or a child that never stops talking would hold up
                // the calls to it.
                () = timer.as_mut() => {
                    // An answer that is there counts, also if this thread was busy in the meantime.
                    stdout.read_written(|line| talk.receive(line)).await;
                    let now = Instant::now();
                    talk.expire(now);
                    if let Some(ending) = ending
                        && ending.at <= now
                        && !ending.proceed(talk)
                    {
                        return None;
                    }
                }
                request = requests.recv() => match request? {
                    Request::Look => {}
                    Request::GaveUp(id) => talk.gave_up(id),
                    Request::Ready { cancels } => talk.cancels = Some(cancels),
                    Request::StdinClosed => close(ending, "it closed its stdin"),
                    Request::Stop => if !stopping { *ending = Some(Ending::stop(talk.hangs)) }
                },
                () = write_out(&connection, &mut talk.asides, notifications, stopping) => {
                    close(ending, "it closed its stdin");
                }
                open = stdout.read() => {
                    stdout.hand_over(|line| talk.receive(line));
                    if !open {
                        close(ending, "it closed its stdout");
                    }
                }
                _ = stderr.read() => stderr.hand_over(|line| talk.overhear(line)),
                exit = exit(&connection) => return exit,
            }
        }
    }

    /// Returns why the child ended, and whether it is to blame.
    fn cause(&self, exit: Option<io::Result<ExitStatus>>) -> (String, bool) {
        let problem = match &self.ending {
            Some(Ending { problem: None, .. }) => return ("it was stopped".to_owned(), false),
            Some(Ending { problem, next: Step::GiveUp, .. }) => *problem,
            _ => None,
        };
        let connection = &self.talk.connection;
        match (problem, exit) {
            (Some(problem), _) => (format!("{problem} and was killed"), true),
            (None, None) => ("it was stopped at once".to_owned(), false),
            (None, Some(Err(error))) => {
                (format!("it ended ({error}; does the host ignore SIGCHLD?)"), true)
            }
            (None, Some(Ok(status))) => match status.code() {
                // A child that exits with 0 and owes no reply may be started again at once.
                Some(0) => ("it exited with code 0".to_owned(), connection.calls().owes()),
                Some(code) => (format!("it exited with code {code}"), true),
                // Its text names the signal.
                None => (format!("it was ended by a {status}"), true),
            },
        }
    }

    /// Fails every open call and closes the connection, once.
    fn end(&mut self, cause: &str, crashed: bool) {
        let talk = &mut self.talk;
        if talk.connection.ending().is_some() {
            return;
        }
        let end = talk.ended(cause.to_owned(), crashed);
        // This kills every process that is left in the group.
        talk.connection.kill();
        let calls = talk.connection.end(end);
        // A start that fails is counted and reported by the process.
        if crashed && talk.cancels.is_some() {
            locked(&talk.counters).crashes += 1;
            tracing::warn!(process = %talk.name, calls, "process ended: {cause}");
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
        self.end(cause, false);
    }
}

/// Begins the end of a child that closed a pipe, unless its end has begun: it can't be talked to any
/// more.
fn close(ending: &mut Option<Ending>, problem: &'static str) {
    // How long it may take to end: usually it is ending already.
    let at = Instant::now() + Duration::from_millis(500);
    ending.get_or_insert(Ending { problem: Some(problem), next: Step::Kill, at });
}

/// Writes the refusals and cancellations, after the handshake the notifications, and when the child
/// is to stop the end of its input. With nothing to write it waits for ever.
///
/// Returns when the child closed its end. Cancellation: dropping the future loses nothing.
async fn write_out(
    connection: &Connection,
    asides: &mut VecDeque<Vec<u8>>,
    notifications: Option<&NotificationQueue>,
    stopping: bool,
) {
    loop {
        let notification = notifications.and_then(NotificationQueue::oldest);
        let is_aside = !asides.is_empty();
        if !is_aside && notification.is_none() && !stopping {
            return pending().await;
        }
        let mut writer = connection.writer.lock().await;
        if !writer.is_open() {
            drop(writer);
            return pending().await;
        }
        let Some(line) = asides.front().cloned().or(notification) else {
            let finished = writer.finish().await;
            writer.close();
            if finished.is_err() {
                return;
            }
            continue;
        };
        if writer.begin(line).await.is_err() {
            return;
        }
        // The child has seen a part of it.
        if is_aside {
            asides.pop_front();
        } else if let Some(notifications) = notifications {
            notifications.pop();
        }
        if writer.finish().await.is_err() {
            return;
        }
    }
}

/// Waits for the child's exit, reaps it, and ends what is left of its group; `None` when the
/// handle of the connection took the child away.
async fn exit(connection: &Connection) -> Option<io::Result<ExitStatus>> {
    poll_fn(|context| match connection.group().as_mut() {
        None => Poll::Ready(None),
        // Losing this future loses nothing, so that it can be made anew for each look.
        Some(group) => pin!(group.wait_and_sweep()).poll(context).map(Some),
    })
    .await
}
