//! From an entry of `processes:` to a running child.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use tokio::process::Command;
use tokio::task::JoinHandle;

use super::connection::{Connection, Request};
use super::conversation::Conversation;
use super::notifications::NotificationQueue;
use super::statistics::Counters;
use super::task::Task;
use crate::config::Process;
use crate::handler::BuildError;
use crate::handlers::command::environment::Environment;
use crate::handlers::command::group::Group;
use crate::handlers::command::place::{absolute, config_dir, working_dir};
use crate::handlers::command::program::Program;
use crate::handlers::command::start_error::start_error;

/// How a process is started, resolved as far as it can be before it is.
#[derive(Debug)]
pub(super) struct Launch {
    program: Program,
    arguments: Vec<String>,
    environment: Environment,
    directory: Arc<Path>,
}

impl Launch {
    /// Resolves an entry of `processes:`.
    ///
    /// # Errors
    /// When it can never be started.
    pub(super) fn new(
        process: &Process,
        project: &Path,
        env: &Arc<BTreeMap<OsString, OsString>>,
    ) -> Result<Self, BuildError> {
        let Some((name, arguments)) =
            process.command.split_first().filter(|(name, _)| !name.is_empty())
        else {
            return Err(BuildError::new("it has no `command`"));
        };
        if process.command.iter().any(|part| part.contains('\0')) {
            return Err(BuildError::new("its `command` can't have a zero byte"));
        }
        let project = absolute(project)?;
        let directory = working_dir(process.working_dir.as_deref(), env, &project)?;
        let environment = Environment::new(env, &process.inherit_env, &process.env)?
            .with_directories(config_dir(&process.location, &project), &project);
        Ok(Self {
            program: Program::new(name, environment.get("PATH"), &directory),
            arguments: arguments.to_vec(),
            environment,
            directory,
        })
    }

    /// Returns whether the child of the same command would be the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.environment == other.environment && self.directory == other.directory
    }

    /// Starts the child and the task that owns it.
    ///
    /// # Errors
    /// When the system can't start it: the cause, in words.
    pub(super) async fn start(
        &self,
        process: &Process,
        notifications: &Arc<NotificationQueue>,
        counters: &Arc<Counters>,
    ) -> Result<Running, String> {
        let program = self.program.file().map_err(|error| error.to_string())?;
        // An absolute path and no `pre_exec`, so that it is `posix_spawn` that starts it.
        let mut command = Command::new(program);
        command.args(&self.arguments).current_dir(&*self.directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.environment.apply(&mut command);
        let deadline = Instant::now() + process.start_timeout;
        let mut group = Group::spawn_patiently(&mut command, deadline)
            .await
            .map_err(|error| start_error(&error, program, &self.directory))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (group.take_stdin(), group.take_stdout(), group.take_stderr())
        else {
            return Err("its pipes are missing".to_owned());
        };
        let conversation = Conversation::new(process, stdin, Arc::clone(counters));
        let (connection, channels) = Connection::new(group);
        let outputs = (stdout, stderr);
        let owner =
            Task::new(conversation, channels, Arc::clone(notifications), outputs, process.max_line);
        let task = tokio::spawn(owner.run());
        Ok(Running { connection: Arc::new(connection), task })
    }
}

/// A running child and the task that owns it.
///
/// **Drop**: the child and its group are killed at once, its open calls fail.
#[derive(Debug)]
pub(super) struct Running {
    connection: Arc<Connection>,
    task: JoinHandle<()>,
}

impl Running {
    pub(super) const fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Stops the child in good order and waits until it is gone.
    pub(super) async fn stop(mut self) {
        self.connection.request(Request::Stop);
        // It fails only with its runtime, and then the child is gone, too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.connection.kill();
        self.task.abort();
    }
}
