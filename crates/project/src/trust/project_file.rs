//! A project's hooks file, the paths that its commands name, and why it does not run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use crate::trust::typed;
use hookexec::config::{Diagnostic, FailedFile, InLayer as _, Location, SourceFile, file_of_layer};
use hookexec::registry::expand_path;
use hookexec_files::directories::{is_repository, project_of};
use hookexec_files::files::{self, real};
use hookexec_files::paths::{lexical, physical};
use hookexec_files::plain::line;

/// A hooks file that a project brought along.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectFile {
    /// The file, by the name under which it was found: a link is not followed.
    pub path: PathBuf,
    /// Where its hooks run.
    pub working_dir: PathBuf,
    /// The SHA-256 of its text, in hexadecimal.
    pub digest: String,
    /// Why it does not run; `None` if a person approved it as it is.
    pub blocked: Option<Blocked>,
    /// The files that its commands name; empty unless the file was read to be shown.
    pub coverage: Coverage,
    /// The places that the paths of its approval lead to.
    pub(crate) places: Vec<PathBuf>,
    /// The directory of the hooks file.
    pub(super) directory: PathBuf,
    /// The root of the repository that it is in; without one, the project's directory.
    pub(super) root: PathBuf,
}

/// Why a project's hooks file does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// No person approved its bytes.
    Unapproved,
    /// A person approved other bytes at its path.
    Changed,
    /// A file that its commands name is not as it was approved.
    File {
        /// The path from the root of the repository.
        name: String,
        /// How it differs.
        change: FileChange,
        /// Where the hook that names it stands in the hooks file, in bytes.
        at: usize,
    },
    /// No approval counts: another user, or the project, could have written it.
    Unsafe(Diagnostic),
}

/// How a named file differs from its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Its bytes are not the approved ones.
    Changed,
    /// The approval has no file of this name.
    Unapproved,
    /// It was approved, and is not there.
    Gone,
}

impl ProjectFile {
    /// Returns the file at `path` with this `text`, whose hooks run in `working_dir`. It counts as not
    /// approved.
    pub(crate) fn new(path: &Path, text: &str, working_dir: &Path) -> Self {
        let directory = real(match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        });
        let project = project_of(&directory);
        let repository = project.ancestors().find(|place| is_repository(place));
        Self {
            path: path.to_owned(),
            working_dir: real(working_dir),
            digest: files::digest(text.as_bytes()),
            blocked: Some(Blocked::Unapproved),
            coverage: Coverage::default(),
            places: Vec::new(),
            root: repository.unwrap_or(project).to_owned(),
            directory,
        }
    }

    /// Returns why it does not run, in words that a model may read; `None` if it runs.
    pub fn problem(&self) -> Option<String> {
        Some(match self.blocked.as_ref()? {
            Blocked::Unapproved => "this file is not approved".to_owned(),
            Blocked::Changed => "this file changed after its approval".to_owned(),
            Blocked::File { name, change, .. } => {
                format!("`{}` {}", line(name), change.text())
            }
            Blocked::Unsafe(problem) => {
                format!("this file can't count as approved: {}", problem.message)
            }
        })
    }

    /// Returns what a person does about it. A model must not see the text.
    fn remedy(&self) -> String {
        let own = line(&self.path.file_name().unwrap_or_default().to_string_lossy());
        let (name, change) = match &self.blocked {
            Some(Blocked::Unsafe(problem)) => return problem.hint.clone().unwrap_or_default(),
            Some(Blocked::File { name, change, .. }) => (line(name), *change),
            Some(Blocked::Changed) => (own.clone(), FileChange::Changed),
            Some(Blocked::Unapproved) | None => (own.clone(), FileChange::Unapproved),
        };
        let (show, add) = (self.command("show"), self.command("add"));
        match change {
            FileChange::Changed => format!(
                "review the change of `{name}` with {show}, then undo it or run {add} in a terminal"
            ),
            FileChange::Unapproved => {
                format!("review `{name}` with {show}, then run {add} in a terminal")
            }
            FileChange::Gone => {
                format!("restore `{name}`, or take it out of `{own}` and run {add} in a terminal")
            }
        }
    }

    /// Returns this action of `hookexec trust` with the file, as the user types it.
    fn command(&self, action: &str) -> String {
        let working_dir = if project_of(&self.directory) == self.working_dir {
            String::new()
        } else {
            format!("--cwd {} ", typed(&self.working_dir))
        };
        format!("`hookexec trust {action} {working_dir}{}`", typed(&self.path))
    }

    /// Returns its failure at every event, at the hook that names the file that changed, or at the file
    /// as a whole; `None` if it runs.
    pub(crate) fn failure(&self, source: &Arc<SourceFile>) -> Option<FailedFile> {
        let location = match self.blocked.as_ref()? {
            Blocked::File { at, .. } => Location::new(Arc::clone(source), *at..*at),
            _ => file_of_layer(source.layer(), &source.path),
        };
        let is_gone = matches!(self.blocked, Some(Blocked::File { change: FileChange::Gone, .. }));
        let mut failed = FailedFile::new(location, self.problem()?, self.remedy());
        failed.person_must = Some(if is_gone { "restore" } else { "approve" });
        Some(failed)
    }
}

impl FileChange {
    /// Returns it as the end of a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Changed => "changed after its approval",
            Self::Unapproved => "is not approved",
            Self::Gone => "was approved and is gone",
        }
    }
}

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
