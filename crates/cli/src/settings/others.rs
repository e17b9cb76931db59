//! Other ways in which an agent calls hookexec: by its own package, a plugin or an extension that
//! the agent itself installs, and by settings of Claude Code that it loads as well.

use std::path::Path;

use hookexec_agents::{Agent, PackageMark};
use serde_json::Value;

use super::inspect::{AgentFile, inspect};
use super::{Scope, user_directory, value_of};

/// Returns where the agent says that its own package of hookexec is installed.
pub(crate) fn package(files: &[AgentFile]) -> Option<String> {
    let layout = files.first()?.agent.settings()?;
    let beside = |name: &str| Some(user_directory(layout)?.join(name));
    let path = match layout.package? {
        PackageMark::Enabled(key) => {
            let mut enabling = files.iter().filter(|file| is_enabled(&file.value()[key]));
            Some(enabling.next()?.path.clone())
        }
        PackageMark::EnabledTable(name) => {
            beside(name).filter(|path| is_enabled(&value_of(path)["plugins"]))
        }
        PackageMark::File(name) => beside(name).filter(|path| path.is_file()),
        _ => None,
    };
    path.map(|path| path.display().to_string())
}

/// Returns whether a plugin `hookexec` of any marketplace is enabled.
fn is_enabled(plugins: &Value) -> bool {
    plugins.as_object().into_iter().flatten().any(|(name, plugin)| {
        name.starts_with("hookexec@") && (*plugin == true || plugin["enabled"] == true)
    })
}

/// Says which settings of Claude Code call hookexec and are loaded by `agent`, whose own settings
/// call hookexec as well.
pub(crate) fn in_agent(agent: Agent, project: &Path) -> Vec<String> {
    let layout = agent.settings();
    let Some(loaded) = layout.and_then(|layout| layout.claude_code_hooks.as_ref()) else {
        return Vec::new();
    };
    let mut said = Vec::new();
    for claude in inspect(Agent::ClaudeCode, project) {
        let is_loaded = loaded.of_user || claude.scope == Scope::Project;
        if is_loaded && claude.ignored.is_none() && !claude.ours().is_empty() {
            let (title, path) = (agent.title(), claude.path.display());
            said.push(format!(
                "{title} also loads {path}, which calls hookexec: every hook runs twice in {title}; {}",
                loaded.remedy
            ));
        }
    }
    said
}
