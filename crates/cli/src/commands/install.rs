//! `hookexec install`: puts hookexec into a coding agent's own hook settings.

use std::path::{Path, PathBuf};

use hookexec::config::Hook;
use hookexec::{Config, Event};
use hookexec_agents::Agent;
use hookexec_calls::shell::quoted;
use hookexec_files::platform::MANAGED_DIRECTORY;
use hookexec_files::platform::system::canonical;
use hookexec_setup::codex::{self, IN_CODEX};
use hookexec_setup::program::{self, Program};
use hookexec_setup::settings::backup::Backup;
use hookexec_setup::settings::call::CallOptions;
use hookexec_setup::settings::edit::{PlannedEntry, planned};
use hookexec_setup::settings::inspect::AgentFile;
use hookexec_setup::settings::{Scope, SettingsError, store};
use hookexec_setup::system;
use hookexec_setup::waits::{LONGEST, kept_timeout, needed_timeout, within_of};

use crate::commands::target::TargetArgs;
use crate::config::ConfigArgs;
use crate::console::output;
use crate::console::report::counted;
use crate::error::{CommandError, OrCommandError as _, unwritable, warn};

/// Puts hookexec into the hook settings of coding agents
///
/// Only entries are added, one a line, and `hookexec uninstall` takes them out again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec install claude-code codex --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// How long the agents wait for an answer; hookexec answers in nine tenths of it [default: as
    /// installed, else 60; longer for hooks with a longer `timeout`]
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
        let files = self.target.files()?;
        self.check(&files)?;
        let (configs, socket) = (self.configs()?, self.socket()?);
        let options = CallOptions { program: self.program()?, socket, configs };
        for file in &files {
            self.install(file, options.clone())?;
        }
        if !self.target.dry_run {
            output::talk(&format!(
                "A guard that the model must not change belongs in ~/.config/hookexec or \
                 {MANAGED_DIRECTORY}, not in the project. `hookexec doctor` shows whether the hooks are \
                 live.\n"
            ));
        }
        Ok(())
    }

    /// Checks that the options suit the files.
    fn check(&self, files: &[AgentFile]) -> Result<(), CommandError> {
        if self.approve && !self.target.agents.contains(&Agent::Codex) {
            let problem = "`--approve` is for Codex: no other agent asks for it";
            return Err(CommandError::usage(problem));
        }
        let option = match &self.connect {
            Some(_) => "--connect",
            None if self.config.is_empty() => return Ok(()),
            None => "--config",
        };
        if self.target.scope == Scope::Project {
            return Err(CommandError::usage(format!(
                "`{option}` would write a path of yours into settings that others use as well"
            ))
            .hint(
                "use `--scope user`; hooks for all belong in .hookexec/hooks.yaml of the project",
            ));
        }
        if let Some(file) = files.iter().find(|file| file.agent.plugin_text().is_some()) {
            let title = file.agent.title();
            let problem = format!("the plugin of {title} takes no `{option}`");
            return Err(CommandError::usage(problem)
                .hint("install it in a call of its own; it runs the hooks that are found"));
        }
        Ok(())
    }

    /// Returns how the entries call this program, which is then in a place that stays: a project's
    /// settings are for others as well, who have it elsewhere.
    fn program(&self) -> Result<String, CommandError> {
        if self.target.scope == Scope::Project {
            if program::on_search_path("hookexec").is_none() {
                let effect = if cfg!(unix) { "deny" } else { "allow" };
                warn(&format!(
                    "`hookexec` is not on the PATH: until it is, the agents {effect} every tool call"
                ));
            }
            return Ok("hookexec".to_owned());
        }
        let program = Program::this()?;
        let path = utf8(&program.path)?;
        if !self.target.dry_run
            && let Some(kind) = program.keep()?
        {
            output::talk(&format!("hookexec is in {kind}; agents call a copy of it: {path}\n"));
        }
        Ok(path)
    }

    fn configs(&self) -> Result<Vec<String>, CommandError> {
        let mut configs = Vec::new();
        for path in &self.config {
            let found = canonical(path);
            configs.push(utf8(&found.or_usage(format_args!("can't find {}", path.display()))?)?);
        }
        Ok(configs)
    }

    fn socket(&self) -> Result<Option<String>, CommandError> {
        let Some(socket) = &self.connect else { return Ok(None) };
        if cfg!(windows) {
            return Err(CommandError::usage("`--connect` needs a socket: Windows has none"));
        }
        let path = std::path::absolute(socket);
        utf8(&path.or_usage(format_args!("can't use {}", socket.display()))?).map(Some)
    }

    fn install(&self, file: &AgentFile, options: CallOptions) -> Result<(), CommandError> {
        let (title, path) = (file.agent.title(), file.path.display());
        if let Err(error) = &file.entries {
            return Err(uneditable(file, error));
        }
        let current = file.text.as_deref();
        let backup = Backup::of(&file.path)?;
        let options = with_kept(options, file)?;
        let hooks = configured(&options.configs);
        let needed = needed_timeout(&hooks).max(kept_timeout(&file.ours()));
        let timeout = self.timeout.unwrap_or(needed);
        let events: Vec<Event> = hooks.iter().map(|hook| hook.event).collect();
        let entries = planned(file.agent, &options, timeout, &events);
        let (before, new) = match file.agent.plugin_text() {
            Some(plugin) => {
                let new = file.plugin_text(plugin, &options.program, within_of(timeout));
                if current.is_some_and(|text| text != new && !file.is_plugin(text)) {
                    return Err(CommandError::usage(format!("{path} is not hookexec's plugin"))
                        .hint("move it to another name and try again"));
                }
                (None, new)
            }
            None => edited(file, &backup, &entries).map_err(|error| uneditable(file, &error))?,
        };
        if current == Some(&new) {
            output::talk(&format!("{title}: already installed in {path}\n"));
        } else if self.target.show(&file.path, current.unwrap_or_default(), &new)? {
            backup.keep(file, before.as_deref(), &new)?;
            store::write(&file.path, current, &new).or_internal(unwritable(&file.path))?;
            let events = counted(entries.len(), "event");
            output::talk(&format!("{title}: installed in {path} ({events})\n"));
            if before.is_some() {
                output::talk(&format!("  backup: {}\n", backup.path.display()));
            }
            match file.agent.settings() {
                Some(_) if self.approve => {}
                Some(layout) => output::talk(&format!("  next: {}\n", layout.next_step)),
                None => output::talk(&format!("  next: start {title} again\n")),
            }
            if let Some(socket) = &options.socket {
                let socket = quoted(socket);
                output::talk(&format!(
                    "  server: keep `hookexec serve --socket {socket}` running in your project; \
                     without it guarded calls are denied\n"
                ));
            }
        }
        if self.approve && file.agent == Agent::Codex && !self.target.dry_run {
            approve(file, entries)?;
        }
        Ok(())
    }
}

