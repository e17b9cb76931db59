//! The client: for a process that asks once and ends.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use hookexec::event::Event;
use hookexec::internal::bounded::read_line;
use hookexec::wire::{Decision, Input, Verdict};
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use super::connection::Lines;
use super::listener::Limits;
use super::protocol::{self, ErrorCode};
use super::socket::{self, Stream};
use super::{NoVerdict, Question, VERSION};

/// How long a server may take to accept a connection, to read a request, or to answer a `ping`.
const FIRST_SIGN: Duration = Duration::from_secs(4);
/// How long a server may be silent before it is asked whether it still works.
const SILENCE: Duration = Duration::from_secs(1);
/// The longest line that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// The `id` of the request, and that of each `ping`.
const REQUEST: u64 = 1;
const PING: u64 = 2;

/// Asks the server at `path`, which must be the user's own, for the verdict on an event of the
/// project in `project`, an absolute path without links. The caller needs it by `until`.
///
/// A server that works answers a `ping` at once, so one that does not is found out within seconds,
/// however long the hooks may take.
///
/// # Errors
/// Why the server gives no verdict.
pub(crate) async fn verdict(
    path: &Path,
    question: Question<'_>,
    project: &Path,
    until: Option<Instant>,
) -> Result<Verdict, NoVerdict> {
    let server = format!("the server at {}", path.display());
    let request = request(question, project, until)
        .map_err(|error| NoVerdict::Failed(format!("{server} can't be asked: {error}")))?;
    if request.len() > Limits::default().line {
        return Err(NoVerdict::NotRun(format!("the input is too long for {server}")));
    }
    let stream = connect(path, until).map_err(NoVerdict::Failed)?;
    let asked = ask(stream, &request);
    let asked = match until {
        None => asked.await,
        Some(until) => tokio::time::timeout_at(until.into(), asked)
            .await
            .unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())),
    };
    let line = asked.map_err(|cause| {
        NoVerdict::Failed(match cause.kind() {
            ErrorKind::UnexpectedEof => format!("{server} ended before it answered"),
            _ => format!("{server} does not answer: {cause}"),
        })
    })?;
    read_reply(&line, question.event, &server)
}

/// Returns the line that asks for a verdict.
fn request(
    Question { native, event, input }: Question<'_>,
    project: &Path,
    until: Option<Instant>,
) -> Result<Vec<u8>, serde_json::Error> {
    /// Borrows the input: a tree of it would cost as much as the rest.
    #[skip_serializing_none]
    #[derive(Serialize)]
    struct Params<'a> {
        agent: Option<&'a str>,
        event: &'a str,
        project: Value,
        version: &'a str,
        within_ms: Option<u64>,
        input: &'a Input,
    }
    let agent = native.map(|(agent, _)| agent.name());
    let event = native.map_or(event.name(), |(_, name)| name);
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let within_ms = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
    let project = serde_json::to_value(project)?;
    let params = Params { agent, event, project, version: VERSION, within_ms, input };
    Ok(protocol::request(REQUEST, "dispatch", &params))
}

/// Sends a request and returns the line that answers it.
async fn ask(stream: Stream, request: &[u8]) -> io::Result<Vec<u8>> {
    let (reader, mut writer) = tokio::io::split(stream);
    in_time(FIRST_SIGN, writer.write_all(request)).await?;
    let mut lines = Lines::new(reader, LONGEST);
    let mut is_asked = false;
    loop {
        let patience = if is_asked { FIRST_SIGN } else { SILENCE };
        match timeout(patience, lines.next()).await {
            Ok(Some(Ok(line))) if is_asked && is_pong(&line) => is_asked = false,
            Ok(Some(Ok(line))) => return Ok(line),
            Ok(Some(Err(_))) => return Err(ErrorKind::FileTooLarge.into()),
            Ok(None) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(_) if is_asked => return Err(ErrorKind::TimedOut.into()),
            Err(_) => {
                let ping = protocol::request(PING, "ping", &json!({}));
                in_time(FIRST_SIGN, writer.write_all(&ping)).await?;
                is_asked = true;
            }
        }
    }
}

