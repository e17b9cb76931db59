//! Where a path leads: by its text, and on this machine.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::platform::{Platform, resolve, system};

/// Returns `path` without `.` and `..`, by its text alone: `a/../b` is `b`.
pub fn lexical(path: &Path) -> PathBuf {
    let mut plain = root_of(path);
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

/// Returns where the system would go: every link followed, `..` taken from where a link led. What
/// does not exist (yet) stays as it is written, behind whatever exists before it. A link that leads
/// nowhere is followed, too: a write to it creates its target.
pub fn physical(path: &Path) -> PathBuf {
    let mut place = root_of(path);
    let mut ahead = parts_reversed(path);
    let mut links = 0;
    // How deep the place is, and how deep a directory that is not there: nothing below it is a link.
    let (mut depth, mut missing) = (0_usize, usize::MAX);
    while let Some(part) = ahead.pop() {
        if part == ".." {
            place.pop();
            depth = depth.saturating_sub(1);
            continue;
        }
        place.push(&part);
        depth += 1;
        // How many links one path may lead through; the system itself allows 40.
        if links == 40 || depth > missing {
            continue;
        }
        missing = usize::MAX;
        match fs::read_link(&place) {
            Ok(target) => {
                links += 1;
                place.pop();
                depth -= 1;
                if target.is_absolute() {
                    place = root_of(system::simplified(&target));
                    depth = 0;
                }
                ahead.extend(parts_reversed(&target));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => missing = depth,
            Err(_) => {}
        }
    }
    // What exists has its long name: `PROGRA~1` is `Program Files`.
    if Platform::HERE.has_drives { resolve(&place) } else { place }
}

/// Returns the root that `path` begins at: `/`, and on Windows that of its drive.
fn root_of(path: &Path) -> PathBuf {
    let mut root = PathBuf::from("/");
    if let Some(Component::Prefix(drive)) = path.components().next() {
        root = PathBuf::from(drive.as_os_str());
        root.push("/");
    }
    root
}

fn parts_reversed(path: &Path) -> Vec<OsString> {
    let mut parts = Vec::new();
    for part in path.components().rev() {
        if matches!(part, Component::Normal(_) | Component::ParentDir) {
            parts.push(part.as_os_str().to_owned());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn text_alone_knows_no_links() {
        for (path, expected) in
            [("/a/./b//c/", "/a/b/c"), ("/a/b/../c", "/a/c"), ("/../..", "/"), ("/", "/")]
        {
            assert_eq!(lexical(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    // Windows lets few users make links.
    #[cfg(unix)]
    #[test]
    fn links_are_followed_as_the_system_does() {
        let root = tempfile::TempDir::new().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        fs::create_dir_all(at("real/deep")).unwrap();
        fs::write(at("real/file"), "").unwrap();
        symlink("real/deep", at("link")).unwrap();
        symlink(at("real"), at("absolute")).unwrap();
        symlink("real/not-yet", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("absolute/deep", at("chain")).unwrap();
        for (path, expected) in [
            ("link/x", "real/deep/x"),
            // The system goes up from where the link led, not from where it lies.
            ("link/../file", "real/file"),
            ("absolute/file", "real/file"),
            ("absolute/none/../file", "real/file"),
            ("dangling", "real/not-yet"),
            ("link/new/file", "real/deep/new/file"),
            ("chain/../file", "real/file"),
            ("real/file/", "real/file"),
        ] {
            assert_eq!(physical(&at(path)), at(expected), "{path}");
        }
        assert!(physical(&at("loop/x")).starts_with(&root));
    }
}
