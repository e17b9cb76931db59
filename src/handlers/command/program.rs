//! Which file a command's program is.
//!
//! A program is always started by its absolute path: the standard library then uses `posix_spawn`,
//! whatever the child's environment is. Otherwise it forks, which takes longer the more memory the
//! host has: 30 ms a hook with a gibibyte.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::files;
use crate::platform::Platform;
use crate::platform::system::{DEFAULT_PATH, may_execute};

/// A program as it was written, and the file it stands for once that is known.
#[derive(Debug)]
pub(crate) struct Program {
    /// As it was written, unless that is a path: then the file is known.
    name: String,
    /// Where it is looked for.
    path: OsString,
    file: OnceLock<PathBuf>,
}

/// Why a program has no file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
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
    pub(crate) fn file(&self) -> Result<&Path, ProgramError> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let found = self.find()?;
        Ok(self.file.get_or_init(|| found))
    }

    fn find(&self) -> Result<PathBuf, ProgramError> {
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
            Some(file) => ProgramError::NotExecutable { name, path, file },
            None => ProgramError::NotFound { name, path },
        })
    }
}