/// Adds the options of the entries in the file, where the command line has no others.
fn with_kept(mut options: CallOptions, file: &AgentFile) -> Result<CallOptions, CommandError> {
    let ours = file.ours();
    if let Some(kept) = ours.iter().find_map(|entry| entry.call.as_ref()) {
        if options.configs.is_empty() {
            options.configs.clone_from(&kept.options.configs);
        }
        if options.socket.is_none() {
            options.socket.clone_from(&kept.options.socket);
        }
    }
    if options.socket.is_none() || options.configs.is_empty() {
        return Ok(options);
    }
    let (path, agent, scope) = (file.path.display(), file.agent, file.scope);
    Err(CommandError::usage(format!(
        "{path} has entries with `--connect` or `--config`, and no entry can have both: a server has \
         its own files"
    ))
    .hint(format!("run `hookexec uninstall {agent} --scope {scope}` first")))
}

/// Returns the text of the settings without hookexec, and with the entries. Warns of entries that were
/// changed by hand.
fn edited(
    file: &AgentFile,
    backup: &Backup,
    entries: &[PlannedEntry],
) -> Result<(Option<String>, String), SettingsError> {
    for changed in file.changed_by_hand() {
        let (path, event, command) = (file.path.display(), &changed.event, &changed.command);
        warn(&format!(
            "{path}, {event}: `{command}` was changed by hand and stays as it is; remove it to have \
             it written anew"
        ));
    }
    let before = backup.text_without_hookexec(file)?;
    let new = file.with(before.as_deref().unwrap_or_default(), entries)?;
    Ok((before, new))
}

/// Shows the entries that were written to the file, and approves them in Codex. Those that were changed by
/// hand are not approved.
fn approve(file: &AgentFile, mut entries: Vec<PlannedEntry>) -> Result<(), CommandError> {
    for changed in file.changed_by_hand() {
        entries.retain(|entry| entry.native.name != changed.event);
    }
    let path = file.path.display();
    output::talk(&format!("Codex: approves these entries in {path}:\n"));
    for entry in &entries {
        output::talk(&format!("  {}: {}\n", entry.native.name, entry.command));
    }
    let project = std::env::current_dir().unwrap_or_default();
    let said = match codex::approve(&project, &file.path, &entries) {
        Ok(0) => "approved before".to_owned(),
        Ok(newly) => format!("approved {}", counted(newly, "event")),
        Err(cause) => {
            let problem = format!("Codex skips the entries in {path}: {cause}");
            let hint = format!("start `codex` and {IN_CODEX}; `hookexec doctor codex` says more");
            return Err(CommandError::negative(problem).hint(hint));
        }
    };
    output::talk(&format!("Codex: {said}; they count from the next session on\n"));
    Ok(())
}

/// Returns the hooks that are configured; none if the files have errors.
fn configured(configs: &[String]) -> Vec<Hook> {
    let mut args = ConfigArgs::default();
    args.config.extend(configs.iter().map(PathBuf::from));
    match args.shown() {
        Ok(Config { hooks, failed, .. }) => {
            if hooks.is_empty() && failed.is_empty() {
                warn("no hooks are configured: nothing is guarded; run `hookexec init --user`");
            }
            hooks
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

pub(crate) fn uneditable(file: &AgentFile, error: &SettingsError) -> CommandError {
    let path = file.path.display();
    CommandError::usage(format!("can't edit {path}: {error}"))
        .hint("nothing was changed; mend the file and try again")
}
