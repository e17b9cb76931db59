//! The state of a file, as Windows tells it.

use std::fs::Metadata;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hookexec_files::files;
use hookexec_files::hooks_file::MAX_SIZE;

/// Tells one state of a file or a directory from another. A program can set the times back, so
/// the bytes of a file count, too: a file is read for its stamp.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::load) struct Stamp {
    length: u64,
    created: Option<SystemTime>,
    modified: Option<SystemTime>,
    digest: Option<String>,
}

impl Stamp {
    /// Returns the state of a file or a directory, with its content.
    pub(in crate::load) fn with_content(path: &Path, found: &Metadata) -> Self {
        let mut digest = None;
        if found.is_file()
            && let Ok(bytes) = files::read_regular(path, MAX_SIZE)
        {
            digest = Some(files::digest(&bytes));
        }
        Self {
            length: found.len(),
            created: found.created().ok(),
            modified: found.modified().ok(),
            digest,
        }
    }

    /// Returns the state of a directory whose entries do not count: its time of creation tells it from
    /// another at its path. The rights are not known here.
    pub(in crate::load) fn without_content(found: &Metadata) -> Self {
        Self { length: 0, created: found.created().ok(), modified: None, digest: None }
    }

    /// Returns when the state came to be, as far as the system says it.
    pub(in crate::load) fn time(&self) -> SystemTime {
        self.created.max(self.modified).unwrap_or(UNIX_EPOCH)
    }
}
