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
    /// The mode and the owners.
    rights: [u32; 3],
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(in crate::load) fn new(_path: &Path, found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            rights: [found.mode(), found.uid(), found.gid()],
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Returns the state of a directory of which only the owner and the rights count.
    pub(in crate::load) fn of_rights(found: &Metadata) -> Self {
        let state = Self::new(Path::new(""), found);
        Self { length: 0, modified: (0, 0), changed: (0, 0), ..state }
    }

    /// Returns when the state came to be; the time of the system, which no program can set back.
    pub(in crate::load) fn time(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.changed;
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }
}
