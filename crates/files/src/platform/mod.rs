//! The differences between the systems that hookexec runs on. The engine asks nowhere else which
//! system it is.

#[cfg_attr(unix, path = "start_error/unix.rs")]
#[cfg_attr(windows, path = "start_error/windows.rs")]
pub mod start_error;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
pub mod system;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The directory of the managed layer on this system.
pub const MANAGED_DIRECTORY: &str = Platform::HERE.managed_directory;

/// The facts about a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// The directory of the managed layer.
    pub managed_directory: &'static str,
    /// Whether `A` and `a` are two names on every disk.
    pub case_counts: bool,
    /// Whether a user's first group usually has no other member.
    pub own_groups: bool,
    /// A directory that shows the files of `/` once more, without a link.
    pub second_root: Option<&'static str>,
    /// Whether `PATH` and `Path` are two variables.
    pub variable_case_counts: bool,
    /// Whether `\` separates the parts of a path, and a path may begin with a drive, as in `C:\`.
    pub has_drives: bool,
    /// The variable that names the home directory.
    pub home_variable: &'static str,
    /// The shell of a hook that names none.
    pub shell: &'static str,
}

impl Platform {
    /// The system that this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::WINDOWS
    } else if cfg!(target_os = "macos") {
        Self::MACOS
    } else {
        Self::LINUX
    };

    /// Linux, and every Unix but macOS.
    pub const LINUX: Self = Self {
        managed_directory: "/etc/hookexec",
        case_counts: true,
        own_groups: true,
        second_root: None,
        variable_case_counts: true,
        has_drives: false,
        home_variable: "HOME",
        shell: "/bin/sh",
    };

    /// The system of a Mac.
    pub const MACOS: Self = Self {
        managed_directory: "/Library/Application Support/hookexec",
        case_counts: false,
        // Every user is in `staff`.
        own_groups: false,
        // `/Users` is a firmlink to a directory in it, and `readlink` knows no firmlinks.
        second_root: Some("/System/Volumes/Data"),
        ..Self::LINUX
    };

    /// The system of Microsoft.
    pub const WINDOWS: Self = Self {
        // Every user may write below `C:\ProgramData`, only administrators below this one.
        managed_directory: r"C:\Program Files\hookexec",
        case_counts: false,
        own_groups: false,
        second_root: None,
        variable_case_counts: false,
        has_drives: true,
        home_variable: "USERPROFILE",
        shell: "bash",
    };

    /// Returns `path` by its place below `/`, also when it leads through the second root.
    pub fn first_name(self, path: &Path) -> Option<PathBuf> {
        let rest = strip_base(path, Path::new(self.second_root?), self.case_counts)?;
        Some(Path::new("/").join(rest))
    }

    /// Returns a variable by its name, with the name as it is set.
    pub fn variable<'v>(
        self,
        variables: &'v BTreeMap<OsString, OsString>,
        name: &OsStr,
    ) -> Option<(&'v OsString, &'v OsString)> {
        let exact = variables.get_key_value(name);
        if self.variable_case_counts || exact.is_some() {
            return exact;
        }
        variables.iter().find(|(known, _)| same_name(known, name, false))
    }

    /// Returns whether the name of a program is a path, and is not looked for in `PATH`.
    pub fn is_path(self, name: &str) -> bool {
        name.contains('/') || self.has_drives && name.contains(['\\', ':'])
    }

    /// Returns a path as a path from `/` on: `C:\x` and `\\?\C:\x` become `/c/x`, as Git Bash writes it.
    /// Names lose what Windows ignores.
    pub fn rooted(self, path: &str) -> Cow<'_, str> {
        if !self.has_drives {
            return Cow::Borrowed(path);
        }
        let slashed = path.replace('\\', "/");
        let plain = slashed.trim_start_matches("//?/").trim_start_matches("//./");
        let (drive, rest) = match plain.as_bytes() {
            [letter, b':', ..] if letter.is_ascii_alphabetic() => {
                (format!("/{}", plain[..1].to_ascii_lowercase()), &plain[2..])
            }
            _ => (String::new(), plain),
        };
        let names: Vec<&str> = rest.split('/').map(without_ignored).collect();
        let separator = if drive.is_empty() || rest.starts_with('/') { "" } else { "/" };
        Cow::Owned(format!("{drive}{separator}{}", names.join("/")))
    }

    /// Returns the path that the system knows for one that [`rooted`](Self::rooted) returned.
    pub fn native(self, path: &Path) -> Cow<'_, Path> {
        let text = path.to_string_lossy().replace('\\', "/");
        if !self.has_drives || !text.starts_with('/') {
            return Cow::Borrowed(path);
        }
        let (drive, rest) = text[1..].split_once('/').unwrap_or((&text[1..], ""));
        if drive.len() != 1 || !drive.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return Cow::Borrowed(path);
        }
        let (drive, rest) = (drive.to_ascii_uppercase(), rest.replace('/', "\\"));
        Cow::Owned(format!("{drive}:\\{rest}").into())
    }
}

