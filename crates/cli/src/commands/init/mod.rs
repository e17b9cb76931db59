//! `hookexec init`: a hooks file and its tests to begin with, and hooks to add to one.

pub(crate) mod change;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use hookexec::config::Layer;
use hookexec_agents::Agent;
use hookexec_files::directories::{PROJECT_DIRECTORY, directory_in_home};
use hookexec_setup::import::has_foreign_hooks;
use hookexec_setup::program::KeepError;
use hookexec_setup::settings::inspect::AgentFile;
use hookexec_setup::settings::{Scope, store};

use crate::commands::import;
use crate::commands::target::own_home;
use crate::commands::test::past::last_days;
use crate::console::consent::refuse_agents;
use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unwritable};
use crate::{config, plain};

const HOOKS: &str = "hooks.yaml";
pub(crate) const CASES: &str = "hooks.test.yaml";

/// The files of `init --user`.
const USERS_FILES: [(&str, &str); 2] = [
    (HOOKS, include_str!("../../starter/user.yaml")),
    (CASES, include_str!("../../starter/user.test.yaml")),
];

/// The files of `init`.
const PROJECTS_FILES: [(&str, &str); 2] = [
    (HOOKS, include_str!("../../starter/hooks.yaml")),
    (CASES, include_str!("../../starter/hooks.test.yaml")),
];

