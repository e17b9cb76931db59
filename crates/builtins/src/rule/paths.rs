//! Patterns of paths and addresses, and whether a path fits them.

use std::path::{Path, PathBuf};

use super::glob::glob_any_case;
use super::pattern::Mistake;
use crate::builtins::protect_paths::texts::Texts;
use hookexec_files::paths::lexical;
use hookexec_files::platform::{Platform, strip_base};

/// The most patterns that the braces of one may stand for.
const MOST_BRACES: usize = 64;

/// The places that patterns name.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) home: Option<PathBuf>,
    pub(super) project: PathBuf,
    /// The directory for temporary files.
    pub(super) temporary: PathBuf,
    pub(super) platform: Platform,
}

/// A pattern of `targets` or `files`.
#[derive(Debug)]
pub(super) struct PathPattern {
    /// As it is written in the rule: `@secrets` for each of its items.
    pub(super) written: String,
    /// The address, if it is one: `*://**?token=**`.
    address: Option<String>,
    parts: Vec<Part>,
    /// The directory or file before its first wildcard.
    root: Option<PathBuf>,
    /// How many parts the root has.
    root_parts: usize,
}

/// A part of a path between two `/`, with the letters that stand for others replaced.
#[derive(Debug, Clone)]
struct Part {
    exact: Vec<char>,
    /// The same in small letters.
    folded: Vec<char>,
}

/// The patterns of one key, and where what they name really lies now.
pub(super) struct Here<'p> {
    patterns: Vec<(&'p PathPattern, Option<PathBuf>)>,
}

impl PathPattern {
    /// Reads an item of `targets` or `files`; `written` is what the rule says for it.
    pub(super) fn parse(
        written: &str,
        item: &str,
        machine: &Machine,
    ) -> Result<Vec<Self>, Mistake> {
        let mut patterns = Vec::new();
        for text in braces(item) {
            patterns.push(Self::parse_one(written, &text, machine)?);
        }
        Ok(patterns)
    }

    fn parse_one(written: &str, item: &str, machine: &Machine) -> Result<Self, Mistake> {
        let platform = machine.platform;
        let written = written.to_owned();
        if item.contains("://") {
            let (parts, root, root_parts) = (Vec::new(), None, 0);
            return Ok(Self { written, address: Some(item.to_owned()), parts, root, root_parts });
        }
        let glob = platform.rooted(item);
        let behind = |name: &str| {
            let rest = glob.strip_prefix(name)?;
            if rest.is_empty() || rest.starts_with('/') { Some(rest) } else { None }
        };
        let at_home = ["~", "$HOME", "${HOME}"].iter().find_map(|name| behind(name));
        let at_temporary = behind("$TMPDIR");
        let at_project = ["$PROJECT", "."].iter().find_map(|name| behind(name));
        let wrong = |why: &str, hint: &str| Err((format!("`{item}` {why}"), hint.to_owned()));
        let (base, rest) = match (at_home, at_project, &machine.home) {
            (Some(rest), _, Some(home)) => (rooted(home, platform), rest),
            (Some(_), ..) => return wrong("needs the home directory", "set HOME"),
            (_, Some(rest), _) => (rooted(&machine.project, platform), rest),
            _ if at_temporary.is_some() => {
                (rooted(&machine.temporary, platform), at_temporary.unwrap_or_default())
            }
            _ if glob.starts_with(['~', '$', '!']) => {
                let hint =
                    "begin with `/`, `~/`, `$PROJECT/` or a name; exceptions go into `except`";
                return wrong("is not a path that can be known", hint);
            }
            _ if glob.starts_with('/') => (PathBuf::from("/"), &*glob),
            // The directory that it is relative to is not known, so it counts in each.
            _ => (PathBuf::new(), &*glob),
        };
        if rest.split('/').any(|part| part == "..") {
            return wrong("must not contain `..`", "write the path that it stands for");
        }
        let is_absolute = !base.as_os_str().is_empty();
        let mut parts: Vec<Part> =
            parts_of(&lexical(&base)).iter().map(|part| Part::literal(part)).collect();
        if !is_absolute {
            parts = vec![Part::of("**")];
        }
        let rest = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.extend(rest.map(Part::of));
        // A directory stands for all that is in it, so these ends say nothing.
        while parts.last().is_some_and(Part::is_deep) {
            parts.pop();
        }
        let root_parts = parts.iter().take_while(|part| !part.is_wild()).count();
        let root = if is_absolute {
            let names =
                parts[..root_parts].iter().map(|part| part.exact.iter().collect::<String>());
            Some(Path::new("/").join(names.collect::<PathBuf>()))
        } else {
            None
        };
        Ok(Self { written, address: None, parts, root, root_parts })
    }

