//! Limits on what an unapproved project, or a file that others could have written, may cost.

/// How many files a project may have: each is looked up among the approvals.
pub(crate) const MAX_PROJECT_FILES: usize = 32;
/// How much of all changes is shown, in bytes.
pub(crate) const MAX_DIFF: usize = 64 << 10;
