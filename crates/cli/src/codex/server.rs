//! `codex app-server`: Codex's own program for others to ask, in JSON lines on its pipes.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use hookexec::wire::parse_strict;
use serde_json::{Value, json};

use crate::system;

/// How long Codex may take for all answers together; it takes half a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server. It ends when this is dropped.
pub(super) struct Server {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    deadline: Instant,
    /// The number of the last request.
    last: u64,
}

impl Server {
    /// Starts the server for the project.
    pub(super) fn start(project: &Path) -> Result<Self, String> {
        let mut command = Command::new("codex");
        command.arg("app-server").current_dir(project).stderr(Stdio::null());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            system::in_group(&mut command).spawn().map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "`codex` is not on the PATH".to_owned(),
                _ => not_started(&error),
            })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started(&io::ErrorKind::BrokenPipe.into()));
        };
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let mut all = lines.filter_map(|line| parse_strict(&line).ok());
            all.try_for_each(|message| sender.send(message).ok())
        });
        let deadline = Instant::now() + PATIENCE;
        let mut server = Self { child, stdin, messages, deadline, last: 0 };
        let client = json!({ "name": "hookexec", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "experimentalApi": true });
        server.ask("initialize", &json!({ "clientInfo": client, "capabilities": capabilities }))?;
        server.send("initialize", &json!({ "method": "initialized" }))?;
        Ok(server)
    }

    /// Sends a request and returns its result.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last += 1;
        self.send(method, &json!({ "id": self.last, "method": method, "params": params }))?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let mut message = self.messages.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    let seconds = PATIENCE.as_secs();
                    format!("`codex app-server` did not answer `{method}` within {seconds} s")
                }
                RecvTimeoutError::Disconnected => ended(method),
            })?;
            // Other messages are notifications.
            if message["id"] != json!(self.last) || message.get("method").is_some() {
                continue;
            }
            let said = |error: &Value| match &error["message"] {
                Value::String(text) => text.clone(),
                _ => error.to_string(),
            };
            if let Some(error) = message.get("error") {
                return Err(format!("`codex app-server` refused `{method}`: {}", said(error)));
            }
            return match message.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(unreadable(method, &message)),
            };
        }
    }

    fn send(&mut self, method: &str, message: &Value) -> Result<(), String> {
        let written = writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush());
        written.map_err(|_| ended(method))
    }
}

fn not_started(error: &io::Error) -> String {
    format!("can't start `codex app-server`: {error}")
}

fn ended(method: &str) -> String {
    format!("`codex app-server` ended at `{method}`")
}

/// Returns the error of an answer that is not what it should be.
pub(super) fn unreadable(method: &str, what: &dyn std::fmt::Display) -> String {
    format!("`codex app-server` answered `{method}` with what hookexec can't read: {what}")
}

impl Drop for Server {
    fn drop(&mut self) {
        // The command may be a script of npm's, which started the real program.
        system::kill_group(&mut self.child);
    }
}
