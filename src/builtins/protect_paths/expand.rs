//! Wildcards written out against the file system, as a shell does it.

use std::fs;
use std::path::{Path, PathBuf};

use super::texts::{TOO_MANY, Unchecked};
use super::words::UNKNOWN;

/// How many directory entries may be looked at for one call.
const MOST: usize = 50_000;

/// Writes wildcards out, for one call.
#[derive(Debug, Default)]
pub(super) struct Expander {
    looked_at: usize,
}

impl Expander {
    /// Returns every path that the absolute `pattern` may mean. A part without a wildcard need not
    /// exist: it may be about to be made. With `dots` a wildcard matches a name that begins with one.
    pub(super) fn expand(&mut self, pattern: &str, dots: bool) -> Result<Vec<PathBuf>, Unchecked> {
        let mut places = vec![PathBuf::from("/")];
        for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
            places = match part {
                "**" => self.trees(places, dots)?,
                part if has_wildcard(part) => self.entries(&places, part, dots)?,
                part => places.into_iter().map(|place| place.join(part)).collect(),
            };
        }
        Ok(places)
    }

    fn entries(
        &mut self,
        places: &[PathBuf],
        part: &str,
        dots: bool,
    ) -> Result<Vec<PathBuf>, Unchecked> {
        let pattern: Vec<char> = part.chars().collect();
        let mut found = Vec::new();
        for place in places {
            for name in self.names(place)? {
                let hidden = name.starts_with('.') && !dots;
                let asked = part.starts_with(['.', UNKNOWN, '[']);
                if (!hidden || asked) && matches(&pattern, &name.chars().collect::<Vec<_>>()) {
                    found.push(place.join(name));
                }
            }
        }
        Ok(found)
    }

    /// Returns the directories and all below them; links are not followed, as in a shell.
    fn trees(&mut self, places: Vec<PathBuf>, dots: bool) -> Result<Vec<PathBuf>, Unchecked> {
        let mut open = places.clone();
        let mut found = places;
        while let Some(place) = open.pop() {
            for name in self.names(&place)? {
                let path = place.join(&name);
                let hidden = name.starts_with('.') && !dots;
                if !hidden && fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir()) {
                    found.push(path.clone());
                    open.push(path);
                }
            }
        }
        Ok(found)
    }

    fn names(&mut self, directory: &Path) -> Result<Vec<String>, Unchecked> {
        let Ok(entries) = fs::read_dir(directory) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            self.looked_at += 1;
            if self.looked_at > MOST {
                return Err(TOO_MANY);
            }
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }
}

/// Returns whether `text` can mean more than one path.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', UNKNOWN])
}

/// Returns whether a name matches a pattern of one path component. A set such as `[a-z]` is taken
/// for any letter, and case does not count: what may match, matches.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut retry = None;
    loop {
        match pattern.get(at) {
            Some('*' | &UNKNOWN) => {
                retry = Some((at + 1, read));
                at += 1;
                continue;
            }
            None if read == name.len() => return true,
            Some(_) if read < name.len() => {
                if let Some(length) = one(&pattern[at..], name[read]) {
                    at += length;
                    read += 1;
                    continue;
                }
            }
            _ => {}
        }
        match retry {
            Some((after, from)) if from < name.len() => {
                retry = Some((after, from + 1));
                (at, read) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Returns how much of `pattern` matches `letter`.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match pattern[0] {
        '?' => Some(1),
        '[' => match pattern.iter().skip(2).position(|end| *end == ']') {
            Some(end) => Some(end + 3),
            None => (letter == '[').then_some(1),
        },
        other => other.to_lowercase().eq(letter.to_lowercase()).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_over_the_whole_name() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("*.env*", "x.environment", true),
            ("?nv", "env", true),
            ("?nv", "nv", false),
            ("[e]nv", "ENV", true),
            ("[]e]nv", "env", true),
            ("[env", "[env", true),
            ("[env", "env", false),
            ("**b", "ab", true),
            ("a\0", "abc", true),
            ("", "a", false),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(matches(&chars(pattern), &chars(name)), expected, "{pattern} {name}");
        }
    }
}
