//! What was approved, kept under the user's state directory, where no other user can write.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::diff::MAX_SHOWN;
use super::permissions::{UnsafeFile, check_private};
use super::records::recorded;
use crate::directories::{is_in_project, project_of, resolve, state_directory};
use crate::files;
use crate::platform::Platform;

/// The approvals of one user.
///
/// The store's directory has one JSON file for each hooks file that was approved, and under `files`
/// the approved bytes, named by their digest. Every directory has mode 0700, every file 0600; records
/// appear whole, by a rename.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: PathBuf,
    /// Whether the file system tells names by case, as everywhere but on macOS.
    pub(super) case_counts: bool,
    /// The paths of its records, if they were listed once for many questions.
    pub(super) listed: Option<Arc<[PathBuf]>>,
}

/// Whether a hooks file may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Exactly these bytes were approved.
    Approved,
    /// Nothing was ever approved at this path.
    Unknown,
    /// Something else was approved at this path before.
    Changed,
    /// The approvals don't count: another user, or the project, could have written them.
    Unsafe(UnsafeFile),
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The digest of the hooks file.
    pub digest: String,
    /// The hooks file, by the name under which it was found: a link is not followed.
    pub path: PathBuf,
    /// When, in microseconds since 1970, and later than any approval of the path before.
    pub approved_at: u64,
    /// Whether no person approved the file at this path: hookexec remembers here that an approval
    /// from another clone was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// The files by name, each with the SHA-256 of its bytes; the hooks file comes first.
    pub files: Vec<(String, String)>,
}

