//! Stores approvals under the user's state directory, where no other user can write.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::permissions::{check_own, check_store};
use super::project_file::{Blocked, FileChange, Found, NamedFile, NamedPath, ProjectFile};
use crate::layout::own_directories;
use hookexec::config::Diagnostic;
use hookexec_files::directories::state_directory;
use hookexec_files::files;
use hookexec_files::hooks_file::MAX_SIZE;
use hookexec_files::platform::resolve;

/// The approvals of one user.
///
/// The store's directory has a JSON record for each hooks file that was approved, and under `files`
/// the approved bytes, named by their digest. The name of a record holds a key of the hooks file's
/// directory, a key of its name, and the digest of its bytes, so that a look-up reads no other records.
/// Every directory has mode 0700, every file 0600; records appear whole.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: PathBuf,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The hooks file, by the name under which it was found: a link is not followed.
    pub path: PathBuf,
    /// The digest of the hooks file.
    pub digest: String,
    /// Whether no person approved the file at this path: hookexec remembers here that an approval
    /// from another path was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// The paths that the commands of the hooks file name.
    pub paths: BTreeSet<NamedPath>,
    /// The files that these paths may lead to: each name with the digest of its bytes.
    pub files: BTreeSet<(String, String)>,
}

impl Approval {
    /// Returns how a named file differs from what was approved.
    pub fn change(&self, file: &NamedFile) -> Option<FileChange> {
        let is_known = self.files.iter().any(|(name, _)| *name == file.name);
        match &file.found {
            Found::Nothing if is_known => Some(FileChange::Gone),
            Found::Nothing => None,
            Found::File(digest) if self.files.contains(&(file.name.clone(), digest.clone())) => {
                None
            }
            _ if is_known => Some(FileChange::Changed),
            _ => Some(FileChange::Unapproved),
        }
    }
}

impl TrustStore {
    /// Returns the store in `directory`; nothing is made before something is approved.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the user's store, `$XDG_STATE_HOME/hookexec/trust`; `None` when no home is known.
    pub fn of_user() -> Option<Self> {
        Some(Self::at(state_directory()?.join("hookexec/trust")))
    }

    /// Returns the directory it is in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns why `file` does not run; `None` if a person approved it as it is. With `remember`, records
    /// that an approval from another path is used at its path, so that a later change or deletion there
    /// is noticed.
    pub fn judge(&self, file: &mut ProjectFile, remember: bool) -> Option<Blocked> {
        if let Err(problem) = check_store(&self.directory, &file.path) {
            return Some(Blocked::Unsafe(problem));
        }
        let mut blocked = None;
        for approval in self.of_bytes(file) {
            let difference = difference(file, &approval);
            if difference.is_none() {
                if remember {
                    self.remember(approval, &file.path);
                }
                return None;
            }
            blocked = blocked.or(difference);
        }
        if blocked.is_some() {
            return blocked;
        }
        let was_approved = self.has_approved(&file.path, None);
        Some(if was_approved { Blocked::Changed } else { Blocked::Unapproved })
    }

    /// Returns the approvals of the bytes of `file`. At a path where something was approved, only that
    /// counts; at any other path, what a person approved elsewhere.
    fn of_bytes(&self, file: &ProjectFile) -> Vec<Approval> {
        let records = self.records();
        let place = place_key(&file.path);
        let is_known = records.iter().any(|record| record.place == place);
        let mut approvals = Vec::new();
        for record in records {
            if record.digest == file.digest
                && (record.place == place || !is_known)
                && let Some(approval) = self.read_record(&record.path)
                && (is_known || !approval.remembered)
            {
                approvals.push(approval);
            }
        }
        approvals
    }

    /// Returns the approval that `file` differs from: one of its bytes, or else that of other bytes at its
    /// path.
    pub fn compared_with(&self, file: &ProjectFile) -> Option<Approval> {
        let mut approvals = self.of_bytes(file);
        for record in self.records_at(&file.path) {
            approvals.extend(self.read_record(&record.path));
        }
        approvals.into_iter().next()
    }

    /// Records that an approval from another path is used at `path`. Does nothing when it can't: it must
    /// not fail or delay an event.
    fn remember(&self, approval: Approval, path: &Path) {
        let record = self.record(path, &approval.digest);
        let source = self.record(&approval.path, &approval.digest);
        if record == source {
            return;
        }
        let copy = Approval { path: recorded(path), remembered: true, ..approval };
        let Ok(bytes) = serde_json::to_vec_pretty(&copy) else { return };
        // If a person took the approval back meanwhile, it must not come back.
        if files::create_private(&record, &bytes).is_ok() && !source.exists() {
            drop(fs::remove_file(&record));
        }
    }

    /// Approves `file` and what its commands name, as they were when it was read. Files that the same
    /// hooks file names from another working directory stay approved.
    ///
    /// # Errors
    /// When the file can't be approved, or the store can't be written.
    pub fn add(&self, file: &ProjectFile) -> io::Result<Approval> {
        if let Err(problem) = check_store(&self.directory, &file.path) {
            return Err(refusal(&problem));
        }
        if let Some(problem) = file.coverage.problems.first() {
            return Err(refusal(problem));
        }
        let record = self.record(&file.path, &file.digest);
        let before = self.read_record(&record);
        let mut files = before.map_or_else(BTreeSet::new, |before| before.files);
        for named in &file.coverage.files {
            files.retain(|(name, _)| *name != named.name);
        }
        self.keep_bytes(&file.path, &file.digest)?;
        for named in &file.coverage.files {
            if let Found::File(digest) = &named.found {
                self.keep_bytes(&named.path, digest)?;
                files.insert((named.name.clone(), digest.clone()));
            }
        }
        let approval = Approval {
            path: recorded(&file.path),
            digest: file.digest.clone(),
            remembered: false,
            paths: file.coverage.paths.clone(),
            files,
        };
        // Before the new one is written: only one approval counts at a path.
        for older in self.records_at(&file.path) {
            fs::remove_file(older.path)?;
        }
        files::replace_private(&record, &serde_json::to_vec_pretty(&approval)?)?;
        Ok(approval)
    }

