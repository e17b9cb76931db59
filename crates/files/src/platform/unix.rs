//! System calls and rules of Unix.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::fs::{Access, OFlags, XattrFlags};
use rustix::process::geteuid;

/// Where programs are looked for when the child has no `PATH`: as the system does.
pub const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Variables that every child gets: no program needs one here.
pub const NEEDED_VARIABLES: &[&str] = &[];

/// Makes a file that is created readable for the user alone.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Makes opening a pipe or a device return at once.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed())
}

/// Like [`without_waiting`], and opens no link.
pub fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits().cast_signed())
}

/// Returns the path of a file that exists, without links and `..`.
pub fn canonical(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Returns the path as it is: it has one form here.
pub fn simplified(path: &Path) -> &Path {
    path
}

/// Returns whether opening failed because a link is there.
pub fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Makes a directory that only the user can enter; with `above`, also those above it.
pub fn make_private_directory(path: &Path, above: bool) -> io::Result<()> {
    DirBuilder::new().recursive(above).mode(0o700).create(path)
}

/// Lets every user read a file, and start it if it `is_program`.
pub fn share(file: &File, is_program: bool) -> io::Result<()> {
    let mode = if is_program { 0o755 } else { 0o644 };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Lets every user enter a directory.
pub fn share_directory(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Returns whether `path` is a directory, and no link to one, that only the user can enter.
pub fn is_private_directory(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    let is_open = found.mode() & 0o077 != 0;
    Ok(found.is_dir() && belongs_to_user(&found) && !is_open)
}

/// Checks that what was opened belongs to the user, and that no other user can write it.
pub fn check_owned(found: &Metadata) -> io::Result<()> {
    let owner = found.uid();
    if owner != geteuid().as_raw() {
        return Err(io::Error::other(format!(
            "it belongs to another user (uid {owner}); move it away"
        )));
    }
    if found.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users may write it; run `chmod go-w` on it"));
    }
    Ok(())
}

/// Returns whether a file or a directory belongs to the user.
pub fn belongs_to_user(found: &Metadata) -> bool {
    found.uid() == geteuid().as_raw()
}

/// Returns whether an open file still has a name.
pub fn has_name(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Returns what tells the file at `path` from every other: several names may lead to one file.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Returns whether the user may execute the file at `path`.
pub fn user_may_execute(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Returns whether the mode of a file gives anyone the right to execute it.
pub fn has_execute_bit(_path: &Path, found: &Metadata) -> bool {
    found.permissions().mode() & 0o111 != 0
}

/// Returns the names that a program called `name` may have in a directory.
pub fn program_names(name: &OsStr) -> impl Iterator<Item = PathBuf> {
    std::iter::once(PathBuf::from(name))
}

/// Returns the file of a shell that is not looked for by its name: there is none.
pub fn shell_file(_name: &str, _path: Option<&OsStr>) -> Option<String> {
    None
}

/// Returns what to do when a shell is missing, where it is not plain.
pub fn shell_hint(_name: &str) -> Option<&'static str> {
    None
}

/// Returns a number or name that no other user of this machine has.
pub fn user_id() -> String {
    geteuid().as_raw().to_string()
}

/// Returns the name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the signal that ended a process, if one did.
pub fn ending_signal(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal()
}

/// Copies owner, mode and extended attributes, access control lists among them.
pub fn keep_attributes(old: &File, new: &File) -> io::Result<()> {
    let (before, now) = (old.metadata()?, new.metadata()?);
    if (before.uid(), before.gid()) != (now.uid(), now.gid()) {
        std::os::unix::fs::fchown(new, Some(before.uid()), Some(before.gid()))?;
    }
    new.set_permissions(before.permissions())?;
    // Not every file system has extended attributes, and some of them only the kernel may set.
    let mut names = vec![0; 64 << 10];
    let length = rustix::fs::flistxattr(old, &mut names).unwrap_or(0);
    let mut value = vec![0; 64 << 10];
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::fgetxattr(old, name, &mut value) {
            let _ = rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
    Ok(())
}