impl TrustStore {
    /// Returns the store in `directory`; nothing is made before something is approved.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        let case_counts = Platform::HERE.case_counts;
        Self { directory: directory.into(), case_counts, listed: None }
    }

    /// Returns the store with the records that it has now, for one loading.
    pub(crate) fn listed_once(self) -> Self {
        let listed = Some(self.all_records().collect());
        Self { listed, ..self }
    }

    /// Returns the user's store, `$XDG_STATE_HOME/hookexec/trust`; `None` when no home is known.
    pub fn of_user() -> Option<Self> {
        Some(Self::at(state_directory()?.join("hookexec/trust")))
    }

    /// Returns the directory it is in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns whether the hooks file of `bundle` may run.
    ///
    /// At a path where something was approved, only its newest approval counts. At a new path, as in
    /// another clone, an approval of the same bytes counts that a person gave at another path and that
    /// is the newest one there.
    pub fn status(&self, bundle: &Bundle) -> Trust {
        if let Err(problem) = self.check(bundle) {
            return Trust::Unsafe(problem);
        }
        match self.applying(bundle) {
            Some(approval) if approval.digest == bundle.digest => Trust::Approved,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        }
    }

    /// Returns the approval that applies to the path of `bundle`: the newest one there, whatever it
    /// approves, or else the newest one of the same bytes in another place.
    pub(super) fn applying(&self, bundle: &Bundle) -> Option<Approval> {
        let is_current = |other: &Approval| {
            !other.remembered && self.newest(&other.path).as_ref() == Some(other)
        };
        let elsewhere = || {
            let same = self.approvals_where(|name| name.digest == bundle.digest);
            same.into_iter().rev().find(is_current)
        };
        self.newest(&bundle.path).or_else(elsewhere)
    }

    /// Records that the approved `bundle` is in use at its path, so that a later change or deletion
    /// there is noticed. Does nothing when it can't: it must not fail or delay an event.
    pub fn remember(&self, bundle: &Bundle) {
        let path = recorded(&bundle.path);
        let record = self.record(&path, &bundle.digest);
        if record.exists() || self.check(bundle).is_err() {
            return;
        }
        let Some(approval) = self.applying(bundle).filter(|it| it.digest == bundle.digest) else {
            return;
        };
        let source = self.record(&approval.path, &approval.digest);
        let copy = Approval { path, remembered: true, ..approval };
        let Ok(bytes) = serde_json::to_vec_pretty(&copy) else { return };
        // If a person took the approval back meanwhile, it must not come back.
        if files::create_private(&record, &bytes).is_ok() && !source.exists() {
            drop(fs::remove_file(&record));
        }
    }

    /// Checks that only the user and root could have written what is in the store, and that it is not
    /// in the project of `bundle`.
    ///
    /// # Errors
    /// When another user could have written it, or it is in the project.
    pub fn check(&self, bundle: &Bundle) -> Result<(), UnsafeFile> {
        let directory = resolve(&self.directory);
        let own = bundle.path.parent().unwrap_or(Path::new("."));
        if is_in_project(&directory, &resolve(project_of(own))) {
            return Err(UnsafeFile {
                path: directory,
                problem: "holds approvals, and lies inside the project".to_owned(),
                hint: "set XDG_STATE_HOME to a directory of your own".to_owned(),
            });
        }
        check_private(&directory)
    }

    /// Approves `bundle` as it is. What was approved with the same hooks file at the same path before
    /// stays approved, except for scripts of the same name and scripts that are gone.
    ///
    /// # Errors
    /// When a script can't be approved, or the store can't be written.
    pub fn add(&self, bundle: &Bundle) -> io::Result<Approval> {
        self.check(bundle)
            .map_err(|problem| io::Error::other(format!("{problem}; {}", problem.hint)))?;
        if let Some(problem) = bundle.covered().find_map(|hook| hook.problems.first()) {
            return Err(io::Error::other(problem.to_string()));
        }
        let path = recorded(&bundle.path);
        let before = self.newest(&path);
        // The clock may have been ahead.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = now.as_micros().try_into().unwrap_or(u64::MAX);
        let after = before.as_ref().map_or(0, |before| before.approved_at.saturating_add(1));
        let mut approval = Approval {
            digest: bundle.digest.clone(),
            path,
            approved_at: after.max(now),
            remembered: false,
            files: Vec::new(),
        };
        for file in bundle.files() {
            // Kept to show what changed; of what is too large to show, the digest is enough.
            if let Ok(bytes) = files::read_regular(&file.path, MAX_SHOWN)
                && files::digest(&bytes) == file.digest
            {
                files::replace_private(&self.approved_bytes(&file.digest), &bytes)?;
            }
            approval.files.push((file.name, file.digest));
        }
        let before = before.filter(|before| before.digest == bundle.digest);
        let is_gone = |name: &str| bundle.covered().any(|hook| hook.absent.contains_key(name));
        for (name, digest) in before.into_iter().flat_map(|before| before.files) {
            if !is_gone(&name) && !approval.files.iter().any(|(known, _)| *known == name) {
                approval.files.push((name, digest));
            }
        }
        let record = self.record(&approval.path, &approval.digest);
        files::replace_private(&record, &serde_json::to_vec_pretty(&approval)?)?;
        // A replaced approval counts nowhere. One that can't be read would outrank the new one.
        for older in self.records_at(&approval.path) {
            if older != record {
                fs::remove_file(older)?;
            }
        }
        Ok(approval)
    }

    /// Takes back every approval for the hooks file at `path`, also where the same approval is
    /// remembered for another path, and returns how many records there were.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&self, path: &Path) -> io::Result<usize> {
        let path = recorded(path);
        let here: HashSet<(String, u64)> = self
            .approvals()
            .into_iter()
            .filter(|approval| self.is_same(&approval.path, &path))
            .map(|approval| (approval.digest, approval.approved_at))
            .collect();
        let removed = self.remove_all(|approval| {
            here.contains(&(approval.digest.clone(), approval.approved_at))
        })?;
        // What is left could not be read.
        for record in self.records_at(&path) {
            fs::remove_file(record)?;
        }
        Ok(removed)
    }

    /// Takes back the approval of the hooks file of `bundle` as it is now, wherever it was given, and
    /// returns whether there was one.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove_bundle(&self, bundle: &Bundle) -> io::Result<bool> {
        Ok(self.remove_all(|approval| approval.digest == bundle.digest)? > 0)
    }

    fn remove_all(&self, which: impl Fn(&Approval) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        loop {
            let approvals: Vec<Approval> = self.approvals().into_iter().filter(&which).collect();
            // An event that is under way may remember the approval once more.
            if approvals.is_empty() {
                return Ok(removed);
            }
            for approval in approvals {
                match fs::remove_file(self.record(&approval.path, &approval.digest)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => removed += 1,
                }
            }
        }
    }

    /// Returns every approval, oldest first. A record that can't be read approves nothing.
    pub fn approvals(&self) -> Vec<Approval> {
        self.approvals_where(|_| true)
    }

    /// Returns the approved hooks files of `directories` that are there, or those that are gone.
    pub(crate) fn approved_in(&self, directories: &[PathBuf], are_there: bool) -> Vec<PathBuf> {
        let keys: HashSet<String> = directories.iter().map(|path| self.key(path)).collect();
        let approvals = self.approvals_where(|name| keys.contains(name.directory_key));
        let paths: BTreeSet<PathBuf> =
            approvals.into_iter().map(|approval| approval.path).collect();
        paths.into_iter().filter(|path| exists(path) == are_there).collect()
    }

    /// Returns whether a hooks file was approved at `path`.
    pub fn has_approved(&self, path: &Path) -> bool {
        self.newest(path).is_some()
    }

    /// Returns where the approved bytes of this digest are kept.
    pub(super) fn approved_bytes(&self, digest: &str) -> PathBuf {
        self.directory.join("files").join(digest)
    }
}

/// Returns whether something is at `path`; a path that can't be looked at counts as there.
fn exists(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok() || found.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
}
