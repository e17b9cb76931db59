//! What Codex itself says about its hooks: only it knows whether it still means its approval.

use std::path::Path;

use hookexec_agents::Agent;

use super::Section;
use super::installed::install;
use crate::codex::{self, CodexHook, IN_CODEX};
use crate::settings::inspect::AgentFile;

/// Says whether Codex was told that the hooks of `file` may run.
pub(super) fn approval(section: &mut Section, file: &AgentFile, project: &Path) {
    let is_ours =
        |hook: &CodexHook| hook.is_in(&file.path) && hook.command.contains(" run --from codex ");
    let advice = format!("run `{} --approve`, or {IN_CODEX}", install(Agent::Codex, file.scope));
    judge(section, project, is_ours, &advice);
}

/// Says whether Codex was told that the hooks of hookexec's plugin may run.
pub(super) fn approval_of_plugin(section: &mut Section, project: &Path) {
    judge(section, project, CodexHook::is_of_plugin, IN_CODEX);
}

fn judge(
    section: &mut Section,
    project: &Path,
    is_ours: impl Fn(&CodexHook) -> bool,
    advice: &str,
) {
    let mut hooks = match codex::hooks(project) {
        Ok(hooks) => hooks,
        Err(error) => {
            let text = format!("not known whether Codex runs its hooks ({error}): {advice}");
            return section.warning(text);
        }
    };
    hooks.retain(is_ours);
    match codex::judge(&hooks) {
        Ok(()) => section.ok("approved in Codex"),
        Err(problem) => section.problem(format!("{problem}: {advice}")),
    }
}
