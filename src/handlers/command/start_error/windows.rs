//! Why a program could not be started, in words that help.

use std::io;
use std::path::Path;

/// Returns the cause of a failed start, and what to do.
pub(crate) fn start_error(error: &io::Error, program: &Path, directory: &Path) -> String {
    const ERROR_FILE_NOT_FOUND: i32 = 2;
    const ERROR_PATH_NOT_FOUND: i32 = 3;
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_BAD_EXE_FORMAT: i32 = 193;
    const ERROR_FILENAME_EXCED_RANGE: i32 = 206;
    const ERROR_DIRECTORY: i32 = 267;
    const ERROR_ELEVATION_REQUIRED: i32 = 740;

    let shown = program.display();
    let place = directory.display();
    match error.raw_os_error() {
        _ if !directory.exists() => format!("its working directory `{place}` does not exist"),
        _ if !directory.is_dir() => format!("its working directory `{place}` is not a directory"),
        Some(ERROR_DIRECTORY) => format!("its working directory `{place}` may not be entered"),
        Some(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND) if !program.exists() => format!(
            "the program `{shown}` does not exist: a path with a slash is relative to the hook's working directory"
        ),
        Some(ERROR_ACCESS_DENIED) if program.is_dir() => format!("`{shown}` is a directory"),
        Some(ERROR_ACCESS_DENIED) => format!("`{shown}` may not be executed"),
        Some(ERROR_BAD_EXE_FORMAT) => format!(
            "`{shown}` is not a program for Windows; name the interpreter of a script, as in `[python, check.py]`"
        ),
        Some(ERROR_ELEVATION_REQUIRED) => {
            format!("`{shown}` asks for an administrator, which no hook can")
        }
        Some(ERROR_FILENAME_EXCED_RANGE) => {
            "its arguments and environment are too large together: inherit fewer variables (`inherit_env`)"
                .to_owned()
        }
        None if error.kind() == io::ErrorKind::InvalidInput => format!(
            "`{shown}` could not be started: {error}; a `.cmd` or `.bat` file takes no argument that cmd.exe could read as another command"
        ),
        _ => format!("`{shown}` could not be started: {error}"),
    }
}
