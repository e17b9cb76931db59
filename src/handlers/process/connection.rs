//! The connection to one child: callers write their calls and wait for the replies.
//!
//! The child, its output and its end belong to its [`Minder`](super::minder::Minder).

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio::time::timeout_at;

use super::writer::Writer;
use crate::handler::{Failure, HandlerError};
use crate::handlers::command::group::Group;
use crate::locks::locked;
use crate::rpc::{self, RpcError};

/// The end of a call: the JSON text of its result.
pub(super) type Reply = Result<String, CallError>;

/// A connection to a running child.
///
/// * **Order**: calls are written in the order in which they were made.
/// * **Backpressure**: a call waits until the calls before it are written.
/// * **Cancellation**: dropping the future of a call gives the call up. The child hears of it if it has
///   seen a part of the call, and asked for that in the handshake.
#[derive(Debug)]
pub(super) struct Connection {
    pid: Option<u32>,
    /// `None` once the child was reaped or killed.
    group: Mutex<Option<Group>>,
    writer: tokio::sync::Mutex<Writer>,
    calls: Mutex<OpenCalls>,
    requests: mpsc::UnboundedSender<Request>,
    end: SetOnce<Arc<End>>,
}

/// A request to the minder of a child.
#[derive(Debug)]
pub(super) enum Request {
    /// Look at the deadlines and the notifications again.
    Look,
    /// The caller of a call that the child has seen a part of has gone away.
    GaveUp(u64),
    /// The handshake is done; `cancels` says whether the child wants to hear of calls that were given up.
    Ready { cancels: bool },
    /// The child did not read a call in time.
    Hangs,
    /// The child closed its stdin.
    StdinClosed(io::Error),
    /// Stop the child in good order.
    Stop,
}

/// The calls that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    last_id: u64,
    calls: BTreeMap<u64, OpenCall>,
    /// When the deadlines have to be looked at next: never later than the earliest of them.
    pub(super) alarm: Option<Instant>,
    /// How many lines on stdout were not messages.
    pub(super) noise: u64,
    has_ended: bool,
}

/// A call that waits for its reply.
#[derive(Debug)]
pub(super) struct OpenCall {
    deadline: Instant,
    pub(super) reply: oneshot::Sender<Reply>,
    /// Whether the child may have seen a part of it.
    pub(super) begun: bool,
    /// How many lines on stdout were not messages before it.
    pub(super) noise_before: u64,
}

impl OpenCalls {
    /// Takes a call out.
    pub(super) fn close(&mut self, id: u64) -> Option<OpenCall> {
        self.calls.remove(&id)
    }

    /// Returns whether the child owes a reply.
    pub(super) fn owes(&self) -> bool {
        self.calls.values().any(|call| call.begun)
    }

    /// Takes the calls out whose deadline has passed.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<(u64, OpenCall)> {
        let expired = self.calls.extract_if(.., |_, call| call.deadline <= now).collect();
        self.alarm = self.calls.values().map(|call| call.deadline).min();
        expired
    }
}

/// Why a call has no result.
#[derive(Debug, Clone)]
pub(super) enum CallError {
    /// The child answered with an error.
    Rpc(RpcError),
    /// The answer can't be read.
    Unreadable(String),
    /// The connection ended.
    Ended(Arc<End>),
    /// The connection ended before the child could see any byte of the call.
    Unsent,
    /// There was no answer in time; what is known about it.
    TimedOut(String),
}

impl CallError {
    /// Returns the failure of a call of `method` to `who`, which had the time `limit`; `hint` says what to
    /// do if that was too short.
    pub(super) fn into_failure(
        self,
        who: &str,
        method: &str,
        limit: Duration,
        hint: &str,
    ) -> HandlerError {
        // What is left of it when the call begins is a little less than what was given.
        let limit =
            Duration::from_millis(limit.as_micros().div_ceil(1000).try_into().unwrap_or(u64::MAX));
        let (failure, told) = match &self {
            Self::Rpc(error) => (Failure::Other, format!("answered `{method}` with {error}")),
            Self::Unreadable(problem) => (
                Failure::Protocol,
                format!("answered `{method}` with a reply that can't be read: {problem}"),
            ),
            Self::Ended(end) => {
                (Failure::Other, format!("ended before it answered `{method}`: {end}"))
            }
            Self::Unsent => (Failure::Other, format!("ended before `{method}` could be sent")),
            Self::TimedOut(known) => (
                Failure::TimedOut,
                format!("did not answer `{method}` within {limit:?}: {known}; {hint}"),
            ),
        };
        let error = HandlerError::new(failure, format!("{who} {told}"));
        match self {
            Self::Ended(end) => error.with_stderr(end.stderr.clone().into_bytes()),
            _ => error,
        }
    }
}

/// How a connection ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) cause: String,
    /// The last lines on stderr. They may hold what other calls told the child, so only the reports of
    /// the calls that were open have them.
    pub(super) stderr: String,
    /// Whether the child is to blame.
    pub(super) crashed: bool,
    /// Whether it had answered a call.
    pub(super) served: bool,
    pub(super) at: Instant,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.cause)
    }
}

impl Connection {
    /// Returns a connection, and the requests to its minder.
    pub(super) fn new(
        group: Group,
        stdin: ChildStdin,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Request>) {
        let (sender, requests) = mpsc::unbounded_channel();
        let connection = Self {
            pid: group.pid(),
            group: Mutex::new(Some(group)),
            writer: tokio::sync::Mutex::new(Writer::new(stdin)),
            calls: Mutex::default(),
            requests: sender,
            end: SetOnce::new(),
        };
        (Arc::new(connection), requests)
    }

