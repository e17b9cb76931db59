//! Other ways in which an agent calls hookexec: by its own package, a plugin or an extension that
//! the agent itself installs, and by settings of Claude Code that it loads as well.

use std::collections::BTreeSet;
use std::path::Path;

use hookexec_agents::{Agent, PackageMark};
use serde_json::Value;

use super::{Scope, Settings, store, user_directory, value_of};

/// Returns where the agent says that its own package of hookexec is installed.
pub(crate) fn package(all: &[Settings]) -> Option<String> {
    let first = all.first()?;
    let file = |name: &str| Some(user_directory(first.layout)?.join(name));
    let path = match first.layout.package? {
        PackageMark::Enabled(key) => {
            let mut paths = all.iter().map(|settings| &settings.path);
            paths.find(|path| is_enabled(&value_of(path)[key])).cloned()
        }
        PackageMark::EnabledTable(name) => {
            file(name).filter(|path| is_enabled(&value_of(path)["plugins"]))
        }
        PackageMark::File(name) => file(name).filter(|path| path.is_file()),
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
