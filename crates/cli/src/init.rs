//! `hookexec init`: a hooks file and its tests to begin with.

use std::path::{Path, PathBuf};

use hookexec::internal::{Loaded, base_directory};

use super::config::{ConfigArgs, Purpose};
use super::install::no_home;
use super::settings::Scope;
use super::settings::inspect::AgentFile;
use super::table::steps;
use super::{CommandError, config, import, output, starter};

const HOOKS: &str = "hooks.yaml";
const CASES: &str = "hooks.test.yaml";

/// Writes a commented `hooks.yaml` and `hooks.test.yaml` for what is found in the project
///
/// Looks for git, for languages and for coding agents. Existing files are not overwritten.
///
/// A model that works in the project can change the project's hooks. With `--user` the files go to
/// your own layer, which counts in every project and which no project can change.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The project [default: the current directory]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Writes them to `~/.config/hookexec`: guards that the project, and a model in it, can't
    /// change
    #[arg(long, conflicts_with = "directory")]
    user: bool,

    #[command(flatten)]
    import: import::ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  hookexec init && hookexec test
  hookexec init --from claude-code:.claude/settings.json                        shows what it comes to
  hookexec init --from claude-code:.claude/settings.json --output hooks.yaml    writes it";

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let users = if self.user { Some(users_directory()?) } else { None };
        if self.import.execute(users.as_deref())? {
            return Ok(());
        }
        let project = config::project(self.directory.as_deref())?;
        let found = starter::Found::in_project(&project);
        let found = if self.user { found.for_every_project() } else { found };
        let directory = users.unwrap_or_else(|| project.clone());
        for name in [HOOKS, CASES] {
            let path = directory.join(name);
            if path.symlink_metadata().is_ok() {
                let message = format!("{} is there already; nothing was written", path.display());
                return Err(
                    CommandError::usage(message).hint("to start over, move or delete this file")
                );
            }
        }
        output::create(&directory.join(HOOKS), &starter::hooks(&found, self.user))?;
        output::create(&directory.join(CASES), &starter::cases(&found))?;
        let said = format!("wrote {HOOKS} and {CASES} for {}", found.listed());
        let place = if self.user { format!(" in {}", directory.display()) } else { String::new() };
        let next = self.next(&directory, &project, &found);
        let survives = if self.user {
            ""
        } else {
            "\nA model that works here can change these files. Put a guard that the model must not\n\
             change into your own hooks file: `hookexec init --user`.\n"
        };
        output::print(&format!("{said}{place}\n\n{}{survives}", steps(&next)))
    }

    /// Returns the commands to run next, and what each does.
    fn next(
        &self,
        directory: &Path,
        project: &Path,
        found: &starter::Found,
    ) -> Vec<(String, String)> {
        let mut config = ConfigArgs::default();
        config.cwd = Some(project.to_owned());
        let loaded = config.load(Purpose::Show).ok().map(|loaded| loaded.found);
        let mut next = Vec::new();
        let mut step = |command: String, what: &str| next.push((command, what.to_owned()));
        if self.user {
            step(format!("hookexec test {}", directory.display()), "run the tests");
        } else {
            step("hookexec test".to_owned(), "run the tests");
            if !is_approved(loaded.as_ref(), &directory.join(HOOKS)) {
                step(format!("hookexec trust add {HOOKS}"), "let its hooks run");
            }
        }
        step("hookexec explain".to_owned(), "see what is configured");
        let scope = if self.user { Scope::User } else { Scope::Project };
        for agent in &found.agents {
            let file = AgentFile::inspect(*agent, scope, project);
            if let Some(file) = file.filter(|file| has_more_hooks(file, loaded.as_ref())) {
                let path = file.path.strip_prefix(project).unwrap_or(&file.path).display();
                let place = if self.user {
                    "--user".to_owned()
                } else {
                    format!("--output .hookexec/hooks.d/{agent}.yaml")
                };
                let import = format!("hookexec init --from {agent}:{path} {place}");
                step(import, &format!("import the hooks of {}", agent.title()));
            }
            let install = format!("hookexec install {agent}");
            step(install, &format!("put them in force under {}", agent.title()));
        }
        step("hookexec docs".to_owned(), "read the documentation");
        next
    }
}

fn is_approved(loaded: Option<&Loaded>, hooks: &Path) -> bool {
    let files = loaded.into_iter().flat_map(|loaded| &loaded.project_files);
    files.into_iter().any(|file| file.path == hooks && file.blocked.is_none())
}

/// Returns whether a file holds hooks that can be imported and were not.
fn has_more_hooks(file: &AgentFile, loaded: Option<&Loaded>) -> bool {
    let ours = loaded.map(|loaded| loaded.config.hooks.as_slice()).unwrap_or_default();
    let imported = |command| ours.iter().any(|hook| hook.command.as_ref() == Some(command));
    !import::commands(file).iter().all(imported)
}

/// Returns the user's layer.
fn users_directory() -> Result<PathBuf, CommandError> {
    let directory = base_directory("XDG_CONFIG_HOME", ".config").ok_or_else(no_home)?;
    let directory = directory.join("hookexec");
    output::create_directory(&directory)?;
    Ok(directory)
}
