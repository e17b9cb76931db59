//! The client: for a process that asks once and ends.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use hookexec::{Decision, Event, Input, Verdict};
use hookexec_agents::NativeCall;
use hookexec_calls::shell::quoted;
use hookexec_files::bounded::{MAX_MESSAGE, read_line};
use hookexec_project::LoadOptions;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use super::VERSION;
use super::connection::Lines;
use super::listener::Limits;
use super::protocol::{self, ErrorCode};
use super::socket::{self, Stream};

/// How long a server may take to accept a connection, to read a request, or to answer a `ping`.
const FIRST_SIGN: Duration = Duration::from_secs(4);

/// A message to the server, by its `id`.
#[derive(Clone, Copy)]
enum Sent {
    Request = 1,
    Ping = 2,
}

/// The question to a server: about an event in our words, or about a call of an agent.
#[derive(Clone, Copy)]
pub enum Question<'q> {
    /// An event in our words.
    Own(Event, &'q Input),
    /// A call of an agent.
    Native(&'q NativeCall),
}

/// Why a server gave no verdict. The text goes on from "the server at PATH".
#[derive(Debug, Error)]
pub enum NoVerdict {
    /// It was not asked.
    #[error("can't be asked: {0}")]
    NotAsked(&'static str),
    /// No process listens.
    #[error("is not there: {0}")]
    NotThere(io::Error),
    /// It is a process of another user.
    #[error("belongs to another user")]
    OtherUser,
    /// No answer came.
    #[error("does not answer: {0}")]
    Silent(#[from] io::Error),
    /// It answered with an error: the message and the code.
    #[error("refused: {0} ({1})")]
    Refused(String, Value),
    /// Its answer is not valid.
    #[error("is not understood: {0}")]
    NotUnderstood(String),
}

impl NoVerdict {
    /// Returns whether the server ran no hook for certain: it was not asked, or it said so, because it
    /// has the hooks of another project or no room.
    pub fn ran_nothing(&self) -> bool {
        match self {
            Self::NotAsked(_) => true,
            Self::Refused(_, code) => {
                *code == ErrorCode::Overloaded as i32 || *code == ErrorCode::OtherProject as i32
            }
            _ => false,
        }
    }
}

/// Asks the server at `path`, which must be the user's own, for the verdict on what happened in
/// `project`, an absolute path without links. The caller needs it by `until`.
///
/// A server that works answers a `ping` at once, so one that does not is found out within seconds,
/// however long the hooks may take.
///
/// # Errors
/// Why the server gives no verdict.
async fn verdict(
    path: &Path,
    question: Question<'_>,
    project: &Path,
    until: Option<Instant>,
) -> Result<Verdict, NoVerdict> {
    /// Borrows the input: a tree of it would cost as much as the rest.
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<&'a str>,
        event: &'a str,
        project: &'a str,
        version: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        within_ms: Option<u128>,
        input: &'a Input,
    }
    let (expected, agent, event, input) = match question {
        Question::Own(event, input) => (event, None, event.name(), input),
        Question::Native(call) => {
            let event = call.event.unwrap_or(Event::Notification);
            (event, Some(call.agent.name()), call.native.name, &call.input)
        }
    };
    let project = name_of(project)?;
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let within_ms = left.map(|left| left.as_millis());
    let params = Params { agent, event, project, version: VERSION, within_ms, input };
    let result = call(path, "dispatch", &params, left).await?;
    read_verdict(result, expected)
}

/// The result of asking a server.
pub enum Reply {
    /// The server has answered.
    Verdict(Box<Verdict>),
    /// The hooks run in this process, for the reason that is given.
    RunHere(Option<String>),
    /// The call fails: why, and what to do about it.
    Fail(String),
}

/// Asks the server at `socket`, unless the project could not be found in time or the administrator has
/// hooks. Managed hooks run in the process of the call, with all others: another program may have put
/// its own server there, which does not know them.
///
/// An agent's call without its verdict fails, unless no hook can have run. For any other question the
/// hooks then run in this process.
pub async fn ask(
    socket: &Path,
    options: &LoadOptions,
    question: Question<'_>,
    until: Option<Instant>,
) -> Reply {
    if options.without_project || options.has_managed_files() {
        return Reply::RunHere(None);
    }
    let must_answer = matches!(question, Question::Native(_));
    let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
    let problem = match verdict(socket, question, project, until).await {
        Ok(verdict) => return Reply::Verdict(Box::new(verdict)),
        Err(problem) => problem,
    };
    let place = socket.display();
    if !must_answer || problem.ran_nothing() {
        let why = format!("the server at {place} {problem}; the hooks run without it");
        return Reply::RunHere(Some(why));
    }
    Reply::Fail(format!("the server at {place} {problem}; {}", remedy(socket)))
}

/// Returns what to do about a server that gives no verdict.
pub fn remedy(socket: &Path) -> String {
    let socket = quoted(&socket.display().to_string());
    format!(
        "start it anew with `hookexec serve --socket {socket}` in the project, or take `--connect` \
         out of the agent's settings: `hookexec uninstall AGENT`, then `hookexec install AGENT`"
    )
}

/// Asks the server at `path` whether it would answer calls of this version in `project`. A server that
/// hangs costs five seconds.
///
/// # Errors
/// Why it would give no verdict.
pub async fn ping(path: &Path, project: &Path) -> Result<(), NoVerdict> {
    let params = json!({ "project": name_of(project)?, "version": VERSION });
    call(path, "ping", &params, None).await.map(drop)
}

fn name_of(project: &Path) -> Result<&str, NoVerdict> {
    project.to_str().ok_or(NoVerdict::NotAsked("the path of the project is not UTF-8"))
}

/// Returns the result of a request. The whole call may take `left`.
async fn call(
    path: &Path,
    method: &str,
    params: &impl Serialize,
    left: Option<Duration>,
) -> Result<Value, NoVerdict> {
    let request = protocol::request(Sent::Request as u64, method, params);
    if request.len() > Limits::default().line {
        return Err(NoVerdict::NotAsked("the input is too long"));
    }
    let left = left.unwrap_or(Duration::MAX);
    let stream = socket::connect(path, left.min(FIRST_SIGN)).await?;
    let line = in_time(left, answer_to(stream, &request)).await?;
    read_result(&line)
}

/// Sends a request and returns the line that answers it.
async fn answer_to(stream: Stream, request: &[u8]) -> io::Result<Vec<u8>> {
    let (reader, mut writer) = tokio::io::split(stream);
    in_time(FIRST_SIGN, writer.write_all(request)).await?;
    let mut lines = Lines::new(reader, MAX_MESSAGE);
    let mut is_asked = false;
    loop {
        // How long a server may be silent before it is asked whether it still works.
        let patience = if is_asked { FIRST_SIGN } else { Duration::from_secs(1) };
        match timeout(patience, lines.next()).await {
            Ok(Some(Ok(line))) if is_asked && is_pong(&line) => is_asked = false,
            Ok(Some(Ok(line))) => return Ok(line),
            Ok(Some(Err(_))) => return Err(ErrorKind::FileTooLarge.into()),
            Ok(None) => return Err(io::Error::other("it ended before it answered")),
            Err(_) if is_asked => return Err(ErrorKind::TimedOut.into()),
            Err(_) => {
                let ping = protocol::request(Sent::Ping as u64, "ping", &json!({}));
                in_time(FIRST_SIGN, writer.write_all(&ping)).await?;
                is_asked = true;
            }
        }
    }
}

fn is_pong(line: &[u8]) -> bool {
    protocol::read_object(line)
        .is_ok_and(|message| message.get("id") == Some(&json!(Sent::Ping as u64)))
}

/// Reads the result from the line that answers the request.
fn read_result(line: &[u8]) -> Result<Value, NoVerdict> {
    let mut message =
        protocol::read_object(line).map_err(|refusal| not_understood(refusal.message))?;
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        let said = error["message"].as_str().unwrap_or_default();
        return Err(NoVerdict::Refused(said.to_owned(), error["code"].clone()));
    }
    if message.get("id") != Some(&json!(Sent::Request as u64)) {
        return Err(not_understood("the answer has another `id`"));
    }
    message.remove("result").ok_or_else(|| not_understood("`result` is missing"))
}

/// Reads the verdict on `event`. One on another event, or one that says two things, is an error.
fn read_verdict(result: Value, event: Event) -> Result<Verdict, NoVerdict> {
    // The verdict's own type would take a missing `decision` for `null`.
    if result.get("decision").is_none() {
        return Err(not_understood("`decision` is missing"));
    }
    let verdict =
        Verdict::deserialize(result).map_err(|error| not_understood(error.to_string()))?;
    let is_allowed = verdict.decision.is_none_or(|decision| decision == Decision::Allow);
    if verdict.event != event {
        let found = verdict.event;
        return Err(not_understood(format!("its verdict is on `{found}`, not on `{event}`")));
    }
    if verdict.allowed != is_allowed {
        let problem = "its verdict contradicts itself: `decision` and `allowed` disagree";
        return Err(not_understood(problem));
    }
    Ok(verdict)
}

fn not_understood(problem: impl Into<String>) -> NoVerdict {
    NoVerdict::NotUnderstood(problem.into())
}

/// Sends a line to the program that listens at `path`, which must be the user's own, and returns its
/// answer, a line as well. It has four seconds.
///
/// # Errors
/// The cause of a missing answer.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub async fn exchange(path: &Path, line: &[u8]) -> Result<Vec<u8>, NoVerdict> {
    let mut stream = socket::connect(path, FIRST_SIGN).await?;
    let exchanged = async {
        stream.write_all(line).await?;
        read_line(&mut BufReader::new(stream), MAX_MESSAGE).await
    };
    Ok(in_time(FIRST_SIGN, exchanged).await?)
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_server_is_asked_where_the_administrator_has_hooks() {
        let managed = tempfile::tempdir().unwrap();
        let mut options = LoadOptions::default();
        options.managed_dir = Some(managed.path().into());
        let input = Input::default();
        let question = || Question::Own(Event::Stop, &input);
        let ask = || ask(Path::new("/nowhere"), &options, question(), None);
        assert!(matches!(ask().await, Reply::RunHere(Some(_))));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(matches!(ask().await, Reply::RunHere(None)));
    }
}
