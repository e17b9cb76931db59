//! `hookexec install`: puts hookexec into a coding agent's own hook settings.

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec::agents::{Agent, NativeEvent};

use super::config::ConfigArgs;
use super::error::{CommandError, warn};
use super::exit::Exit;
use super::output;
use super::settings::store::{self, Backup};
use super::settings::{self, Entry, Scope, Settings};

/// Puts hookexec into the hook settings of coding agents
///
/// Nothing else in the settings is touched, and `hookexec uninstall` gives the file back as it was.
/// Stdout is the change, as a diff.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec install claude-code codex --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Only shows the change
    #[arg(long)]
    dry_run: bool,

    /// How long the agents wait for an answer; hookexec answers in nine tenths of it
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT,
        value_parser = clap::value_parser!(u64).range(2..=900))]
    timeout: u64,

    /// A hooks file that counts under these agents, in addition to those that are found
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
}

/// Which agents, and whose settings.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    /// The agents; `hookexec agents` lists them
    #[arg(required = true, value_name = "AGENT")]
    agents: Vec<Agent>,

    /// Whose settings
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
}

impl TargetArgs {
    /// Returns the settings to change.
    pub(crate) fn settings(&self) -> Result<Vec<Settings>, CommandError> {
        let project = std::env::current_dir().map_err(|error| {
            CommandError::internal(format!("can't tell the current directory: {error}"))
        })?;
        self.agents
            .iter()
            .map(|agent| Settings::of(*agent, self.scope, &project).ok_or_else(no_home))
            .collect()
    }
}

impl Args {
    pub(crate) fn execute(self) -> Result<Exit, CommandError> {
        let program = program()?;
        let configured = self.configured();
        let configs = self.absolute_configs()?;
        for settings in self.target.settings()? {
            let entries = entries(settings.agent, &program, self.timeout, &configs, &configured);
            self.install(&settings, &entries)?;
        }
        Ok(Exit::Success)
    }

    fn install(&self, settings: &Settings, entries: &[Entry]) -> Result<(), CommandError> {
        let path = &settings.path;
        let current = store::read(path).map_err(|error| unreadable(path, &error))?;
        let backup = Backup::of(path).ok_or_else(no_home)?;
        let before = before(settings, &backup, current.as_deref())?;
        let new = settings
            .with(before.as_deref(), entries)
            .map_err(|error| uneditable(settings, &error))?;
        let title = settings.agent.title();
        if current.as_deref() == Some(new.as_str()) {
            output::talk(&format!("{title}: already installed in {}\n", path.display()));
            return Ok(());
        }
        output::print(&diff(path, current.as_deref().unwrap_or_default(), &new))?;
        if self.dry_run {
            return Ok(());
        }
        backup
            .keep(path, before.as_deref(), &new)
            .and_then(|()| store::write(path, &new))
            .map_err(|error| unwritable(path, &error))?;
        output::talk(&format!("{title}: installed in {}\n", path.display()));
        if before.is_some() {
            output::talk(&format!("  as it was: {}\n", backup.before_path().display()));
        }
        output::talk(&format!("  {}\n", settings.then()));
        Ok(())
    }

    /// Returns the events that hooks are configured for; a broken file is no reason not to install.
    fn configured(&self) -> Vec<Event> {
        match ConfigArgs::of_files(&self.config).load() {
            Ok(config) => config.hooks.iter().map(|hook| hook.event).collect(),
            Err(error) => {
                warn(&format!(
                    "the hooks can't be read, and nothing passes until they can: {error}"
                ));
                Vec::new()
            }
        }
    }

    fn absolute_configs(&self) -> Result<Vec<PathBuf>, CommandError> {
        let absolute = |path: &PathBuf| {
            path.canonicalize().map_err(|error| {
                CommandError::usage(format!("can't find {}: {error}", path.display()))
            })
        };
        self.config.iter().map(absolute).collect()
    }
}

