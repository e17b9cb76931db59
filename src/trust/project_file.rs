//! A project's hooks file, and why it does not run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::coverage::Coverage;
use super::permissions::UnsafeFile;
use crate::config::{Diagnostic, Location, SourceFile};
use crate::directories::{is_repository, project_of};
use crate::files::{self, real};
use crate::paths::in_one_line;
use crate::shell::typed;

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
    /// What its commands name; empty unless the file was read to be shown.
    pub coverage: Coverage,
    /// The log that it has in `audit:`, which does not count because the file does not run. Known if the
    /// file was read to be shown.
    pub unapproved_audit: Option<PathBuf>,
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
    Unsafe(UnsafeFile),
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
            unapproved_audit: None,
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
                format!("`{}` {}", in_one_line(Path::new(name)), change.text())
            }
            Blocked::Unsafe(problem) => format!("this file can't count as approved: {problem}"),
        })
    }

    /// Returns what a person must do about it, in one word for a model; `None` if it runs.
    pub(crate) fn person_must(&self) -> Option<&'static str> {
        match self.blocked.as_ref()? {
            Blocked::File { change: FileChange::Gone, .. } => Some("restore"),
            _ => Some("approve"),
        }
    }

    /// Returns what a person does about it. A model must not see the text.
    pub fn remedy(&self) -> String {
        let own = in_one_line(Path::new(self.path.file_name().unwrap_or_default()));
        let (show, add) = (self.command("show"), self.command("add"));
        match &self.blocked {
            Some(Blocked::Unsafe(problem)) => problem.hint.clone(),
            Some(Blocked::Changed) => review_change(&own, &show, &add),
            Some(Blocked::File { name, change, .. }) => {
                let name = in_one_line(Path::new(name));
                match change {
                    FileChange::Changed => review_change(&name, &show, &add),
                    FileChange::Unapproved => review(&name, &show, &add),
                    FileChange::Gone => format!(
                        "restore `{name}`, or take it out of `{own}` and run {add} in a terminal"
                    ),
                }
            }
            Some(Blocked::Unapproved) | None => review(&own, &show, &add),
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

    /// Returns where its failure is reported: at the hook that names the file that changed, or at the
    /// file as a whole.
    pub(crate) fn location(&self, file: &Arc<SourceFile>) -> Location {
        match &self.blocked {
            Some(Blocked::File { at, .. }) => Location::new(Arc::clone(file), *at..*at),
            _ => Location::of_file_in(file.layer(), &file.path),
        }
    }

    /// Returns what to say if it does not run.
    pub fn warning(&self) -> Option<Diagnostic> {
        let warning = Diagnostic::warning(format!("{}: its hooks fail", self.problem()?));
        Some(warning.hint(self.remedy()).at(Location::of_file(&self.path)))
    }
}

fn review(name: &str, show: &str, add: &str) -> String {
    format!("review `{name}` with {show}, then run {add} in a terminal")
}

fn review_change(name: &str, show: &str, add: &str) -> String {
    format!("review the change of `{name}` with {show}, then undo it or run {add} in a terminal")
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
