//! Limits on what an unapproved project, or a file that others could have written, may cost.

/// How deep a working directory may be. A project's files are looked for in the directories around it at
/// every event, before it is known whether a person approved them.
pub(crate) const MAX_LEVELS: usize = 100;
/// How many bytes the files of a project may have together: they are read before it is known
/// whether a person approved them, at every event.
pub(crate) const MAX_PROJECT_BYTES: usize = 1 << 20;
/// How many files a project may have: each is looked up among the approvals.
pub(crate) const MAX_PROJECT_FILES: usize = 32;
/// The largest file that an approval can cover, in bytes. It is read at every event.
pub(crate) const MAX_NAMED: u64 = 64 << 20;
/// The largest record of an approval, and the largest state of a policy, in bytes.
pub(crate) const MAX_RECORD: u64 = 4 << 20;
