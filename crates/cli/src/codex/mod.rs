//! What Codex itself says about its hooks, and their approval. Codex runs no hook that was not
//! approved there, and only it knows whether an approval still counts.

mod server;

use std::path::Path;

use hookexec::internal::files;
use serde::Deserialize;
use serde_json::{Map, json};

use server::{Server, unreadable};

use crate::runtime::Runtime;
use crate::settings::edit::PlannedEntry;

/// What the user can do in Codex.
pub(crate) const IN_CODEX: &str = "open `/hooks` in `codex`";

/// One hook as Codex sees it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CodexHook {
    key: String,
    event_name: String,
    handler_type: String,
    pub(crate) command: String,
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
    /// Returns whether the hook is in the settings file `path`.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        files::real(Path::new(&self.source_path)) == files::real(path)
    }

    /// Returns whether the hook is of hookexec's own plugin.
    pub(crate) fn is_of_plugin(&self) -> bool {
        self.plugin_id.as_ref().is_some_and(|id| id.starts_with("hookexec@"))
    }

    fn is_approved(&self) -> bool {
        matches!(self.trust_status.as_str(), "trusted" | "managed")
    }

    /// Returns whether it is `entry` as `install` writes it, with nothing added.
    fn is(&self, entry: &PlannedEntry) -> bool {
        self.event_name.eq_ignore_ascii_case(entry.native.name)
            && self.command == entry.command
            && self.timeout_sec == entry.timeout
            && self.handler_type == "command"
            && self.matcher.is_none()
            && !self.r#async
    }
}

/// Judges whether Codex runs these hooks, and returns why it does not.
pub(crate) fn judge(hooks: &[CodexHook]) -> Result<(), &'static str> {
    let is_changed = |hook: &CodexHook| hook.trust_status == "modified";
    if hooks.is_empty() {
        Err("Codex does not see these hooks: are hooks, or this project, turned off there?")
    } else if hooks.iter().any(|hook| !hook.is_approved() && !is_changed(hook)) {
        Err("not approved in Codex, which skips it without a word")
    } else if hooks.iter().any(is_changed) {
        Err("changed since it was approved in Codex, which skips it without a word")
    } else if hooks.iter().any(|hook| hook.enabled == Some(false)) {
        Err("disabled in Codex")
    } else {
        Ok(())
    }
}

/// Returns the hooks that Codex sees in the project.
pub(crate) fn hooks(project: &Path) -> Result<Vec<CodexHook>, String> {
    wait_for(async { list(&mut Server::start(project).await?, project).await })
}

fn wait_for<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let done = Runtime::new().and_then(|runtime| runtime.block_on(work));
    done.map_err(|error| error.to_string())?
}

/// Approves `entries` in the settings file `path`, and no other hook. Returns how many were not approved
/// before.
///
/// Codex gets back the hash that it reported with the very text of the entry. If the file changes in
/// between, the approval is for a hash that no hook has.
///
/// # Errors
/// Codex can't be asked, or does not run the entries afterwards.
pub(crate) fn approve(
    project: &Path,
    path: &Path,
    entries: &[PlannedEntry],
) -> Result<usize, String> {
    wait_for(async {
        let mut server = Server::start(project).await?;
        let seen = seen(&mut server, project, path, entries).await?;
        let mut wanting = Map::new();
        for hook in seen.into_iter().filter(|hook| !hook.is_approved()) {
            wanting.insert(hook.key, json!({ "trusted_hash": hook.current_hash }));
        }
        let newly = wanting.len();
        if newly > 0 {
            let edit =
                json!({ "keyPath": "hooks.state", "mergeStrategy": "upsert", "value": wanting });
            server.ask("config/batchWrite", &json!({ "edits": [edit] })).await?;
        }
        judge(&self::seen(&mut server, project, path, entries).await?)?;
        Ok(newly)
    })
}

/// Returns the hooks in `path` that are `entries`.
async fn seen(
    server: &mut Server,
    project: &Path,
    path: &Path,
    entries: &[PlannedEntry],
) -> Result<Vec<CodexHook>, String> {
    let mut hooks = list(server, project).await?;
    hooks.retain(|hook| hook.is_in(path) && entries.iter().any(|entry| hook.is(entry)));
    Ok(hooks)
}

async fn list(server: &mut Server, project: &Path) -> Result<Vec<CodexHook>, String> {
    const METHOD: &str = "hooks/list";
    let answer = server.ask(METHOD, &json!({ "cwds": [project] })).await?;
    let mut hooks = Vec::new();
    for project in answer["data"].as_array().ok_or_else(|| unreadable(METHOD, &answer))? {
        for hook in project["hooks"].as_array().into_iter().flatten() {
            hooks.push(CodexHook::deserialize(hook).map_err(|error| unreadable(METHOD, &error))?);
        }
    }
    Ok(hooks)
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
        assert!(read(&hook).is(&entry));
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
            assert!(!read(&hook).is(&entry), "{hook}");
        }
    }
}
