//! Hooks that an agent in which hookexec is installed never runs, or whose answer it drops.

use std::path::Path;

use hookexec::Event;
use hookexec::config::{Command, Diagnostic, Hook};
use hookexec_agents::{Agent, Response};
use hookexec_calls::tools::{self, TOOL_KINDS};
use hookexec_files::suggest;
use hookexec_rules::{ListedTools, listed_tools};

use crate::settings::inspect::{AgentFile, inspect};

/// Returns the agents in which hookexec is installed, for the user or in the project.
pub fn installed(project: &Path) -> impl Iterator<Item = Agent> {
    Agent::all().filter(|agent| inspect(*agent, project).iter().any(AgentFile::is_installed))
}

/// Returns warnings about a hook: its matcher fits no tool of these agents, or they drop what it redacts.
/// Warnings about the matcher have its place.
pub fn warnings(hook: &Hook, agents: &[Agent]) -> Vec<Diagnostic> {
    let ListedTools { needed, others } = listed_tools(hook);
    let mut found = Vec::from_iter(misfit(hook, agents));
    for name in hook.matcher.as_str().split('|') {
        found.extend(server_alone(name, "its matcher", ["__.*", "__*"]));
    }
    for warning in &mut found {
        warning.location = hook.key_locations.get("matcher").cloned();
    }
    let has_pattern = needed.iter().any(|name| name.contains(['*', '@']));
    if hook.enabled && !needed.is_empty() && !has_pattern {
        found.extend(unfit("list of tools", &needed, agents));
    }
    for name in [&needed, &others].into_iter().flatten() {
        if !name.contains(['*', '@']) {
            found.extend(misspelt(name, "its tool"));
        }
        found.extend(server_alone(name, "its tool", ["__*", "__.*"]));
    }
    for agent in agents {
        if hook.counts_turns() && !agent.tells_turns() {
            let what = format!("{} sends no `turn_id`: the hook fails there", agent.title());
            found.push(Diagnostic::warning(what).hint("count in the session: `per: session`"));
        }
    }
    if hook.enabled && redacts(hook) {
        for agent in agents {
            found.extend(lost_redactions(hook, *agent));
        }
    }
    found
}

/// Returns whether a hook is there to change responses of tools.
fn redacts(hook: &Hook) -> bool {
    let is_builtin = hook.kind == "builtin"
        && matches!(&hook.command, Some(Command::Text(name)) if name == "redact_secrets");
    hook.event == Event::ToolResponseTransform || hook.event == Event::PostToolUse && is_builtin
}

/// Returns a warning if the agent gives the model some responses as they are.
fn lost_redactions(hook: &Hook, agent: Agent) -> Option<Diagnostic> {
    let (mut takes, mut lost) = (None, None);
    for native in agent.firing(hook.event) {
        match native.response {
            Response::No => lost = Some(native),
            _ => takes = Some(native.response),
        }
    }
    let which = match (takes, lost) {
        (None, _) => "no response".to_owned(),
        (Some(Response::TakesOfMcp), _) => "the responses of MCP tools alone".to_owned(),
        (Some(_), Some(native)) => format!("no response of a failed tool (`{}`)", native.name),
        (Some(_), None) => return None,
    };
    let title = agent.title();
    let what = format!("{title} replaces {which}: its redactions are lost there");
    Some(Diagnostic::warning(what).hint("deny the calls that read secrets, at `pre_tool_use`"))
}

/// Returns a warning about a hook whose matcher certainly fits no tool of these agents. A matcher that names
/// one unknown tool, spelt nearly like a kind, gets a warning, too.
fn misfit(hook: &Hook, agents: &[Agent]) -> Option<Diagnostic> {
    let names: Vec<&str> = hook.matcher.names()?.collect();
    if !hook.enabled || !hook.event.contract().tool_matched {
        return None;
    }
    // A hook in the words of an agent is matched by that agent's names of tools under every agent.
    if let Some(dialect) = &hook.dialect {
        let tools = tools::of_agent(dialect);
        if names.iter().any(|name| !tools.certainly_lacks(name)) {
            return None;
        }
    }
    match (unfit("matcher", &names, agents), &names[..]) {
        (None, [name]) if !agents.is_empty() => misspelt(name, "its matcher"),
        (found, _) => found,
    }
}

/// Returns a warning if some of the agents certainly have none of the tools that a hook names in its `key`:
/// these are kinds of tools that they don't have, and tools of other agents.
fn unfit(key: &str, names: &[impl AsRef<str>], agents: &[Agent]) -> Option<Diagnostic> {
    let mut titles = Vec::new();
    for agent in agents {
        let tools = tools::of_agent(agent.name());
        if names.iter().all(|name| tools.certainly_lacks(name.as_ref())) {
            titles.push(agent.title());
        }
    }
    if titles.is_empty() {
        return None;
    }
    let (mut written, mut kinds) = (Vec::new(), Vec::new());
    for name in names {
        written.push(name.as_ref());
        for kind in tools::kinds_anywhere(name.as_ref()) {
            if tools::is_kind(&kind) && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let (written, titles) = (written.join("|"), titles.join(", "));
    let kinds = if kinds.is_empty() { String::new() } else { format!(": `{}`", kinds.join("|")) };
    let what = format!("its {key} `{written}` fits no tool of {titles}: it never runs there");
    let hint = format!("write kinds of tools, which fit under every agent{kinds}");
    Some(Diagnostic::warning(what).hint(hint))
}

/// Returns a warning about a name that no tool has, and that is nearly the name of a kind or of a tool of
/// Claude Code, whose names most hooks files use.
fn misspelt(name: &str, what: &str) -> Option<Diagnostic> {
    let mut known = Vec::from(TOOL_KINDS.map(|(kind, _)| kind));
    known.extend(tools::of_agent("claude-code").named().map(|(name, _)| name));
    if known.iter().any(|known| known.eq_ignore_ascii_case(name)) || tools::is_listed(name) {
        return None;
    }
    let hint = suggest::hint(name, known)?;
    let message =
        format!("{what} `{name}` is not a kind of tools, and no agent is known to have it");
    Some(Diagnostic::warning(message).hint(hint))
}

/// Returns a warning about the name of an MCP server, without a tool or with what means all of its tools
/// under the other key. `all` is what means them under this key.
fn server_alone(name: &str, what: &str, [all, other]: [&str; 2]) -> Option<Diagnostic> {
    let server = name.strip_suffix(other).unwrap_or(name);
    let has_pattern =
        server.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter));
    if server.strip_prefix("mcp__")?.contains("__") || has_pattern {
        return None;
    }
    let message = format!("{what} `{name}` fits no tool of the server");
    Some(Diagnostic::warning(message).hint(format!("write `{server}{all}` for all of its tools")))
}
