//! The hooks files of a project as a person reviews them: how each differs from its approval.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::config::Diagnostic;
use hookexec_files::files;
use hookexec_files::hooks_file::MAX_SIZE;
use serde::{Serialize, Serializer};
use similar::TextDiff;

use super::project_file::{Blocked, FileChange, Found, ProjectFile};
use super::store::TrustStore;
use crate::load::{LoadOptions, Loading};

/// How much of all changes is shown, in bytes.
pub(super) const MAX_DIFF: usize = 64 << 10;

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
    /// Programs and scripts that are not there and were not approved.
    pub missing: Vec<String>,
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
                None if named.found != Found::Nothing => &mut self.covered,
                None if file.coverage.missing.contains(&named.path) => &mut self.missing,
                None => continue,
            };
            // Two paths may lead to one file.
            if !list.contains(&named.name) {
                list.push(named.name.clone());
            }
        }
    }
}

impl TrustStore {
    /// Returns the hooks files of a project that do not run until a person approves them, for a dialogue of
    /// your own. Give those that a person saw and agrees to, with control characters and all, to
    /// [`add`](Self::add), and load the files anew then.
    ///
    /// A file that no approval can help is missing: one that can't be read, or that another user can change.
    pub fn waiting(&self, options: &LoadOptions) -> Vec<Review> {
        let options = &LoadOptions { only_show: true, ..options.clone() };
        let mut waiting = Vec::new();
        for file in Loading::layers(options).project_files {
            let can_wait = !matches!(file.blocked, None | Some(Blocked::Unsafe(_)));
            if can_wait && !file.coverage.text.is_empty() {
                waiting.push(Review::of(file, self));
            }
        }
        waiting
    }

    /// Returns a unified diff from the approval that [`compared_with`](Self::compared_with) finds to the
    /// files as they are; empty without an approval. A large file is only named.
    pub(super) fn diff(&self, file: &ProjectFile) -> String {
        let Some(before) = self.compared_with(file) else { return String::new() };
        let mut diff = String::new();
        if before.digest != file.digest {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            diff += &self.change_of(&name, Some(&before.digest), Some(&file.path));
        }
        for named in &file.coverage.files {
            if diff.len() <= MAX_DIFF && before.change(named).is_some() {
                let approved = before.files.iter().find(|(name, _)| *name == named.name);
                let digest = approved.map(|(_, digest)| digest.as_str());
                let path = if named.found == Found::Nothing { None } else { Some(&*named.path) };
                diff += &self.change_of(&named.name, digest, path);
            }
        }
        if diff.len() > MAX_DIFF {
            let end = diff[..diff.floor_char_boundary(MAX_DIFF)].rfind('\n').unwrap_or(0);
            diff.truncate(end);
            diff += "\n... and more\n";
        }
        diff
    }

    /// Returns the change of one file, from the bytes that were approved to those at `path`.
    fn change_of(&self, name: &str, digest: Option<&str>, path: Option<&Path>) -> String {
        let approved = digest.map(|digest| self.approved_bytes(digest));
        let (Some(old), Some(new)) = (text_of(approved.as_deref()), text_of(path)) else {
            return format!("{name} changed; it can't be shown line by line\n");
        };
        let from = if digest.is_some() { &format!("{name} (approved)") } else { "/dev/null" };
        let to = if path.is_some() { &format!("{name} (now)") } else { "/dev/null" };
        // How long a comparison may take before it becomes a rough one.
        let rough_after = Duration::from_millis(500);
        let diff = TextDiff::configure().timeout(rough_after).diff_lines(&old, &new);
        diff.unified_diff().header(from, to).to_string()
    }
}

/// Returns the text of a file, which is empty without a path; `None` if it can't be read, or is too
/// large to be compared.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    let bytes = files::read_regular(path, MAX_SIZE).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
        let store = options.trust_store().unwrap();
        let waiting = || store.waiting(&options);
        let review = waiting().remove(0);
        assert_eq!(
            (review.path.file_name().unwrap(), &*review.text),
            ("hooks.yaml".as_ref(), text)
        );
        assert_eq!(review.covered, ["a.sh"]);
        fs::write(at("project/a.sh"), "echo changed").unwrap();
        store.add(&review.file.unwrap()).unwrap();
        assert_eq!(waiting().len(), 1, "it covers the script as it was shown");
        store.add(&waiting().remove(0).file.unwrap()).unwrap();
        assert!(waiting().is_empty());
        assert!(load(&options).unwrap().config.failed.is_empty());
    }
}
