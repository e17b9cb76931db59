//! What Codex itself says about its hooks, and their approval. Codex runs no hook that was not
//! approved there, and only it knows whether an approval still counts.

mod server;

use std::path::Path;

use hookexec::internal::files;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use server::{Server, unreadable};

use crate::runtime::Runtime;
use crate::settings::edit::PlannedEntry;

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

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled != Some(false)
    }

    pub(crate) fn is_approved(&self) -> bool {
        matches!(self.trust_status.as_str(), "trusted" | "managed")
    }

    /// Returns whether it was approved, and has changed since.
    pub(crate) fn is_modified(&self) -> bool {
        self.trust_status == "modified"
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

/// Returns the hooks that Codex sees in the project.
pub(crate) fn hooks(project: &Path) -> Result<Vec<CodexHook>, String> {
    wait_for(async { list(&mut Server::start(project).await?, project).await })
}

fn wait_for<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let done = Runtime::new().and_then(|runtime| runtime.block_on(work));
    done.map_err(|error| error.to_string())?
}

/// What became of an approval: events of the entries.
#[derive(Debug)]
pub(crate) struct Approval {
    /// How many were approved now.
    pub(crate) newly: usize,
    /// Those whose approval Codex stored, and which it still does not run.
    pub(crate) useless: Vec<&'static str>,
    /// Those that are turned off in Codex.
    pub(crate) off: Vec<&'static str>,
    /// Those that Codex does not see.
    pub(crate) unseen: Vec<&'static str>,
}

/// Approves `entries` in the settings file `path`, and no other hook.
///
/// Codex gets back the hash that it reported with the very text of the entry. If the file changes in
/// between, the approval is for a hash that no hook has.
pub(crate) fn approve(
    project: &Path,
    path: &Path,
    entries: &[PlannedEntry],
) -> Result<Approval, String> {
    wait_for(approved(project, path, entries))
}

async fn approved(
    project: &Path,
    path: &Path,
    entries: &[PlannedEntry],
) -> Result<Approval, String> {
    let mut server = Server::start(project).await?;
    let seen = list(&mut server, project).await?;
    let seen: Vec<CodexHook> = seen.into_iter().filter(|hook| hook.is_in(path)).collect();
    let ours = |entry: &PlannedEntry| seen.iter().find(|hook| hook.is(entry));
    let wanting: Map<String, Value> = entries
        .iter()
        .filter_map(ours)
        .filter(|hook| !hook.is_approved())
        .map(|hook| (hook.key.clone(), json!({ "trusted_hash": hook.current_hash })))
        .collect();
    let newly = wanting.len();
    if newly > 0 {
        let edit = json!({ "keyPath": "hooks.state", "mergeStrategy": "upsert", "value": wanting });
        server.ask("config/batchWrite", &json!({ "edits": [edit] })).await?;
    }
    let now = list(&mut server, project).await?;
    let now: Vec<CodexHook> = now.into_iter().filter(|hook| hook.is_in(path)).collect();
    let names = |is_so: &dyn Fn(Option<&CodexHook>) -> bool| -> Vec<&'static str> {
        let found = |entry: &&PlannedEntry| is_so(now.iter().find(|hook| hook.is(entry)));
        entries.iter().filter(found).map(|entry| entry.native.name).collect()
    };
    Ok(Approval {
        newly,
        useless: names(&|hook| hook.is_some_and(|hook| !hook.is_approved())),
        off: names(&|hook| hook.is_some_and(|hook| !hook.is_enabled())),
        unseen: names(&|hook| hook.is_none()),
    })
}

async fn list(server: &mut Server, project: &Path) -> Result<Vec<CodexHook>, String> {
    const METHOD: &str = "hooks/list";
    let answer = server.ask(METHOD, &json!({ "cwds": [project] })).await?;
    let projects = answer["data"].as_array().ok_or_else(|| unreadable(METHOD, &answer))?;
    let hooks = projects.iter().filter_map(|it| it["hooks"].as_array()).flatten();
    let hooks = hooks.map(|hook| serde_json::from_value(hook.clone()));
    hooks.collect::<Result<_, _>>().map_err(|error| unreadable(METHOD, &error))
}

#[cfg(test)]
mod tests {
    use hookexec_agents::Agent;

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
