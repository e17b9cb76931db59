//! Access lists are not read, so the place says who can write.

use std::path::Path;

use super::unsafe_file;
use hookexec::config::Diagnostic;
use hookexec_files::platform::system::is_in_profile;

/// Checks nothing: a project's file counts by its approved bytes, and the managed directory is one
/// that only administrators can write.
#[expect(clippy::unnecessary_wraps, reason = "the other system finds problems")]
pub(super) fn check_writers(_real: &Path) -> Result<(), Diagnostic> {
    Ok(())
}

/// Checks that the directory at `path`, made or not, is below the user's profile.
pub(super) fn check_private(path: &Path) -> Result<(), Diagnostic> {
    if is_in_profile(path) {
        return Ok(());
    }
    let problem = "is not below your profile, and hookexec does not read access lists";
    let hint = "unset XDG_STATE_HOME, or set it to a directory below your profile";
    Err(unsafe_file(path, problem, hint))
}

/// Checks that what is at `path` is below the user's profile.
pub(in crate::trust) fn check_own(path: &Path) -> Result<(), Diagnostic> {
    check_private(path)
}
