//! `hookexec install`: puts hookexec into a coding agent's own hook settings.

mod approve;
mod called;
mod target;
mod waits;

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec::config::Hook;
use hookexec::internal::MANAGED_DIRECTORY;
use hookexec::internal::shell::quoted;
use hookexec_agents::Agent;

use super::config::{ConfigArgs, Purpose};
use super::consent;
use super::error::{CommandError, OrCommandError as _, unreadable, unwritable, warn};
use super::output;
use super::program::{self, Program};
use super::report::counted;
use super::settings::backup::Backup;
use super::settings::edit::PlannedEntry;
use super::settings::entry::Entry;
use super::settings::inspect::{AgentFile, inspect};
use super::settings::{Scope, store};
use super::system;
use called::{Called, entries};
pub(crate) use target::{ChangeArgs, TargetArgs};
use waits::{LONGEST, approval_timeout, kept_timeout, within_of};
pub(crate) use waits::{TIMEOUT, limits, timeout_for};

/// Puts hookexec into the hook settings of coding agents
///
/// Only entries are added, one a line, and `hookexec uninstall` restores the file as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec install claude-code codex --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    change: ChangeArgs,

    /// How long the agents wait for an answer; hookexec answers in nine tenths of it [default: as
    /// installed, else 60; longer for hooks of `approval` with a `timeout`]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(2..=LONGEST))]
    timeout: Option<u64>,

    /// A hooks file that counts under these agents, in addition to those that are found [default:
    /// as installed]
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,

    /// The socket of a `hookexec serve` that answers under these agents, when it has the hooks of the
    /// project. While it gives no answer, guarded calls are denied [default: as installed]
    #[arg(long, value_name = "SOCKET", conflicts_with = "config")]
    connect: Option<PathBuf>,

    /// Also approves the entries in Codex, which skips them otherwise; they are shown
    #[arg(long)]
    approve: bool,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let (configs, socket) = (self.absolute_configs()?, self.absolute_socket()?);
        own_home()?;
        let files = self.target.files()?;
        if self.approve {
            self.may_approve()?;
        }
        self.suits_plugins(&files)?;
        let called = Called { program: self.program()?, socket, configs };
        for file in &files {
            self.install(file, &called)?;
        }
        if !self.change.dry_run {
            output::talk(&format!(
                "A guard that the model must not change belongs in ~/.config/hookexec or \
                 {MANAGED_DIRECTORY}, not in the project. `hookexec doctor` shows whether the hooks are \
                 live.\n"
            ));
        }
        Ok(())
    }

    /// Returns how the entries call this program, which is then in a place that stays: a project's
    /// settings are for others as well, who have it elsewhere.
    fn program(&self) -> Result<String, CommandError> {
        match self.target.scope {
            Scope::Project if !self.config.is_empty() => Err(CommandError::usage(
                "`--config` would write a path of yours into settings that others use as well",
            )
            .hint("write the hooks to .hookexec/hooks.yaml of the project, or use `--scope user`")),
            Scope::Project if self.connect.is_some() => Err(CommandError::usage(
                "`--connect` would write a socket of yours into settings that others use as well",
            )
            .hint("use `--scope user`: in other projects the hooks run without the server")),
            Scope::Project => {
                if program::on_search_path("hookexec").is_none() {
                    let effect = if system::HAS_SH { "deny" } else { "allow" };
                    warn(&format!(
                        "`hookexec` is not on the PATH: until it is, the agents {effect} every tool call"
                    ));
                }
                Ok("hookexec".to_owned())
            }
            Scope::User => {
                let program = Program::this()?;
                let path = utf8(&program.path)?;
                if !self.change.dry_run {
                    program.keep()?;
                }
                Ok(path)
            }
        }
    }

    fn install(&self, file: &AgentFile, called: &Called) -> Result<(), CommandError> {
        let current = file.text.as_ref().or_usage(unreadable(&file.path))?.as_deref();
        let backup = Backup::of(&file.path)?;
        let Some(layout) = file.agent.settings() else {
            return self.install_plugin(file, &called.program, &backup, current);
        };
        if let Some(error) = file.entries.as_ref().err().or(file.ignored.as_ref()) {
            return Err(uneditable(file, error));
        }
        let (title, path, there) = (file.agent.title(), file.path.display(), file.ours());
        for entry in there.iter().filter(|entry| entry.written().is_none()) {
            let Entry { event, command, .. } = entry;
            warn(&format!(
                "{path}, {event}: `{command}` was changed by hand and stays as it is; remove it to have \
                 it written anew"
            ));
        }
        let called = called.with_kept(file, &there)?;
        let entries = self.entries(file.agent, &called, &there);
        let before = match current {
            Some(current) => {
                backup.before(file, current).map_err(|error| uneditable(file, &error))?
            }
            None => None,
        };
        let new = file.with(before.as_deref().unwrap_or_default(), &entries);
        let new = new.map_err(|error| uneditable(file, &error))?;
        if let Some(AgentFile { agent, scope, path, .. }) = other_installation(file) {
            let path = path.display();
            warn(&format!(
                "{title} calls hookexec in {path} as well, and every hook runs twice here; keep one of \
                 them: `hookexec uninstall {agent} --scope {scope}`"
            ));
        }
        if self.put(file, &backup, current, before.as_deref(), &new)? {
            let events = counted(entries.len(), "event");
            output::talk(&format!("{title}: installed in {path} ({events})\n"));
            if before.is_some() {
                output::talk(&format!("  backup: {}\n", backup.path.display()));
            }
            if !self.approve {
                output::talk(&format!("  next: {}\n", layout.next_step));
            }
            if let Some(socket) = &called.socket {
                output::talk(&format!(
                    "  server: keep `hookexec serve --socket {}` running in your project; without it \
                     guarded calls are denied\n",
                    quoted(socket)
                ));
            }
        }
        if self.approve && file.agent == Agent::Codex && !self.change.dry_run {
            approve::approve(file, entries)?;
        }
        Ok(())
    }

    /// Checks that there is something to approve, and that no model does it.
    fn may_approve(&self) -> Result<(), CommandError> {
        if !self.target.agents.contains(&Agent::Codex) {
            return Err(CommandError::usage(
                "`--approve` is for Codex: no other agent asks for it",
            ));
        }
        consent::refuse_agents()
    }

    /// Writes a file with hookexec in it, and a backup of the text `before`; returns whether it
    /// did.
    fn put(
        &self,
        file: &AgentFile,
        backup: &Backup,
        current: Option<&str>,
        before: Option<&str>,
        new: &str,
    ) -> Result<bool, CommandError> {
        let (path, title) = (&file.path, file.agent.title());
        if current == Some(new) {
            output::talk(&format!("{title}: already installed in {}\n", path.display()));
            return Ok(false);
        }
        if !self.change.show(path, current.unwrap_or_default(), new)? {
            return Ok(false);
        }
        backup.keep(path, before, new)?;
        store::write(path, current, new).or_internal(unwritable(path))?;
        Ok(true)
    }

    fn install_plugin(
        &self,
        file: &AgentFile,
        program: &str,
        backup: &Backup,
        current: Option<&str>,
    ) -> Result<(), CommandError> {
        let Some(plugin) = file.plugin() else { return Ok(()) };
        let (path, title) = (file.path.display(), file.agent.title());
        let raised = || approval_timeout(&configured(&[])).unwrap_or_default().max(TIMEOUT);
        let timeout = self.timeout.unwrap_or_else(raised);
        let new = file.plugin_text(plugin.text, program, within_of(timeout));
        if current.is_some_and(|text| text != new && !file.is_plugin(text)) {
            return Err(CommandError::usage(format!("{path} is not hookexec's plugin"))
                .hint("move it to another name and try again"));
        }
        if self.put(file, backup, current, None, &new)? {
            output::talk(&format!("{title}: installed in {path}\n"));
            output::talk(&format!("  next: start {title} again\n"));
        }
        Ok(())
    }

    /// Checks that no plugin is among `files` if the entries have options: its calls have none.
    fn suits_plugins(&self, files: &[AgentFile]) -> Result<(), CommandError> {
        let Some(file) = files.iter().find(|file| file.plugin().is_some()) else {
            return Ok(());
        };
        let (option, hint) = if !self.config.is_empty() {
            ("--config", "write the hooks to ~/.config/hookexec/hooks.yaml")
        } else if self.connect.is_some() {
            ("--connect", "install it without a server, in a call of its own")
        } else {
            return Ok(());
        };
        let title = file.agent.title();
        let problem = format!("the plugin of {title} takes no `{option}`");
        Err(CommandError::usage(problem).hint(hint))
    }

    /// Returns the entries to write: what is not on the command line stays as it is installed.
    fn entries(&self, agent: Agent, called: &Called, there: &[&Entry]) -> Vec<PlannedEntry> {
        let hooks = configured(&called.configs);
        let timeout = self.timeout.unwrap_or_else(|| {
            kept_timeout(there).max(approval_timeout(&hooks).unwrap_or_default())
        });
        let events: Vec<Event> = hooks.iter().map(|hook| hook.event).collect();
        entries(agent, called, timeout, &events)
    }

    fn absolute_configs(&self) -> Result<Vec<String>, CommandError> {
        let absolute = |path: &PathBuf| {
            let found = dunce::canonicalize(path);
            utf8(&found.or_usage(format_args!("can't find {}", path.display()))?)
        };
        self.config.iter().map(absolute).collect()
    }

    fn absolute_socket(&self) -> Result<Option<String>, CommandError> {
        let Some(socket) = &self.connect else { return Ok(None) };
        if cfg!(windows) {
            return Err(CommandError::usage(
                "`--connect` needs a socket, and a server has none on Windows",
            ));
        }
        let absolute = std::path::absolute(socket);
        let absolute =
            absolute.or_usage(format_args!("can't use the socket {}", socket.display()))?;
        utf8(&absolute).map(Some)
    }
}

