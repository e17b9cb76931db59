//! The user's home directory.

use std::path::{Component, PathBuf};

/// Returns the user's home directory.
///
/// One that is written with `..` is returned as the system follows it: paths are compared with it,
/// and globs begin with it.
#[must_use]
pub fn home_directory() -> Option<PathBuf> {
    etcetera::home_dir().ok().map(without_detours)
}

/// Returns `path` without `..`, when it leads anywhere.
pub(crate) fn without_detours(path: PathBuf) -> PathBuf {
    let detour = path.components().any(|part| part == Component::ParentDir);
    let straight = detour.then(|| path.canonicalize().ok()).flatten();
    straight.unwrap_or(path)
}
