//! Limits on what an unapproved project, or a file that others could have written, may cost.

/// How many bytes the files of a project may have together: they are read before it is known
/// whether a person approved them, at every event.
pub(crate) const MAX_PROJECT_BYTES: usize = 1 << 20;
/// How many files a project may have: each is looked up among the approvals.
pub(crate) const MAX_PROJECT_FILES: usize = 32;
/// The largest file whose change is shown line by line, in bytes.
pub(crate) const MAX_SHOWN: u64 = 1 << 20;
/// How much of all changes is shown, in bytes.
pub(crate) const MAX_DIFF: usize = 64 << 10;
