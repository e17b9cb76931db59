//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::PathBuf;

use hookexec::serve::{Client, ClientError};
use hookexec::{Event, Input, Verdict};

use super::config::ConfigArgs;
use super::error::{CommandError, warn};

/// Which server to ask.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectArgs {
    /// Asks the `hookexec serve` that listens here, when it has the hooks of this project; without
    /// an answer the hooks run in this process, and a warning says so [default: the variable `HOOKEXEC_SOCKET`]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "agent", "isolated"])]
    connect: Option<PathBuf>,
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
        let Some(path) = self.path(config) else { return Ok(None) };
        let project = config.project()?;
        let asked =
            Client::connect(path).and_then(|mut server| server.dispatch(event, input, &project));
        Ok(asked.inspect_err(say).ok())
    }

    fn path(&self, config: &ConfigArgs) -> Option<PathBuf> {
        if let Some(path) = &self.connect {
            return Some(path.clone());
        }
        // Whoever names files wants those, and a server has its own.
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        path.filter(|_| config.is_default()).map(PathBuf::from)
    }
}

fn say(error: &ClientError) {
    warn(&format!("{error}; the hooks run without it"));
}
