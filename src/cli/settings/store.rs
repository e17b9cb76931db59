//! Settings files on disk: read whole, replaced at once, and what was there before.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use sha2::{Digest as _, Sha256};

/// Reads a settings file; `None` when there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file at once, so that an agent that reads it sees the old text or the new one. Its
/// mode stays, and a symbolic link goes on pointing at it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = real.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.hookexec-{}", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        if let Ok(known) = fs::metadata(&real) {
            file.set_permissions(known.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &real)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
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
        fs::create_dir_all(&self.directory)?;
        match before {
            Some(text) => fs::write(self.before_path(), text)?,
            None => self.forget_before()?,
        }
        fs::write(self.directory.join("path"), settings.to_string_lossy().as_bytes())?;
        fs::write(self.directory.join("installed.sha256"), digest(now))
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

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_mode_and_behind_its_link() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().join("dotfiles.json");
        let link = directory.path().join("settings.json");
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&real, &link).unwrap();
        write(&link, "new").unwrap();
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
        write(&path, "{}").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("{}"));
    }
}
