//! What Codex itself says about its hooks: only it knows whether it still means its approval.

use std::path::Path;

use hookexec_agents::Agent;

use super::Finding;
use super::installed::install;
use crate::codex::{self, CodexHook, IN_CODEX};
use crate::settings::inspect::AgentFile;

/// Says whether Codex was told that the hooks of `file` may run.
pub(super) fn approval(file: &AgentFile, project: &Path) -> Finding {
    let is_ours =
        |hook: &CodexHook| hook.is_in(&file.path) && hook.command.contains(" run --from codex ");
    let advice = format!("run `{} --approve`, or {IN_CODEX}", install(Agent::Codex, file.scope));
    judged(project, is_ours, &advice)
}

/// Says whether Codex was told that the hooks of hookexec's plugin may run.
pub(super) fn approval_of_plugin(project: &Path) -> Finding {
    judged(project, CodexHook::is_of_plugin, IN_CODEX)
}

fn judged(project: &Path, is_ours: impl Fn(&CodexHook) -> bool, advice: &str) -> Finding {
    let mut hooks = match codex::hooks(project) {
        Ok(hooks) => hooks,
        Err(error) => {
            let text = format!("not known whether Codex runs its hooks ({error}): {advice}");
            return Finding::warning(text);
        }
    };
    hooks.retain(is_ours);
    match codex::judge(&hooks) {
        Ok(()) => Finding::fine("approved in Codex"),
        Err(problem) => Finding::problem(format!("{problem}: {advice}")),
    }
}
