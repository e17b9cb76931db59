//! `hookexec status`: which coding agents hookexec is installed in.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use hookexec::internal::files;
use hookexec_agents::Agent;
use serde::Serialize;

use super::CommandError;
use super::output::{self, PlainFormat};
use super::settings::plugin::PluginFile;
use super::settings::{Scope, Settings, store};
use super::table::Table;

/// Shows which coding agents hookexec is installed in
///
/// `hookexec doctor` finds out whether its hooks really run there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec status")]
pub(crate) struct Args {
    /// How to show them
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    format: PlainFormat,
}

/// The settings of one agent in one scope.
#[derive(Debug, Serialize)]
struct Row {
    agent: &'static str,
    scope: String,
    /// How many entries call hookexec; 1 for a plugin.
    hooks: usize,
    /// Why the settings can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    settings: PathBuf,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let project = std::env::current_dir().unwrap_or_default();
        let rows: Vec<Row> = Agent::all().flat_map(|agent| rows(agent, &project)).collect();
        match self.format {
            PlainFormat::Json => output::print_json(&rows),
            PlainFormat::Text => show(&rows),
        }
    }
}

fn show(rows: &[Row]) -> Result<(), CommandError> {
    if rows.is_empty() {
        let installable = Agent::all().filter(|agent| {
            agent.settings().is_some() || agent.plugin().is_some_and(|plugin| plugin.file.is_some())
        });
        let agents: Vec<&str> = installable.map(Agent::name).collect();
        return output::print(&format!(
            "no coding agent is found here, and hookexec is installed in none\n\n\
             next: hookexec install AGENT, where AGENT is one of {}\n",
            agents.join(", ")
        ));
    }
    let mut table = Table::new(["agent", "scope", "hooks", "settings"]);
    for row in rows {
        let hooks = match (&row.error, row.hooks) {
            (Some(error), _) => format!("unreadable: {error}"),
            (None, 0) => "none".to_owned(),
            (None, hooks) => hooks.to_string(),
        };
        let settings = row.settings.display().to_string();
        table.row([row.agent.to_owned(), row.scope.clone(), hooks, settings]);
    }
    output::print(&table.text())?;
    if rows.iter().all(|row| row.hooks == 0 && row.error.is_none()) {
        output::talk("\nhookexec is installed in none of them; next: hookexec install AGENT\n");
    }
    Ok(())
}

/// Returns what is installed in an agent, in each scope. A file that both scopes have counts once.
fn rows(agent: Agent, project: &Path) -> Vec<Row> {
    let scopes = Scope::value_variants().iter();
    let mut rows: Vec<Row> = scopes.filter_map(|scope| row(agent, *scope, project)).collect();
    rows.dedup_by_key(|row| files::real(&row.settings));
    rows
}

/// Returns what is installed; `None` for an agent that is not used here.
fn row(agent: Agent, scope: Scope, project: &Path) -> Option<Row> {
    let (found, path, hooks) = if let Some(settings) = Settings::of(agent, scope, project) {
        let hooks = store::read(&settings.path).map_err(|error| error.to_string());
        let hooks = hooks
            .and_then(|text| Ok(settings.installed(text.as_deref().unwrap_or_default())?.len()));
        (settings.is_found(), settings.path, hooks)
    } else {
        let file = PluginFile::of(agent, scope, project)?;
        let hooks = store::read(&file.path).map_err(|error| error.to_string());
        let hooks = hooks.map(|text| usize::from(text.is_some_and(|text| file.is_plugin(&text))));
        (file.is_found(), file.path, hooks)
    };
    let here = scope == Scope::User && found;
    let error = hooks.as_ref().err().cloned();
    let hooks = hooks.unwrap_or_default();
    (hooks > 0 || error.is_some() || here).then(|| Row {
        agent: agent.name(),
        scope: scope.to_string(),
        hooks,
        error,
        settings: path,
    })
}

/// Returns whether hookexec is installed in an agent's settings.
pub(crate) fn is_installed(agent: Agent, project: &Path) -> bool {
    rows(agent, project).iter().any(|row| row.hooks > 0)
}
