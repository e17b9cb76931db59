//! Where hooks files are: the user's own directories, which a project must not provide, and names.

use std::path::{Component, Path, PathBuf};

use crate::files::real;
use crate::platform::resolve;

/// The directory beside a hooks file, each file of which adds to it.
pub const DROP_INS: &str = "hooks.d";
/// The directory of a project's configuration.
pub const PROJECT_DIRECTORY: &str = ".hookexec";

/// Returns the user's home directory.
///
/// One that is written with `..` is returned as the system follows it: paths are compared with it,
/// and globs begin with it.
pub fn home_directory() -> Option<PathBuf> {
    std::env::home_dir().map(without_detours)
}

/// Returns `path` without `..`, when it leads anywhere.
pub fn without_detours(path: PathBuf) -> PathBuf {
    let has_detour = path.components().any(|part| part == Component::ParentDir);
    if has_detour { real(&path) } else { path }
}

/// Returns a base directory of the user: what `variable` says, or `below_home` in the home
/// directory. A relative path counts as not set: it would be in the project.
pub fn base_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = PathBuf::from(std::env::var_os(variable).unwrap_or_default());
    if set.is_absolute() { Some(set) } else { directory_in_home(below_home) }
}

/// Returns a directory in the user's home directory, if that is known.
pub fn directory_in_home(below_home: &str) -> Option<PathBuf> {
    let directory = home_directory()?.join(below_home);
    if directory.is_absolute() { Some(directory) } else { None }
}

/// Returns the directory of the user's state: `$XDG_STATE_HOME`, else `~/.local/state`.
pub fn state_directory() -> Option<PathBuf> {
    base_directory("XDG_STATE_HOME", ".local/state")
}

/// Returns whether a directory of the user lies in `project`, or in a repository around it.
///
/// The home directory and the directories above it do not count: people work there, too.
pub fn is_in_project(directory: &Path, project: &Path) -> bool {
    let directory = resolve(directory);
    for (index, path) in project.ancestors().enumerate() {
        if !directory.starts_with(path) || (index > 0 && !is_repository(path)) {
            continue;
        }
        match home_directory() {
            Some(home) if resolve(&home).starts_with(path) => {}
            _ => return true,
        }
    }
    false
}

/// Returns whether `directory` is the root of a repository. A link counts without being followed: a
/// project could make that slow.
pub fn is_repository(directory: &Path) -> bool {
    directory.join(".git").symlink_metadata().is_ok()
}

/// Returns the directory of the project that the hooks file in `directory` is for: the one that
/// contains `.hookexec`.
pub fn project_of(directory: &Path) -> &Path {
    for place in directory.ancestors().take(2) {
        if place.ends_with(PROJECT_DIRECTORY) {
            return place.parent().unwrap_or(directory);
        }
    }
    directory
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::fs;

    use super::*;

    // Windows lets few users make links.
    #[cfg(unix)]
    #[test]
    fn a_directory_of_the_user_in_a_project_or_a_repository_around_it_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["outer/.git", "outer/inner/.git", "outer/inner/src", "other"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("outer"), root.join("link")).unwrap();
        let project = root.join("outer/inner/src");
        for directory in ["outer/inner/x/y", "outer/inner/src", "link/x"] {
            assert!(is_in_project(&root.join(directory), &project), "{directory}");
        }
        for directory in ["other/x", ""] {
            assert!(!is_in_project(&root.join(directory), &project), "{directory}");
        }
    }
}
