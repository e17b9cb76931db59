//! Files that another user could have changed are not read as policy.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::path::Path;

use hookexec::config::{Diagnostic, Layer, Location};
use hookexec_files::directories::{is_in_project, project_of};
use hookexec_files::plain::line;
use hookexec_files::platform::resolve;
use hookexec_files::platform::system::canonical;

use crate::layout::link_to;

pub(super) use system::check_own;

/// Returns the problem of a file or directory that is not safe to take orders from.
fn unsafe_file(path: &Path, problem: &str, hint: impl Into<String>) -> Diagnostic {
    let problem = format!("`{}` {problem}", line(&path.to_string_lossy()));
    Diagnostic::error(problem).hint(hint).at(Location::of_file(path))
}

/// Checks that the file of `layer` at `path` may count: only the user and root can have written it or put it
/// there, and a project's is not reached through a link. Files that were named may be anyone's.
///
/// On Windows, nothing is checked but links.
///
/// # Errors
/// When the file or its directory is writable by everyone or owned by another user. A file that can't
/// be looked at is left to its reader.
pub(crate) fn check_file(path: &Path, layer: Layer) -> Result<(), Diagnostic> {
    match layer {
        Layer::Project => {
            check_plain(path)?;
            system::check_writers(path)
        }
        Layer::Managed | Layer::User => match canonical(path) {
            Ok(real) => system::check_writers(&real),
            Err(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Checks that a project's hooks file, or a directory for some, is not a symbolic link or behind one.
///
/// Before a file counts, hookexec looks at every hooks file of a project. A checkout could bring
/// thousands of links along that each take milliseconds to follow.
///
/// # Errors
/// When there is a link.
pub(crate) fn check_plain(path: &Path) -> Result<(), Diagnostic> {
    let Some(link) = link_to(path) else { return Ok(()) };
    let problem = "is a symbolic link: a project's hooks are not read through links";
    let hint = "put what it leads to in its place, or name the hooks file with `--config`";
    Err(unsafe_file(link, problem, hint))
}

/// Checks that the store of approvals at `directory` is not in the project of the hooks file at `path`,
/// and that no other user can write there.
pub(super) fn check_store(directory: &Path, path: &Path) -> Result<(), Diagnostic> {
    let directory = resolve(directory);
    let own = path.parent().unwrap_or(Path::new("."));
    if is_in_project(&directory, &resolve(project_of(own))) {
        let problem = "holds approvals, and lies inside the project";
        let hint = "set XDG_STATE_HOME to a directory of your own";
        return Err(unsafe_file(&directory, problem, hint));
    }
    system::check_private(&directory)
}
