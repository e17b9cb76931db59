//! How the child of a command or of a process is started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use hookexec_files::group::{Group, add_raw};
use tokio::process::Command;

use super::environment::Environment;
use crate::files;
use crate::platform::Platform;
use crate::platform::start_error::start_error;
use crate::platform::system::{DEFAULT_PATH, may_execute};

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
    #[error(
        "the program `{name}` was not found in PATH ({}): install it, or give its absolute path",
        path.display()
    )]
    NotFound { name: String, path: OsString },
    #[error(
        "the program `{name}` was not found in PATH ({}); `{file}` may not be executed: run `chmod +x {file}`",
        path.display(), file = file.display()
    )]
    NotExecutable { name: String, path: OsString, file: PathBuf },
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

/// A program as it was written, and the file it stands for once that is known.
#[derive(Debug)]
pub(crate) struct Program {
    /// As it was written, unless that is a path: then the file is known.
    name: String,
    /// Where it is looked for.
    path: OsString,
    file: OnceLock<PathBuf>,
}

impl Program {
    /// Returns the program called `name`, to be looked for in `path`, the `PATH` of the child.
    ///
    /// A name with a slash is a path, relative to `directory`. Directories in `path` that are not
    /// absolute are passed over: otherwise a program that an agent wrote could take the place of a
    /// guard's.
    pub(crate) fn new(name: &str, path: Option<&OsStr>, directory: &Path) -> Self {
        if Platform::HERE.is_path(name) {
            let file = OnceLock::from(directory.join(name));
            return Self { name: String::new(), path: OsString::new(), file };
        }
        let path = path.unwrap_or(OsStr::new(DEFAULT_PATH)).to_owned();
        let program = Self { name: name.to_owned(), path, file: OnceLock::new() };
        // What is missing now may be there when the hook runs, and is looked for again then.
        let _ = program.file();
        program
    }

    /// Returns the absolute path of its file; an error when there is none.
    pub(crate) fn file(&self) -> Result<&Path, LaunchError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let found = self.find()?;
        Ok(self.file.get_or_init(|| found))
    }

    fn find(&self) -> Result<PathBuf, LaunchError> {
        let mut barred = None;
        let files = files::programs(OsStr::new(&self.name), &self.path);
        for file in files.filter(|file| file.is_file()) {
            if may_execute(&file) {
                return Ok(file);
            }
            barred.get_or_insert(file);
        }
        let (name, path) = (self.name.clone(), self.path.clone());
        Err(match barred {
            Some(file) => LaunchError::NotExecutable { name, path, file },
            None => LaunchError::NotFound { name, path },
        })
    }
}
