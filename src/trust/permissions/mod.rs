//! Files that another user could have changed are not read as policy.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::path::{Path, PathBuf};

use crate::directories::link_to;
use crate::paths::in_one_line;

pub(super) use system::{check_own, check_private};

/// A file that is not safe to take orders from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {problem}", path = in_one_line(path))]
pub struct UnsafeFile {
    /// The file or the directory that is to blame.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

/// Checks that only the user and root can have written the file at `path` or put it there.
///
/// On Windows, nothing is checked.
///
/// # Errors
/// When the file or its directory is writable by everyone or owned by another user. A file that can't
/// be looked at is left to its reader.
pub(crate) fn check_permissions(path: &Path) -> Result<(), UnsafeFile> {
    let Ok(real) = dunce::canonicalize(path) else { return Ok(()) };
    system::check_writers(&real)
}

/// Like [`check_permissions`], for a hooks file in a project's directory whose path has no links.
///
/// # Errors
/// Also when [`check_plain`] fails.
pub(crate) fn check_project_file(path: &Path) -> Result<(), UnsafeFile> {
    check_plain(path)?;
    system::check_writers(path)
}

/// Checks that a project's hooks file, or a directory for some, is not a symbolic link or behind one.
///
/// Before a file counts, hookexec looks at every hooks file of a project. A checkout could bring
/// thousands of links along that each take milliseconds to follow.
///
/// # Errors
/// When there is a link.
pub(crate) fn check_plain(path: &Path) -> Result<(), UnsafeFile> {
    let Some(link) = link_to(path) else { return Ok(()) };
    Err(UnsafeFile {
        path: link.to_owned(),
        problem: "is a symbolic link: a project's hooks are not read through links".to_owned(),
        hint: "put what it leads to in its place, or name the hooks file with `--config`"
            .to_owned(),
    })
}
