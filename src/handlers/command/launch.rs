//! How the child of a command or of a process is started.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use tokio::process::Command;

use super::environment::Environment;
use super::program::{Program, ProgramError};
use super::start_error::start_error;
use hookexec_files::group::{Group, add_raw};

/// All of a child that is known before it is started.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) program: Program,
    pub(crate) arguments: Vec<String>,
    /// Text that follows them on the command line, not quoted.
    pub(crate) raw: Option<String>,
    pub(crate) environment: Environment,
    pub(crate) directory: Arc<Path>,
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The system's error, with what it means here.
    #[error("{0}")]
    System(String),
    #[error("its pipes are missing")]
    NoPipes,
}

impl Launch {
    /// Starts the child, with pipes; `prepare` adds what is known only now.
    ///
    /// # Errors
    /// When the system can't start it.
    pub(crate) async fn start(
        &self,
        deadline: Instant,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Group, LaunchError> {
        let program = self.program.file()?;
        // An absolute path and no `pre_exec`: see `program`.
        let mut command = Command::new(program);
        command.args(&self.arguments).current_dir(&*self.directory);
        if let Some(raw) = &self.raw {
            add_raw(&mut command, raw);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.environment.apply(&mut command);
        prepare(&mut command);
        match Group::spawn_patiently(&mut command, deadline).await {
            Ok(group) => Ok(group),
            Err(error) => Err(LaunchError::System(start_error(&error, program, &self.directory))),
        }
    }
}
