//! Asking a server that runs already, in the place of the hooks.

use std::path::Path;
use std::time::Instant;

use hookexec::Verdict;
use hookexec_calls::shell::quoted;
use hookexec_project::LoadOptions;

use super::client::{Question, verdict};

/// The result of asking a server.
pub enum Reply {
    /// The server has answered.
    Verdict(Box<Verdict>),
    /// The hooks run in this process, for the reason that is given.
    RunHere(Option<String>),
    /// The call fails: why, and what to do about it.
    Fail(String),
}

/// Asks the server at `socket`, unless the project could not be found in time or the administrator has
/// hooks. Managed hooks run in the process of the call, with all others: another program may have put
/// its own server there, which does not know them.
///
/// An agent's call without its verdict fails, unless no hook can have run. For any other question the
/// hooks then run in this process.
pub async fn ask(
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
    let problem = match verdict(socket, question, project, until).await {
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
pub fn remedy(socket: &Path) -> String {
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
