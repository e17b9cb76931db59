//! Hooks that run twice: they were imported and still stand in the settings they came from, or the
//! agent also loads another's settings, which call hookexec too.

use std::path::Path;

use hookexec::internal::Check;
use hookexec_agents::Agent;

use super::Finding;
use crate::import;
use crate::settings::{Scope, Settings, store};

/// Returns a warning when the settings, which call hookexec, hold commands of hooks that hookexec
/// runs.
pub(super) fn doubled(settings: &Settings, check: &Check) -> Option<Finding> {
    let ours: Vec<_> = check.configured().filter(|hook| hook.enabled).collect();
    let twice = import::commands(settings.agent, &settings.path)
        .into_iter()
        .filter(|command| ours.iter().any(|hook| hook.command.as_ref() == Some(command)))
        .count();
    (twice > 0).then(|| {
        Finding::warning(format!(
            "{}: {twice} of the hooks there stand in the hooks files, too, and run twice; take them \
             out of the settings",
            settings.path.display()
        ))
    })
}

/// Returns a warning for each settings file of Claude Code that calls hookexec and that this agent
/// loads besides its own.
pub(super) fn by_claude_code(settings: &Settings, project: &Path) -> Vec<Finding> {
    let Some(loaded) = settings.layout.claude_code_hooks else { return Vec::new() };
    let scopes = [(Scope::User, loaded.of_user), (Scope::Project, true)];
    let scopes = scopes.into_iter().filter(|(_, loads)| *loads).map(|(scope, _)| scope);
    let all = scopes.filter_map(|scope| Settings::of(Agent::ClaudeCode, scope, project));
    let calls = |claude: &Settings| {
        let text = store::read(&claude.path).ok().flatten().unwrap_or_default();
        claude.live(&text).is_ok_and(|live| !live.is_empty())
    };
    let title = settings.agent.title();
    let warning = |claude: Settings| {
        Finding::warning(format!(
            "{title} also loads {}, which calls hookexec: every hook runs twice in {title}; {}",
            claude.path.display(),
            loaded.remedy
        ))
    };
    all.filter(calls).map(warning).collect()
}
