//! Hooks written for another engine, as a hooks.yaml.

mod block;
mod docker_agent;
mod settings;
mod yaml;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use hookexec::config::{Diagnostics, read_text};
use hookexec_agents::Agent;
use hookexec_files::node::Node;
use hookexec_files::plain;
use hookexec_files::reader::Reader;

use crate::settings::SettingsError;
use crate::settings::inspect::AgentFile;
use crate::settings::text::plain_json;
use block::Import;
pub use block::Imported;
use settings::format;
use yaml::inline;

/// A file of another engine.
#[derive(Debug, Clone)]
pub struct Source {
    /// The engine: a coding agent with an `ImportFormat`, `docker-agent` or `picoclaw`.
    pub engine: String,
    /// The file.
    pub file: PathBuf,
}

/// The error that a text is not `ENGINE:FILE`.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected ENGINE:FILE, such as claude-code:.claude/settings.json; ENGINE is one of: {}",
    ENGINES.join(", ")
)]
pub struct SourceError;

impl FromStr for Source {
    type Err = SourceError;

    /// Reads `ENGINE:FILE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((engine, file)) if ENGINES.contains(&engine) => {
                Ok(Self { engine: engine.to_owned(), file: file.into() })
            }
            _ => Err(SourceError),
        }
    }
}

/// The coding agents with an `ImportFormat`, and the agent engines.
const ENGINES: [&str; 5] = ["claude-code", "codex", "gemini", DOCKER_AGENT, "picoclaw"];
const DOCKER_AGENT: &str = "docker-agent";

/// Why hooks can't be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file can't be read.
    #[error("{}: {}", .0.display(), .1)]
    Unreadable(PathBuf, SettingsError),
    /// It has no hooks.
    #[error("{0}")]
    Hooks(Diagnostics),
}

impl Source {
    /// Reads the hooks of the file, which has this text. Of a docker-agent file they are those of `agent`.
    pub fn read(&self, text: &str, agent: Option<&str>) -> Result<Imported, ImportError> {
        // No agent has an empty name, so without a name the error lists those to choose from.
        let agent = agent.unwrap_or_default();
        let file = &self.file;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let yaml = match self.engine.as_str() {
            DOCKER_AGENT => Ok(text.to_owned()),
            // JSON is YAML as well.
            _ => plain_json(text),
        };
        let yaml = yaml.map_err(|cause| ImportError::Unreadable(file.clone(), cause))?;
        let imported = read_text(file, &yaml, |_: &mut Reader, root: &Node<'_>| {
            let mut import = Import::new(file, text);
            let is_read = match (self.engine.as_str(), self.engine.parse()) {
                (_, Ok(engine)) => settings::read(engine, &mut import, root),
                (DOCKER_AGENT, _) => docker_agent::read(&mut import, root, agent),
                // PicoClaw's `config.json`.
                _ => import.key(root, "hooks").and_then(|hooks| import.add_block(hooks)),
            };
            Some(import.finish(is_read))
        });
        imported.flatten().map_err(ImportError::Hooks)
    }

    /// Returns the comment at the head of the hooks file.
    pub fn head(&self, problems: &Diagnostics) -> String {
        let file = inline(&self.file.display().to_string());
        let mut head = format!("# Written by `hookexec init --from {}:{file}`.\n", self.engine);
        if let Ok(agent) = self.engine.parse::<Agent>() {
            head.push_str(&HEAD.replace("AGENT", agent.title()));
        }
        if !problems.is_empty() {
            head.push_str("#\n# LEFT OUT, or doubtful. What is left out guards nothing here:\n");
        }
        for problem in problems.iter() {
            let _ = writeln!(head, "#   {}", plain::line(&problem.with_hint()));
        }
        head
    }
}

const HEAD: &str = "\
#
# With `dialect: claude-code` a script reads and answers as under Claude Code. A script without `dialect` reads
# hookexec's input, with the tools and arguments of AGENT. A hook that gives no answer denies a tool call here.
# AGENT lets the call run, as `on_error: warn` does here. `hookexec docs import` says more.
";

/// Returns whether a file has hooks to import.
pub fn has_foreign_hooks(file: &AgentFile) -> bool {
    let entries = file.entries.as_deref().unwrap_or_default();
    format(file.agent).is_some() && entries.iter().any(|entry| !entry.is_ours)
}