fn is_pong(line: &[u8]) -> bool {
    protocol::read_object(line).is_ok_and(|message| message.get("id") == Some(&json!(PING)))
}

/// Asks the server at `path` whether it would answer calls of this version in `project`. A server that
/// hangs costs four seconds.
///
/// # Errors
/// Why it would give no verdict.
pub(crate) async fn ping(path: &Path, project: &Path) -> Result<(), NoVerdict> {
    let server = format!("the server at {}", path.display());
    let project = serde_json::to_value(project)
        .map_err(|error| NoVerdict::Failed(format!("{server} can't be asked: {error}")))?;
    let params = json!({ "project": project, "version": VERSION });
    let request = protocol::request(REQUEST, "ping", &params);
    let line = exchange(path, &request).await.map_err(NoVerdict::Failed)?;
    read_result(&line, &server).map(drop)
}

/// Reads the verdict on `event` from the line that answers the request.
fn read_reply(line: &[u8], event: Event, server: &str) -> Result<Verdict, NoVerdict> {
    let result = read_result(line, server)?;
    sound(result, event).map_err(|problem| not_understood(server, &problem))
}

fn not_understood(server: &str, problem: &dyn Display) -> NoVerdict {
    NoVerdict::Failed(format!("{server} is not understood: {problem}"))
}

/// Reads the result from the line that answers the request.
fn read_result(line: &[u8], server: &str) -> Result<Value, NoVerdict> {
    let mut message =
        protocol::read_object(line).map_err(|refusal| not_understood(server, &refusal.message))?;
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        let said = error["message"].as_str().unwrap_or_default();
        let text = format!("{server} refused: {said} ({})", error["code"]);
        let not_run = [ErrorCode::Overloaded, ErrorCode::OtherProject, ErrorCode::Stopping];
        let is_not_run = not_run.iter().any(|code| error["code"] == *code as i32);
        return Err(if is_not_run { NoVerdict::NotRun(text) } else { NoVerdict::Failed(text) });
    }
    if message.get("id") != Some(&json!(REQUEST)) {
        return Err(not_understood(server, &"the answer has another `id`"));
    }
    message.remove("result").ok_or_else(|| not_understood(server, &"`result` is missing"))
}

/// Sends a line to the server at `path`, which must be the user's own, and returns its answer, a line
/// as well. Both have four seconds.
///
/// # Errors
/// Why there is no answer.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub(crate) async fn exchange(path: &Path, line: &[u8]) -> Result<Vec<u8>, String> {
    let until = Instant::now() + FIRST_SIGN;
    let mut stream = connect(path, Some(until))?;
    let exchanged = async {
        stream.write_all(line).await?;
        read_line(&mut BufReader::new(stream), LONGEST).await
    };
    let answer = in_time(until.saturating_duration_since(Instant::now()), exchanged).await;
    answer.map_err(|cause| format!("no answer came from {}: {cause}", path.display()))
}

/// Reads a verdict, and refuses one on another event, or one that says two things.
fn sound(result: Value, event: Event) -> Result<Verdict, String> {
    // The verdict's own type would take a missing `decision` for `null`.
    result.get("decision").ok_or("`decision` is missing")?;
    let verdict = Verdict::deserialize(result).map_err(|error| error.to_string())?;
    if verdict.event != event {
        return Err(format!("its verdict is on `{}`, not on `{event}`", verdict.event));
    }
    if verdict.allowed != verdict.decision.is_none_or(|decision| decision == Decision::Allow) {
        return Err("its verdict contradicts itself: `decision` and `allowed` disagree".to_owned());
    }
    Ok(verdict)
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Connects to the server at `path` before `until`.
fn connect(path: &Path, until: Option<Instant>) -> Result<Stream, String> {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    // The system takes zero for no limit.
    let limit = left.unwrap_or(FIRST_SIGN).clamp(Duration::from_millis(1), FIRST_SIGN);
    socket::connect(path, limit)
}
