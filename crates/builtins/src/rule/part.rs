//! Parts of the patterns of paths, compared with the parts of a path.

use super::expand::UNKNOWN;

/// The most patterns that the braces of one may stand for.
const MOST_BRACES: usize = 64;

/// A part of a path between two `/`, with the letters that stand for others replaced.
#[derive(Debug, Clone)]
pub(super) struct Part {
    letters: Vec<char>,
    is_wild: bool,
}

// Letters of a compiled part that stand for others.
const DEEP: char = '\u{1}';
const MANY: char = '\u{2}';
const ONE: char = '\u{3}';

fn is_special(letter: char) -> bool {
    matches!(letter, DEEP..=ONE)
}

impl Part {
    pub(super) fn literal(name: &str) -> Self {
        Self { letters: name.chars().collect(), is_wild: false }
    }

    pub(super) fn of(written: &str) -> Self {
        let letters = compiled(written);
        let is_wild = letters.iter().any(|letter| is_special(*letter));
        Self { letters, is_wild }
    }

    pub(super) fn is_deep(&self) -> bool {
        self.letters == [DEEP]
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

/// Returns the letters that the names of a path begin with, as bits.
pub(super) fn first_letters(path: &[String]) -> u128 {
    let mut letters = 0;
    for letter in path.iter().filter_map(|name| name.chars().next()) {
        letters |= bit(letter);
    }
    letters
}

/// Returns the letters, as bits, that names of each path begin with that a pattern fits.
pub(super) fn wanted_letters(pattern: &[Part]) -> u128 {
    let mut letters = 0;
    for Part { letters: name, is_wild } in pattern {
        if let Some(letter) = name.first().filter(|letter| !is_wild || !is_special(**letter)) {
            letters |= bit(*letter);
        }
    }
    letters
}

/// Returns the bit of a letter, the same in both cases. Others may have it, too.
fn bit(letter: char) -> u128 {
    let letter = letter.to_lowercase().next().unwrap_or(letter);
    1 << (u32::from(letter) % 128)
}

/// Returns a part of a pattern with the letters that stand for others replaced.
fn compiled(part: &str) -> Vec<char> {
    if part == "**" {
        return vec![DEEP];
    }
    let mut letters = Vec::new();
    let mut rest = part;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '*' | UNKNOWN if letters.last() == Some(&MANY) => {}
            '*' | UNKNOWN => letters.push(MANY),
            '?' => letters.push(ONE),
            // A set such as `[a-z]` may stand for any letter.
            '[' if let Some(end) = rest.get(1..).and_then(|tail| tail.find(']')) => {
                letters.push(ONE);
                rest = &rest[end + 2..];
            }
            letter => letters.push(letter),
        }
    }
    letters
}

/// Returns whether a name is like a compiled part.
fn name_fits(part: &[char], name: &str, same_case: bool) -> bool {
    let (mut at, mut rest) = (0, name);
    // Behind the last `*`: where the part goes on, and the letters to try next.
    let mut retry = None;
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        if part.get(at) == Some(&MANY) {
            at += 1;
            retry = Some((at, behind));
        } else if part.get(at).is_some_and(|own| *own == ONE || is_same(*own, letter, same_case)) {
            (at, rest) = (at + 1, behind);
        } else if let Some((back, next)) = retry {
            (at, rest) = (back, next);
            let skipped = next.chars().next().map_or(0, char::len_utf8);
            retry = Some((back, &next[skipped..]));
        } else {
            return false;
        }
    }
    part[at..].iter().all(|letter| *letter == MANY)
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
