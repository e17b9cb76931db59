//! `hookexec status`: which coding agents hookexec is installed in.

use std::path::Path;

use hookexec::agents::Agent;

use super::error::CommandError;
use super::exit::Exit;
use super::output;
use super::settings::{Scope, Settings, store};
use super::table::Table;

/// What is said of settings without hooks of ours.
const NOTHING: &str = "none";

/// Shows which coding agents hookexec is installed in
///
/// Whether its hooks really run there is what `hookexec doctor` finds out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec status")]
pub(crate) struct Args {}

impl Args {
    #[expect(clippy::unused_self, reason = "every subcommand is called alike")]
    pub(crate) fn execute(self) -> Result<Exit, CommandError> {
        let project = std::env::current_dir().unwrap_or_default();
        let mut installed = false;
        let mut table = Table::new(["agent", "scope", "hooks", "settings"]);
        for agent in Agent::with_settings() {
            for scope in [Scope::User, Scope::Project] {
                if let Some(row) = row(agent, scope, &project) {
                    installed |= row[2] != NOTHING;
                    table.row(row);
                }
            }
        }
        if table.is_empty() {
            let agents: Vec<&str> = Agent::with_settings().map(Agent::name).collect();
            output::print(&format!(
                "no coding agent is found here, and hookexec is installed in none\n\n\
                 next: hookexec install AGENT, where AGENT is one of {}\n",
                agents.join(", ")
            ))?;
            return Ok(Exit::Success);
        }
        output::print(&table.text())?;
        if !installed {
            output::talk("\nhookexec is installed in none of them; next: hookexec install AGENT\n");
        }
        Ok(Exit::Success)
    }
}

/// Returns what is installed; nothing of an agent that is not used here.
fn row(agent: Agent, scope: Scope, project: &Path) -> Option<[String; 4]> {
    let settings = Settings::of(agent, scope, project)?;
    let text = store::read(&settings.path);
    let hooks = match &text {
        Err(error) => format!("unreadable: {error}"),
        Ok(text) => match settings.installed(text.as_deref().unwrap_or("{}")) {
            Err(error) => format!("unreadable: {error}"),
            Ok(commands) if commands.is_empty() => NOTHING.to_owned(),
            Ok(commands) => commands.len().to_string(),
        },
    };
    let here = scope == Scope::User && settings.is_found();
    (hooks != NOTHING || here)
        .then(|| [agent.to_string(), scope.to_string(), hooks, settings.path.display().to_string()])
}
