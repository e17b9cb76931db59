//! Access lists are not read, so the place says who can write.

use std::path::Path;

use super::UnsafeFile;
use crate::platform::system::is_in_profile;

/// Checks nothing: a project's file counts by its approved bytes, and the managed directory is one
/// that only administrators can write.
#[expect(clippy::unnecessary_wraps, reason = "the other system finds problems")]
pub(super) fn check_writers(_real: &Path) -> Result<(), UnsafeFile> {
    Ok(())
}

/// Checks that the directory at `path`, made or not, is below the user's profile.
pub(in crate::internal::trust) fn check_private(path: &Path) -> Result<(), UnsafeFile> {
    if is_in_profile(path) {
        return Ok(());
    }
    Err(UnsafeFile {
        path: path.to_owned(),
        problem: "is not below your profile, and hookexec does not read access lists".to_owned(),
        hint: "unset XDG_STATE_HOME, or set it to a directory below your profile".to_owned(),
    })
}

/// Checks that what is at `path` is below the user's profile.
pub(in crate::internal::trust) fn check_own(path: &Path) -> Result<(), UnsafeFile> {
    check_private(path)
}
