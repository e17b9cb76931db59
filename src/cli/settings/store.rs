//! Settings files on disk: read whole, replaced at once, and what was there before.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// Reads a settings file; `None` when there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    // A pipe in its place would keep whoever opens it waiting.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Replaces the text `known` of a file at once, so that an agent that reads it sees the old text or the
/// new one. Its mode and its owner stay, and a symbolic link goes on pointing at it.
///
/// # Errors
/// Also when the file has another text by now: somebody's change would be lost.
pub(crate) fn write(path: &Path, known: Option<&str>, text: &str) -> io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = real.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.hookexec-{}", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        if let Ok(old) = fs::metadata(&real) {
            let new = file.metadata()?;
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
            }
            file.set_permissions(old.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        unchanged(&real, known)?;
        fs::rename(&temporary, &real)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes a file, unless it has another text than `known` by now.
pub(crate) fn remove(path: &Path, known: &str) -> io::Result<()> {
    unchanged(path, Some(known))?;
    fs::remove_file(path)
}

fn unchanged(path: &Path, known: Option<&str>) -> io::Result<()> {
    if read(path)?.as_deref() == known {
        return Ok(());
    }
    Err(io::Error::other("it was changed at this very moment and is left alone; try again"))
}

/// What a settings file was before hookexec came into it.
#[derive(Debug)]
pub(crate) struct Backup {
    directory: PathBuf,
}

impl Backup {
    /// Returns the place for the backup of `settings`, under the user's state directory.
    pub(crate) fn of(settings: &Path) -> Option<Self> {
        let absolute = std::path::absolute(settings).ok()?;
        let key = &digest(&absolute.to_string_lossy())[..16];
        let base = etcetera::base_strategy::Xdg::new().ok()?.state_dir()?;
        Some(Self { directory: base.join("hookexec/backups").join(key) })
    }

    /// Keeps what was there before, and what is there now so that it is known again.
    pub(crate) fn keep(&self, settings: &Path, before: Option<&str>, now: &str) -> io::Result<()> {
        // Settings may hold keys; nobody else reads what is kept of them, also not of earlier times.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        fs::set_permissions(&self.directory, fs::Permissions::from_mode(0o700))?;
        match before {
            Some(text) => write_private(&self.before_path(), text)?,
            None => self.forget_before()?,
        }
        write_private(&self.directory.join("path"), &settings.to_string_lossy())?;
        write_private(&self.directory.join("installed.sha256"), &digest(now))
    }

    /// Returns whether `now` is exactly what an installation left.
    pub(crate) fn is_of(&self, now: &str) -> bool {
        fs::read_to_string(self.directory.join("installed.sha256"))
            .is_ok_and(|known| known == digest(now))
    }

    /// Returns what was there before: `None` when there was no file.
    pub(crate) fn before(&self) -> io::Result<Option<String>> {
        read(&self.before_path())
    }

    /// Returns where the text from before is kept.
    pub(crate) fn before_path(&self) -> PathBuf {
        self.directory.join("before")
    }

    /// Throws the backup away.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }

    fn forget_before(&self) -> io::Result<()> {
        match fs::remove_file(self.before_path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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

    #[test]
    fn a_directory_that_is_missing_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/hooks.json");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, None, "{}").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("{}"));
    }

    #[test]
    fn a_change_by_somebody_else_is_not_written_over() {
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
