//! The state of a file, as a Unix system tells it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells one state of a file or a directory from another.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::load) struct Stamp {
    device: u64,
    inode: u64,
    mode_and_owners: [u32; 3],
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the state of a file or a directory, with its content.
    pub(in crate::load) fn with_content(_path: &Path, found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            mode_and_owners: [found.mode(), found.uid(), found.gid()],
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Returns the state of a directory whose entries do not count, only its owners and its mode.
    pub(in crate::load) fn without_content(found: &Metadata) -> Self {
        let state = Self::with_content(Path::new(""), found);
        Self { length: 0, modified: (0, 0), changed: (0, 0), ..state }
    }

    /// Returns when the state came to be; the time of the system, which no program can set back.
    pub(in crate::load) fn time(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.changed;
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }
}
