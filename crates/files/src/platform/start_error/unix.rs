//! Why a program could not be started, in words that help.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use crate::bounded::read_beginning;
use crate::files;
use crate::platform::system::user_may_execute;

/// Returns the cause of a failed start, and what to do.
///
/// The system has one word for many causes: "no such file" is also said of a missing working
/// directory and of a script's missing interpreter. So the file system is asked again.
pub fn start_error(error: &io::Error, program: &Path, directory: &Path) -> String {
    let shown = program.display();
    let place = directory.display();
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) if !directory.exists() => {
            format!("its working directory `{place}` does not exist")
        }
        Some(Errno::NOENT | Errno::NOTDIR) if !directory.is_dir() => {
            format!("its working directory `{place}` is not a directory")
        }
        Some(Errno::NOENT) if program.exists() => match interpreter(program) {
            Some(interpreter) => format!(
                "`{shown}` asks for the interpreter `{interpreter}` in its first line, which does not exist: install it, or correct the line"
            ),
            None => format!("`{shown}` needs a loader that does not exist on this system"),
        },
        Some(Errno::NOENT | Errno::NOTDIR) => {
            let hint = if program.components().any(|part| part.as_os_str() == "~") {
                ": only a shell expands `~`; write the path out, or the command as one string"
            } else {
                ": a path with a slash is relative to the hook's working directory"
            };
            format!("the program `{shown}` does not exist{hint}")
        }
        Some(Errno::ACCESS) if program.is_dir() => format!("`{shown}` is a directory"),
        Some(Errno::ACCESS) if is_hidden(program) => {
            format!("a directory above `{shown}` may not be entered")
        }
        Some(Errno::ACCESS) if !program.is_file() => format!("`{shown}` is not a regular file"),
        Some(Errno::ACCESS) if user_may_execute(program) && interpreter(program).is_none() => {
            format!("its working directory `{place}` may not be entered")
        }
        Some(Errno::ACCESS) => match interpreter(program).filter(|_| user_may_execute(program)) {
            Some(interpreter) => format!(
                "the interpreter `{interpreter}` of `{shown}`, or the working directory `{place}`, may not be used"
            ),
            None => format!("`{shown}` may not be executed: run `chmod +x {shown}`"),
        },
        Some(Errno::NOEXEC) => format!(
            "`{shown}` is not a program for this system; a script needs a first line such as `#!/bin/sh`"
        ),
        Some(Errno::TXTBSY) => format!("`{shown}` is being written to"),
        Some(Errno::TOOBIG) => {
            "its arguments and environment are too large together: inherit fewer variables (`inherit_env`)"
                .to_owned()
        }
        Some(Errno::AGAIN | Errno::NOMEM) => format!(
            "the system has no room for another process ({error}): lower `max_parallel`, or raise the limit (`ulimit -u`)"
        ),
        Some(Errno::MFILE | Errno::NFILE) => format!(
            "too many files are open ({error}): lower `max_parallel`, or raise the limit (`ulimit -n`)"
        ),
        _ => format!("`{shown}` could not be started: {error}"),
    }
}

fn is_hidden(program: &Path) -> bool {
    program.metadata().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns the program that the first line of a script names.
fn interpreter(script: &Path) -> Option<String> {
    // A pipe in the place of the script would keep the reader waiting.
    let start = read_beginning(files::open_regular(script).ok()?, 256).ok()?.bytes;
    let start = String::from_utf8_lossy(&start);
    let line = start.split('\n').next()?;
    // A file written on Windows asks for `/bin/sh\r`: the escape shows what is wrong.
    let line = line.strip_prefix("#!")?.trim_matches([' ', '\t']);
    match line.split([' ', '\t']).next() {
        None | Some("") => None,
        Some(program) => Some(program.escape_debug().to_string()),
    }
}
