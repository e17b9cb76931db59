//! `hookexec run --connect`: a server that runs already answers in this process's place.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hookexec::Verdict;
use hookexec_builtins::shell::quoted;
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

/// The server that answers.
pub(crate) struct Server {
    pub(super) socket: PathBuf,
    /// Whether a call without its verdict fails, unless no hook can have run. If not, the hooks run in
    /// this process.
    pub(super) must_answer: bool,
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
    /// Returns the server that is named. It is none for a hook's own call: a server does not know how
    /// deep that is nested.
    pub(crate) fn server(&self, must_answer: bool) -> Option<Server> {
        if std::env::var_os(depth::VARIABLE).is_some() {
            return None;
        }
        Some(Server { socket: self.connect.clone()?, must_answer })
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
        if !self.must_answer || problem.ran_nothing() {
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
        let server = Server { socket: "/nowhere".into(), must_answer: true };
        let ask = || server.answer(&options, Question::Own(Event::Stop, &input), None);
        assert!(matches!(ask().await, Reply::Fail(_)));
        std::fs::create_dir(managed.path().join("hooks.d")).unwrap();
        assert!(matches!(ask().await, Reply::RunHere(None)));
    }
}
