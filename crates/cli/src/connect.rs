//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::{Path, PathBuf};

use hookexec_files::depth;

/// Which server to ask.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ConnectArgs {
    /// Asks the `hookexec serve` that listens here, when it has the hooks of this project. Without an
    /// answer the hooks run in this process, and with `--from` the call is answered as one whose hooks
    /// failed. Beside managed hooks no server is asked
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "isolated"])]
    pub(super) connect: Option<PathBuf>,
}

impl ConnectArgs {
    /// Returns the socket of the server that is named. There is none for a hook's own call: a server
    /// does not know how deep that is nested.
    pub(crate) fn socket(&self) -> Option<&Path> {
        if std::env::var_os(depth::VARIABLE).is_some() {
            return None;
        }
        self.connect.as_deref()
    }
}
