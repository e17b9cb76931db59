//! Codex's own view of its hooks, and their approval. Codex runs no hook that was not approved there,
//! and only it knows whether an approval still counts.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hookexec::wire::parse_strict;

use hookexec_files::files;
use hookexec_files::group::Group;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, timeout_at};

use crate::settings::edit::PlannedEntry;
use crate::settings::inspect::AgentFile;

/// The way to approve hooks in Codex itself.
pub const IN_CODEX: &str = "open `/hooks` in `codex`";

/// One hook as Codex sees it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CodexHook {
    key: String,
    event_name: String,
    handler_type: String,
    command: String,
    matcher: Option<String>,
    timeout_sec: u64,
    r#async: bool,
    source_path: String,
    plugin_id: Option<String>,
    current_hash: String,
    trust_status: String,
    enabled: Option<bool>,
}

impl CodexHook {
    fn is_in(&self, path: &Path) -> bool {
        files::real(Path::new(&self.source_path)) == files::real(path)
    }

    fn is_approved(&self) -> bool {
        matches!(self.trust_status.as_str(), "trusted" | "managed")
    }

    /// Returns whether it calls hookexec because of `file`.
    fn is_of(&self, file: &AgentFile) -> bool {
        if file.is_package {
            return self.plugin_id.as_ref().is_some_and(|id| id.starts_with("hookexec@"));
        }
        self.is_in(&file.path) && self.command.contains(" run --from codex ")
    }

    /// Returns whether it is one of `entries` in the file `path`, with nothing added.
    fn is_one_of(&self, path: &Path, entries: &[PlannedEntry]) -> bool {
        let is_plain = self.handler_type == "command" && self.matcher.is_none() && !self.r#async;
        let is_planned = entries.iter().any(|entry| {
            self.event_name.eq_ignore_ascii_case(entry.native.name)
                && self.command == entry.command
                && self.timeout_sec == entry.timeout
        });
        is_plain && is_planned && self.is_in(path)
    }
}

/// A project in the answer to `hooks/list`.
#[derive(Deserialize)]
struct Project {
    hooks: Vec<CodexHook>,
}

/// Returns why Codex does not run the hooks of a file; `None` if it does.
pub fn problem_of(file: &AgentFile, project: &Path) -> Result<Option<&'static str>, CodexError> {
    let mut hooks = list(project)?;
    hooks.retain(|hook| hook.is_of(file));
    Ok(problem(&hooks))
}

fn problem(hooks: &[CodexHook]) -> Option<&'static str> {
    if hooks.is_empty() {
        return Some(
            "Codex does not see these hooks: are hooks, or this project, turned off there?",
        );
    }
    for hook in hooks {
        if hook.trust_status == "modified" {
            return Some("changed since it was approved in Codex, which skips it without a word");
        } else if !hook.is_approved() {
            return Some("not approved in Codex, which skips it without a word");
        } else if hook.enabled == Some(false) {
            return Some("disabled in Codex");
        }
    }
    None
}

/// Approves `entries` in the settings file `path`, and no other hook. Returns how many were not approved
/// before.
///
/// Codex gets back the hash that it reported with the very text of the entry. If the file changes in
/// between, the approval is for a hash that no hook has.
///
/// # Errors
/// Codex can't be asked, or does not run the entries afterwards.
pub fn approve(project: &Path, path: &Path, entries: &[PlannedEntry]) -> Result<usize, CodexError> {
    let mut states = Map::new();
    for hook in list(project)? {
        if hook.is_one_of(path, entries) && !hook.is_approved() {
            states.insert(hook.key, json!({ "trusted_hash": hook.current_hash }));
        }
    }
    let newly = states.len();
    if newly > 0 {
        let edit = json!({ "keyPath": "hooks.state", "mergeStrategy": "upsert", "value": states });
        ask(project, "config/batchWrite", &json!({ "edits": [edit] }))?;
    }
    let mut hooks = list(project)?;
    hooks.retain(|hook| hook.is_one_of(path, entries));
    match problem(&hooks) {
        Some(problem) => Err(CodexError::Skipped(problem)),
        None => Ok(newly),
    }
}

/// Returns the hooks that Codex sees in the project.
fn list(project: &Path) -> Result<Vec<CodexHook>, CodexError> {
    const METHOD: &str = "hooks/list";
    let answer = ask(project, METHOD, &json!({ "cwds": [project] }))?;
    match Vec::<Project>::deserialize(&answer["data"]) {
        Ok(projects) => Ok(projects.into_iter().flat_map(|project| project.hooks).collect()),
        Err(error) => Err(CodexError::Unreadable(METHOD, error.to_string())),
    }
}

/// Why Codex could not be asked, or does not run the hooks.
#[derive(Debug, thiserror::Error)]
pub enum CodexError {
    /// It is not installed.
    #[error("`codex` is not on the PATH")]
    NotFound,
    /// It does not start.
    #[error("can't start `codex app-server`: {0}")]
    Start(#[from] io::Error),
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
fn ask(project: &Path, method: &'static str, params: &Value) -> Result<Value, CodexError> {
    let client = json!({ "name": "hookexec", "version": env!("CARGO_PKG_VERSION") });
    let initialize = json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } });
    let requests = [
        ("initialize", json!({ "id": 1, "method": "initialize", "params": initialize })),
        ("initialize", json!({ "method": "initialized" })),
        (method, json!({ "id": 2, "method": method, "params": params })),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(answered(project, &requests))
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
        Err(error) => return Err(error.into()),
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

#[cfg(test)]
mod tests {
    use hookexec_agents::Agent;
    use serde_json::Value;

    use super::*;

    #[test]
    fn only_an_entry_as_it_was_written_is_ours() {
        let native = Agent::Codex.native_event("PreToolUse").unwrap();
        let entry = PlannedEntry { native, command: "x run".into(), timeout: 60 };
        let hook = json!({
            "key": "k", "eventName": "preToolUse", "handlerType": "command", "command": "x run",
            "async": false, "matcher": null, "timeoutSec": 60, "sourcePath": "/h", "new": [1],
        });
        let read = |hook: &Value| serde_json::from_value::<CodexHook>(hook.clone()).unwrap();
        assert!(read(&hook).is_one_of(Path::new("/h"), std::slice::from_ref(&entry)));
        for (key, other) in [
            ("eventName", json!("postToolUse")),
            ("handlerType", json!("mcp_tool")),
            ("command", json!("x run || true")),
            ("matcher", json!("Bash")),
            ("async", json!(true)),
            ("timeoutSec", json!(1)),
        ] {
            let mut hook = hook.clone();
            hook[key] = other;
            assert!(
                !read(&hook).is_one_of(Path::new("/h"), std::slice::from_ref(&entry)),
                "{hook}"
            );
        }
    }
}
