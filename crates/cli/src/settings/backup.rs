//! The backup of a settings file: its text before hookexec came into it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hookexec::internal::{files, state_directory, system};
use serde::{Deserialize, Serialize};

use super::store::{missing_directories, read};
use crate::error::{CommandError, OrCommandError as _, unwritable};

/// The backup of one settings file: the text before, for people as well, and a record. The owner alone
/// can read both.
#[derive(Debug)]
pub(crate) struct Backup {
    directory: PathBuf,
}

/// What an installation left.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    settings: PathBuf,
    /// The settings with hookexec in them.
    installed: String,
    /// Whether there was a file before.
    existed: bool,
    /// The directories that `install` made, the deepest first.
    directories: Vec<PathBuf>,
}

/// The settings as they were before an installation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// There was no file.
    Nothing,
    Text(String),
    /// The backup is missing.
    Unknown,
}

impl Backup {
    /// Returns the place for the backup of `settings`, under the user's state directory.
    pub(crate) fn of(settings: &Path) -> Option<Self> {
        let absolute = std::path::absolute(settings).ok()?;
        let key = &files::digest(absolute.to_string_lossy().as_bytes())[..16];
        Some(Self { directory: state_directory()?.join("hookexec/backups").join(key) })
    }

    /// Keeps the text before, and the text `now`, by which it is recognized again.
    pub(crate) fn keep(
        &self,
        settings: &Path,
        before: Option<&str>,
        now: &str,
    ) -> Result<(), CommandError> {
        let mut directories = self.record().map(|record| record.directories).unwrap_or_default();
        directories.extend(missing_directories(settings));
        directories.extend(missing_directories(&self.directory));
        let record = Record {
            settings: settings.to_owned(),
            installed: now.to_owned(),
            existed: before.is_some(),
            directories,
        };
        self.make_private().or_internal(unwritable(&self.directory))?;
        match before {
            // Rewriting the same text could only lose it.
            Some(text) if self.before() == Before::Text(text.to_owned()) => {}
            Some(text) => write_private(&self.before_path(), text)?,
            None => {}
        }
        let record =
            serde_json::to_string_pretty(&record).or_internal(unwritable(&self.record_path()))?;
        write_private(&self.record_path(), &record)
    }

    /// Returns whether `now` is exactly what an installation left.
    pub(crate) fn is_of(&self, now: &str) -> bool {
        self.record().is_some_and(|record| record.installed == now)
    }

    /// Returns the settings before the installation.
    pub(crate) fn before(&self) -> Before {
        let Some(record) = self.record() else { return Before::Unknown };
        if !record.existed {
            return Before::Nothing;
        }
        match read(&self.before_path()) {
            Ok(Some(text)) => Before::Text(text),
            _ => Before::Unknown,
        }
    }

    /// Returns the path of the text before.
    pub(crate) fn before_path(&self) -> PathBuf {
        self.directory.join("before")
    }

    /// Removes the backup, and the directories that `install` made and that are empty now.
    pub(crate) fn forget(&self) {
        let directories = self.record().map(|record| record.directories).unwrap_or_default();
        let _ = fs::remove_dir_all(&self.directory);
        let shared = self.directory.ancestors().skip(1).take(2);
        for directory in shared.map(Path::to_owned).chain(directories) {
            // Fails if other files are in there.
            let _ = fs::remove_dir(directory);
        }
    }

    fn record(&self) -> Option<Record> {
        serde_json::from_str(&read(&self.record_path()).ok()??).ok()
    }

    fn record_path(&self) -> PathBuf {
        self.directory.join("record.json")
    }

    /// Settings may hold keys: only their owner may read the backup.
    fn make_private(&self) -> io::Result<()> {
        files::private_directory(&self.directory)?;
        system::make_private(&self.directory)?;
        for path in [self.before_path(), self.record_path()] {
            if path.exists() {
                system::make_private(&path)?;
            }
        }
        Ok(())
    }
}

fn write_private(path: &Path, text: &str) -> Result<(), CommandError> {
    files::replace_private(path, text.as_bytes()).or_internal(unwritable(path))
}
