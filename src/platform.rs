//! What differs between the systems that hookexec runs on. Nothing else in the engine asks which
//! system it is.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The directory of the managed layer on this system.
pub const MANAGED_DIRECTORY: &str = Platform::HERE.managed_directory;

/// The facts about a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform {
    /// The directory of the managed layer.
    pub(crate) managed_directory: &'static str,
    /// Whether `A` and `a` are two names on every disk.
    pub(crate) case_counts: bool,
    /// Whether a user's first group usually has no other member.
    pub(crate) own_groups: bool,
    /// A directory that shows the files of `/` once more, without a link.
    pub(crate) second_root: Option<&'static str>,
}

impl Platform {
    /// The system that this program was built for.
    pub(crate) const HERE: Self = if cfg!(target_os = "macos") { Self::MACOS } else { Self::LINUX };

    pub(crate) const LINUX: Self = Self {
        managed_directory: "/etc/hookexec",
        case_counts: true,
        own_groups: true,
        second_root: None,
    };

    pub(crate) const MACOS: Self = Self {
        managed_directory: "/Library/Application Support/hookexec",
        case_counts: false,
        // Every user is in `staff`.
        own_groups: false,
        // `/Users` is a firmlink to a directory in it, and `readlink` knows no firmlinks.
        second_root: Some("/System/Volumes/Data"),
    };

    /// Returns `path` by its place below `/`, also when it leads through the second root.
    pub(crate) fn first_name(self, path: &Path) -> Option<PathBuf> {
        let rest = strip_base(path, Path::new(self.second_root?), self.case_counts)?;
        Some(Path::new("/").join(rest))
    }
}

/// Returns the rest of `path` below `base`, as `Path::strip_prefix` does.
pub(crate) fn strip_base(path: &Path, base: &Path, case_counts: bool) -> Option<PathBuf> {
    let mut rest = path.components();
    let same = |part: Component<'_>, other: Component<'_>| {
        same_name(part.as_os_str(), other.as_os_str(), case_counts)
    };
    base.components()
        .all(|part| rest.next().is_some_and(|own| same(own, part)))
        .then(|| rest.collect())
}

/// Returns whether two names of files are the same.
pub(crate) fn same_name(left: &OsStr, right: &OsStr, case_counts: bool) -> bool {
    left == right || !case_counts && folded(left).is_some_and(|name| Some(name) == folded(right))
}

/// Returns a name without its case. Upper case comes first: it also unites `ſ` and `s`.
pub(crate) fn folded(name: &OsStr) -> Option<String> {
    let upper = name.to_str()?.chars().flat_map(char::to_uppercase);
    Some(upper.flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_counts_where_the_system_says_so() {
        for (path, base, exact, folded) in [
            ("/a/b/c", "/a/b", Some("c"), Some("c")),
            ("/A/b/C", "/a/B", None, Some("C")),
            ("/ſtraße/x", "/STRASSE", None, Some("x")),
            ("/a/b", "/a/b", Some(""), Some("")),
            ("/ab", "/a", None, None),
            ("/a", "/a/b", None, None),
        ] {
            for (case_counts, expected) in [(true, exact), (false, folded)] {
                let rest = strip_base(Path::new(path), Path::new(base), case_counts);
                assert_eq!(rest.as_deref(), expected.map(Path::new), "{path} {base}");
            }
        }
    }

    #[test]
    fn macos_shows_its_files_a_second_time() {
        let name = |path: &str| Platform::MACOS.first_name(Path::new(path));
        assert_eq!(name("/system/volumes/data/Users/jo").unwrap(), Path::new("/Users/jo"));
        assert_eq!(name("/Users/jo"), None);
        assert_eq!(Platform::LINUX.first_name(Path::new("/System/Volumes/Data/x")), None);
    }
}
