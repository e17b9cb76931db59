//! Matchers that fit no tool of an agent in which hookexec is installed.

use std::path::Path;

use hookexec::config::{Diagnostic, Hook};
use hookexec_agents::Agent;
use hookexec_builtins::tools;

use crate::settings::inspect::{AgentFile, inspect};

/// Returns the agents in which hookexec is installed, for the user or in the project.
pub fn installed(project: &Path) -> impl Iterator<Item = Agent> {
    Agent::all().filter(|agent| inspect(*agent, project).iter().any(AgentFile::is_installed))
}

/// Returns a warning about a hook whose matcher certainly fits no tool of these agents: it names only
/// kinds of tools that they don't have, and tools of other agents.
pub fn misfit(hook: &Hook, agents: &[Agent]) -> Option<Diagnostic> {
    let names: Vec<&str> = hook.matcher.names()?.collect();
    if !hook.enabled || !hook.event.contract().tool_matched {
        return None;
    }
    let mut titles = Vec::new();
    for agent in agents {
        let tools = tools::of_agent(agent.name());
        if names.iter().all(|name| tools.certainly_lacks(name)) {
            titles.push(agent.title());
        }
    }
    if titles.is_empty() {
        return None;
    }
    let (matcher, titles) = (hook.matcher.as_str(), titles.join(", "));
    let mut kinds: Vec<String> = Vec::new();
    for kind in names.iter().flat_map(|name| tools::kinds_anywhere(name)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let kinds = if kinds.is_empty() { String::new() } else { format!(": `{}`", kinds.join("|")) };
    let what = format!("its matcher `{matcher}` fits no tool of {titles}: it never runs there");
    let hint = format!("write kinds of tools, which fit under every agent{kinds}");
    Some(Diagnostic::warning(what).hint(hint))
}
