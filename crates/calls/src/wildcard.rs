//! Parts of the patterns of paths, compared with the parts of a path.

use crate::shell::UNKNOWN;
use hookexec_files::glob::like;

/// A part of a path between two `/`.
#[derive(Debug, Clone)]
pub struct Part {
    text: String,
    /// Whether `*` and `?` stand for others.
    is_wild: bool,
}

impl Part {
    /// Returns a part without wildcards.
    pub fn literal(name: &str) -> Self {
        Self { text: name.to_owned(), is_wild: false }
    }

    /// Reads a part as it is written.
    pub fn of(written: &str) -> Self {
        let mut text = simplified(written).replace(UNKNOWN, "*");
        // `***` stays within a name.
        if text == "**" && written != "**" {
            text.pop();
        }
        let is_wild = text.contains(['*', '?']);
        Self { text, is_wild }
    }

    /// Returns whether it is `**`.
    pub fn is_deep(&self) -> bool {
        self.is_wild && self.text == "**"
    }

    /// Returns whether it has wildcards.
    pub fn is_wild(&self) -> bool {
        self.is_wild
    }

    /// Returns the name that it is, if it has no wildcard.
    pub fn name(&self) -> &str {
        &self.text
    }

    /// Returns whether a name fits it.
    pub fn fits(&self, name: &str, same_case: bool) -> bool {
        match (self.is_wild, same_case) {
            (true, true) => like(&self.text, name, |own, letter| own == '?' || own == letter),
            (true, false) => like(&self.text, name, |own, letter| own == '?' || alike(own, letter)),
            (false, true) => self.text == name,
            (false, false) if self.text.is_ascii() => self.text.eq_ignore_ascii_case(name),
            (false, false) => small(&self.text) == small(name),
        }
    }
}

/// Returns a pattern that fits at least what `pattern` does, in which only `*` and `?` stand for others. A plain
/// set such as `[a-z]` may be any letter, and another one any text, as shells differ in where it ends; more
/// than two `*` are two.
pub fn simplified(pattern: &str) -> String {
    let mut simple = String::new();
    let last = pattern.rfind(']').unwrap_or(0);
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let is_set = letter == '[' && pattern.len() - rest.len() < last;
        let (letter, length) = if !is_set {
            (letter, letter.len_utf8())
        } else if let Some(length) = plain_set(rest) {
            ('?', length)
        } else {
            ('*', length_of_sets(rest))
        };
        rest = &rest[length..];
        if letter != '*' || !simple.ends_with("**") {
            simple.push(letter);
        }
    }
    simple
}

/// Returns the length of a set that every shell reads alike: it has a letter, and no bracket, `/` or backslash
/// in it or right behind it.
fn plain_set(text: &str) -> Option<usize> {
    let end = text.find(']')?;
    let inside = text[1..end].trim_start_matches(['!', '^']);
    let is_odd = inside.is_empty() || inside.contains(['[', '/', '\\']);
    if is_odd || text[end + 1..].starts_with(']') { None } else { Some(end + 1) }
}

/// Returns how long the sets are that a text begins with: up to the last `]` of the part, or the first one
/// behind it.
fn length_of_sets(text: &str) -> usize {
    let part = text.split('/').next().unwrap_or_default();
    let end = part.rfind(']').or_else(|| text.find(']'));
    end.unwrap_or(0) + 1
}

/// Returns a text in small letters, one by one.
fn small(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn alike(letter: char, other: char) -> bool {
    letter == other
        || letter.eq_ignore_ascii_case(&other)
        || !letter.is_ascii() && letter.to_lowercase().eq(other.to_lowercase())
}

/// Returns whether a pattern fits the beginning of a path.
pub fn fit(pattern: &[Part], path: &[String], same_case: bool) -> bool {
    fits(pattern, path, same_case, false)
}

/// Returns whether a pattern fits the whole of a path.
pub fn fit_whole(pattern: &[Part], path: &[String]) -> bool {
    fits(pattern, path, false, true)
}

fn fits(pattern: &[Part], path: &[String], same_case: bool, is_whole: bool) -> bool {
    let (mut part_at, mut name_at) = (0, 0);
    // Where the pattern goes on behind its last `**`, and how far that reaches: only that one ever needs to
    // take more.
    let mut deep = None;
    loop {
        match (pattern.get(part_at), path.get(name_at)) {
            (None, name) if !is_whole || name.is_none() => return true,
            (Some(part), _) if part.is_deep() => {
                part_at += 1;
                deep = Some((part_at, name_at));
            }
            (Some(part), Some(name)) if part.fits(name, same_case) => {
                part_at += 1;
                name_at += 1;
            }
            _ => {
                let Some((behind, reached)) = deep else { return false };
                if reached == path.len() {
                    return false;
                }
                deep = Some((behind, reached + 1));
                (part_at, name_at) = (behind, reached + 1);
            }
        }
    }
}

/// Returns whether `text` can mean more than one path.
pub fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', UNKNOWN])
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
            ("a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaa", false),
            ("a\0", "abc", true),
            ("", "a", false),
        ] {
            assert_eq!(Part::of(pattern).fits(name, false), expected, "{pattern} {name}");
        }
        assert!(Part::of("**").is_deep() && !Part::of("***").is_deep());
    }

    #[test]
    fn a_path_fits_however_many_directories_a_pattern_skips() {
        let parts = |text: &str| text.split('/').map(Part::of).collect::<Vec<_>>();
        let names = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        for (pattern, path, begins, whole) in [
            ("a/**/b", "a/b", true, true),
            ("a/**/b", "a/x/b/c", true, false),
            ("a/**/b/c", "a/b/x/b/c", true, true),
            ("**/b/**/d", "a/b/c/b/e", false, false),
            ("**", "a", true, true),
            ("a/**", "a", true, true),
            ("a", "b", false, false),
            ("a/b", "a", false, false),
        ] {
            let (pattern, path) = (parts(pattern), names(path));
            assert_eq!(fit(&pattern, &path, true), begins, "{pattern:?} {path:?}");
            assert_eq!(fit_whole(&pattern, &path), whole, "{pattern:?} {path:?}");
        }
        // To try all ways would take years.
        let (pattern, path) = ("**/a/".repeat(12) + "b", vec!["a".to_owned(); 500]);
        assert!(!fit(&parts(&pattern), &path, true));
    }
}
