//! The client: blocking, for a process that asks once and ends.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::geteuid;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

use super::protocol;
use hookexec::event::Event;
use hookexec::wire::{Decision, Input, Verdict};

/// How long a running server may take to accept a connection, and then to send a first byte.
const FIRST_SIGN: Duration = Duration::from_secs(5);
/// How long it may take after the timeout of a hook to say what came of it.
const GRACE: Duration = Duration::from_secs(5);
/// The longest that a server may ask for: no hook has a longer timeout.
const LIMIT: Duration = Duration::from_hours(24);
/// The longest line that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    stream: BufReader<UnixStream>,
    path: PathBuf,
}

/// Why a server gave no verdict. None of these is an answer to the event.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ClientError(String);

impl Client {
    /// Connects to the server at `path`, which must be the user's own.
    ///
    /// # Errors
    /// When no server listens there, or another user's does.
    pub fn connect(path: impl Into<PathBuf>) -> Result<Self, ClientError> {
        let path = path.into();
        let shown = path.display();
        let absent = |cause| ClientError(format!("no server is listening at {shown}: {cause}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(absent)?;
        let entered = runtime.enter();
        let stream = open(&path).map_err(|cause| match cause.kind() {
            // What a socket's timeout looks like.
            ErrorKind::WouldBlock => silent(&path, &ErrorKind::TimedOut.into()),
            _ => absent(cause),
        })?;
        drop(entered);
        // Who may decide for the user is the user: a socket planted by another would allow
        // anything.
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
            return Err(ClientError(format!("the server at {shown} is another user's")));
        }
        Ok(Self { runtime, stream: BufReader::new(stream), path })
    }

    /// Asks for the verdict on an event of the project in `project`, an absolute path without
    /// links.
    ///
    /// A server that is alive says at once which hooks it starts, so one that is not is found out
    /// within seconds, however long the hooks themselves may take.
    ///
    /// # Errors
    /// When the server gives no verdict.
    ///
    /// # Panics
    /// Within asynchronous code, which it would block.
    pub fn dispatch(
        &mut self,
        event: Event,
        input: &Input,
        project: &Path,
    ) -> Result<Verdict, ClientError> {
        /// Borrows the input: a tree of it would cost as much as the rest.
        #[derive(Serialize)]
        struct Params<'a> {
            event: Event,
            project: serde_json::Value,
            progress: bool,
            input: &'a Input,
        }
        let project = serde_json::to_value(project).map_err(|error| self.not_understood(&error))?;
        let params = Params { event, project, progress: true, input };
        let line = protocol::request(1, "dispatch", &params);
        let started = Instant::now();
        let mut deadline = started + FIRST_SIGN;
        let write = async { timeout_at(deadline, self.stream.write_all(&line)).await };
        in_time(self.runtime.block_on(write)).map_err(|cause| silent(&self.path, &cause))?;

        loop {
            let line = self.line(deadline)?;
            match self.message(&line)? {
                Message::Verdict(verdict) => {
                    self.doubt(event, &verdict)?;
                    return Ok(*verdict);
                }
                Message::Started(timeout) => {
                    let next = Instant::now() + timeout.min(LIMIT) + GRACE;
                    deadline = deadline.max(next.min(started + LIMIT));
                }
                Message::Other => {}
            }
        }
    }

    /// Refuses a verdict on another event, or one that says two things.
    fn doubt(&self, event: Event, verdict: &Verdict) -> Result<(), ClientError> {
        let allowed = verdict.decision.is_none_or(|decision| decision == Decision::Allow);
        let problem = if verdict.event != event {
            format!("its verdict is on `{}`, not on `{event}`", verdict.event)
        } else if verdict.allowed != allowed {
            "its verdict contradicts itself: `decision` and `allowed` disagree".to_owned()
        } else {
            return Ok(());
        };
        Err(self.not_understood(&problem))
    }

    fn line(&mut self, deadline: Instant) -> Result<Vec<u8>, ClientError> {
        let mut line = Vec::new();
        let mut stream = (&mut self.stream).take(LONGEST);
        let read = async { timeout_at(deadline, stream.read_until(b'\n', &mut line)).await };
        let read = in_time(self.runtime.block_on(read)).and_then(|_| match line.last() {
            Some(b'\n') => Ok(line),
            _ if line.len() as u64 == LONGEST => Err(ErrorKind::FileTooLarge.into()),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        });
        read.map_err(|cause| silent(&self.path, &cause))
    }

    fn message(&self, line: &[u8]) -> Result<Message, ClientError> {
        let mut message =
            protocol::read_object(line).map_err(|refusal| self.not_understood(&refusal.message))?;
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            let (path, code) = (self.path.display(), &error["code"]);
            let message = error["message"].as_str().unwrap_or_default();
            return Err(ClientError(format!("the server at {path} refused: {message} ({code})")));
        }
        if message.get("id") == Some(&json!(1))
            && let Some(result) = message.remove("result")
        {
            // The verdict's own type would take a missing `decision` for `null`.
            result.get("decision").ok_or_else(|| self.not_understood(&"`decision` is missing"))?;
            let verdict = Verdict::deserialize(result);
            let verdict = verdict.map_err(|error| self.not_understood(&error))?;
            return Ok(Message::Verdict(Box::new(verdict)));
        }
        if message.get("method") == Some(&json!("hook.started")) {
            let timeout = message.get("params").map(|params| &params["hook"]["timeout_ms"]);
            let timeout = timeout.and_then(Value::as_u64);
            let timeout = timeout.ok_or_else(|| self.not_understood(&"`timeout_ms` is missing"))?;
            return Ok(Message::Started(Duration::from_millis(timeout)));
        }
        Ok(Message::Other)
    }

    fn not_understood(&self, problem: &dyn std::fmt::Display) -> ClientError {
        ClientError(format!("the server at {} is not understood: {problem}", self.path.display()))
    }
}

fn in_time<T>(done: Result<io::Result<T>, Elapsed>) -> io::Result<T> {
    done.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

fn silent(path: &Path, cause: &io::Error) -> ClientError {
    ClientError(format!("the server at {} does not answer: {cause}", path.display()))
}

/// Connects within [`FIRST_SIGN`]: a suspended server accepts no connection once the queue
/// of its socket is full.
fn open(path: &Path) -> io::Result<UnixStream> {
    let socket: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    set_socket_timeout(&socket, Timeout::Send, Some(FIRST_SIGN))?;
    let address = SocketAddrUnix::new(path)?;
    retry_on_intr(|| connect(&socket, &address))?;
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

enum Message {
    Verdict(Box<Verdict>),
    /// A hook started that may take so long.
    Started(Duration),
    Other,
}
