//! The plugin of an agent without hook settings: one file, which is hookexec's as a whole.

use std::path::{Path, PathBuf};

use hookexec::internal::base_directory;
use hookexec_agents::Agent;
use serde_json::Value;

use super::Scope;

/// The place of one agent's plugin in one scope.
#[derive(Debug)]
pub(crate) struct PluginFile {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    /// The text as it stands in the repository.
    text: &'static str,
}

/// What the plugin calls, how many seconds it waits, if no variable says so, and for which agent: an
/// agent may share the plugin of another one.
const PROGRAM: &str = r#"process.env.HOOKEXEC ?? "hookexec""#;
const SECONDS: &str = "process.env.HOOKEXEC_SECONDS ?? 60";
const FROM: &str = r#""--from", "opencode""#;

impl PluginFile {
    /// Returns the place, or `None` for an agent whose plugin is more than one file.
    pub(crate) fn of(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let file = agent.plugin()?.file?;
        let directory = match scope {
            Scope::Project => project.join(file.project),
            Scope::User if file.is_in_config => {
                base_directory("XDG_CONFIG_HOME", ".config")?.join(file.directory)
            }
            Scope::User => hookexec::home_directory()?.join(file.directory),
        };
        Some(Self { agent, path: directory.join(file.file), text: file.text })
    }

    /// Returns the plugin that calls `program` and waits `within` seconds.
    pub(crate) fn text(&self, program: &str, within: u64) -> String {
        let program = format!("process.env.HOOKEXEC ?? {}", Value::from(program));
        let seconds = format!("process.env.HOOKEXEC_SECONDS ?? {within}");
        let text = self.text.replace(PROGRAM, &program).replace(SECONDS, &seconds);
        text.replace(FROM, &from(self.agent))
    }

    /// Returns whether a file holds the plugin, of whatever version.
    pub(crate) fn is_plugin(&self, text: &str) -> bool {
        text.starts_with("// hookexec ") && text.contains(&from(self.agent))
    }
}

fn from(agent: Agent) -> String {
    format!("\"--from\", \"{agent}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_calls_the_program_that_installed_it() {
        let files = Agent::all().filter_map(|it| PluginFile::of(it, Scope::User, Path::new("/p")));
        for file in files {
            let text = file.text("/a \"b\"/hookexec", 54);
            assert!(text.contains(r#"process.env.HOOKEXEC ?? "/a \"b\"/hookexec""#), "{text}");
            assert!(text.contains("HOOKEXEC_SECONDS ?? 54"), "{text}");
            assert!(file.is_plugin(&text) && !file.is_plugin("// mine"));
        }
    }
}
