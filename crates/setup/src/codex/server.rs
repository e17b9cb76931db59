//! `codex app-server`: Codex's own server, which speaks JSON lines on its pipes.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hookexec::wire::parse_strict;
use hookexec_files::group::Group;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, timeout_at};

/// Why Codex could not be asked, or does not run the hooks.
#[derive(Debug, thiserror::Error)]
pub enum CodexError {
    /// It is not installed.
    #[error("`codex` is not on the PATH")]
    NotFound,
    /// It does not start.
    #[error("can't start `codex app-server`: {0}")]
    Start(String),
    /// It ended before it answered.
    #[error("`codex app-server` ended at `{0}`")]
    Ended(&'static str),
    /// It took too long.
    #[error("`codex app-server` did not answer `{0}` within 20 s")]
    Late(&'static str),
    /// It answered with an error.
    #[error("`codex app-server` refused `{0}`: {1}")]
    Refused(&'static str, String),
    /// Its answer can't be read.
    #[error("`codex app-server` answered `{0}` with what hookexec can't read: {1}")]
    Unreadable(&'static str, String),
    /// It does not run the hooks.
    #[error("{0}")]
    Skipped(&'static str),
}

/// Asks Codex in the project, and returns the result.
pub(super) fn ask(
    project: &Path,
    method: &'static str,
    params: &Value,
) -> Result<Value, CodexError> {
    let client = json!({ "name": "hookexec", "version": env!("CARGO_PKG_VERSION") });
    let initialize = json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } });
    let requests = [
        ("initialize", json!({ "id": 1, "method": "initialize", "params": initialize })),
        ("initialize", json!({ "method": "initialized" })),
        (method, json!({ "id": 2, "method": method, "params": params })),
    ];
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(answered(project, &requests)),
        Err(error) => Err(CodexError::Start(error.to_string())),
    }
}

/// Starts the server, sends the requests one after the other, and returns the result of the last.
async fn answered(project: &Path, requests: &[(&'static str, Value)]) -> Result<Value, CodexError> {
    // It takes half a second.
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut command = Command::new("codex");
    command.arg("app-server").current_dir(project).stderr(Stdio::null());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // The command may be a script of npm's, which started the real program: the group ends both.
    let mut group = match Group::spawn(&mut command) {
        Ok(group) => group,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(CodexError::NotFound),
        Err(error) => return Err(CodexError::Start(error.to_string())),
    };
    let (Some(mut stdin), Some(stdout), _) = group.take_pipes() else {
        return Err(CodexError::Ended("start"));
    };
    let mut lines = BufReader::new(stdout).lines();
    let mut result = Value::Null;
    for (method, request) in requests {
        if stdin.write_all(format!("{request}\n").as_bytes()).await.is_err() {
            return Err(CodexError::Ended(method));
        }
        while let Some(id) = request.get("id") {
            let line = match timeout_at(deadline, lines.next_line()).await {
                Ok(Ok(Some(line))) => line,
                Ok(_) => return Err(CodexError::Ended(method)),
                Err(_) => return Err(CodexError::Late(method)),
            };
            let mut answer = parse_strict(&line).unwrap_or_default();
            if answer["id"] != *id || answer.get("method").is_some() {
                // It is a notification.
                continue;
            }
            if let Some(error) = answer.get("error") {
                let problem = error["message"].as_str().map_or(error.to_string(), str::to_owned);
                return Err(CodexError::Refused(method, problem));
            }
            result = answer["result"].take();
            break;
        }
    }
    Ok(result)
}
