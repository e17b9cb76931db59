//! What was approved, kept under the user's state directory, where no other user can write.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::diff::MAX_SHOWN;
use super::named::{Found, NamedFile, NamedPath};
use super::permissions::{UnsafeFile, check_own, check_private};
use super::project_file::{Blocked, FileChange, ProjectFile};
use crate::directories::{is_in_project, own_directories, project_of, resolve, state_directory};
use crate::files;

/// The largest record of an approval, in bytes.
const MAX_RECORD: u64 = 4 << 20;

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

    /// Finds out whether a person approved `file` as it is. With `remember`, records that an approval from
    /// another path is used at its path, so that a later change or deletion there is noticed.
    pub fn judge(&self, file: &mut ProjectFile, remember: bool) {
        if let Err(problem) = self.check(&file.path) {
            file.blocked = Some(Blocked::Unsafe(problem));
            return;
        }
        let mut blocked = None;
        for approval in self.of_bytes(file) {
            let places = file.places_of(&approval.paths);
            file.places.extend(places.keys().cloned());
            let Some(difference) = difference(file, &approval, places) else {
                file.blocked = None;
                if remember {
                    self.remember(approval, &file.path);
                }
                return;
            };
            blocked.get_or_insert(difference);
        }
        file.blocked = Some(match blocked {
            Some(blocked) => blocked,
            None if self.records_at(&file.path).is_empty() => Blocked::Unapproved,
            None => Blocked::Changed,
        });
    }

    /// Returns the approvals of the bytes of `file`. At a path where something was approved, only that
    /// counts; at any other path, what a person approved elsewhere.
    fn of_bytes(&self, file: &ProjectFile) -> Vec<Approval> {
        if let Some(own) = self.read_record(&self.record(&file.path, &file.digest)) {
            return vec![own];
        }
        if !self.records_at(&file.path).is_empty() {
            return Vec::new();
        }
        let mut approvals = Vec::new();
        for record in self.records(|_, digest| digest == file.digest) {
            approvals.extend(self.read_record(&record).filter(|approval| !approval.remembered));
        }
        approvals
    }

    /// Returns the approval that `file` differs from: one of its bytes, or else that of other bytes at its
    /// path.
    pub fn compared_with(&self, file: &ProjectFile) -> Option<Approval> {
        if let Some(approval) = self.of_bytes(file).into_iter().next() {
            return Some(approval);
        }
        self.records_at(&file.path).iter().find_map(|record| self.read_record(record))
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

    /// Checks that only the user and root could have written what is in the store, and that it is not
    /// in the project of the hooks file at `path`.
    fn check(&self, path: &Path) -> Result<(), UnsafeFile> {
        let directory = resolve(&self.directory);
        let own = path.parent().unwrap_or(Path::new("."));
        if is_in_project(&directory, &resolve(project_of(own))) {
            return Err(UnsafeFile {
                path: directory,
                problem: "holds approvals, and lies inside the project".to_owned(),
                hint: "set XDG_STATE_HOME to a directory of your own".to_owned(),
            });
        }
        check_private(&directory)
    }

    /// Approves `file` and what its commands name, as they were when it was read. Files that the same
    /// hooks file names from another working directory stay approved.
    ///
    /// # Errors
    /// When the file can't be approved, or the store can't be written.
    pub fn add(&self, file: &ProjectFile) -> io::Result<Approval> {
        self.check(&file.path)
            .map_err(|problem| io::Error::other(format!("{problem}; {}", problem.hint)))?;
        if let Some(problem) = file.coverage.problems.first() {
            return Err(io::Error::other(problem.to_string()));
        }
        let before = self.read_record(&self.record(&file.path, &file.digest));
        let mut approval = Approval {
            path: recorded(&file.path),
            digest: file.digest.clone(),
            remembered: false,
            paths: file.coverage.paths.clone(),
            files: before.map(|before| before.files).unwrap_or_default(),
        };
        self.keep_bytes(&file.path, &file.digest)?;
        for named in &file.coverage.files {
            approval.files.retain(|(name, _)| *name != named.name);
        }
        for named in &file.coverage.files {
            if let Found::File(digest) = &named.found {
                self.keep_bytes(&named.path, digest)?;
                approval.files.insert((named.name.clone(), digest.clone()));
            }
        }
        // Before the new one is written: only one approval counts at a path.
        for older in self.records_at(&file.path) {
            fs::remove_file(older)?;
        }
        let record = self.record(&file.path, &file.digest);
        files::replace_private(&record, &serde_json::to_vec_pretty(&approval)?)?;
        Ok(approval)
    }

    /// Keeps the approved bytes of the file at `path`, to show later what changed; what is too large to
    /// be shown, or differs already, is left out.
    fn keep_bytes(&self, path: &Path, digest: &str) -> io::Result<()> {
        match files::read_regular(path, MAX_SHOWN) {
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
    /// also where the same bytes are approved at other paths. Returns how many records there were.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&self, path: &Path, digest: Option<&str>) -> io::Result<usize> {
        let mut digests: Vec<String> = digest.map(str::to_owned).into_iter().collect();
        for record in self.records_at(path) {
            digests.extend(self.read_record(&record).map(|approval| approval.digest));
        }
        let mut removed = 0;
        loop {
            let mut records = self.records_at(path);
            records.extend(self.records(|_, known| digests.iter().any(|digest| digest == known)));
            // An event that is under way may remember the approval once more.
            if records.is_empty() {
                return Ok(removed);
            }
            for record in records {
                match fs::remove_file(record) {
                    Ok(()) => removed += 1,
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Returns every approval, by path. A record that can't be read approves nothing.
    pub fn approvals(&self) -> Vec<Approval> {
        let records = self.records(|_, _| true);
        let mut approvals: Vec<Approval> =
            records.iter().filter_map(|record| self.read_record(record)).collect();
        approvals.sort_by(|one, other| one.path.cmp(&other.path));
        approvals
    }

    /// Returns the approved hooks files of `directories` that are there, or those that are gone.
    pub(crate) fn approved_in(&self, directories: &[PathBuf], are_there: bool) -> Vec<PathBuf> {
        let keys: BTreeSet<String> = directories.iter().map(|path| key(path)).collect();
        let records = self.records(|place, _| keys.contains(place.split('-').next().unwrap_or("")));
        let mut paths = BTreeSet::new();
        for approval in records.iter().filter_map(|record| self.read_record(record)) {
            if exists(&approval.path) == are_there {
                paths.insert(approval.path);
            }
        }
        paths.into_iter().collect()
    }

    /// Returns whether a hooks file was approved at `path`, or these bytes at any path.
    pub fn has_approved(&self, path: &Path, digest: Option<&str>) -> bool {
        let same = self.records(|_, known| Some(known) == digest);
        !same.is_empty() || !self.records_at(path).is_empty()
    }

    /// Returns the records of the hooks file at `path`, whatever bytes they approve.
    fn records_at(&self, path: &Path) -> Vec<PathBuf> {
        let own = place_key(&recorded(path));
        self.records(|place, _| place == own)
    }

    /// Returns the records with a `wanted` name, of which `wanted` gets the key of the place and the
    /// digest.
    fn records(&self, wanted: impl Fn(&str, &str) -> bool) -> Vec<PathBuf> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(".json"));
            if let Some((place, digest)) = stem.and_then(|stem| stem.rsplit_once('-'))
                && wanted(place, digest)
            {
                records.push(entry.path());
            }
        }
        records.sort();
        records
    }

    fn read_record(&self, record: &Path) -> Option<Approval> {
        // Another user who can write it could approve anything.
        check_own(record).ok()?;
        let bytes = files::read_regular(record, MAX_RECORD).ok()?;
        let approval: Approval = serde_json::from_slice(&bytes).ok()?;
        let is_own = self.record(&approval.path, &approval.digest) == record;
        if is_own { Some(approval) } else { None }
    }

    /// Returns where the approval of these bytes at `path` is kept.
    pub(super) fn record(&self, path: &Path, digest: &str) -> PathBuf {
        self.directory.join(format!("{}-{digest}.json", place_key(&recorded(path))))
    }
}

/// Returns the first of the files at `places` that is not as it was approved.
fn difference(
    file: &ProjectFile,
    approval: &Approval,
    places: BTreeMap<PathBuf, usize>,
) -> Option<Blocked> {
    for (path, at) in places {
        let named = file.look_at(path, at);
        if let Some(change) = approval.change(&named) {
            return Some(Blocked::File { name: named.name, change, at });
        }
    }
    None
}

/// Returns what stands for a hooks file in the name of its record: keys of its directory and its name.
fn place_key(path: &Path) -> String {
    let name = Path::new(path.file_name().unwrap_or_default());
    format!("{}-{}", key(path.parent().unwrap_or(Path::new("/"))), key(name))
}

/// Returns the beginning of the SHA-256 of a path.
fn key(path: &Path) -> String {
    files::digest(path.as_os_str().as_encoded_bytes())[..16].to_owned()
}

/// Returns the path under which a hooks file is recorded: the project's directory with links
/// followed, then the names below it as they are.
fn recorded(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = path.parent().unwrap_or(Path::new("/"));
    let project = own_directories(&path).next().and_then(Path::parent).unwrap_or(parent);
    let below = path.strip_prefix(project).unwrap_or(&path);
    resolve(project).join(below)
}

/// Returns whether something is at `path`; a path that can't be looked at counts as there.
fn exists(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok() || found.is_err_and(|error| error.kind() != ErrorKind::NotFound)
}