    /// Keeps the approved bytes of the file at `path`, to show later what changed; what is too large to
    /// be shown, or differs already, is left out.
    fn keep_bytes(&self, path: &Path, digest: &str) -> io::Result<()> {
        match files::read_regular(path, MAX_SIZE) {
            Ok(bytes) if files::digest(&bytes) == digest => {
                files::replace_private(&self.approved_bytes(digest), &bytes)
            }
            _ => Ok(()),
        }
    }

    /// Returns where the approved bytes of this digest are kept.
    pub(super) fn approved_bytes(&self, digest: &str) -> PathBuf {
        self.directory.join("files").join(digest)
    }

    /// Takes back the approvals for the hooks file at `path` and for the bytes with this `digest`,
    /// also where the same bytes are approved at other paths.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&self, path: &Path, digest: Option<&str>) -> io::Result<()> {
        let place = place_key(path);
        let mut digests: Vec<String> = digest.map(str::to_owned).into_iter().collect();
        digests.extend(self.records_at(path).into_iter().map(|record| record.digest));
        // An event that is under way may remember the approval once more.
        loop {
            let mut records = self.records();
            records.retain(|record| record.place == place || digests.contains(&record.digest));
            if records.is_empty() {
                return Ok(());
            }
            for record in records {
                match fs::remove_file(record.path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
    }

    /// Returns the paths of the approved hooks files of `directories`, also of those that are gone.
    pub(crate) fn approved_in(&self, directories: &[PathBuf]) -> BTreeSet<PathBuf> {
        let keys: Vec<String> = directories.iter().map(|path| key(path)).collect();
        let mut paths = BTreeSet::new();
        for record in self.records() {
            if keys.iter().any(|key| record.place.starts_with(key))
                && let Some(approval) = self.read_record(&record.path)
            {
                paths.insert(approval.path);
            }
        }
        paths
    }

    /// Returns whether a hooks file was approved at `path`, or these bytes at any path.
    pub fn has_approved(&self, path: &Path, digest: Option<&str>) -> bool {
        let place = place_key(path);
        let mut records = self.records().into_iter();
        records.any(|record| record.place == place || Some(&*record.digest) == digest)
    }

    /// Returns the records of the hooks file at `path`, whatever bytes they approve.
    fn records_at(&self, path: &Path) -> Vec<Record> {
        let place = place_key(path);
        let mut records = self.records();
        records.retain(|record| record.place == place);
        records
    }

    /// Returns all records, by their names.
    fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if let Some(name) = name.to_str()
                && let Some(stem) = name.strip_suffix(".json")
                && let Some((place, digest)) = stem.rsplit_once('-')
            {
                records.push(Record { path, place: place.to_owned(), digest: digest.to_owned() });
            }
        }
        records.sort_by(|one, other| one.path.cmp(&other.path));
        records
    }

    fn read_record(&self, record: &Path) -> Option<Approval> {
        // Another user who can write it could approve anything.
        check_own(record).ok()?;
        let bytes = files::read_regular(record, 4 << 20).ok()?;
        let approval: Approval = serde_json::from_slice(&bytes).ok()?;
        let is_own = self.record(&approval.path, &approval.digest) == record;
        if is_own { Some(approval) } else { None }
    }

    /// Returns where the approval of these bytes at `path` is kept.
    pub(super) fn record(&self, path: &Path, digest: &str) -> PathBuf {
        self.directory.join(format!("{}-{digest}.json", place_key(path)))
    }
}

/// A record of an approval, as its name says.
struct Record {
    path: PathBuf,
    /// The [`place_key`] of the hooks file.
    place: String,
    digest: String,
}

/// Returns what stands for a hooks file in the name of its record: keys of its directory and its name.
fn place_key(path: &Path) -> String {
    let path = recorded(path);
    let directory = path.parent().unwrap_or(Path::new("/"));
    format!("{}-{}", key(directory), key(path.file_name().unwrap_or_default().as_ref()))
}

/// Returns the beginning of the SHA-256 of a path.
fn key(path: &Path) -> String {
    files::digest(path.as_os_str().as_encoded_bytes())[..16].to_owned()
}

fn refusal(problem: &Diagnostic) -> io::Error {
    let hint = problem.hint.as_deref().unwrap_or_default();
    io::Error::other(format!("{}; {hint}", problem.message))
}

/// Returns the first of the files that an approval of `file` covers that is not as it was approved.
fn difference(file: &mut ProjectFile, approval: &Approval) -> Option<Blocked> {
    let places = file.places_of(&approval.paths);
    file.places.extend(places.keys().cloned());
    for (path, at) in places {
        let named = file.look_at(path);
        if let Some(change) = approval.change(&named) {
            return Some(Blocked::File { name: named.name, change, at });
        }
    }
    None
}

/// Returns the path under which a hooks file is recorded: the project's directory with links
/// followed, then the names below it as they are.
fn recorded(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = path.parent().unwrap_or(Path::new("/"));
    let project = own_directories(&path).first().and_then(|own| own.parent()).unwrap_or(parent);
    let below = path.strip_prefix(project).unwrap_or(&path);
    resolve(project).join(below)
}
