//! `hookexec uninstall`: takes hookexec out of a coding agent's settings again.

use super::error::{CommandError, OrCommandError as _, unreadable, unwritable, warn};
use super::install::{ChangeArgs, TargetArgs, no_home, other_installation, own_home, uneditable};
use super::settings::backup::{Backup, Before};
use super::settings::inspect::{AgentFile, Place};
use super::settings::{Settings, store};
use super::{install, output};

/// Takes hookexec out of the hook settings of coding agents
///
/// A file that did not change since the installation becomes what it was, byte by byte. From any
/// other only the entries of hookexec are removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec uninstall claude-code")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    #[command(flatten)]
    change: ChangeArgs,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        own_home()?;
        for file in self.target.files()? {
            let current = file.text.as_ref().or_usage(unreadable(&file.path))?;
            if let (Place::Settings(settings), Err(error)) = (&file.place, &file.entries) {
                return Err(uneditable(settings, error));
            }
            match current {
                Some(current) if !file.ours().is_empty() => self.uninstall(&file, current)?,
                _ => not_installed(&file),
            }
        }
        Ok(())
    }

    fn uninstall(&self, file: &AgentFile, current: &str) -> Result<(), CommandError> {
        let (path, shown) = (&file.path, file.path.display());
        let backup = Backup::of(path).ok_or_else(no_home)?;
        let new = match &file.place {
            Place::Settings(settings) => self::without(settings, &backup, current)?,
            Place::Plugin(_) if backup.is_of(current) => None,
            Place::Plugin(_) => {
                return Err(CommandError::usage(format!("{shown} is not as `install` wrote it"))
                    .hint("remove it by hand"));
            }
        };
        if !self.change.show(path, current, new.as_deref().unwrap_or_default())? {
            return Ok(());
        }
        let written = match &new {
            Some(text) => store::write(path, Some(current), text),
            None => store::remove(path, current),
        };
        written.or_internal(unwritable(path))?;
        backup.forget();
        let left = match (&file.place, &new) {
            (Place::Settings(settings), Some(text)) => settings.entries(text).unwrap_or_default(),
            _ => Vec::new(),
        };
        for entry in left.iter().filter(|entry| entry.is_ours()) {
            let command = &entry.command;
            warn(&format!(
                "{shown}: `{command}` was changed by hand and is still there; remove it by hand"
            ));
        }
        output::talk(&format!("{}: uninstalled from {shown}\n", file.agent.title()));
        Ok(())
    }
}

fn not_installed(file: &AgentFile) {
    let (title, path) = (file.agent.title(), file.path.display());
    output::talk(&format!("{title}: not installed in {path}\n"));
    if matches!(file.place, Place::Plugin(_)) {
        return;
    }
    if let Some(AgentFile { agent, scope, path, .. }) = other_installation(file) {
        let uninstall = format!("hookexec uninstall {agent} --scope {scope}");
        let path = path.display();
        output::talk(&format!("  it is installed in {path}: `{uninstall}`\n"));
    }
}

/// Returns the settings without hookexec; `None` for a file that `install` made and that holds
/// nothing else.
fn without(
    settings: &Settings,
    backup: &Backup,
    current: &str,
) -> Result<Option<String>, CommandError> {
    let before = backup.before();
    if before == Before::Unknown && backup.is_of(current) {
        warn(&format!(
            "the backup {} can't be read: only the entries of hookexec are removed",
            backup.before_path().display()
        ));
    }
    let new = install::before(settings, backup, current)?;
    Ok(new.filter(|text| matches!(before, Before::Text(_)) || !settings.is_bare(text)))
}