/// Writes a `hooks.yaml` with its tests, or adds recipes to one
///
/// Without a name it writes a commented `hooks.yaml` and its tests, `hooks.test.yaml`. It overwrites
/// no file. With names it adds these hooks to the `hooks.yaml` here, in place, or writes one with
/// them alone.
///
/// A model that works in the project can change the project's hooks. With `--user` the files go to
/// your own layer, which counts in every project and which no project can change.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Recipes, or rules of `init --user`, to add to the hooks file
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(change::recipes().into_keys()))]
    names: Vec<String>,

    /// Takes the hook of this name, or the hooks of this recipe, out of the hooks file; may be
    /// given more than once
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    remove: Vec<String>,

    /// Writes them to `~/.config/hookexec`: guards that the project, and a model in it, can't
    /// change
    #[arg(long)]
    user: bool,

    #[command(flatten)]
    import: import::ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  hookexec init && hookexec test
  hookexec init keep-secrets force-push                                         adds two recipes
  hookexec init --remove keep-secrets                                           takes a recipe out
  hookexec init --remove branch                                                 takes one hook out
  hookexec init --from claude-code:.claude/settings.json                        shows what it comes to
  hookexec init --from claude-code:.claude/settings.json --output hooks.yaml    writes it";

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        if self.is_for_a_person() {
            refuse_agents()?;
        }
        let users = if self.user { Some(users_directory()?) } else { None };
        if self.import.execute(users.as_deref())? {
            return Ok(());
        }
        let project = config::project_directory(None)?;
        let directory = users.unwrap_or_else(|| project.clone());
        if !self.names.is_empty() || !self.remove.is_empty() {
            return self.change(&directory);
        }
        let files = if self.user { USERS_FILES } else { PROJECTS_FILES };
        for (name, _) in files {
            refuse_existing(&directory.join(name)).map_err(|error| {
                let names =
                    "to add its rules: `hookexec init --user never secrets loss outside machine`";
                if self.user { error.hint(names) } else { error }
            })?;
        }
        for (name, text) in files {
            let path = directory.join(name);
            store::write(&path, None, text).or_usage(unwritable(&path))?;
        }
        let next = self.next(&directory, &project);
        output::print(&if self.user {
            let past = last_days(&directory.join(HOOKS));
            let directory = directory.display();
            format!("wrote {HOOKS} and {CASES} in {directory}\n\n{next}{past}")
        } else {
            format!("wrote {HOOKS} and {CASES}\n\n{next}{SURVIVES}")
        })
    }

    /// Returns whether a file changes that is there, or foreign hooks are written.
    fn is_for_a_person(&self) -> bool {
        let import = &self.import;
        let writes_foreign_hooks = import.output.is_some() || self.user && import.from.is_some();
        writes_foreign_hooks || !self.names.is_empty() || !self.remove.is_empty()
    }

    /// Changes the hooks file of `directory`.
    fn change(&self, directory: &Path) -> Result<(), CommandError> {
        let mut path = directory.join(HOOKS);
        let own = directory.join(PROJECT_DIRECTORY).join(HOOKS);
        if !self.user && !path.exists() && own.exists() {
            path = own;
        }
        let hidden = directory.join(PROJECT_DIRECTORY);
        for place in [&path, &hidden] {
            if !self.user && place.is_symlink() {
                let message = format!("{} is a link, which a project can't have", place.display());
                return Err(CommandError::usage(message).hint("change the file that it points at"));
            }
        }
        let near = if self.user { Ok(&*path) } else { path.strip_prefix(directory) };
        let shown = near.unwrap_or(&path).display().to_string();
        let layer = if self.user { Layer::User } else { Layer::Project };
        let (mut said, is_changed) =
            change::apply(&path, &shown, &self.names, &self.remove, layer)?;
        if !is_changed {
            return output::print(&said);
        }
        if path.with_file_name(CASES).exists() {
            let place = path.parent().unwrap_or(directory).display();
            let _ = writeln!(said, "\n`hookexec test {place}` says what changes for its cases.");
        }
        if !self.user {
            let _ = writeln!(said, "\n`hookexec trust add {shown}` approves it as it is now.");
        }
        output::print(&said)
    }

    /// Returns the commands to run next, and what each does.
    fn next(&self, directory: &Path, project: &Path) -> String {
        let mut next = "next:\n".to_owned();
        if self.user {
            add_step(&mut next, &format!("hookexec test {}", directory.display()), "run the tests");
        } else {
            add_step(&mut next, "hookexec test", "run the tests");
            add_step(&mut next, &format!("hookexec trust add {HOOKS}"), "let its hooks run");
        }
        add_step(&mut next, "hookexec explain", "see what is configured");
        let scope = if self.user { Scope::User } else { Scope::Project };
        let mut is_named = false;
        for agent in Agent::all() {
            let (Some(_), Some(place)) = (agent.settings(), agent.place()) else { continue };
            if !project.join(place.in_project().0).exists() {
                continue;
            }
            let title = agent.title();
            if let Some(file) = AgentFile::inspect(agent, scope, project)
                && has_foreign_hooks(&file)
            {
                let path = file.path.strip_prefix(project).unwrap_or(&file.path).display();
                let place = if self.user {
                    "--user".to_owned()
                } else {
                    format!("--output .hookexec/hooks.d/{agent}.yaml")
                };
                let import = format!("hookexec init --from {agent}:{path} {place}");
                add_step(&mut next, &import, &format!("import the hooks of {title}"));
            }
            let install = format!("hookexec install {agent}");
            add_step(&mut next, &install, &format!("put them in force under {title}"));
            is_named = true;
        }
        if !is_named {
            add_step(&mut next, "hookexec install AGENT", "put them in force under an agent");
        }
        add_step(&mut next, "hookexec docs", "read the documentation");
        next
    }
}

const SURVIVES: &str = "
A model that works here can change these files. Put a guard that the model must not
change into your own hooks file: `hookexec init --user`.
";

/// Adds a command to run, with what it does below it.
fn add_step(next: &mut String, command: &str, what: &str) {
    let _ = writeln!(next, "  {}\n      {what}", plain::line(command));
}

/// Fails if there is a file at `path`, which is not overwritten.
pub(crate) fn refuse_existing(path: &Path) -> Result<(), CommandError> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("{} is there already; nothing was written", path.display());
    Err(CommandError::usage(message).hint("to start over, move or delete this file"))
}

/// Returns the user's layer.
fn users_directory() -> Result<PathBuf, CommandError> {
    own_home()?;
    // Not `$XDG_CONFIG_HOME`: an agent may be started without it.
    Ok(directory_in_home(".config/hookexec").ok_or(KeepError::NoHome)?)
}