/// Returns the settings as the user had them: what an earlier installation left is not that.
fn before(
    settings: &Settings,
    backup: &Backup,
    current: Option<&str>,
) -> Result<Option<String>, CommandError> {
    let Some(current) = current else { return Ok(None) };
    let kept = backup.before().map_err(|error| unreadable(&settings.path, &error))?;
    if backup.is_of(current) {
        return Ok(kept);
    }
    let without = settings.without(current, kept.as_deref());
    without.map(Some).map_err(|error| uneditable(settings, &error))
}

/// How long the agents wait when nothing is said, in seconds.
pub(crate) const TIMEOUT: u64 = 60;

/// Returns how long `agent` waits at an event when it is to wait for `timeout`, and within which time
/// it gets its answer, in seconds.
pub(crate) fn limits(agent: Agent, native: &NativeEvent, timeout: u64) -> (u64, u64) {
    // Codex gives the end of a session three seconds at most.
    let short = agent == Agent::Codex && native.event == Some(Event::SessionEnd);
    let timeout = if short { timeout.min(3) } else { timeout };
    (timeout, (timeout - (timeout / 10).max(1)).max(1))
}

/// Returns the entries for `agent`.
pub(crate) fn entries(
    agent: Agent,
    program: &Path,
    timeout: u64,
    configs: &[PathBuf],
    configured: &[Event],
) -> Vec<Entry> {
    let program = quoted(&program.to_string_lossy());
    let mut config = String::new();
    for path in configs {
        config.push_str(" --config ");
        config.push_str(&quoted(&path.to_string_lossy()));
    }
    let entry = |native: &'static NativeEvent| {
        let (timeout, within) = limits(agent, native, timeout);
        let name = native.name;
        let command =
            format!("{program} run --from {agent} --event {name} --within {within}{config}");
        Entry { native, command, timeout }
    };
    settings::events(agent, configured).into_iter().map(entry).collect()
}

/// Returns the path by which an agent is to start this program: the one on the search path, when
/// it leads here, since a package manager moves the real one at every upgrade.
pub(crate) fn program() -> Result<PathBuf, CommandError> {
    let this = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .map_err(|error| CommandError::internal(format!("can't find this program: {error}")))?;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let known = std::env::split_paths(&paths)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("hookexec"))
        .find(|path| path.canonicalize().is_ok_and(|real| real == this));
    Ok(known.unwrap_or(this))
}

/// Quotes a word for the shell, when it needs it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%:,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the change of a file as a unified diff.
pub(crate) fn diff(path: &Path, before: &str, after: &str) -> String {
    let path = path.display().to_string();
    similar::TextDiff::from_lines(before, after).unified_diff().header(&path, &path).to_string()
}

pub(crate) fn no_home() -> CommandError {
    CommandError::usage("there is no home directory to look for the settings in")
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::usage(format!("can't read {}: {error}", path.display()))
}

pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::internal(format!("can't write {}: {error}", path.display()))
}

pub(crate) fn uneditable(settings: &Settings, error: &dyn std::fmt::Display) -> CommandError {
    let path = settings.path.display();
    CommandError::usage(format!("can't edit {path}: {error}"))
        .hint("nothing was changed; mend the file and try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_the_shell_when_it_must_be() {
        for (word, expected) in [
            ("/usr/bin/hookexec", "/usr/bin/hookexec"),
            ("/home/a b/hookexec", "'/home/a b/hookexec'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn the_answer_comes_before_the_agent_gives_up() {
        for agent in Agent::all() {
            for timeout in [2, 3, 5, 60, 900] {
                for entry in entries(agent, Path::new("/x"), timeout, &[], &[]) {
                    let within: u64 = entry.command.rsplit(' ').next().unwrap().parse().unwrap();
                    assert!(within >= 1 && within < entry.timeout, "{}", entry.command);
                }
            }
        }
    }
}