    /// Calls `method` and returns the JSON text of the result.
    ///
    /// Dropping the future gives the call up: a reply that comes later is dropped and counted.
    pub(super) async fn call(&self, method: &str, params: &[u8], deadline: Instant) -> Reply {
        let mut writer = self.lock_writer(deadline).await?;
        let (id, mut reply) = self.open(deadline)?;
        let _caller = Caller { connection: self, id };
        let line = rpc::request(id, method, params);
        let mut is_seen = false;
        let early = {
            let begin = || {
                is_seen = true;
                self.begin(id);
            };
            let mut writing = pin!(async {
                tokio::select! {
                    biased;
                    written = writer.write(line, begin) => {
                        if let Err(error) = written {
                            self.request(Request::StdinClosed(error));
                        }
                        None
                    }
                    // It timed out or the child has ended before it was written.
                    early = &mut reply => Some(early),
                }
            });
            // Usually the line is written at once, and a timer would be a good part of the work.
            if let Some(early) = writing.as_mut().now_or_never() {
                early
            } else if let Ok(early) = timeout_at(deadline.into(), writing).await {
                early
            } else {
                self.request(Request::Hangs);
                return Err(not_read());
            }
        };
        drop(writer);
        let is_early = early.is_some();
        let result = match early {
            Some(result) => result,
            None => reply.await,
        };
        match result.unwrap_or(Err(CallError::Unsent)) {
            Err(CallError::Ended(_)) if !is_seen => Err(CallError::Unsent),
            Err(CallError::TimedOut(_)) if is_early => Err(not_read()),
            result => result,
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When it can't be written until the deadline.
    pub(super) async fn notify(
        &self,
        method: &str,
        params: &[u8],
        deadline: Instant,
    ) -> Result<(), CallError> {
        let mut writer = self.lock_writer(deadline).await?;
        let writing = writer.write(rpc::notification(method, params), || ());
        match timeout_at(deadline.into(), writing).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(CallError::Unsent),
            Err(_) => Err(not_read()),
        }
    }

    /// Sends the minder a request. Once the child has ended, the request is dropped.
    pub(super) fn request(&self, request: Request) {
        let _ = self.requests.send(request);
    }

    /// Returns how the connection ended, when it has.
    pub(super) fn ending(&self) -> Option<&Arc<End>> {
        self.end.get()
    }

    /// Waits until the connection has ended.
    pub(super) async fn wait_end(&self) -> Arc<End> {
        Arc::clone(self.end.wait().await)
    }

    /// Returns the child's id while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| self.ending().is_none())
    }

    /// Kills the child and its group at once, also when its runtime does not run any more.
    pub(super) fn kill(&self) {
        drop(self.group().take());
    }

    pub(super) fn group(&self) -> MutexGuard<'_, Option<Group>> {
        locked(&self.group)
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, OpenCalls> {
        locked(&self.calls)
    }

    pub(super) const fn writer(&self) -> &tokio::sync::Mutex<Writer> {
        &self.writer
    }

    /// Ends the connection and fails the open calls. Returns how many there were.
    pub(super) fn end(&self, end: &Arc<End>) -> usize {
        let mut open = self.calls();
        open.has_ended = true;
        let calls = std::mem::take(&mut open.calls);
        drop(open);
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.close();
        }
        let count = calls.len();
        for call in calls.into_values() {
            // A caller knows best whether the child has seen a part of its call.
            let _ = call.reply.send(Err(CallError::Ended(Arc::clone(end))));
        }
        let _ = self.end.set(Arc::clone(end));
        count
    }

    /// Waits for the turn to write.
    async fn lock_writer(
        &self,
        deadline: Instant,
    ) -> Result<tokio::sync::MutexGuard<'_, Writer>, CallError> {
        let writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            // Only a child that does not read makes a caller wait, so only then a timer is set.
            Err(_) => match timeout_at(deadline.into(), self.writer.lock()).await {
                // The caller before may have left at the same deadline.
                Ok(writer) if Instant::now() < deadline => writer,
                _ => return Err(not_read()),
            },
        };
        if writer.is_open() { Ok(writer) } else { Err(CallError::Unsent) }
    }

    /// Adds a call, and returns its id and the place of its reply.
    fn open(&self, deadline: Instant) -> Result<(u64, oneshot::Receiver<Reply>), CallError> {
        let (reply, receiver) = oneshot::channel();
        let mut open = self.calls();
        if open.has_ended {
            return Err(CallError::Unsent);
        }
        open.last_id += 1;
        let (id, noise_before) = (open.last_id, open.noise);
        open.calls.insert(id, OpenCall { deadline, reply, begun: false, noise_before });
        if open.alarm.is_none_or(|alarm| deadline < alarm) {
            open.alarm = Some(deadline);
            drop(open);
            self.request(Request::Look);
        }
        Ok((id, receiver))
    }

    /// Notes that the child may have seen a part of a call.
    fn begin(&self, id: u64) {
        if let Some(call) = self.calls().calls.get_mut(&id) {
            call.begun = true;
        }
    }
}

/// Returns the error of a call that could not be written in time.
fn not_read() -> CallError {
    CallError::TimedOut("it does not read its stdin".to_owned())
}

/// A caller that waits for its reply. Dropped before that, it gives the call up.
struct Caller<'c> {
    connection: &'c Connection,
    id: u64,
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        let call = self.connection.calls().close(self.id);
        if call.is_some_and(|call| call.begun) {
            self.connection.request(Request::GaveUp(self.id));
        }
    }
}
