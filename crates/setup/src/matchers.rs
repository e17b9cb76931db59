//! Matchers that fit no tool of an agent in which hookexec is installed.

use std::path::Path;

use hookexec::config::{Diagnostic, Hook};
use hookexec_agents::Agent;
use hookexec_builtins::tools::{self, TOOL_KINDS};
use hookexec_files::suggest;

use crate::settings::inspect::{AgentFile, inspect};

/// Returns the agents in which hookexec is installed, for the user or in the project.
pub fn installed(project: &Path) -> impl Iterator<Item = Agent> {
    Agent::all().filter(|agent| inspect(*agent, project).iter().any(AgentFile::is_installed))
}

/// Returns a warning about a hook whose matcher certainly fits no tool of these agents: it names only
/// kinds of tools that they don't have, and tools of other agents. A matcher that names one unknown tool,
/// spelt nearly like a kind, gets a warning, too.
pub fn misfit(hook: &Hook, agents: &[Agent]) -> Option<Diagnostic> {
    let names: Vec<&str> = hook.matcher.names()?.collect();
    if !hook.enabled || !hook.event.contract().tool_matched {
        return None;
    }
    // A hook in the words of an agent is matched by that agent's names of tools under every agent.
    let spoken = hook.dialect.as_deref().map(tools::of_agent);
    if spoken.is_some_and(|tools| names.iter().any(|name| !tools.certainly_lacks(name))) {
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
        return if agents.is_empty() { None } else { misspelt(&names) };
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

/// Returns a warning about a single name that no tool has, and that is nearly the name of a kind.
fn misspelt(names: &[&str]) -> Option<Diagnostic> {
    let [name] = names else { return None };
    let mut kinds = TOOL_KINDS.iter().map(|(kind, _)| *kind);
    if kinds.clone().any(|kind| kind == *name) || tools::is_listed(name) {
        return None;
    }
    let hint = suggest::hint(name, &mut kinds)?;
    let what =
        format!("its matcher `{name}` is not a kind of tools, and no agent is known to have it");
    Some(Diagnostic::warning(what).hint(hint))
}
