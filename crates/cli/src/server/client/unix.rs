//! The client: for a process that asks once and ends.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use hookexec::internal::bounded::read_line;
use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use rustix::process::geteuid;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
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
const LONGEST: usize = 64 << 20;

/// Asks the server at `path`, which must be the user's own, for the verdict on an event of the
/// project in `project`, an absolute path without links.
///
/// A server that is alive says at once which hooks it starts, so one that is not is found out
/// within seconds, however long the hooks themselves may take.
///
/// # Errors
/// Why the server gives no verdict.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub async fn verdict(
    path: &Path,
    event: Event,
    input: &Input,
    project: &Path,
) -> Result<Verdict, String> {
    /// Borrows the input: a tree of it would cost as much as the rest.
    #[derive(Serialize)]
    struct Params<'a> {
        event: Event,
        project: Value,
        progress: bool,
        input: &'a Input,
    }
    let server = format!("the server at {}", path.display());
    let silent = |cause: io::Error| format!("{server} does not answer: {cause}");
    let not_understood = |problem: &dyn Display| format!("{server} is not understood: {problem}");
    let mut stream = open(path).map_err(|cause| match cause.kind() {
        // What a socket's timeout looks like.
        ErrorKind::WouldBlock => silent(ErrorKind::TimedOut.into()),
        _ => format!("no server is listening at {}: {cause}", path.display()),
    })?;
    // Who may decide for the user is the user: a socket planted by another would allow anything.
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
        return Err(format!("{server} is another user's"));
    }
    let project = serde_json::to_value(project).map_err(|error| not_understood(&error))?;
    let params = Params { event, project, progress: true, input };
    let request = protocol::request(1, "dispatch", &params);
    let started = Instant::now();
    let mut deadline = started + FIRST_SIGN;
    in_time(deadline, stream.write_all(&request)).await.map_err(silent)?;
    let mut stream = BufReader::new(stream);
    loop {
        let line = in_time(deadline, read_line(&mut stream, LONGEST)).await.map_err(silent)?;
        let message = protocol::read_object(&line);
        let mut message = message.map_err(|refusal| not_understood(&refusal.message))?;
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            let said = error["message"].as_str().unwrap_or_default();
            return Err(format!("{server} refused: {said} ({})", error["code"]));
        }
        if message.get("id") == Some(&json!(1))
            && let Some(result) = message.remove("result")
        {
            return sound(result, event).map_err(|problem| not_understood(&problem));
        }
        if message.get("method") == Some(&json!("hook.started")) {
            let timeout = message.get("params").map(|params| &params["hook"]["timeout_ms"]);
            let timeout = timeout.and_then(Value::as_u64);
            let timeout = timeout.ok_or_else(|| not_understood(&"`timeout_ms` is missing"))?;
            let next = Instant::now() + Duration::from_millis(timeout).min(LIMIT) + GRACE;
            deadline = deadline.max(next.min(started + LIMIT));
        }
    }
}

/// Sends a line to the server at `path`, which must be the user's own, and returns its answer, a line
/// as well.
///
/// # Errors
/// Why there is no answer.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub(crate) async fn exchange(path: &Path, mut line: Vec<u8>) -> Result<Vec<u8>, String> {
    let place = path.display();
    let mut stream = open(path).map_err(|cause| format!("nothing listens at {place}: {cause}"))?;
    if !stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
        return Err(format!("the process that listens at {place} is another user's"));
    }
    line.push(b'\n');
    let exchanged = async {
        stream.write_all(&line).await?;
        read_line(&mut BufReader::new(stream), LONGEST).await
    };
    let answer = in_time(Instant::now() + FIRST_SIGN, exchanged).await;
    answer.map_err(|cause| format!("no answer came from {place}: {cause}"))
}

/// Reads a verdict, and refuses one on another event, or one that says two things.
fn sound(result: Value, event: Event) -> Result<Verdict, String> {
    // The verdict's own type would take a missing `decision` for `null`.
    result.get("decision").ok_or("`decision` is missing")?;
    let verdict = Verdict::deserialize(result).map_err(|error| error.to_string())?;
    if verdict.event != event {
        return Err(format!("its verdict is on `{}`, not on `{event}`", verdict.event));
    }
    if verdict.allowed != verdict.decision.is_none_or(|it| it == Decision::Allow) {
        return Err("its verdict contradicts itself: `decision` and `allowed` disagree".to_owned());
    }
    Ok(verdict)
}

async fn in_time<T>(deadline: Instant, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout_at(deadline, work).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
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
