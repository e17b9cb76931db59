//! The backup of a settings file: its text before hookexec came into it.

use std::fs;
use std::path::{Path, PathBuf};

use hookexec_files::directories::state_directory;
use hookexec_files::files;
use serde::Deserialize;
use serde_json::json;

use super::inspect::AgentFile;
use super::{SettingsError, store};
use crate::program::KeepError;

/// The backup of one settings file. Settings may hold keys: only their owner can read it.
#[derive(Debug)]
pub struct Backup {
    /// Where it is.
    pub path: PathBuf,
    kept: Option<Kept>,
}

/// The content of a backup.
#[derive(Debug, Deserialize)]
struct Kept {
    /// The text before; `None` if there was no file.
    before: Option<String>,
    /// The text with hookexec in it.
    installed: String,
}

impl Backup {
    /// Reads the backup of `settings`, under the user's state directory.
    pub fn of(settings: &Path) -> Result<Self, KeepError> {
        let absolute = std::path::absolute(settings).map_err(KeepError::writing(settings))?;
        let key = &files::digest(absolute.to_string_lossy().as_bytes())[..16];
        let directory = state_directory().ok_or(KeepError::NoHome)?;
        let path = directory.join(format!("hookexec/backups/{key}.json"));
        // A backup that can't be read counts as none: hookexec's entries are then taken out one by one.
        let kept = serde_json::from_str(&store::text(&path)).ok();
        Ok(Self { path, kept })
    }

    /// Returns whether `text` is exactly what an installation left.
    pub fn is_of(&self, text: &str) -> bool {
        matches!(&self.kept, Some(kept) if kept.installed == text)
    }

    /// Returns the text of the file without hookexec: byte by byte as it was, if nothing changed since.
    /// `None` for a file that `install` made and that holds nothing else.
    pub fn text_without_hookexec(&self, file: &AgentFile) -> Result<Option<String>, SettingsError> {
        let Some(current) = &file.text else { return Ok(None) };
        let Some(kept) = &self.kept else { return Ok(Some(file.without(current)?)) };
        if kept.installed == *current {
            return Ok(kept.before.clone());
        }
        let text = file.without(current)?;
        let is_left_over = kept.before.is_none() && file.is_bare(&text);
        Ok(if is_left_over { None } else { Some(text) })
    }

    /// Keeps the text `before`, and the text with hookexec in it, by which it is recognized again.
    pub fn keep(
        &self,
        file: &AgentFile,
        before: Option<&str>,
        after: &str,
    ) -> Result<(), KeepError> {
        // The path is for a person who looks into the backup.
        let settings = file.path.to_string_lossy();
        let kept = json!({ "settings": settings, "before": before, "installed": after });
        let written = files::replace_private(&self.path, format!("{kept:#}").as_bytes());
        written.map_err(KeepError::writing(&self.path))
    }

    /// Removes the backup.
    pub fn forget(self) {
        let _ = fs::remove_file(&self.path);
        store::remove_empty_directories(&self.path);
    }
}
