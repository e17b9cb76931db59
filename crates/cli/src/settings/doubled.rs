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
    let own = readers.flat_map(|reader| Settings::in_scopes(reader, project));
    own.filter(call_hookexec).flat_map(|own| in_agent(&own, project)).collect()
}

/// Says which settings of Claude Code call hookexec and are loaded by the agent of `own`, whose own
/// settings call hookexec as well.
pub(crate) fn in_agent(own: &Settings, project: &Path) -> Vec<String> {
    let Some(loaded) = own.layout.claude_code_hooks else { return Vec::new() };
    let title = own.agent.title();
    let text = |claude: &Settings| {
        format!(
            "{title} also loads {}, which calls hookexec: every hook runs twice in {title}; {}",
            claude.path.display(),
            loaded.remedy
        )
    };
    let claudes = Settings::in_scopes(Agent::ClaudeCode, project);
    let is_loaded = |claude: &&Settings| loaded.of_user || claude.scope == Scope::Project;
    claudes.iter().filter(is_loaded).filter(|claude| call_hookexec(claude)).map(text).collect()
}

fn call_hookexec(settings: &Settings) -> bool {
    let text = store::text(&settings.path);
    settings.live(&text).is_ok_and(|live| !live.is_empty())
}
