//! The plugin of an agent without hook settings: one file, which is hookexec's as a whole.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use hookexec_agents::Agent;
use serde_json::Value;

use super::Scope;

/// The place of one agent's plugin in one scope.
#[derive(Debug)]
pub(crate) struct PluginFile {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
}

const OPENCODE: &str = include_str!("../../plugins/opencode/hookexec.js");

/// What the plugin calls, and how many seconds it waits, if no variable says so.
const PROGRAM: &str = r#"process.env.HOOKEXEC ?? "hookexec""#;
const SECONDS: &str = "process.env.HOOKEXEC_SECONDS ?? 60";

impl PluginFile {
    /// Returns the place, or `None` for an agent whose plugin is more than one file.
    pub(crate) fn of(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        if agent != Agent::OpenCode {
            return None;
        }
        let directory = match scope {
            Scope::Project => project.join(".opencode"),
            Scope::User => etcetera::base_strategy::Xdg::new().ok()?.config_dir().join("opencode"),
        };
        Some(Self { agent, path: directory.join("plugin/hookexec.js") })
    }

    /// Returns whether the agent seems to be used here.
    pub(crate) fn is_found(&self) -> bool {
        self.path.ancestors().nth(2).is_some_and(Path::is_dir)
    }

    /// Returns the plugin that calls `program` and waits `within` seconds.
    pub(crate) fn text(program: &str, within: u64) -> String {
        let program = format!("process.env.HOOKEXEC ?? {}", Value::from(program));
        let seconds = format!("process.env.HOOKEXEC_SECONDS ?? {within}");
        OPENCODE.replace(PROGRAM, &program).replace(SECONDS, &seconds)
    }

    /// Returns whether a file holds the plugin, of whatever version.
    pub(crate) fn is_plugin(text: &str) -> bool {
        text.starts_with("// hookexec ") && text.contains("\"--from\", \"opencode\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_calls_the_program_that_installed_it() {
        assert!(OPENCODE.contains(PROGRAM) && OPENCODE.contains(SECONDS));
        let text = PluginFile::text("/a \"b\"/hookexec", 54);
        assert!(text.contains(r#"process.env.HOOKEXEC ?? "/a \"b\"/hookexec""#), "{text}");
        assert!(text.contains("HOOKEXEC_SECONDS ?? 54"), "{text}");
        assert!(PluginFile::is_plugin(&text) && !PluginFile::is_plugin("// mine"));
    }
}
