//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hookexec::Verdict;
use hookexec_calls::shell::quoted;
use hookexec_files::depth;
use hookexec_project::LoadOptions;
use hookexec_serve::server::{self, Question};

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

/// The result of asking a server.
pub(crate) enum Reply {
    Verdict(Box<Verdict>),
    /// The hooks run in this process, for the reason that is given.
    RunHere(Option<String>),
    /// The call fails: why, and what to do about it.
    Fail(String),
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

/// Asks the server at `socket`, unless the project could not be found in time or the administrator has
/// hooks. Managed hooks run in the process of the call, with all others: another program may have put
/// its own server there, which does not know them.
///
/// An agent's call without its verdict fails, unless no hook can have run. For any other question the
/// hooks then run in this process.
pub(crate) async fn ask(
    socket: &Path,
    options: &LoadOptions,
    question: Question<'_>,
    until: Option<Instant>,
) -> Reply {
    if options.without_project || options.has_managed_files() {
        return Reply::RunHere(None);
    }
    let must_answer = matches!(question, Question::Native(_));
    let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
    let problem = match server::verdict(socket, question, project, until).await {
        Ok(verdict) => return Reply::Verdict(Box::new(verdict)),
        Err(problem) => problem,
    };
    let place = socket.display();
    if !must_answer || problem.ran_nothing() {
        let why = format!("the server at {place} {problem}; the hooks run without it");
        return Reply::RunHere(Some(why));
    }
    Reply::Fail(format!("the server at {place} {problem}; {}", remedy(socket)))
}

/// Returns what to do about a server that gives no verdict.
pub(crate) fn remedy(socket: &Path) -> String {
    let socket = quoted(&socket.display().to_string());
    format!(
        "start it anew with `hookexec serve --socket {socket}` in the project, or take `--connect` \
         out of the agent's settings: `hookexec uninstall AGENT`, then `hookexec install AGENT`"
    )
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
        let question = || Question::Own(Event::Stop, &input);
        let ask = || ask(Path::new("/nowhere"), &options, question(), None);
        assert!(matches!(ask().await, Reply::RunHere(Some(_))));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(matches!(ask().await, Reply::RunHere(None)));
    }
}
