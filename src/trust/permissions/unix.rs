//! Owners and modes say who can write.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::UnsafeFile;
use crate::platform::Platform;

/// Checks that only the user and root can have written the file at `real` or put it there.
pub(super) fn check_writers(real: &Path) -> Result<(), UnsafeFile> {
    let user = rustix::process::geteuid().as_raw();
    for place in [Some(real), real.parent()].into_iter().flatten() {
        let Ok(metadata) = fs::metadata(place) else { continue };
        let mode = metadata.permissions().mode();
        // Others may add files to a sticky directory such as /tmp, but not replace this one.
        let sticky = metadata.is_dir() && mode & 0o1000 != 0;
        if mode & 0o002 != 0 && !sticky {
            return Err(UnsafeFile {
                path: place.to_owned(),
                problem: format!("can be written by every user (mode {:03o})", mode & 0o777),
                hint: format!("run `chmod o-w {}`", place.display()),
            });
        }
        if metadata.is_file() && metadata.uid() != user && metadata.uid() != 0 {
            return Err(UnsafeFile {
                path: place.to_owned(),
                problem: format!("belongs to another user (uid {})", metadata.uid()),
                hint: format!("check what it says, then run `chown {user} {}`", place.display()),
            });
        }
    }
    Ok(())
}

/// Checks that the directory at `path`, made or not, and every one above it belong to the user or root,
/// and that no other user can write there.
pub(in crate::trust) fn check_private(path: &Path) -> Result<(), UnsafeFile> {
    path.ancestors().try_for_each(check_own)
}

/// Checks that what is at `path`, if anything, belongs to the user or root, and that no other user can
/// write it.
pub(in crate::trust) fn check_own(path: &Path) -> Result<(), UnsafeFile> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    let user = rustix::process::geteuid().as_raw();
    let mode = metadata.permissions().mode();
    let unsafe_file = |problem, hint| Err(UnsafeFile { path: path.to_owned(), problem, hint });
    if metadata.uid() != user && metadata.uid() != 0 {
        let problem = format!("belongs to another user (uid {})", metadata.uid());
        return unsafe_file(
            problem,
            "set HOME or XDG_STATE_HOME to a directory of your own".into(),
        );
    }
    // The group of the user alone is the user.
    let own_group =
        Platform::HERE.own_groups && metadata.gid() == rustix::process::getegid().as_raw();
    let others = if own_group { 0o002 } else { 0o022 };
    // Others may add to a sticky directory such as /tmp, but not replace what is there.
    let sticky = metadata.is_dir() && mode & 0o1000 != 0;
    if mode & others != 0 && !sticky {
        let problem = format!("can be written by others (mode {:03o})", mode & 0o777);
        return unsafe_file(problem, format!("run `chmod go-w {}`", path.display()));
    }
    Ok(())
}
