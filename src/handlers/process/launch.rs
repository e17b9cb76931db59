//! From an entry of `processes:` to a running child.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinHandle;

use super::connection::{Connection, Request};
use super::conversation::Conversation;
use super::notifications::NotificationQueue;
use super::statistics::Counters;
use super::task::Task;
use crate::config::Process;
use crate::handler::BuildError;
use crate::handlers::command::environment::Environment;
use crate::handlers::command::launch::Launch;
use crate::handlers::command::place::{absolute, config_dir, working_dir};
use crate::handlers::command::program::Program;

/// Resolves how a process is started, as far as that can be before it is.
///
/// # Errors
/// When it can never be started.
pub(super) fn resolve(
    process: &Process,
    project: &Path,
    env: &Arc<BTreeMap<OsString, OsString>>,
) -> Result<Launch, BuildError> {
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
    let program = Program::new(name, environment.get("PATH"), &directory);
    Ok(Launch { program, arguments: arguments.to_vec(), raw: None, environment, directory })
}

/// A running child and the task that owns it.
///
/// **Drop**: the child and its group are killed at once, its open calls fail.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) connection: Arc<Connection>,
    task: JoinHandle<()>,
}

impl Child {
    /// Starts the child and the task that owns it.
    ///
    /// # Errors
    /// When the system can't start it: the cause, in words.
    pub(super) async fn start(
        launch: &Launch,
        process: &Process,
        notifications: &Arc<NotificationQueue>,
        counters: &Arc<Counters>,
    ) -> Result<Self, String> {
        let deadline = Instant::now() + process.start_timeout;
        let mut group = launch.start(deadline, |_| {}).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.take_pipes() else {
            return Err("its pipes are missing".to_owned());
        };
        let conversation = Conversation::new(process, stdin, Arc::clone(counters));
        let (connection, channels) = Connection::new(group);
        let outputs = (stdout, stderr);
        let owner =
            Task::new(conversation, channels, Arc::clone(notifications), outputs, process.max_line);
        let task = tokio::spawn(owner.run());
        Ok(Self { connection: Arc::new(connection), task })
    }

    /// Stops the child in good order and waits until it is gone.
    pub(super) async fn stop(mut self) {
        self.connection.request(Request::Stop);
        // It fails only with its runtime, and then the child is gone, too.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.connection.kill();
        self.task.abort();
    }
}
