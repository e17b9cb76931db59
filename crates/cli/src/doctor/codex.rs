//! What Codex itself says about its hooks: only it knows whether it still means its approval.

use std::path::Path;

use hookexec_agents::Agent;

use super::Finding;
use super::installed::install;
use crate::codex::{self, CodexHook};
use crate::settings::inspect::AgentFile;
use crate::settings::user_directory;

/// Says whether Codex was told that the hooks of `file` may run.
pub(super) fn approval(file: &AgentFile, project: &Path) -> Finding {
    let advice = format!("run `{} --approve`, or {IN_CODEX}", install(Agent::Codex, file.scope));
    let hooks = match codex::hooks(project) {
        Ok(hooks) => hooks,
        Err(error) => return guess(file, &advice, &error),
    };
    let is_ours =
        |hook: &CodexHook| hook.is_in(&file.path) && hook.command.contains(" run --from codex ");
    judge(&hooks.into_iter().filter(is_ours).collect::<Vec<_>>(), &advice)
}

/// Says whether Codex was told that the hooks of hookexec's plugin may run.
pub(super) fn approval_of_plugin(project: &Path) -> Finding {
    match codex::hooks(project) {
        Ok(hooks) => {
            let hooks: Vec<_> = hooks.into_iter().filter(CodexHook::is_of_plugin).collect();
            judge(&hooks, IN_CODEX)
        }
        Err(error) => Finding::warning(format!("not known whether Codex runs its hooks: {error}")),
    }
}

const IN_CODEX: &str = "open `/hooks` in `codex`";

fn judge(hooks: &[CodexHook], advice: &str) -> Finding {
    let any = |wanted: &dyn Fn(&CodexHook) -> bool| hooks.iter().any(wanted);
    if hooks.is_empty() {
        Finding::problem(
            "Codex does not see these hooks: are hooks, or this project, turned off there?",
        )
    } else if any(&|hook| !hook.is_approved() && !hook.is_modified()) {
        unapproved("not approved in Codex", advice)
    } else if any(&CodexHook::is_modified) {
        unapproved("changed since it was approved in Codex", advice)
    } else if any(&|hook| !hook.is_enabled()) {
        Finding::problem(format!("disabled in Codex: {IN_CODEX}"))
    } else {
        Finding::fine("approved in Codex")
    }
}

fn unapproved(what: &str, advice: &str) -> Finding {
    Finding::problem(format!("{what}, which skips it without a word: {advice}"))
}

/// Says what Codex's own notes tell, where Codex can't be asked.
fn guess(file: &AgentFile, advice: &str, error: &str) -> Finding {
    let directory = file.agent.settings().and_then(user_directory);
    let config = directory.map(|directory| directory.join("config.toml"));
    let config = config.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let path = std::path::absolute(&file.path).unwrap_or_default();
    let key = format!("\"{}:pre_tool_use:", path.display());
    if config.contains(&key) {
        Finding::fine(format!(
            "approved in Codex once; it can't be asked whether it still is: {error}"
        ))
    } else {
        unapproved("not approved in Codex", advice)
    }
}
