//! Why a program could not be started, in words that help.

use std::io;
use std::path::Path;

/// Returns the cause of a failed start, and what to do.
pub fn start_error(error: &io::Error, program: &Path, directory: &Path) -> String {
    let shown = program.display();
    let place = directory.display();
    // The numbers are those of winerror.h.
    match error.raw_os_error() {
        _ if !directory.exists() => format!("its working directory `{place}` does not exist"),
        _ if !directory.is_dir() => format!("its working directory `{place}` is not a directory"),
        Some(267) => format!("its working directory `{place}` may not be entered"),
        Some(2 | 3) if !program.exists() => format!(
            "the program `{shown}` does not exist: a path with a slash is relative to the hook's working directory"
        ),
        Some(5) if program.is_dir() => format!("`{shown}` is a directory"),
        Some(5) => format!("`{shown}` may not be executed"),
        Some(193) => format!(
            "`{shown}` is not a program for Windows; name the interpreter of a script, as in `[python, check.py]`"
        ),
        Some(740) => {
            format!("`{shown}` asks for an administrator, which no hook can")
        }
        Some(206) => {
            "its arguments and environment are too large together: inherit fewer variables (`inherit_env`)"
                .to_owned()
        }
        None if error.kind() == io::ErrorKind::InvalidInput => format!(
            "`{shown}` could not be started: {error}; a `.cmd` or `.bat` file takes no argument that cmd.exe could read as another command"
        ),
        _ => format!("`{shown}` could not be started: {error}"),
    }
}
