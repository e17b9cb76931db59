//! The limits of what is looked at for one call.

/// How many texts, directories or commands one word may stand for; further ones are not known.
pub const MOST_ALTERNATIVES: usize = 16;
/// How many texts and paths may be looked at.
pub const MOST_PATHS: usize = 30_000;
/// How many bytes the texts that may be paths may have together.
pub const MOST_BYTES: usize = 16 << 20;
/// The longest path that the system takes.
pub const LONGEST_PATH: usize = 4096;
/// How deep groups and defaults of variables are followed into one another.
pub const DEEPEST: usize = 4;

/// Why a call can't be checked.
pub const TOO_MANY: &str = "the call names more paths than can be checked";
