//! The rows of `hookexec trust`, one for each hooks file.

use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::config::Diagnostic;
use hookexec_builtins::shell::quoted;
use hookexec_project::trust::{Blocked, FileChange, Found, ProjectFile, TrustStore};
use hookexec_workbench::records::shown;
use serde::{Serialize, Serializer};

use crate::plain;

/// One hooks file of a project, and how it differs from its approval.
#[derive(Default, Serialize)]
pub(super) struct Row {
    /// The file itself; `None` if it is gone.
    #[serde(skip)]
    pub(super) file: Option<ProjectFile>,
    pub(super) path: PathBuf,
    pub(super) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
    /// Its text, which an approval is for.
    text: String,
    /// The files that an approval covers, as far as they are as they were approved.
    pub(super) covered: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
    not_approved: Vec<String>,
    pub(super) not_covered: Vec<String>,
    #[serde(serialize_with = "as_texts")]
    pub(super) problems: Vec<Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Whether a hooks file runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It does.
    Approved,
    /// The file or one that its commands name changed after the approval, or is gone.
    Changed,
    /// No person approved the file, or one that its commands name.
    #[default]
    NotApproved,
}

impl Row {
    /// Returns the row of an approved file that is gone.
    pub(super) fn of_gone(path: PathBuf) -> Self {
        Self { path, status: Status::Changed, ..Self::default() }
    }

    pub(super) fn of(file: ProjectFile, store: &TrustStore) -> Self {
        let mut row = Self {
            path: file.path.clone(),
            status: Status::of(&file),
            digest: Some(file.digest.clone()),
            text: file.coverage.text.clone(),
            problems: file.coverage.problems.clone(),
            ..Self::default()
        };
        if matches!(file.blocked, Some(Blocked::Changed | Blocked::File { .. })) {
            row.diff = Some(store.diff(&file));
        }
        row.add_files(&file, store);
        for command in &file.coverage.uncovered {
            let mut words = command.split(' ').map(|word| word.trim_start_matches("./"));
            if !words.any(|word| row.gone.iter().any(|name| name == word)) {
                row.not_covered.push(command.clone());
            }
        }
        row.file = Some(file);
        row
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

    /// Returns its path from the current directory.
    pub(super) fn shown_path(&self) -> String {
        plain::line(shown(&self.path.to_string_lossy()))
    }

    /// Returns its first line.
    pub(super) fn title(&self) -> String {
        let status = match self.status {
            _ if self.digest.is_none() => "this approved file is gone",
            Status::Approved => "approved",
            Status::Changed => "changed",
            Status::NotApproved => "not approved",
        };
        format!("{}: {status}\n", self.shown_path())
    }

    /// Returns a line on what a user does about a file that is gone.
    pub(super) fn way_back(&self) -> String {
        let path = self.shown_path();
        let remove = format!("run `hookexec trust remove {}` in a terminal", quoted(&path));
        format!("restore {path}, or {remove}\n")
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.title();
        for line in self.text.lines() {
            let line = format!("  | {}", plain::visible_line(line));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for (title, names) in [
            ("covered", &self.covered),
            ("changed", &self.changed),
            ("gone", &self.gone),
            ("not approved", &self.not_approved),
            ("not covered", &self.not_covered),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "  {title}: {}", plain::line(&names.join(", ")));
            }
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  problem: {}", plain::line(&problem.with_hint()));
        }
        text + self.diff.as_deref().unwrap_or_default()
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
