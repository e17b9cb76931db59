//! Where hooks files are: the user's own directories, which a project must not provide, and names.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The directory beside a hooks file, each file of which adds to it.
pub(crate) const DROP_INS: &str = "hooks.d";
/// The directory of a project's configuration.
pub(crate) const PROJECT_DIRECTORY: &str = ".hookexec";

/// What a file in a `hooks.d` is by its name.
pub(crate) enum DropIn {
    HooksFile,
    /// It may be meant to be one.
    Misnamed,
    /// Any other file, such as a hidden one or a backup that an editor left behind.
    Other,
}

impl DropIn {
    pub(crate) fn of(name: &OsStr) -> Self {
        let bytes = name.as_encoded_bytes();
        let is = |extension: &OsStr, name: &&str| extension.eq_ignore_ascii_case(name);
        match Path::new(name).extension() {
            _ if bytes.starts_with(b".") => Self::Other,
            Some(it) if it == "yaml" || it == "yml" => Self::HooksFile,
            Some(it) if ["yaml", "yml", "json"].iter().any(|name| is(it, name)) => Self::Misnamed,
            None if !bytes.ends_with(b"~") && bytes != b"README" => Self::Misnamed,
            _ => Self::Other,
        }
    }
}

/// Returns the user's home directory.
///
/// One that is written with `..` is returned as the system follows it: paths are compared with it,
/// and globs begin with it.
pub fn home_directory() -> Option<PathBuf> {
    etcetera::home_dir().ok().map(without_detours)
}

/// Returns `path` without `..`, when it leads anywhere.
pub(crate) fn without_detours(path: PathBuf) -> PathBuf {
    let detour = path.components().any(|part| part == Component::ParentDir);
    let straight = detour.then(|| dunce::canonicalize(&path).ok()).flatten();
    straight.unwrap_or(path)
}

/// Returns a base directory of the user: what `variable` says, or `below_home` in the home
/// directory. A relative path counts as not set: it would be in the project.
pub fn base_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home_directory()?.join(below_home)).filter(|path| path.is_absolute()))
}

/// Returns the directory of the user's state: `$XDG_STATE_HOME`, else `~/.local/state`.
pub fn state_directory() -> Option<PathBuf> {
    base_directory("XDG_STATE_HOME", ".local/state")
}

/// Returns whether a directory of the user lies in `project`, or in a repository around it.
///
/// The home directory and the directories above it do not count: people work there, too.
pub(crate) fn is_in_project(directory: &Path, project: &Path) -> bool {
    let directory = resolve(directory);
    for (index, path) in project.ancestors().enumerate() {
        if !directory.starts_with(path) || (index > 0 && !is_repository(path)) {
            continue;
        }
        let home = home_directory().map(|home| resolve(&home));
        if home.is_none_or(|home| !home.starts_with(path)) {
            return true;
        }
    }
    false
}

/// Returns whether `directory` is the root of a repository. A link counts without being followed: a
/// project could make that slow.
pub(crate) fn is_repository(directory: &Path) -> bool {
    directory.join(".git").symlink_metadata().is_ok()
}

/// Returns the directory of the project that the hooks file in `directory` is for: the one that
/// contains `.hookexec`.
pub(crate) fn project_of(directory: &Path) -> &Path {
    let own = directory.ancestors().take(2).find(|place| place.ends_with(PROJECT_DIRECTORY));
    own.and_then(Path::parent).unwrap_or(directory)
}

/// Returns the directories that only hold hooks files of a project and that the one at `path` is in,
/// the outermost first: `.hookexec`, and `hooks.d` in it.
pub(crate) fn own_directories(path: &Path) -> impl Iterator<Item = &Path> {
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    let parent = path.parent();
    let drop_ins = parent.filter(|parent| named(parent, DROP_INS));
    let own = drop_ins.map_or(parent, Path::parent);
    let own = own.filter(|own| named(own, PROJECT_DIRECTORY));
    own.into_iter().chain(own.and(drop_ins))
}

/// Returns the first symbolic link on the way from a project to `path`, its hooks file or a directory
/// for some: one of its [`own_directories`], or `path` itself. Follows none.
pub(crate) fn link_to(path: &Path) -> Option<&Path> {
    own_directories(path).chain([path]).find(|place| place.is_symlink())
}

/// Returns `path` with the links of its existing part followed.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, dunce::canonicalize(part).ok()?)));
    match existing {
        Some((part, real)) => match path.strip_prefix(part) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => real,
        },
        None => path.to_owned(),
    }
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
