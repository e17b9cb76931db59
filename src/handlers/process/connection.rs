//! The connection to one child: callers write their calls and wait for the replies.
//!
//! The child, its output and its end belong to its [`Minder`](super::minder::Minder).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot};

use crate::handler::{Failure, HandlerError, in_milliseconds};
use crate::locks::locked;
use hookexec_files::group::Group;
use hookexec_files::rpc::{self, RpcError};

/// The JSON text of a call's result.
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
    pub(super) writer: tokio::sync::Mutex<Writer>,
    calls: Mutex<OpenCalls>,
    requests: mpsc::UnboundedSender<Request>,
    end: OnceLock<Arc<End>>,
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
    /// The child closed its stdin.
    StdinClosed,
    /// Stop the child in good order.
    Stop,
}

/// The calls that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    last_id: u64,
    /// In the order of their ids. A list keeps its memory from call to call.
    calls: Vec<OpenCall>,
    /// When the deadlines have to be looked at next: never later than the earliest of them.
    pub(super) alarm: Option<Instant>,
}

/// A call that waits for its reply.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: u64,
    deadline: Instant,
    pub(super) reply: oneshot::Sender<Reply>,
    /// Whether the child may have seen a part of it.
    pub(super) begun: bool,
}

impl OpenCalls {
    /// Takes a call out.
    pub(super) fn close(&mut self, id: u64) -> Option<OpenCall> {
        let place = self.calls.binary_search_by_key(&id, |call| call.id).ok()?;
        Some(self.calls.remove(place))
    }

    /// Notes that the child may have seen a part of a call.
    fn begin(&mut self, id: u64) {
        if let Ok(place) = self.calls.binary_search_by_key(&id, |call| call.id) {
            self.calls[place].begun = true;
        }
    }

    /// Returns whether the child owes a reply.
    pub(super) fn owes(&self) -> bool {
        self.calls.iter().any(|call| call.begun)
    }

    /// Takes the calls out whose deadline has passed.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<OpenCall> {
        let expired = self.calls.extract_if(.., |call| call.deadline <= now).collect();
        self.alarm = self.calls.iter().map(|call| call.deadline).min();
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
    Unsent(Arc<End>),
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
        let (failure, told) = match &self {
            Self::Rpc(error) => (Failure::Other, format!("answered `{method}` with {error}")),
            Self::Unreadable(problem) => (
                Failure::Protocol,
                format!("answered `{method}` with a reply that can't be read: {problem}"),
            ),
            Self::Ended(end) => {
                (Failure::Other, format!("ended before it answered `{method}`: {}", end.cause))
            }
            Self::Unsent(end) => {
                (Failure::Other, format!("ended before `{method}` could be sent: {}", end.cause))
            }
            Self::TimedOut(known) => {
                let limit = in_milliseconds(limit);
                let told = format!("did not answer `{method}` within {limit:?}: {known}; {hint}");
                (Failure::TimedOut, told)
            }
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
            writer: Writer { stdin: Some(stdin), line: Vec::new(), written: 0 }.into(),
            calls: Mutex::default(),
            requests: sender,
            end: OnceLock::new(),
        };
        (Arc::new(connection), requests)
    }

    /// Calls `method` and returns the JSON text of the result.
    ///
    /// Dropping the future gives the call up: a reply that comes later is dropped and counted.
    pub(super) async fn call(&self, method: &str, params: &[u8], deadline: Instant) -> Reply {
        let (id, mut reply) = self.open(deadline)?;
        let _caller = Caller { connection: self, id };
        let mut is_begun = false;
        let mut is_written = false;
        let early = tokio::select! {
            biased;
            sent = self.send_call(id, method, params, &mut is_begun) => {
                is_written = sent;
                None
            }
            // It timed out or the child has ended before it was written.
            early = &mut reply => Some(early),
        };
        let result = match early {
            Some(result) => result,
            None => reply.await,
        };
        match result {
            Ok(Err(CallError::Ended(end))) if !is_begun => Err(CallError::Unsent(end)),
            Ok(Err(CallError::TimedOut(_))) if !is_written => Err(not_read()),
            Ok(result) => result,
            // The minder answers each call or leaves it to the end of the connection.
            Err(_) => Err(not_read()),
        }
    }

    /// Writes a call; `is_begun` becomes true once the child may have seen a part of it. Returns
    /// `false` if the child closed its stdin.
    async fn send_call(&self, id: u64, method: &str, params: &[u8], is_begun: &mut bool) -> bool {
        // Usually no other caller writes, and this is the cheaper way.
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(_) => self.writer.lock().await,
        };
        let mut is_sound = writer.begin(rpc::request(id, method, params)).await.is_ok();
        if is_sound {
            *is_begun = true;
            self.calls().begin(id);
            is_sound = writer.finish().await.is_ok();
        }
        if !is_sound {
            self.request(Request::StdinClosed);
        }
        is_sound
    }

    /// Writes a line without an answer. If it can't be written, the next call finds out why.
    pub(super) async fn send(&self, line: Vec<u8>) {
        let mut writer = self.writer.lock().await;
        if writer.begin(line).await.is_ok() {
            let _ = writer.finish().await;
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

    /// Ends the connection and fails the open calls. Returns how many there were.
    pub(super) fn end(&self, end: End) -> usize {
        let end = Arc::new(end);
        let mut open = self.calls();
        // While the lock is held: a call is opened before this, or learns of the end.
        let _ = self.end.set(Arc::clone(&end));
        let calls = std::mem::take(&mut open.calls);
        drop(open);
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.close();
        }
        let count = calls.len();
        for call in calls {
            // A caller knows best whether the child has seen a part of its call.
            let _ = call.reply.send(Err(CallError::Ended(Arc::clone(&end))));
        }
        count
    }

    /// Adds a call, and returns its id and the place of its reply.
    fn open(&self, deadline: Instant) -> Result<(u64, oneshot::Receiver<Reply>), CallError> {
        let (reply, receiver) = oneshot::channel();
        let mut open = self.calls();
        if let Some(end) = self.ending() {
            return Err(CallError::Unsent(Arc::clone(end)));
        }
        open.last_id += 1;
        let id = open.last_id;
        open.calls.push(OpenCall { id, deadline, reply, begun: false });
        if open.alarm.is_none_or(|alarm| deadline < alarm) {
            open.alarm = Some(deadline);
            drop(open);
            self.request(Request::Look);
        }
        Ok((id, receiver))
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

/// A child's stdin. Callers take turns by a lock around it.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once stdin is closed.
    stdin: Option<ChildStdin>,
    /// The line that is being written, and how much of it was.
    line: Vec<u8>,
    written: usize,
}

impl Writer {
    pub(super) const fn is_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Writes the rest of the line before, and a first part of `line`. If the future is dropped, nothing
    /// of `line` was written.
    ///
    /// # Errors
    /// When the child closed its end. Stdin is closed then.
    pub(super) async fn begin(&mut self, line: Vec<u8>) -> io::Result<()> {
        self.finish().await?;
        self.line = line;
        self.write_some().await
    }

    /// Writes the rest of the line that was begun. If the future is dropped, the next caller goes on.
    ///
    /// # Errors
    /// When the child closed its end. Stdin is closed then.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        while self.written > 0 && self.written < self.line.len() {
            self.write_some().await?;
        }
        self.line = Vec::new();
        self.written = 0;
        Ok(())
    }

    async fn write_some(&mut self) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let written = match stdin.write(&self.line[self.written..]).await {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            written => written,
        };
        if written.is_err() {
            self.close();
        }
        self.written += written?;
        Ok(())
    }
}
