//! `codex app-server`: Codex's own server, which speaks JSON lines on its pipes.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hookexec::internal::Group;
use hookexec::wire::parse_strict;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

/// How long Codex may take for all answers together; it takes half a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why Codex could not be asked, or does not run the hooks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodexError {
    #[error("`codex` is not on the PATH")]
    NotFound,
    #[error("can't start `codex app-server`: {0}")]
    Start(#[from] std::io::Error),
    #[error("`codex app-server` ended at `{0}`")]
    Ended(&'static str),
    #[error("`codex app-server` did not answer `{0}` within {seconds} s", seconds = PATIENCE.as_secs())]
    Late(&'static str),
    #[error("`codex app-server` refused `{method}`: {problem}")]
    Refused { method: &'static str, problem: String },
    #[error("`codex app-server` answered `{method}` with what hookexec can't read: {answer}")]
    Unreadable { method: &'static str, answer: String },
    #[error("{0}")]
    Runtime(String),
    #[error("{0}")]
    Skipped(&'static str),
}

/// A running server. It ends when this is dropped.
pub(super) struct Server {
    /// The command may be a script of npm's, which started the real program.
    _group: Group,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    deadline: Instant,
    /// The number of the last request.
    last: u64,
}

impl Server {
    /// Starts the server for the project.
    pub(super) async fn start(project: &Path) -> Result<Self, CodexError> {
        let mut command = Command::new("codex");
        command.arg("app-server").current_dir(project).stderr(Stdio::null());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = match Group::spawn(&mut command) {
            Ok(group) => group,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(CodexError::NotFound),
            Err(error) => return Err(error.into()),
        };
        let (Some(stdin), Some(stdout), _) = group.take_pipes() else {
            return Err(CodexError::Ended("start"));
        };
        let (lines, deadline) = (BufReader::new(stdout).lines(), Instant::now() + PATIENCE);
        let mut server = Self { _group: group, stdin, lines, deadline, last: 0 };
        let client = json!({ "name": "hookexec", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "experimentalApi": true });
        let params = json!({ "clientInfo": client, "capabilities": capabilities });
        server.ask("initialize", &params).await?;
        server.send("initialize", &json!({ "method": "initialized" })).await?;
        Ok(server)
    }

    /// Sends a request and returns its result.
    pub(super) async fn ask(
        &mut self,
        method: &'static str,
        params: &Value,
    ) -> Result<Value, CodexError> {
        self.last += 1;
        let request = json!({ "id": self.last, "method": method, "params": params });
        self.send(method, &request).await?;
        let mut answer = loop {
            let line = match timeout_at(self.deadline, self.lines.next_line()).await {
                Ok(Ok(Some(line))) => line,
                Ok(_) => return Err(CodexError::Ended(method)),
                Err(_) => return Err(CodexError::Late(method)),
            };
            let message = parse_strict(&line).unwrap_or_default();
            // Other messages are notifications.
            if message["id"] == json!(self.last) && message.get("method").is_none() {
                break message;
            }
        };
        if let Some(error) = answer.get("error") {
            let problem = error["message"].as_str().map_or(error.to_string(), str::to_owned);
            return Err(CodexError::Refused { method, problem });
        }
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(CodexError::Unreadable { method, answer: answer.to_string() }),
        }
    }

    async fn send(&mut self, method: &'static str, message: &Value) -> Result<(), CodexError> {
        match self.stdin.write_all(format!("{message}\n").as_bytes()).await {
            Ok(()) => Ok(()),
            Err(_) => Err(CodexError::Ended(method)),
        }
    }
}
