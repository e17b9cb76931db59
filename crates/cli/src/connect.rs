//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::PathBuf;

use hookexec::load::LoadOptions;
use hookexec::{Event, Input, Verdict};

use super::config::ConfigArgs;
use super::error::{CommandError, warn};
use super::runtime::Runtime;
use super::server;

/// Which server to ask.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ConnectArgs {
    /// Asks the `hookexec serve` that listens here, when it has the hooks of this project; without
    /// an answer, or beside managed hooks, the hooks run in this process, and a warning says so
    /// [default: the variable `HOOKEXEC_SOCKET`]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "isolated"])]
    pub(super) connect: Option<PathBuf>,
}

/// Names the server where no argument does.
const VARIABLE: &str = "HOOKEXEC_SOCKET";

impl ConnectArgs {
    /// Returns the server's verdict, or `None` when the hooks have to run here.
    pub(crate) fn verdict(
        &self,
        config: &ConfigArgs,
        event: Event,
        input: &Input,
    ) -> Result<Option<Verdict>, CommandError> {
        // Skip project discovery when no server is configured. A hook's own call runs here: a
        // server does not know how deep the call is nested.
        let nested = std::env::var_os("HOOKEXEC_DEPTH").is_some();
        let Some(path) = self.path(config).filter(|_| !nested) else { return Ok(None) };
        let options = config.options()?;
        if overruled(&options) {
            return Ok(None);
        }
        let project = options.working_dir.unwrap_or_default();
        let asked = Runtime::new()?.block_on(server::verdict(&path, event, input, &project))?;
        let say = |problem: &String| warn(&format!("{problem}; the hooks run without it"));
        Ok(asked.inspect_err(say).ok())
    }

    /// Returns the server that is named.
    fn path(&self, config: &ConfigArgs) -> Option<PathBuf> {
        if let Some(path) = &self.connect {
            return Some(path.clone());
        }
        // The user wants the files on the command line, and a server has its own.
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        path.filter(|_| config.is_default()).map(PathBuf::from)
    }
}

/// Returns whether no server counts, and says so, because the administrator has hooks: who names a
/// socket may have put a server of its own there, which knows nothing of them.
fn overruled(options: &LoadOptions) -> bool {
    let overruled = options.has_managed_files();
    if overruled {
        warn("this machine has managed hooks: no server is asked, all hooks run here");
    }
    overruled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_is_asked_where_the_administrator_has_hooks() {
        let managed = tempfile::tempdir().unwrap();
        let mut options = LoadOptions::default();
        options.managed_dir = Some(managed.path().into());
        assert!(!overruled(&options));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(overruled(&options));
    }
}
