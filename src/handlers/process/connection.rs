//! The handle of a connection to one child. The child itself belongs to a [`Task`](super::task).

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout_at;

use crate::handler::{Failure, HandlerError};
use crate::handlers::command::group::Group;
use crate::locks::locked;
use crate::rpc::{self, RpcError};

/// How many bytes of calls may wait until the child reads them.
pub(super) const MAX_WAITING: usize = 16 << 20;

/// What a short call counts for, so that at most 1,024 calls wait.
const MIN_CHARGE: usize = MAX_WAITING / 1024;

/// The process group of a child, shared by its task and by all that may have to kill it at once.
///
/// `None` once the child was reaped or killed.
pub(super) type SharedGroup = Arc<Mutex<Option<Group>>>;

/// What a call ends with: the JSON text of its result.
pub(super) type Reply = Result<String, CallError>;

/// A connection to a running child.
///
/// * **Order**: calls are written in the order in which they were made.
/// * **Backpressure**: a call waits while 16 MiB of calls wait to be read by the child.
/// * **Cancellation**: dropping the future of a call gives the call up. The child hears of it, when it
///   asked for that in the handshake.
#[derive(Debug)]
pub(super) struct Connection {
    requests: mpsc::UnboundedSender<Request>,
    room: Arc<Semaphore>,
    last_id: AtomicU64,
    group: SharedGroup,
    pid: Option<u32>,
    end: watch::Receiver<Option<Arc<End>>>,
}

/// What the task of a child is asked to do.
#[derive(Debug)]
pub(super) enum Request {
    /// Write a call and wait for its reply.
    Call(NewCall),
    /// The caller of this call has gone away.
    GiveUp(u64),
    /// The handshake is done; whether the child wants to hear of calls that were given up.
    Ready { cancels: bool },
    /// A notification was added to the queue.
    Notify,
    /// Stop the child in good order.
    Stop,
}

/// A call on its way to the child.
#[derive(Debug)]
pub(super) struct NewCall {
    pub(super) id: u64,
    pub(super) line: Vec<u8>,
    pub(super) deadline: Instant,
    pub(super) reply: oneshot::Sender<Reply>,
    /// The room that the line takes until it is written.
    pub(super) room: OwnedSemaphorePermit,
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
    /// Returns what `who` did in the place of an answer to `method`, for which it had `limit`.
    pub(super) fn told(&self, who: &str, method: &str, limit: Duration) -> String {
        match self {
            Self::Rpc(error) => format!("{who} answered `{method}` with {error}"),
            Self::Unreadable(problem) => format!("{who} answered `{method}` with {problem}"),
            Self::Ended(end) => format!("{who} ended before it answered `{method}`: {end}"),
            Self::Unsent => format!("{who} ended before `{method}` could be sent"),
            Self::TimedOut(known) => {
                format!("{who} did not answer `{method}` within {limit:?}: {known}")
            }
        }
    }

    /// Returns the failure of a call to `process`, which had the time `limit`.
    pub(super) fn into_failure(self, process: &str, method: &str, limit: Duration) -> HandlerError {
        // What is left of it when the call begins is a little less than what was given.
        let limit =
            Duration::from_millis(limit.as_micros().div_ceil(1000).try_into().unwrap_or(u64::MAX));
        let who = format!("process `{process}`");
        let told = self.told(&who, method, limit);
        match self {
            Self::Unreadable(problem) => HandlerError::new(
                Failure::Protocol,
                format!("the reply of {who} to `{method}` can't be read: {problem}"),
            ),
            Self::TimedOut(_) => HandlerError::new(
                Failure::TimedOut,
                format!("{told}; raise the `timeout` if it needs longer"),
            ),
            Self::Ended(end) => {
                HandlerError::new(Failure::Other, told).with_stderr(end.stderr.clone().into_bytes())
            }
            Self::Rpc(_) | Self::Unsent => HandlerError::new(Failure::Other, told),
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
    /// Returns a connection, and the ends of its channels that belong to the child's task.
    pub(super) fn new(group: Group) -> (Self, Channels) {
        let pid = group.pid();
        let group = Arc::new(Mutex::new(Some(group)));
        let (sender, requests) = mpsc::unbounded_channel();
        let (ending, end) = watch::channel(None);
        let room = Arc::new(Semaphore::new(MAX_WAITING));
        let channels =
            Channels { requests, room: Arc::clone(&room), ending, group: Arc::clone(&group) };
        (Self { requests: sender, room, last_id: AtomicU64::new(0), group, pid, end }, channels)
    }

    /// Calls `method` and returns the JSON text of the result.
    ///
    /// Dropping the future gives the call up: a reply that comes later is dropped and counted.
    pub(super) async fn call(&self, method: &str, params: &[u8], deadline: Instant) -> Reply {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let line = rpc::request(id, method, params);
        let room = self.reserve(line.len(), deadline).await?;
        let (reply, mut result) = oneshot::channel();
        let call = NewCall { id, line, deadline, reply, room };
        self.requests.send(Request::Call(call)).map_err(|_| CallError::Unsent)?;
        let mut caller = Caller { connection: self, id, waits: true };
        // The task drops the sender only for calls that it has not begun to write.
        let result = if self.requests.is_closed() {
            // Closed while the call was sent: the channel may keep it, and nothing answers it. Calls
            // that the task knows are answered before the connection has ended.
            let _ = self.wait_end().await;
            result.try_recv().unwrap_or(Err(CallError::Unsent))
        } else {
            result.await.unwrap_or(Err(CallError::Unsent))
        };
        caller.waits = false;
        result
    }

    /// Sends the task a request other than a call. Once the child has ended, the request is dropped.
    pub(super) fn request(&self, request: Request) {
        let _ = self.requests.send(request);
    }

    /// Returns how the connection ended, when it has.
    pub(super) fn ending(&self) -> Option<Arc<End>> {
        self.end.borrow().clone()
    }

    /// Waits until the connection has ended; `None` when its task was dropped without a word.
    pub(super) async fn wait_end(&self) -> Option<Arc<End>> {
        self.end.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Returns the child's id while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| self.ending().is_none())
    }

    /// Kills the child and its group at once, also when its runtime does not run any more.
    pub(super) fn kill(&self) {
        drop(locked(&self.group).take());
    }

    /// Waits until there is room for a line of `length` bytes. A line that is larger than all the
    /// room there is waits until it is alone.
    async fn reserve(
        &self,
        length: usize,
        deadline: Instant,
    ) -> Result<OwnedSemaphorePermit, CallError> {
        let charge = length.clamp(MIN_CHARGE, MAX_WAITING);
        let charge = u32::try_from(charge).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(charge);
        match timeout_at(deadline.into(), room).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(_)) => Err(CallError::Unsent),
            Err(_) => Err(CallError::TimedOut(
                "it does not read its stdin; too many calls wait to be written".to_owned(),
            )),
        }
    }
}

/// The ends of a connection's channels that belong to the child's task.
#[derive(Debug)]
pub(super) struct Channels {
    pub(super) requests: mpsc::UnboundedReceiver<Request>,
    /// Closed when the child has ended.
    pub(super) room: Arc<Semaphore>,
    pub(super) ending: watch::Sender<Option<Arc<End>>>,
    pub(super) group: SharedGroup,
}

/// A caller that waits for its reply. Dropped while it waits, it gives the call up.
struct Caller<'c> {
    connection: &'c Connection,
    id: u64,
    waits: bool,
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        if self.waits {
            self.connection.request(Request::GiveUp(self.id));
        }
    }
}
