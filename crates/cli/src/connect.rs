//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hookexec::Verdict;
use hookexec::internal::depth;
use hookexec::load::LoadOptions;

use super::config::ConfigArgs;
use super::server::{self, NoVerdict, Question};

/// Which server to ask.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ConnectArgs {
    /// Asks the `hookexec serve` that listens here, when it has the hooks of this project. Without an
    /// answer the hooks run in this process, and with `--from` the call is answered as one whose hooks
    /// failed. Beside managed hooks no server is asked [default: the variable `HOOKEXEC_SOCKET`, but
    /// not with `--from`]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "isolated"])]
    pub(super) connect: Option<PathBuf>,
}

/// Names the server where no argument does.
const VARIABLE: &str = "HOOKEXEC_SOCKET";

impl ConnectArgs {
    /// Returns the server that an argument or the variable names.
    pub(crate) fn socket(&self, config: &ConfigArgs) -> Option<PathBuf> {
        // The user wants the files on the command line, and a server has its own.
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let path = path.filter(|_| config.is_default() && !is_nested()).map(PathBuf::from);
        self.named().map(Path::to_owned).or(path)
    }

    /// Returns the server that an argument names. An agent's call asks no other: the settings of a
    /// project can set variables.
    pub(crate) fn named(&self) -> Option<&Path> {
        self.connect.as_deref().filter(|_| !is_nested())
    }
}

/// Returns whether a hook made this call. Its hooks run here: a server does not know how deep the call
/// is nested.
fn is_nested() -> bool {
    std::env::var_os(depth::VARIABLE).is_some()
}

/// Returns the verdict of the server at `socket`; `None` where the project could not be found in time,
/// and where the administrator has hooks. Those run in the process of the call, with all others:
/// another program may have put its own server there, which does not know them.
///
/// # Errors
/// Why the server gives no verdict.
pub(crate) async fn ask(
    socket: &Path,
    options: &LoadOptions,
    question: Question<'_>,
    until: Option<Instant>,
) -> Result<Option<Verdict>, NoVerdict> {
    if options.without_project || options.has_managed_files() {
        return Ok(None);
    }
    let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
    server::verdict(socket, question, project, until).await.map(Some)
}

#[cfg(test)]
mod tests {
    use hookexec::{Event, Input};

    use super::*;

    #[tokio::test]
    async fn no_server_is_asked_where_the_administrator_has_hooks() {
        let managed = tempfile::tempdir().unwrap();
        let mut options = LoadOptions::default();
        options.managed_dir = Some(managed.path().into());
        let input = Input::default();
        let ask_nobody = || {
            let question = Question::own(Event::Stop, &input);
            ask(Path::new("/nowhere"), &options, question, None)
        };
        assert!(matches!(ask_nobody().await, Err(NoVerdict::Failed(_))));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(matches!(ask_nobody().await, Ok(None)));
    }
}
