//! The client: blocking, without a runtime, for a process that asks once and ends.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::geteuid;
use serde::Deserialize;
use serde_json::value::RawValue;

use hookexec::event::Event;
use hookexec::wire::{Decision, Input, Verdict};

/// How long a running server may take to accept a connection, and then to send a first byte.
const FIRST_SIGN: Duration = Duration::from_secs(5);
/// How long it may take after the timeout of a hook to say what came of it.
const GRACE: Duration = Duration::from_secs(5);
/// The longest that a server may ask for: no hook has a longer timeout.
const LIMIT: Duration = Duration::from_hours(24);
/// The longest line that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<UnixStream>,
    path: PathBuf,
}

/// Why a server gave no verdict. None of these is an answer to the event.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ClientError(String);

impl Client {
    /// Connects to the server at `path`, which must be the user's own.
    ///
    /// # Errors
    /// When no server listens there, or another user's does.
    pub(crate) fn connect(path: impl Into<PathBuf>) -> Result<Self, ClientError> {
        let path = path.into();
        let shown = path.display();
        let stream = open(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::WouldBlock => silent(&path, &cause),
            _ => ClientError(format!("no server is listening at {shown}: {cause}")),
        })?;
        // Who may decide for the user is the user: a socket planted by another would allow
        // anything.
        if !peer_user(&stream).is_ok_and(|user| user == geteuid().as_raw()) {
            return Err(ClientError(format!("the server at {shown} is another user's")));
        }
        Ok(Self { stream: BufReader::new(stream), path })
    }

    /// Asks for the verdict on an event of the project in `project`, an absolute path without
    /// links.
    ///
    /// A server that is alive says at once which hooks it starts, so one that is not is found out
    /// within seconds, however long the hooks themselves may take.
    ///
    /// # Errors
    /// When the server gives no verdict.
    pub(crate) fn dispatch(
        &mut self,
        event: Event,
        input: &Input,
        project: &Path,
    ) -> Result<Verdict, ClientError> {
        #[derive(serde::Serialize)]
        struct Request<'a> {
            jsonrpc: &'static str,
            id: u8,
            method: &'static str,
            params: Params<'a>,
        }
        #[derive(serde::Serialize)]
        struct Params<'a> {
            event: Event,
            project: &'a Path,
            progress: bool,
            input: &'a Input,
        }
        let params = Params { event, project, progress: true, input };
        let request = Request { jsonrpc: "2.0", id: 1, method: "dispatch", params };
        let mut line = serde_json::to_vec(&request).map_err(|error| self.not_understood(&error))?;
        line.push(b'\n');
        let started = Instant::now();
        let mut deadline = started + FIRST_SIGN;
        self.write(&line, deadline)?;

        loop {
            match self.read(deadline)? {
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

    /// Writes all of `line` before `deadline`, however slowly the server reads.
    fn write(&mut self, mut line: &[u8], deadline: Instant) -> Result<(), ClientError> {
        while !line.is_empty() {
            self.limit(deadline)?;
            match self.stream.get_mut().write(line) {
                Ok(0) => return Err(self.silent(&io::ErrorKind::WriteZero.into())),
                Ok(written) => line = &line[written..],
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(self.silent(&cause)),
            }
        }
        Ok(())
    }

    /// Reads a line that is whole before `deadline`, however slowly it comes.
    fn line(&mut self, deadline: Instant) -> Result<Vec<u8>, ClientError> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            self.limit(deadline)?;
            let piece = match self.stream.fill_buf() {
                Ok([]) => return Err(self.silent(&io::ErrorKind::UnexpectedEof.into())),
                Ok(piece) => piece,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(self.silent(&cause)),
            };
            let length =
                piece.iter().position(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
            line.extend_from_slice(&piece[..length]);
            self.stream.consume(length);
            if line.len() > LONGEST {
                return Err(self.silent(&io::ErrorKind::FileTooLarge.into()));
            }
        }
        Ok(line)
    }

    fn read(&mut self, deadline: Instant) -> Result<Message, ClientError> {
        let line = self.line(deadline)?;
        let message: Incoming<'_> =
            serde_json::from_slice(&line).map_err(|error| self.not_understood(&error))?;
        match message {
            Incoming { error: Some(Error { code, message }), .. } => {
                let path = self.path.display();
                Err(ClientError(format!("the server at {path} refused: {message} ({code})")))
            }
            Incoming { result: Some(result), id: Some(1), .. } => {
                // An answer without `decision` is none; the verdict's own type would take it for
                // `null`.
                serde_json::from_str::<Decided<'_>>(result.get())
                    .and_then(|_| serde_json::from_str(result.get()))
                    .map(|verdict| Message::Verdict(Box::new(verdict)))
                    .map_err(|error| self.not_understood(&error))
            }
            Incoming { method: Some("hook.started"), params: Some(params), .. } => {
                let Started { hook } = serde_json::from_str(params.get())
                    .map_err(|error| self.not_understood(&error))?;
                Ok(Message::Started(Duration::from_millis(hook.timeout_ms)))
            }
            _ => Ok(Message::Other),
        }
    }

    fn limit(&self, deadline: Instant) -> Result<(), ClientError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.silent(&io::ErrorKind::TimedOut.into()));
        }
        let stream = self.stream.get_ref();
        let set = stream.set_read_timeout(Some(left));
        set.and_then(|()| stream.set_write_timeout(Some(left))).map_err(|cause| self.silent(&cause))
    }

    fn silent(&self, cause: &io::Error) -> ClientError {
        silent(&self.path, cause)
    }

    fn not_understood(&self, problem: &dyn std::fmt::Display) -> ClientError {
        ClientError(format!("the server at {} is not understood: {problem}", self.path.display()))
    }
}

fn silent(path: &Path, cause: &io::Error) -> ClientError {
    let timed_out = io::ErrorKind::TimedOut.into();
    // What a socket's timeout looks like.
    let is_timeout = cause.kind() == io::ErrorKind::WouldBlock;
    let cause = if is_timeout { &timed_out } else { cause };
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
    Ok(socket.into())
}

/// Returns the user that the process at the other end belongs to.
///
/// Tokio asks each system in its own way. It needs a runtime, though nothing waits here.
fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // The copy shares this mode with the original.
    stream.set_nonblocking(true)?;
    let peer = tokio::net::UnixStream::from_std(stream.try_clone()?)?.peer_cred()?;
    stream.set_nonblocking(false)?;
    Ok(peer.uid())
}

enum Message {
    Verdict(Box<Verdict>),
    /// A hook started that may take so long.
    Started(Duration),
    Other,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    id: Option<u8>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Error>,
}

#[derive(Deserialize)]
struct Decided<'a> {
    #[serde(borrow, rename = "decision")]
    _decision: &'a RawValue,
}

#[derive(Deserialize)]
struct Error {
    code: i64,
    message: String,
}

#[derive(Deserialize)]
struct Started {
    hook: StartedHook,
}

#[derive(Deserialize)]
struct StartedHook {
    timeout_ms: u64,
}
