//! Owners and modes say who can write.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::process::geteuid;

use super::unsafe_file;
use crate::trust::typed;
use hookexec::config::Diagnostic;
use hookexec_files::platform::Platform;

/// Checks that only the user, the group and root can have written the file at `real` or put it there.
/// The group may, because a umask of 002 lets it write every file.
pub(super) fn check_writers(real: &Path) -> Result<(), Diagnostic> {
    for place in [Some(real), real.parent()].into_iter().flatten() {
        let Ok(metadata) = fs::metadata(place) else { continue };
        if can_write(0o002, &metadata) {
            let problem = format!("can be written by every user (mode {:03o})", mode(&metadata));
            return Err(unsafe_file(place, &problem, format!("run `chmod o-w {}`", typed(place))));
        }
        if metadata.is_file() {
            let (user, shown) = (geteuid().as_raw(), typed(place));
            let hint = format!("check what it says, then run `chown {user} {shown}`");
            check_owner(place, &metadata, &hint)?;
        }
    }
    Ok(())
}

/// Checks that the directory at `path`, made or not, and every one above it belong to the user or root,
/// and that no other user can write there.
pub(super) fn check_private(path: &Path) -> Result<(), Diagnostic> {
    path.ancestors().try_for_each(check_own)
}

/// Checks that what is at `path`, if anything, belongs to the user or root, and that no other user can
/// write it, nor its group: a user who can write approvals could approve anything.
pub(in crate::trust) fn check_own(path: &Path) -> Result<(), Diagnostic> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    check_owner(path, &metadata, "set HOME or XDG_STATE_HOME to a directory of your own")?;
    // The group of the user alone is the user.
    let own_group =
        Platform::HERE.own_groups && metadata.gid() == rustix::process::getegid().as_raw();
    if can_write(if own_group { 0o002 } else { 0o022 }, &metadata) {
        let problem = format!("can be written by others (mode {:03o})", mode(&metadata));
        return Err(unsafe_file(path, &problem, format!("run `chmod go-w {}`", typed(path))));
    }
    Ok(())
}

/// Checks that the user or root owns a file.
fn check_owner(path: &Path, metadata: &Metadata, hint: &str) -> Result<(), Diagnostic> {
    let owner = metadata.uid();
    if owner == geteuid().as_raw() || owner == 0 {
        return Ok(());
    }
    Err(unsafe_file(path, &format!("belongs to another user (uid {owner})"), hint))
}

/// Returns whether `others`, the bits of a mode, can replace what is there. Others may add files to a
/// sticky directory such as /tmp, but not replace one.
fn can_write(others: u32, metadata: &Metadata) -> bool {
    let mode = metadata.permissions().mode();
    let sticky = metadata.is_dir() && mode & 0o1000 != 0;
    mode & others != 0 && !sticky
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o777
}
