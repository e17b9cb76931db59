//! Finds the files of patterns as a shell does it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use super::shell::UNKNOWN;
use super::wildcard::{Part, has_wildcard};
use hookexec_files::platform::Platform;

/// How many entries of directories may be looked at.
const MOST_ENTRIES: usize = 50_000;

/// Finds the files of patterns, for one call.
#[derive(Debug, Default)]
pub struct Finder {
    looked_at: Cell<usize>,
}

impl Finder {
    /// Returns every path that an absolute path with wildcards may mean now; none for another path. A
    /// part without a wildcard need not exist: it may be about to be made. With `dots` a wildcard
    /// matches names that begin with a dot. `None` if there is too much to look at.
    pub fn find(&self, pattern: &Path, dots: bool) -> Option<Vec<PathBuf>> {
        let pattern = pattern.to_str().unwrap_or_default();
        if !has_wildcard(pattern) {
            return Some(Vec::new());
        }
        let mut places = vec![PathBuf::from("/")];
        for part in pattern.split('/') {
            if part.is_empty() || part == "." {
                continue;
            }
            if !has_wildcard(part) {
                for place in &mut places {
                    place.push(part);
                }
                continue;
            }
            let is_deep = part == "**";
            let shows_hidden = dots || part.starts_with(['.', UNKNOWN, '[']);
            let wanted = Part::of(part);
            let mut open = std::mem::take(&mut places);
            if is_deep {
                places.clone_from(&open);
            }
            while let Some(place) = open.pop() {
                for name in self.names(&place)? {
                    if name.starts_with('.') && !shows_hidden {
                        continue;
                    }
                    let path = place.join(&name);
                    if !is_deep {
                        if wanted.fits(&name, false) {
                            places.push(path);
                        }
                        continue;
                    }
                    // Links are not followed, as in a shell.
                    let native = Platform::HERE.native(&path);
                    if native.is_dir() && !native.is_symlink() {
                        open.push(path.clone());
                        places.push(path);
                    }
                }
            }
        }
        Some(places)
    }

    fn names(&self, directory: &Path) -> Option<Vec<String>> {
        let Ok(entries) = fs::read_dir(Platform::HERE.native(directory)) else {
            return Some(Vec::new());
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            self.looked_at.update(|count| count + 1);
            if self.looked_at.get() > MOST_ENTRIES {
                return None;
            }
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Some(names)
    }
}