    pub(super) fn fits_address(&self, text: &str) -> bool {
        self.address.as_ref().is_some_and(|address| {
            let whole = glob_any_case(address, text);
            whole
                || glob_any_case(&format!("{address}/*"), text)
                || glob_any_case(&format!("{address}:*"), text)
        })
    }

    /// Returns whether a path, or a directory that it is in, is like the pattern in the same case.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.address.is_none() && fit(&self.parts, &parts_of(path), true)
    }

    /// Returns whether a path is the named one, lies above it, or is a wildcard directly in it.
    pub(super) fn is_at_stake(&self, path: &Path) -> bool {
        if self.address.is_some() {
            return false;
        }
        let is_wild = |part: &str| {
            !part.is_empty()
                && part.chars().all(|letter| "*?.[]!^{},".contains(letter))
                && part.contains(['*', '?'])
        };
        let mut path = path;
        while let Some(parent) = path
            .parent()
            .filter(|_| path.file_name().map(text_of).is_some_and(|last| is_wild(&last)))
        {
            path = parent;
        }
        let parts = parts_of(path);
        fit_whole(&self.parts, &parts)
            || self.root.as_ref().is_some_and(|root| strip_base(root, path, false).is_some())
    }

    /// Returns whether a path of which only the last part is known may be at stake.
    pub(super) fn may_be_at_stake(&self, last: &str) -> bool {
        let is_open = last.is_empty() || last.contains(['*', '?', '[']);
        is_open || self.parts.iter().any(|part| !part.is_deep() && part.fits(last, false))
    }
}

impl<'p> Here<'p> {
    pub(super) fn of(patterns: &'p [PathPattern], platform: Platform) -> Self {
        let here = |pattern: &'p PathPattern| {
            let real = pattern.root.as_deref().map(|root| real(root, platform));
            (pattern, real.filter(|real| Some(real) != pattern.root.as_ref()))
        };
        Self { patterns: patterns.iter().map(here).collect() }
    }

    /// Returns the pattern that fits a path, under any of its `names`. A path fits if it, or a directory
    /// that it is in, does.
    pub(super) fn fitting(
        &self,
        names: &[PathBuf],
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        for name in names {
            for (pattern, real) in &self.patterns {
                if pattern.address.is_some() || !pattern.leads_to(real.as_deref(), name) {
                    continue;
                }
                if !excepted(name) {
                    return Some(pattern);
                }
            }
        }
        None
    }
}

impl PathPattern {
    /// Returns whether a path, or a directory that it is in, is like the pattern; `real` is where its
    /// root really lies.
    fn leads_to(&self, real: Option<&Path>, name: &Path) -> bool {
        // `/` alone is the root, and not every file.
        if self.parts.is_empty() && !self.written.starts_with("**") {
            return name.parent().is_none();
        }
        if fit(&self.parts, &parts_of(name), false) {
            return true;
        }
        // `~/.ssh` may be a link itself: what it leads to counts, too.
        let Some(rest) = real.and_then(|real| strip_base(name, real, false)) else { return false };
        fit(&self.parts[self.root_parts..], &parts_of(&rest), false)
    }
}

impl<'p> Here<'p> {
    /// Returns the pattern that names something below a directory.
    pub(super) fn below(&self, names: &[PathBuf]) -> Option<&'p PathPattern> {
        let found = self.patterns.iter().find(|(pattern, real)| {
            let mut roots = pattern.root.iter().chain(real);
            roots.any(|root| names.iter().any(|name| strip_base(root, name, false).is_some()))
        });
        found.map(|(pattern, _)| *pattern)
    }

    /// Returns the directories above what is named.
    pub(super) fn above(&self) -> impl Iterator<Item = &Path> {
        let roots = self.patterns.iter().filter_map(|(pattern, _)| pattern.root.as_deref());
        roots.flat_map(|root| root.ancestors().skip(1))
    }

    /// Returns the pattern of an address that one of these texts is.
    pub(super) fn address(&self, texts: &Texts) -> Option<&'p PathPattern> {
        let mut addresses = texts.iter().map(|(text, _)| text).filter(|text| text.contains("://"));
        addresses.find_map(|text| {
            let found = self.patterns.iter().find(|(pattern, _)| pattern.fits_address(text));
            found.map(|(pattern, _)| *pattern)
        })
    }
}

/// Returns where the system would go for a path from `/` on, as such a path.
pub(super) fn real(path: &Path, platform: Platform) -> PathBuf {
    let place = hookexec_files::paths::physical(&platform.native(path));
    if platform.has_drives { rooted(&place, platform) } else { place }
}

