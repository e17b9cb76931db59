//! The state of a file, as Windows tells it.

use std::fs::Metadata;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hookexec_files::files;

/// Tells one state of a file or a directory from another. A program can set the times back, so
/// the bytes of a file count, too.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::load) struct Stamp {
    length: u64,
    created: Option<SystemTime>,
    modified: Option<SystemTime>,
    digest: Option<String>,
}

impl Stamp {
    pub(in crate::load) fn new(path: &Path, found: &Metadata) -> Self {
        let mut digest = None;
        if found.is_file()
            // No hooks file is larger.
            && let Ok(bytes) = files::read_regular(path, 1 << 20)
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

    /// Returns the state of a directory of which only the owner and the rights count: which one it is.
    pub(in crate::load) fn of_rights(found: &Metadata) -> Self {
        Self { length: 0, created: found.created().ok(), modified: None, digest: None }
    }

    /// Returns when the state came to be, as far as the system says it.
    pub(in crate::load) fn time(&self) -> SystemTime {
        self.created.max(self.modified).unwrap_or(UNIX_EPOCH)
    }
}
