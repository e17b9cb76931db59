//! Parts of the patterns of paths, compared with the parts of a path.

use super::expand::UNKNOWN;

/// The most patterns that the braces of one may stand for.
const MOST_BRACES: usize = 64;

/// A part of a path between two `/`.
#[derive(Debug, Clone)]
pub(super) struct Part {
    letters: Vec<char>,
    /// Whether `*` and `?` stand for others.
    is_wild: bool,
}

impl Part {
    pub(super) fn literal(name: &str) -> Self {
        Self { letters: name.chars().collect(), is_wild: false }
    }

    pub(super) fn of(written: &str) -> Self {
        let letters = simplified(written);
        let is_wild = letters.contains(&'*') || letters.contains(&'?');
        Self { letters, is_wild }
    }

    pub(super) fn is_deep(&self) -> bool {
        self.is_wild && self.letters == ['*', '*']
    }

    pub(super) fn is_wild(&self) -> bool {
        self.is_wild
    }

    /// Returns the name that it is, if it has no wildcard.
    pub(super) fn name(&self) -> String {
        self.letters.iter().collect()
    }

    pub(super) fn fits(&self, name: &str, same_case: bool) -> bool {
        if !self.is_wild {
            let mut own = self.letters.iter();
            let mut letters = name.chars();
            return letters
                .all(|letter| own.next().is_some_and(|one| is_same(*one, letter, same_case)))
                && own.next().is_none();
        }
        name_fits(&self.letters, name, same_case)
    }
}

/// Returns the letters of a part, in which only `*` and `?` stand for others: a set such as `[a-z]` may
/// be any letter.
fn simplified(part: &str) -> Vec<char> {
    let mut letters = Vec::new();
    let mut rest = part.chars();
    while let Some(letter) = rest.next() {
        let set = rest.as_str().char_indices().skip(1).find(|(_, end)| *end == ']');
        match (letter, set) {
            ('[', Some((end, _))) => {
                letters.push('?');
                rest = rest.as_str()[end + 1..].chars();
            }
            (UNKNOWN, _) => letters.push('*'),
            _ => letters.push(letter),
        }
    }
    letters
}

/// Returns whether a name is like a part with wildcards.
fn name_fits(part: &[char], name: &str, same_case: bool) -> bool {
    let (mut at, mut rest) = (0, name);
    // Behind the last `*`: where the part goes on, and the letters to try next.
    let mut retry = None;
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        if part.get(at) == Some(&'*') {
            at += 1;
            retry = Some((at, behind));
        } else if part.get(at).is_some_and(|own| *own == '?' || is_same(*own, letter, same_case)) {
            (at, rest) = (at + 1, behind);
        } else if let Some((back, next)) = retry {
            (at, rest) = (back, next);
            let skipped = next.chars().next().map_or(0, char::len_utf8);
            retry = Some((back, &next[skipped..]));
        } else {
            return false;
        }
    }
    part[at..].iter().all(|letter| *letter == '*')
}

fn is_same(letter: char, other: char, same_case: bool) -> bool {
    if letter.is_ascii() && other.is_ascii() {
        return letter == other || !same_case && letter.eq_ignore_ascii_case(&other);
    }
    letter == other || !same_case && letter.to_lowercase().eq(other.to_lowercase())
}

/// Returns whether a pattern fits the beginning of a path.
pub(super) fn fit(pattern: &[Part], path: &[String], same_case: bool) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return true };
    if part.is_deep() {
        return (0..=path.len()).any(|from| fit(rest, &path[from..], same_case));
    }
    let Some((name, behind)) = path.split_first() else { return false };
    part.fits(name, same_case) && fit(rest, behind, same_case)
}

/// Returns whether a pattern fits the whole of a path.
pub(super) fn fit_whole(pattern: &[Part], path: &[String]) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return path.is_empty() };
    if part.is_deep() {
        return (0..=path.len()).any(|from| fit_whole(rest, &path[from..]));
    }
    let Some((name, behind)) = path.split_first() else { return false };
    part.fits(name, false) && fit_whole(rest, behind)
}

/// Returns the patterns that one with `{a,b}` stands for.
pub(super) fn braces(text: &str) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    while let Some(at) = found.iter().position(|text| inner_braces(text).is_some()) {
        let text = found.remove(at);
        let Some((start, end)) = inner_braces(&text) else { break };
        for part in text[start + 1..end].split(',') {
            found.push(format!("{}{part}{}", &text[..start], &text[end + 1..]));
        }
        if found.len() > MOST_BRACES {
            break;
        }
    }
    found
}

/// Returns where the first list in braces begins and ends that has no other in it; `{}` and `{a}` are
/// none.
fn inner_braces(text: &str) -> Option<(usize, usize)> {
    for (end, _) in text.match_indices('}') {
        let start = text[..end].rfind('{')?;
        if text[start..end].contains(',') {
            return Some((start, end));
        }
    }
    None
}
