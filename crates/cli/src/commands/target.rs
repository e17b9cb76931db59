//! Which files `install` and `uninstall` change, and whether they show the change.

use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hookexec_agents::Agent;
use hookexec_files::platform::{Platform, system};
use hookexec_setup::program::KeepError;
use hookexec_setup::settings::Scope;
use hookexec_setup::settings::inspect::AgentFile;

use crate::commands::run::agent_name;
use crate::console::consent::refuse_agents;
use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unreadable};

/// Which agents, whose settings, and whether they change.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    /// The agents
    #[arg(required = true, value_name = "AGENT", value_parser = agent_name())]
    pub(crate) agents: Vec<Agent>,

    /// Whose settings
    #[arg(long, value_parser = scope_name(), default_value_t = Scope::User)]
    pub(crate) scope: Scope,

    /// Only prints the change, as a diff
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Reads whose settings are meant.
fn scope_name() -> impl TypedValueParser<Value = Scope> {
    let names = PossibleValuesParser::new([
        PossibleValue::new("user").help("The settings of the user, for every project"),
        PossibleValue::new("project")
            .help("The settings of the project, for everybody who works on it"),
    ]);
    names.map(|name| if name == "user" { Scope::User } else { Scope::Project })
}

impl TargetArgs {
    /// Shows a change that is not to be made, and returns whether it is.
    pub(crate) fn show(
        &self,
        path: &Path,
        before: &str,
        after: &str,
    ) -> Result<bool, CommandError> {
        if self.dry_run {
            let path = path.display().to_string();
            let diff = similar::TextDiff::from_lines(before, after);
            output::print(&diff.unified_diff().header(&path, &path).to_string())?;
        }
        Ok(!self.dry_run)
    }

    /// Returns the files to change, as they are. A person must ask for the change.
    pub(crate) fn files(&self) -> Result<Vec<AgentFile>, CommandError> {
        refuse_agents()?;
        own_home()?;
        let project = std::env::current_dir().or_internal("can't tell the current directory")?;
        let mut files: Vec<AgentFile> = Vec::new();
        for agent in &self.agents {
            if files.iter().all(|file| file.agent != *agent) {
                match AgentFile::inspect(*agent, self.scope, &project) {
                    Some(file) => files.push(file),
                    None => return Err(self.no_file(*agent)),
                }
            }
        }
        Ok(files)
    }

    /// Says why the agent has no file to install in.
    fn no_file(&self, agent: Agent) -> CommandError {
        let title = agent.title();
        match (agent.facts().plugin, self.scope) {
            (Some(plugin), _) => CommandError::usage(format!(
                "{title} has no settings for hooks: copy its plugin from `{plugin}` of hookexec's repository"
            )),
            (None, Scope::User) => KeepError::NoHome.into(),
            (None, Scope::Project) => CommandError::usage(format!(
                "{title} reads no hooks of a project: use `--scope user`"
            )),
        }
    }
}

/// Refuses to work in another user's home, as under `sudo`: its owner could not change what is
/// written there. Without a variable that names the home, agents look elsewhere.
pub(crate) fn own_home() -> Result<(), CommandError> {
    let named = std::env::var_os(Platform::HERE.home_variable).unwrap_or_default();
    let home = hookexec::home_directory().filter(|_| !named.is_empty());
    let home = home.ok_or(KeepError::NoHome)?;
    let found = home.metadata().or_usage(unreadable(&home))?;
    if system::belongs_to_user(&found) {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} belongs to another user", home.display()))
        .hint("do this as the user whose agent it is, without sudo"))
}
