//! The records of the trust store: their names, and how one is read.
//!
//! A name holds a key of the directory, a key of the hooks file's name, and the digest of its bytes,
//! so that a look-up reads no other records.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::permissions::check_own;
use super::store::{Approval, TrustStore};
use crate::directories::{own_directories, resolve};
use crate::files;
use crate::platform::{folded, same_name};

/// The largest record of an approval, in bytes.
const MAX_RECORD: u64 = 4 << 20;

/// The name of a record, in its parts.
pub(super) struct RecordName<'n> {
    pub(super) directory_key: &'n str,
    pub(super) file_key: &'n str,
    pub(super) digest: &'n str,
}

impl TrustStore {
    /// Returns the newest approval at `path`. One that can't be read counts as the newest, and
    /// approves nothing.
    pub(super) fn newest(&self, path: &Path) -> Option<Approval> {
        let path = recorded(path);
        let unreadable = || Approval {
            digest: String::new(),
            path: path.clone(),
            approved_at: u64::MAX,
            remembered: false,
            files: Vec::new(),
        };
        let records = self.records_at(&path);
        let approvals = records.map(|record| self.read_record(&record).unwrap_or_else(unreadable));
        approvals.filter(|approval| self.is_same(&approval.path, &path)).max_by(in_order)
    }

    /// Returns the approvals whose records have a `wanted` name, oldest first. A record that can't be
    /// read is left out.
    pub(super) fn approvals_where(
        &self,
        wanted: impl Fn(&RecordName<'_>) -> bool,
    ) -> Vec<Approval> {
        let records = self.records(wanted);
        let mut approvals: Vec<Approval> =
            records.filter_map(|record| self.read_record(&record)).collect();
        approvals.sort_by(in_order);
        approvals
    }

    /// Returns the records of all approvals of the hooks file at `path`, which is as [`recorded`].
    pub(super) fn records_at(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let (directory, file) = self.keys(path);
        self.records(move |name| name.directory_key == directory && name.file_key == file)
    }

    fn records(&self, wanted: impl Fn(&RecordName<'_>) -> bool) -> impl Iterator<Item = PathBuf> {
        let records: Arc<[PathBuf]> =
            self.listed.clone().unwrap_or_else(|| self.all_records().collect());
        (0..records.len()).map(move |index| records[index].clone()).filter(move |path| {
            let stem = path.extension().filter(|it| *it == "json").and_then(|_| path.file_stem());
            let mut parts = stem.and_then(OsStr::to_str).unwrap_or_default().splitn(3, '-');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(directory_key), Some(file_key), Some(digest)) => {
                    wanted(&RecordName { directory_key, file_key, digest })
                }
                _ => false,
            }
        })
    }

    pub(super) fn all_records(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    }

    fn read_record(&self, record: &Path) -> Option<Approval> {
        // Another user who can write it could approve anything.
        check_own(record).ok()?;
        let bytes = files::read_regular(record, MAX_RECORD).ok()?;
        let approval: Approval = serde_json::from_slice(&bytes).ok()?;
        (self.record(&approval.path, &approval.digest) == record).then_some(approval)
    }

    /// Returns where the approval of these bytes at `path` is kept.
    pub(super) fn record(&self, path: &Path, digest: &str) -> PathBuf {
        let (directory, file) = self.keys(path);
        self.directory().join(format!("{directory}-{file}-{digest}.json"))
    }

    /// Returns the keys of the directory and of the name of a hooks file.
    fn keys(&self, path: &Path) -> (String, String) {
        let directory = self.key(path.parent().unwrap_or(Path::new("/")));
        (directory, self.key(Path::new(path.file_name().unwrap_or_default())))
    }

    /// Returns what stands for a path in the name of a record: the beginning of its SHA-256.
    pub(super) fn key(&self, path: &Path) -> String {
        let path = path.as_os_str();
        let folded = if self.case_counts { None } else { folded(path) };
        let bytes = folded.as_ref().map_or(path.as_encoded_bytes(), String::as_bytes);
        files::digest(bytes)[..16].to_owned()
    }

    pub(super) fn is_same(&self, one: &Path, other: &Path) -> bool {
        same_name(one.as_os_str(), other.as_os_str(), self.case_counts)
    }
}

fn in_order(left: &Approval, right: &Approval) -> Ordering {
    (left.approved_at, &left.digest).cmp(&(right.approved_at, &right.digest))
}

/// Returns the path under which a hooks file is recorded: the project's directory with links
/// followed, then the names below it as they are.
///
pub(super) fn recorded(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = path.parent().unwrap_or(Path::new("/"));
    let project = own_directories(&path).next().and_then(Path::parent).unwrap_or(parent);
    let below = path.strip_prefix(project).unwrap_or(&path);
    resolve(project).join(below)
}