/// Returns a name without what Windows ignores: dots and blanks at its end, and `:stream` behind it.
fn without_ignored(name: &str) -> &str {
    let name = name.split(':').next().unwrap_or_default();
    let is_dots = name.chars().all(|letter| letter == '.');
    if is_dots { name } else { name.trim_end_matches(['.', ' ']) }
}

/// Returns the rest of `path` below `base`, as `Path::strip_prefix` does.
pub fn strip_base(path: &Path, base: &Path, case_counts: bool) -> Option<PathBuf> {
    let mut rest = path.components();
    for part in base.components() {
        if !same_name(rest.next()?.as_os_str(), part.as_os_str(), case_counts) {
            return None;
        }
    }
    Some(rest.collect())
}

/// Returns whether two names of files are the same.
pub fn same_name(left: &OsStr, right: &OsStr, case_counts: bool) -> bool {
    left == right || !case_counts && folded(left).is_some_and(|name| Some(name) == folded(right))
}

/// Returns a name without its case. Upper case comes first: it also unites `ſ` and `s`.
pub fn folded(name: &OsStr) -> Option<String> {
    Some(name.to_str()?.to_uppercase().to_lowercase())
}

/// Returns `path` with the links of its existing part followed.
pub fn resolve(path: &Path) -> PathBuf {
    for part in path.ancestors() {
        let Ok(real) = system::canonical(part) else { continue };
        return match path.strip_prefix(part) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        };
    }
    path.to_owned()
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
    fn paths_of_windows_become_paths_from_the_root_on_and_back() {
        for (path, rooted, native) in [
            (r"C:\Users\jo", "/c/Users/jo", r"C:\Users\jo"),
            ("D:/work", "/d/work", r"D:\work"),
            (r"\\?\C:\x", "/c/x", r"C:\x"),
            ("/c/Users", "/c/Users", r"C:\Users"),
            ("C:", "/c/", r"C:\"),
            (r"a\.env. .\b::$DATA", "a/.env/b", "a/.env/b"),
            (r"..\.\x", ".././x", ".././x"),
            ("/usr/bin", "/usr/bin", "/usr/bin"),
        ] {
            let found = Platform::WINDOWS.rooted(path);
            assert_eq!(found, rooted, "{path}");
            assert_eq!(Platform::WINDOWS.native(Path::new(&*found)), Path::new(native), "{path}");
            assert_eq!(Platform::LINUX.rooted(path), path);
            assert_eq!(Platform::LINUX.native(Path::new(path)), Path::new(path));
        }
    }

    #[test]
    fn the_case_of_a_variable_counts_where_the_system_says_so() {
        let variables = [("Path".into(), "x".into())].into();
        let found = |platform: Platform| platform.variable(&variables, OsStr::new("PATH"));
        assert!(
            found(Platform::WINDOWS).is_some_and(|(name, value)| name == "Path" && value == "x")
        );
        assert_eq!(found(Platform::LINUX), None);
    }

    #[test]
    fn a_program_with_a_backslash_is_a_path_on_windows() {
        for (name, windows, linux) in [
            ("./x", true, true),
            (r".\x", true, false),
            ("C:x", true, false),
            ("x.exe", false, false),
        ] {
            assert_eq!(Platform::WINDOWS.is_path(name), windows, "{name}");
            assert_eq!(Platform::LINUX.is_path(name), linux, "{name}");
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
