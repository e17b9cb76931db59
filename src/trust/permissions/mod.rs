//! Files that another user could have changed are not read as policy.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::path::{Path, PathBuf};

pub(super) use system::{check_own, check_private};

/// A file that is not safe to take orders from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {problem}", path = path.display())]
#[non_exhaustive]
pub struct UnsafeFile {
    /// The file or the directory that is to blame.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

/// Checks that only the user and root can have written the file at `path` or put it there;
/// with `inside`, also that it really lies below that directory.
///
/// On Windows, only `inside` is checked.
///
/// # Errors
/// When the file or its directory is writable by everyone or owned by another user, or when a
/// symbolic link leads out of `inside`. A file that can't be looked at is left to its reader.
pub fn check_permissions(path: &Path, inside: Option<&Path>) -> Result<(), UnsafeFile> {
    let Ok(real) = dunce::canonicalize(path) else { return Ok(()) };
    if let Some(root) = inside
        && let Ok(root) = dunce::canonicalize(root)
        && !real.starts_with(&root)
    {
        return Err(UnsafeFile {
            path: path.to_owned(),
            problem: format!("is a symbolic link out of the project, to `{}`", real.display()),
            hint: "copy the file into the project, or name it with `--config`".to_owned(),
        });
    }
    system::check_writers(&real)
}