/// Returns the settings of the other scope, where these call hookexec as well.
pub(crate) fn other_installation(file: &AgentFile) -> Option<AgentFile> {
    let files = inspect(file.agent, &std::env::current_dir().ok()?);
    files.into_iter().find(|other| {
        let is_other = other.scope != file.scope && other.path != file.path;
        is_other && !other.ours().is_empty()
    })
}

/// Returns the hooks that are configured; none if the files have errors.
fn configured(configs: &[String]) -> Vec<Hook> {
    let files: Vec<PathBuf> = configs.iter().map(PathBuf::from).collect();
    match ConfigArgs::of_files(&files).load(Purpose::Show) {
        Ok(loaded) => {
            loaded.notices.warn_untold("");
            loaded.found.config.hooks
        }
        Err(error) => {
            warn(&format!(
                "the hooks files have errors, and until you mend them nothing passes: {error}"
            ));
            Vec::new()
        }
    }
}

/// Returns a path as it is written into settings.
fn utf8(path: &Path) -> Result<String, CommandError> {
    system::settings_path(path).map_err(|problem| {
        let path = path.display();
        CommandError::usage(format!("the path {path} {problem} and can't stand in settings"))
            .hint("move the file to a path of plain letters")
    })
}

/// Refuses to work in another user's home, as under `sudo`: its owner could not change what is
/// written there.
pub(crate) fn own_home() -> Result<(), CommandError> {
    let home = hookexec::home_directory().ok_or_else(no_home)?;
    let found = home.metadata().or_usage(unreadable(&home))?;
    if hookexec::internal::system::belongs_to_user(&found) {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} belongs to another user", home.display()))
        .hint("do this as the user whose agent it is, without sudo"))
}

pub(crate) fn no_home() -> CommandError {
    CommandError::usage("the home directory is not known: set HOME")
}

pub(crate) fn uneditable(file: &AgentFile, error: &str) -> CommandError {
    let path = file.path.display();
    CommandError::usage(format!("can't edit {path}: {error}"))
        .hint("nothing was changed; mend the file and try again")
}
