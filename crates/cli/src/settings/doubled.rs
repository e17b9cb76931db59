//! Settings of two agents that both call hookexec for one tool call: some agents also load those of
//! Claude Code.

use std::collections::BTreeSet;
use std::path::Path;

use hookexec_agents::Agent;

use super::{Scope, Settings, store};

/// Says where every hook runs twice because of settings of `agent`, which may be those that another
/// agent loads.
pub(crate) fn around(agent: Agent, project: &Path) -> BTreeSet<String> {
    let readers = Agent::with_settings().filter(|it| *it == agent || agent == Agent::ClaudeCode);
    let own = readers.flat_map(|reader| of_scopes(reader, &[Scope::User, Scope::Project], project));
    own.filter(call_hookexec).flat_map(|own| in_agent(&own, project)).collect()
}

/// Says which settings of Claude Code call hookexec and are loaded by the agent of `own`, whose own
/// settings call hookexec as well.
pub(crate) fn in_agent(own: &Settings, project: &Path) -> Vec<String> {
    let Some(loaded) = own.layout.claude_code_hooks else { return Vec::new() };
    let scopes: &[Scope] =
        if loaded.of_user { &[Scope::User, Scope::Project] } else { &[Scope::Project] };
    let title = own.agent.title();
    let text = |claude: Settings| {
        format!(
            "{title} also loads {}, which calls hookexec: every hook runs twice in {title}; {}",
            claude.path.display(),
            loaded.remedy
        )
    };
    of_scopes(Agent::ClaudeCode, scopes, project).filter(call_hookexec).map(text).collect()
}

fn of_scopes(
    agent: Agent,
    scopes: &[Scope],
    project: &Path,
) -> impl Iterator<Item = Settings> + use<> {
    let all: Vec<_> = scopes.iter().filter_map(|it| Settings::of(agent, *it, project)).collect();
    all.into_iter()
}

fn call_hookexec(settings: &Settings) -> bool {
    let text = store::text(&settings.path);
    settings.live(&text).is_ok_and(|live| !live.is_empty())
}
