//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hookexec::Verdict;
use hookexec_builtins::shell::quoted;
use hookexec_files::depth;
use hookexec_project::LoadOptions;
use hookexec_serve::server::{self, Question};

use crate::config::ConfigArgs;

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

/// The rule for a call to which the server gives no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutVerdict {
    /// The hooks run in this process.
    RunHere,
    /// The call fails, unless no hook can have run. The settings of a project can set variables, so
    /// that none names the server.
    Fail,
}

/// The server that answers.
pub(crate) struct Server {
    pub(super) socket: PathBuf,
    pub(super) without_verdict: WithoutVerdict,
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
    /// Returns the server that an argument or the variable names. It is none for a hook's own call: a
    /// server does not know how deep that is nested.
    pub(crate) fn server(
        &self,
        config: &ConfigArgs,
        without_verdict: WithoutVerdict,
    ) -> Option<Server> {
        if std::env::var_os(depth::VARIABLE).is_some() {
            return None;
        }
        let mut socket = self.connect.clone();
        // A server has its own files, and not those on the command line.
        if socket.is_none() && without_verdict == WithoutVerdict::RunHere && config.is_default() {
            socket = std::env::var_os(VARIABLE).map(PathBuf::from);
        }
        let socket = socket.filter(|socket| !socket.as_os_str().is_empty())?;
        Some(Server { socket, without_verdict })
    }
}

impl Server {
    /// Asks the server, unless the project could not be found in time or the administrator has hooks.
    /// Managed hooks run in the process of the call, with all others: another program may have put
    /// its own server there, which does not know them.
    pub(crate) async fn answer(
        &self,
        options: &LoadOptions,
        question: Question<'_>,
        until: Option<Instant>,
    ) -> Reply {
        if options.without_project || options.has_managed_files() {
            return Reply::RunHere(None);
        }
        let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
        let problem = match server::verdict(&self.socket, question, project, until).await {
            Ok(verdict) => return Reply::Verdict(Box::new(verdict)),
            Err(problem) => problem,
        };
        let socket = self.socket.display();
        if self.without_verdict == WithoutVerdict::RunHere || problem.ran_nothing() {
            let why = format!("the server at {socket} {problem}; the hooks run without it");
            return Reply::RunHere(Some(why));
        }
        Reply::Fail(format!("the server at {socket} {problem}; {}", remedy(&self.socket)))
    }
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
        let server = Server { socket: "/nowhere".into(), without_verdict: WithoutVerdict::Fail };
        let ask = || server.answer(&options, Question::Own(Event::Stop, &input), None);
        assert!(matches!(ask().await, Reply::Fail(_)));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(matches!(ask().await, Reply::RunHere(None)));
    }
}