/// Returns a path of the system as a path from `/` on.
pub(super) fn rooted(path: &Path, platform: Platform) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(platform.rooted(text).as_ref()),
        None => path.to_owned(),
    }
}

/// Returns the names of the file that `path` leads to.
pub(super) fn names(path: &Path, platform: Platform) -> Vec<PathBuf> {
    let mut names = vec![lexical(path), real(path, platform)];
    names.dedup();
    let first: Vec<PathBuf> = names.iter().filter_map(|name| platform.first_name(name)).collect();
    names.extend(first);
    names
}

fn text_of(part: impl AsRef<std::ffi::OsStr>) -> String {
    part.as_ref().to_string_lossy().into_owned()
}

fn parts_of(path: &Path) -> Vec<String> {
    let parts = path.iter().map(text_of);
    parts.filter(|part| part != "/").collect()
}

// Letters of a compiled part that stand for others.
const DEEP: char = '\u{1}';
const MANY: char = '\u{2}';
const ONE: char = '\u{3}';
const SET: char = '\u{4}';
const NOT_SET: char = '\u{5}';
const END: char = '\u{6}';

fn is_special(letter: char) -> bool {
    matches!(letter, DEEP..=END)
}

impl Part {
    fn literal(name: &str) -> Self {
        Self { exact: name.chars().collect(), folded: name.to_lowercase().chars().collect() }
    }

    fn of(written: &str) -> Self {
        Self { exact: compiled(written), folded: compiled(&written.to_lowercase()) }
    }

    fn is_deep(&self) -> bool {
        self.exact == [DEEP]
    }

    fn is_wild(&self) -> bool {
        self.exact.iter().any(|letter| is_special(*letter))
    }

    fn fits(&self, name: &str, same_case: bool) -> bool {
        if same_case {
            return name_fits(&self.exact, &name.chars().collect::<Vec<char>>());
        }
        name_fits(&self.folded, &name.to_lowercase().chars().collect::<Vec<char>>())
    }
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
            '*' if letters.last() == Some(&MANY) => {}
            '*' => letters.push(MANY),
            '?' => letters.push(ONE),
            '[' => match rest.get(1..).and_then(|tail| tail.find(']')) {
                Some(end) => {
                    let (set, behind) = rest.split_at(end + 1);
                    let is_negated = set.starts_with(['!', '^']);
                    letters.push(if is_negated { NOT_SET } else { SET });
                    letters.extend(set.trim_start_matches(['!', '^']).chars());
                    letters.push(END);
                    rest = behind.strip_prefix(']').unwrap_or(behind);
                }
                None => letters.push('['),
            },
            letter => letters.push(letter),
        }
    }
    letters
}

/// Returns whether a name is like a compiled part.
fn name_fits(part: &[char], name: &[char]) -> bool {
    match part {
        [] => name.is_empty(),
        [MANY, rest @ ..] => (0..=name.len()).any(|from| name_fits(rest, &name[from..])),
        [ONE, rest @ ..] => !name.is_empty() && name_fits(rest, &name[1..]),
        [start @ (SET | NOT_SET), rest @ ..] => {
            let end = rest.iter().position(|letter| *letter == END).unwrap_or(rest.len());
            let Some((first, behind)) = name.split_first() else { return false };
            is_in(&rest[..end], *first) == (*start == SET)
                && name_fits(rest.get(end + 1..).unwrap_or_default(), behind)
        }
        [letter, rest @ ..] => name.first() == Some(letter) && name_fits(rest, &name[1..]),
    }
}

fn is_in(set: &[char], letter: char) -> bool {
    let in_range =
        set.windows(3).any(|range| range[1] == '-' && (range[0]..=range[2]).contains(&letter));
    in_range || set.contains(&letter)
}

/// Returns whether a pattern fits the beginning of a path.
fn fit(pattern: &[Part], path: &[String], same_case: bool) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return true };
    if part.is_deep() {
        return (0..=path.len()).any(|from| fit(rest, &path[from..], same_case));
    }
    let Some((name, behind)) = path.split_first() else { return false };
    part.fits(name, same_case) && fit(rest, behind, same_case)
}

/// Returns whether a pattern fits the whole of a path.
fn fit_whole(pattern: &[Part], path: &[String]) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return path.is_empty() };
    if part.is_deep() {
        return (0..=path.len()).any(|from| fit_whole(rest, &path[from..]));
    }
    let Some((name, behind)) = path.split_first() else { return false };
    part.fits(name, false) && fit_whole(rest, behind)
}

/// Returns the patterns that one with `{a,b}` stands for.
fn braces(text: &str) -> Vec<String> {
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

fn inner_braces(text: &str) -> Option<(usize, usize)> {
    let end = text.find('}')?;
    Some((text[..end].rfind('{')?, end))
}
