//! `hookexec uninstall`: takes hookexec out of a coding agent's settings again.

use hookexec_setup::doctor::firings;
use hookexec_setup::settings::backup::Backup;
use hookexec_setup::settings::inspect::AgentFile;
use hookexec_setup::settings::store;

use crate::commands::install::uneditable;
use crate::commands::target::TargetArgs;
use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unwritable, warn};

/// Takes hookexec out of the hook settings of coding agents
///
/// A file that did not change since the installation becomes what it was, byte by byte. From any
/// other only the entries of hookexec are removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec uninstall claude-code")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        for file in self.target.files()? {
            let file = file.with_unread_entries();
            if let Err(error) = &file.entries {
                return Err(uneditable(&file, error));
            }
            match &file.text {
                Some(current) if file.is_installed() => self.uninstall(&file, current)?,
                _ => output::talk(&format!(
                    "{}: not installed in {}; `hookexec doctor` shows where it is\n",
                    file.agent.title(),
                    file.path.display()
                )),
            }
        }
        Ok(())
    }

    fn uninstall(&self, file: &AgentFile, current: &str) -> Result<(), CommandError> {
        let (path, shown) = (&file.path, file.path.display());
        let backup = Backup::of(path)?;
        if file.agent.plugin_text().is_some() && !backup.is_of(current) {
            return Err(CommandError::usage(format!("{shown} is not as `install` wrote it"))
                .hint("remove it by hand"));
        }
        let new = backup.text_without_hookexec(file).map_err(|error| uneditable(file, &error))?;
        if !self.target.show(path, current, new.as_deref().unwrap_or_default())? {
            return Ok(());
        }
        let written = match &new {
            Some(text) => store::write(path, Some(current), text),
            None => store::remove(path, current),
        };
        written.or_internal(unwritable(path))?;
        backup.forget();
        if file.agent.plugin_text().is_some() {
            firings::forget(file.agent);
        }
        let left = if new.is_some() { file.changed_by_hand() } else { Vec::new() };
        for entry in &left {
            let command = &entry.command;
            warn(&format!(
                "{shown}: `{command}` was changed by hand and is still there; remove it by hand"
            ));
        }
        let done = if left.is_empty() { "uninstalled" } else { "not wholly uninstalled" };
        output::talk(&format!("{}: {done} from {shown}\n", file.agent.title()));
        Ok(())
    }
}
