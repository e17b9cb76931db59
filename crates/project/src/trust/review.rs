//! The hooks files of a project as a person reviews them: how each differs from its approval, and which
//! wait, for an agent's own dialogue.

use std::io;
use std::path::PathBuf;

use hookexec::config::Diagnostic;
use serde::{Serialize, Serializer};

use super::project_file::{Blocked, FileChange, Found, ProjectFile};
use super::store::TrustStore;
use crate::load::{LoadOptions, Loading};

/// One hooks file of a project, and how it differs from its approval.
#[derive(Debug, Default, Serialize)]
pub struct Review {
    /// The file itself; `None` if it is gone.
    #[serde(skip)]
    pub file: Option<ProjectFile>,
    /// Its path.
    pub path: PathBuf,
    /// Whether it runs.
    pub status: Status,
    /// The SHA-256 of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Its text, which an approval is for.
    pub text: String,
    /// The files that an approval covers, as far as they are as they were approved.
    pub covered: Vec<String>,
    /// Files that changed since the approval.
    pub changed: Vec<String>,
    /// Approved files that are gone.
    pub gone: Vec<String>,
    /// Files that the approval does not have.
    pub not_approved: Vec<String>,
    /// Commands that name or run something that no approval covers.
    pub not_covered: Vec<String>,
    /// Why the file can't be approved.
    #[serde(serialize_with = "as_texts")]
    pub problems: Vec<Diagnostic>,
    /// The changes since the approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Whether a hooks file runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It does.
    Approved,
    /// The file or one that its commands name changed after the approval, or is gone.
    Changed,
    /// No person approved the file, or one that its commands name.
    #[default]
    NotApproved,
}

impl Review {
    /// Returns the review of an approved file that is gone.
    pub fn of_gone(path: PathBuf) -> Self {
        Self { path, status: Status::Changed, ..Self::default() }
    }

    /// Returns the review of a file.
    pub fn of(file: ProjectFile, store: &TrustStore) -> Self {
        let mut review = Self {
            path: file.path.clone(),
            status: Status::of(&file),
            digest: Some(file.digest.clone()),
            text: file.coverage.text.clone(),
            problems: file.coverage.problems.clone(),
            ..Self::default()
        };
        if matches!(file.blocked, Some(Blocked::Changed | Blocked::File { .. })) {
            review.diff = Some(store.diff(&file));
        }
        review.add_files(&file, store);
        for command in &file.coverage.uncovered {
            let mut words = command.split(' ').map(|word| word.trim_start_matches("./"));
            if !words.any(|word| review.gone.iter().any(|name| name == word)) {
                review.not_covered.push(command.clone());
            }
        }
        review.file = Some(file);
        review
    }

    /// Adds the files that the commands name, each to the list that says how it differs from its approval.
    fn add_files(&mut self, file: &ProjectFile, store: &TrustStore) {
        let mut approval = None;
        if matches!(file.blocked, Some(Blocked::File { .. })) {
            approval = store.compared_with(file);
        }
        for named in &file.coverage.files {
            let change = approval.as_ref().and_then(|approval| approval.change(named));
            let list = match change {
                Some(FileChange::Changed) => &mut self.changed,
                Some(FileChange::Unapproved) => &mut self.not_approved,
                Some(FileChange::Gone) => &mut self.gone,
                None if named.found == Found::Nothing => continue,
                None => &mut self.covered,
            };
            // Two paths may lead to one file.
            if !list.contains(&named.name) {
                list.push(named.name.clone());
            }
        }
    }
}

impl Status {
    fn of(file: &ProjectFile) -> Self {
        match &file.blocked {
            None => Self::Approved,
            Some(Blocked::Changed) => Self::Changed,
            Some(Blocked::File { change: FileChange::Changed | FileChange::Gone, .. }) => {
                Self::Changed
            }
            Some(_) => Self::NotApproved,
        }
    }
}

fn as_texts<S: Serializer>(problems: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(Diagnostic::with_hint))
}

/// A hooks file of a project that does not run until a person approves it.
#[derive(Debug)]
pub struct Pending {
    /// Its path.
    pub path: PathBuf,
    /// Its text, which a person must see, with control characters and all.
    pub text: String,
    /// The files of the project that its commands name: an approval covers them as they are.
    pub covers: Vec<PathBuf>,
    file: ProjectFile,
    store: TrustStore,
}

impl Pending {
    /// Returns the files that wait. Those that no approval can help are missing: a file that can't be
    /// read, and one that another user can change.
    pub fn find(options: &LoadOptions) -> Vec<Self> {
        let options = &LoadOptions { only_show: true, ..options.clone() };
        let Some(store) = options.trust_store() else { return Vec::new() };
        let mut pending = Vec::new();
        for file in Loading::layers(options).project_files {
            let text = file.coverage.text.clone();
            if matches!(file.blocked, None | Some(Blocked::Unsafe(_))) || text.is_empty() {
                continue;
            }
            let mut covers = Vec::new();
            for named in &file.coverage.files {
                covers.push(named.path.clone());
            }
            pending.push(Self {
                path: file.path.clone(),
                text,
                covers,
                file,
                store: store.clone(),
            });
        }
        pending
    }

    /// Records that a person approved the file, and those that it covers, as they were when they were
    /// read. Call it only for a person who saw them. Load the files anew then.
    ///
    /// # Errors
    /// When the approval can't be written, or could not count.
    pub fn approve(self) -> io::Result<()> {
        self.store.add(&self.file)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::load::load;

    #[test]
    fn a_file_waits_until_it_is_approved_as_it_was_shown() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("project/.git")).unwrap();
        let text = "stop: [{ type: command, command: ./a.sh }]";
        fs::write(at("project/hooks.yaml"), text).unwrap();
        fs::write(at("project/a.sh"), "").unwrap();
        let options = LoadOptions {
            working_dir: Some(at("project")),
            home: Some(at("home")),
            managed_dir: Some(at("managed")),
            trust_dir: Some(at("trust")),
            ..LoadOptions::default()
        };
        let pending = || Pending::find(&options);
        let file = pending().remove(0);
        assert_eq!((file.path.file_name().unwrap(), &*file.text), ("hooks.yaml".as_ref(), text));
        assert!(file.covers[0].ends_with("a.sh"));
        fs::write(at("project/a.sh"), "echo changed").unwrap();
        file.approve().unwrap();
        assert_eq!(pending().len(), 1, "it covers the script as it was shown");
        pending().remove(0).approve().unwrap();
        assert!(pending().is_empty());
        assert!(load(&options).unwrap().config.failed.is_empty());
    }
}
