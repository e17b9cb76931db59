//! `codex app-server`: Codex's own program for others to ask, in JSON lines on its pipes.

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
    pub(super) async fn start(project: &Path) -> Result<Self, String> {
        let mut command = Command::new("codex");
        command.arg("app-server").current_dir(project).stderr(Stdio::null());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::spawn(&mut command).map_err(|error| match error.kind() {
            ErrorKind::NotFound => "`codex` is not on the PATH".to_owned(),
            _ => format!("can't start `codex app-server`: {error}"),
        })?;
        let (Some(stdin), Some(stdout), _) = group.take_pipes() else {
            return Err(ended("start"));
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
    pub(super) async fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last += 1;
        let request = json!({ "id": self.last, "method": method, "params": params });
        self.send(method, &request).await?;
        let answer = loop {
            let line = timeout_at(self.deadline, self.lines.next_line()).await.map_err(|_| {
                let seconds = PATIENCE.as_secs();
                format!("`codex app-server` did not answer `{method}` within {seconds} s")
            })?;
            let line = line.ok().flatten().ok_or_else(|| ended(method))?;
            let message = parse_strict(&line).unwrap_or_default();
            // Other messages are notifications.
            if message["id"] == json!(self.last) && message.get("method").is_none() {
                break message;
            }
        };
        match (answer.get("error"), answer.get("result")) {
            (None, Some(result)) => Ok(result.clone()),
            (None, None) => Err(unreadable(method, &answer)),
            (Some(error), _) => {
                let said = error["message"].as_str().map_or(error.to_string(), str::to_owned);
                Err(format!("`codex app-server` refused `{method}`: {said}"))
            }
        }
    }

    async fn send(&mut self, method: &str, message: &Value) -> Result<(), String> {
        let written = self.stdin.write_all(format!("{message}\n").as_bytes()).await;
        written.map_err(|_| ended(method))
    }
}

fn ended(method: &str) -> String {
    format!("`codex app-server` ended at `{method}`")
}

/// Returns the error of an answer that is not what it should be.
pub(super) fn unreadable(method: &str, what: &dyn std::fmt::Display) -> String {
    format!("`codex app-server` answered `{method}` with what hookexec can't read: {what}")
}
