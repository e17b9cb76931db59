//! Settings files on disk: read whole, replaced atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hookexec_files::files;
use hookexec_files::platform::system::{self, canonical};

/// Reads a settings file; `None` when it does not exist.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    // The largest settings file that is read.
    match files::read_regular(path, 64 << 20) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the text of a settings file; nothing if there is none that can be read.
pub fn text(path: &Path) -> String {
    read(path).ok().flatten().unwrap_or_default()
}

/// Replaces a file that holds the text `known`, so that an agent reads either the old text or the
/// new one.
///
/// Its mode, owner and extended attributes stay. A symbolic link goes on pointing at its target. A hard
/// link is cut: the file's other names keep the old text.
///
/// # Errors
/// Also fails if another program changed the file in the meantime: that change would be lost.
pub fn write(path: &Path, known: Option<&str>, text: &str) -> io::Result<()> {
    let real = target(path)?;
    if let Some(directory) = real.parent() {
        fs::create_dir_all(directory)?;
    }
    // The draft of settings that only their owner may read is private from the start.
    files::replace(&real, text.as_bytes(), real.exists(), |draft| {
        if let Ok(old) = fs::File::open(&real) {
            system::keep_attributes(&old, draft)?;
        }
        unchanged(&real, known)
    })
}

/// Follows symbolic links to the file to write.
fn target(path: &Path) -> io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    canonical(path).map_err(|error| {
        let hint = "make the file that it points at, or remove the link";
        io::Error::other(format!("it is a link to nothing ({error}): {hint}"))
    })
}

/// Removes a file and the directories that this leaves empty, unless the file has another text than
/// `known` by now. A link to it stays.
pub fn remove(path: &Path, known: &str) -> io::Result<()> {
    unchanged(path, Some(known))?;
    fs::remove_file(target(path)?)?;
    remove_empty_directories(path);
    Ok(())
}

fn unchanged(path: &Path, known: Option<&str>) -> io::Result<()> {
    if read(path)?.as_deref() == known {
        return Ok(());
    }
    Err(io::Error::other("another program changed it at this moment: try again"))
}

/// Removes the directories above `path` that are empty now, below the user's home and the project.
pub(super) fn remove_empty_directories(path: &Path) {
    let project = std::env::current_dir().ok();
    let roots: Vec<PathBuf> = [hookexec::home_directory(), project].into_iter().flatten().collect();
    for directory in path.ancestors().skip(1) {
        let is_below = roots.iter().any(|root| directory.starts_with(root));
        // `remove_dir` fails where other files are.
        if roots.contains(&directory.to_owned()) || !is_below || fs::remove_dir(directory).is_err()
        {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[cfg(unix)]
    use rustix::fs::XattrFlags;

    use super::*;

    // Windows lets few users make links.
    #[cfg(unix)]
    #[test]
    fn a_file_is_replaced_with_its_mode_and_behind_its_link() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().join("dotfiles.json");
        let link = directory.path().join("settings.json");
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&real, &link).unwrap();
        write(&link, Some("old"), "new").unwrap();
        assert_eq!(read(&real).unwrap().as_deref(), Some("new"));
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no temporary file is left");
    }

    // Windows lets few users make links.
    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("settings.json");
        for target in ["dotfiles.json", "gone/dotfiles.json", "settings.json"] {
            symlink(target, &link).unwrap();
            let error = write(&link, None, "new").unwrap_err().to_string();
            assert!(error.contains("it is a link to nothing"), "{error}");
            assert!(link.is_symlink());
            fs::remove_file(&link).unwrap();
        }
    }

    // Windows has none of them.
    #[cfg(unix)]
    #[test]
    fn extended_attributes_stay() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        let set = rustix::fs::setxattr(&path, "user.mine", b"kept", XattrFlags::empty());
        if set == Err(rustix::io::Errno::NOTSUP) {
            return;
        }
        write(&path, Some("old"), "new").unwrap();
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.mine", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
    }

    #[test]
    fn a_directory_that_is_missing_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/hooks.json");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, None, "{}").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("{}"));
    }

    #[test]
    fn a_change_by_another_program_is_not_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings.json");
        fs::write(&path, "theirs").unwrap();
        for known in [None, Some("old")] {
            assert!(write(&path, known, "new").unwrap_err().to_string().contains("try again"));
        }
        assert!(remove(&path, "old").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
        remove(&path, "theirs").unwrap();
    }
}
