//! The paths that the commands of a hooks file name, and what they lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::project_file::ProjectFile;
use hookexec::registry::expand_path;
use hookexec_files::files;
use hookexec_files::paths::{lexical, physical};

/// The directory that a path counts from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Where the hooks of the project run.
    WorkingDir,
    /// The directory of the hooks file.
    HooksFile,
    /// The `working_dir:` of the hook, with variables as they are written.
    Written(String),
}

/// A path that a command names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedPath {
    /// The directory that it counts from.
    pub start: Start,
    /// The path as the command names it.
    pub path: String,
    /// Where the hook stands in the hooks file, in bytes.
    pub at: usize,
}

/// A named path and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Its path from the root of the repository; outside of it, the whole path.
    pub name: String,
    /// Its path on this machine.
    pub path: PathBuf,
    /// The target.
    pub found: Found,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing that a program could run: no file, or a directory.
    Nothing,
    /// A file whose bytes have this SHA-256.
    File(String),
    /// Something that can't be read as a file, and why.
    Unreadable(String),
}

impl ProjectFile {
    /// Returns the places that `paths` lead to, each once, with the first hook that names it.
    pub(super) fn places_of(&self, paths: &BTreeSet<NamedPath>) -> BTreeMap<PathBuf, usize> {
        let mut places = BTreeMap::new();
        for named in paths {
            let at = places.entry(self.place_of(named)).or_insert(named.at);
            *at = named.at.min(*at);
        }
        places
    }

    /// Returns where a named path leads on this machine.
    pub(super) fn place_of(&self, named: &NamedPath) -> PathBuf {
        let start = match &named.start {
            Start::WorkingDir => self.working_dir.clone(),
            Start::HooksFile => self.directory.clone(),
            Start::Written(text) => {
                let written = expand_path(text, &std::env::vars_os().collect());
                self.working_dir.join(written.unwrap_or_default())
            }
        };
        // Without the `.` of `./check.sh`.
        start.join(&named.path).components().collect()
    }

    /// Reads what is at `path`.
    pub(super) fn look_at(&self, path: PathBuf) -> NamedFile {
        let whole = lexical(&path);
        let name = whole.strip_prefix(&self.root).unwrap_or(&whole).to_string_lossy().into_owned();
        let found = match path.metadata() {
            Ok(metadata) if metadata.is_dir() => Found::Nothing,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Found::Nothing
            }
            // It is read at every event.
            _ => match files::digest_of_file(&path, &mut { 64 << 20 }) {
                Ok(digest) => Found::File(digest),
                Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                    Found::Unreadable("it is larger than 64 MiB".to_owned())
                }
                Err(error) => Found::Unreadable(error.to_string()),
            },
        };
        NamedFile { name, path, found }
    }

    /// Returns whether a path is in the project, by its text or with links followed.
    pub(super) fn is_inside(&self, path: &Path) -> bool {
        lexical(path).starts_with(&self.root) || physical(path).starts_with(&self.root)
    }
}
