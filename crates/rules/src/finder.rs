//! Finds the files of patterns as a shell does it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use super::limits::{MOST_ENTRIES, TOO_MANY};
use hookexec_calls::shell::UNKNOWN;
use hookexec_calls::wildcard::{Part, has_wildcard};
use hookexec_files::platform::Platform;

/// Finds the files of patterns, for one call.
#[derive(Debug, Default)]
pub(super) struct Finder {
    looked_at: Cell<usize>,
}

impl Finder {
    /// Returns every path that an absolute path with wildcards may mean now; none for another path. A
    /// part without a wildcard need not exist: it may be about to be made. With `dots` a wildcard
    /// matches names that begin with a dot.
    pub(super) fn find(&self, pattern: &Path, dots: bool) -> Result<Vec<PathBuf>, &'static str> {
        let pattern = pattern.to_str().unwrap_or_default();
        if !has_wildcard(pattern) {
            return Ok(Vec::new());
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
        Ok(places)
    }

    fn names(&self, directory: &Path) -> Result<Vec<String>, &'static str> {
        let Ok(entries) = fs::read_dir(Platform::HERE.native(directory)) else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            self.looked_at.update(|count| count + 1);
            if self.looked_at.get() > MOST_ENTRIES {
                return Err(TOO_MANY);
            }
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }
}
