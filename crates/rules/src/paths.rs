//! Patterns of paths and addresses, and whether a path fits them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::call::CallReading;
use super::pattern::Mistake;
use hookexec_calls::Surroundings;
use hookexec_calls::expand::is_rest_of_path;
use hookexec_calls::place::rooted;
use hookexec_calls::shell::braces;
use hookexec_calls::wildcard::{Part, fit, fit_whole};
use hookexec_files::address::AddressPattern;
use hookexec_files::paths::lexical;
use hookexec_files::platform::{Platform, strip_base};

/// Directories for temporary files.
const TEMPORARY: [&str; 5] = ["$TMPDIR", "/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/"];

/// The places that patterns name.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) project: PathBuf,
    pub(super) surroundings: Surroundings,
}

/// A pattern of `targets` or `files`.
#[derive(Debug)]
pub(super) struct PathPattern {
    /// As it is written in the rule: `@secrets` for each of its items.
    pub(super) written: String,
    /// Whether it is written with a `!`: it takes away what lies in it.
    pub(super) negated: bool,
    named: Named,
}

/// The patterns of one key, which are read once a file is compared with them.
#[derive(Debug, Default)]
pub(super) struct PathList {
    /// The text of each in the rule, and the path: an item of a group has one of its own.
    pub(super) items: Vec<(String, Cow<'static, str>)>,
    machine: Option<Arc<Machine>>,
    read: OnceLock<Vec<PathPattern>>,
}

impl PathList {
    /// Returns a list without items, which names places of a machine.
    pub(super) fn on(machine: &Arc<Machine>) -> Self {
        Self { machine: Some(Arc::clone(machine)), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Deref for PathList {
    type Target = [PathPattern];

    fn deref(&self) -> &[PathPattern] {
        self.read.get_or_init(|| {
            let mut patterns = Vec::new();
            let Some(machine) = &self.machine else { return patterns };
            for (written, path) in &self.items {
                #[expect(clippy::expect_used, reason = "the load read it, or a test")]
                patterns.extend(PathPattern::parse(written, path, machine).expect("it was read"));
            }
            patterns
        })
    }
}

/// The kind of place that a pattern names.
#[derive(Debug)]
enum Named {
    Address(AddressPattern),
    Path(PathGlob),
}

/// A pattern of a path.
#[derive(Debug)]
struct PathGlob {
    /// The directory that it begins with; empty if it counts in each.
    base: PathBuf,
    /// The part behind the directory.
    rest: String,
    /// Whether it is written with `**` at its end.
    is_open: bool,
    /// The project and the home, if the pattern names temporary files: they never are.
    spared: Vec<PathBuf>,
    compiled: OnceLock<Compiled>,
}

/// A pattern of a path in its parts. Most patterns are never compared with a path.
#[derive(Debug)]
struct Compiled {
    parts: Vec<Part>,
    /// The directory or file before its first wildcard, if it does not count in each directory.
    root: Option<PathBuf>,
    /// How many parts the root has.
    root_parts: usize,
}

/// The patterns of one key, and where what they name really lies now.
pub(super) struct Here<'p> {
    all: &'p [PathPattern],
    paths: Vec<PathHere<'p>>,
}

/// A pattern of paths, and where its directory really lies if that is elsewhere.
struct PathHere<'p> {
    pattern: &'p PathPattern,
    glob: &'p PathGlob,
    real: Option<PathBuf>,
}

impl PathPattern {
    /// Reads an item of `targets` or `files`; `written` is what the rule says for it.
    pub(super) fn parse(
        written: &str,
        item: &str,
        machine: &Machine,
    ) -> Result<Vec<Self>, Mistake> {
        let path = item.strip_prefix('!').unwrap_or(item);
        let mut patterns = Vec::new();
        for text in braces(path) {
            let named = if text.contains("://") {
                Named::Address(AddressPattern(text))
            } else {
                Named::Path(PathGlob::parse(&text, machine)?)
            };
            let negated = path.len() < item.len();
            patterns.push(Self { written: written.to_owned(), negated, named });
        }
        Ok(patterns)
    }

    /// Returns whether a path, or a directory that it is in, or an address certainly is like the pattern.
    pub(super) fn holds(&self, file: &Path) -> bool {
        match (&self.named, address_of(file)) {
            (Named::Address(pattern), Some(address)) => pattern.certainly_fits(address),
            (Named::Path(glob), None) => glob.holds(file),
            _ => false,
        }
    }

    /// Returns whether it may hold a file: in any letter case, or as one program reads the address.
    fn may_hold(&self, file: &Path) -> bool {
        match (&self.named, address_of(file)) {
            (Named::Address(pattern), Some(address)) => pattern.fits(address),
            (Named::Path(glob), None) => fit(glob.parts(), &parts_of(file), false),
            _ => false,
        }
    }

    /// Returns whether a path is the named one, lies above it, or is a wildcard directly in it.
    pub(super) fn is_at_stake(&self, path: &Path) -> bool {
        let Named::Path(glob) = &self.named else { return false };
        let mut path = path;
        while let (Some(parent), Some(last)) = (path.parent(), path.file_name())
            && is_only_wild(&last.to_string_lossy())
        {
            path = parent;
        }
        let named = parts_of(path);
        if fit_whole(glob.parts(), &named) || glob.is_open && fit(glob.parts(), &named, false) {
            return true;
        }
        let Some(root) = &glob.compiled().root else { return false };
        if strip_base(root, path, false).is_some() {
            return true;
        }
        // A wildcard in it may stand for what is named, or for what lies above that.
        let wild = parts_written(&path.to_string_lossy());
        wild.iter().any(Part::is_wild) && fit(&wild, &parts_of(root), false)
    }

    /// Returns whether a path of which only the last part is known may be at stake.
    pub(super) fn may_be_at_stake(&self, last: &str) -> bool {
        let Named::Path(glob) = &self.named else { return false };
        if glob.is_open || last.is_empty() || last.contains(['*', '?', '[']) {
            return true;
        }
        glob.parts().iter().any(|part| !part.is_deep() && part.fits(last, false))
    }
}

impl Compiled {
    fn of(base: &Path, rest: &str) -> Self {
        let is_absolute = !base.as_os_str().is_empty();
        let mut parts = vec![Part::of("**")];
        if is_absolute {
            parts = parts_of(&lexical(base)).iter().map(|name| Part::literal(name)).collect();
        }
        parts.extend(parts_written(rest));
        // A directory stands for all that is in it, so these ends say nothing.
        while matches!(parts.last(), Some(last) if last.is_deep()) {
            parts.pop();
        }
        let (mut root, mut root_parts) = (PathBuf::from("/"), 0);
        for part in &parts {
            if part.is_wild() {
                break;
            }
            root.push(part.name());
            root_parts += 1;
        }
        let root = if is_absolute { Some(root) } else { None };
        Self { parts, root, root_parts }
    }
}

impl PathGlob {
    fn parse(item: &str, machine: &Machine) -> Result<Self, Mistake> {
        if item.contains('[') {
            let hint = "write `?` for any letter, or `{a,b}` for one of two".to_owned();
            return Err((format!("`[` is not a wildcard: `{item}`"), hint));
        }
        let glob = Platform::HERE.rooted(item);
        let (base, rest) = divided(&glob, item, machine)?;
        if rest.split('/').any(|part| part == "..") {
            let hint = "write the path that it stands for".to_owned();
            return Err((format!("`{item}` must not contain `..`"), hint));
        }
        let is_escaped = !Platform::HERE.has_drives && item.contains('\\');
        if item.starts_with('^') || item.ends_with('$') || is_escaped {
            let hint = "write `*.env` for a name, `a/**` for all below a directory".to_owned();
            return Err((format!("`{item}` looks like a regular expression"), hint));
        }
        let mut spared = Vec::new();
        if TEMPORARY.iter().any(|place| glob.starts_with(place)) {
            spared.push(rooted(&machine.project));
            spared.extend(machine.surroundings.home().map(rooted));
        }
        let (rest, is_open) = (rest.to_owned(), rest.ends_with("**"));
        Ok(Self { base, rest, is_open, spared, compiled: OnceLock::new() })
    }

    fn parts(&self) -> &[Part] {
        &self.compiled().parts
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::of(&self.base, &self.rest))
    }

    /// Returns whether a path, or a directory that it is in, is like the pattern in the same case.
    fn holds(&self, path: &Path) -> bool {
        for place in &self.spared {
            if path.starts_with(place) || place.starts_with(path) {
                return false;
            }
        }
        fit(self.parts(), &parts_of(path), true)
    }

    /// Returns whether a path, or a directory that it is in, is like the pattern; `real` is where its
    /// root really lies.
    fn leads_to(&self, real: Option<&Path>, name: &Path, parts: &[String]) -> bool {
        // `/` alone is the root, and not every file.
        if self.parts().is_empty() && !self.is_open {
            return name.parent().is_none();
        }
        if fit(self.parts(), parts, false) {
            return true;
        }
        // `~/.ssh` may be a link itself: what it leads to counts, too.
        let Some(real) = real else { return false };
        let Some(rest) = strip_base(name, real, false) else { return false };
        fit(&self.parts()[self.compiled().root_parts..], &parts_of(&rest), false)
    }
}

/// Returns the directory that a pattern begins with, and the part behind it. The directory is empty if
/// the pattern counts in each.
fn divided<'g>(
    glob: &'g str,
    item: &str,
    machine: &Machine,
) -> Result<(PathBuf, &'g str), Mistake> {
    for name in ["~", "$HOME", "${HOME}", "$PROJECT", ".", "$TMPDIR"] {
        let Some(rest) = glob.strip_prefix(name) else { continue };
        if !is_rest_of_path(rest) {
            continue;
        }
        let place = match name {
            "$PROJECT" | "." => Some(&*machine.project),
            "$TMPDIR" => Some(machine.surroundings.temp_dir()),
            _ => machine.surroundings.home(),
        };
        let Some(place) = place else {
            return Err((format!("`{item}` needs the home directory"), "set HOME".to_owned()));
        };
        return Ok((rooted(place), rest));
    }
    if glob.starts_with(['~', '$', '!']) {
        let hint = "begin with `/`, `~/`, `$PROJECT/` or a name; exceptions go into `except`";
        return Err((format!("`{item}` is not a path that can be known"), hint.to_owned()));
    }
    let base = if glob.starts_with('/') { "/" } else { "" };
    Ok((PathBuf::from(base), glob))
}

/// Returns the first pattern that holds a file, if none with a `!` takes some of it away.
pub(super) fn holder<'p>(patterns: &'p [PathPattern], file: &Path) -> Option<&'p PathPattern> {
    let mut holder = None;
    for pattern in patterns {
        if !pattern.negated {
            if holder.is_none() && pattern.holds(file) {
                holder = Some(pattern);
            }
        } else if pattern.is_at_stake(file) || pattern.may_hold(file) {
            return None;
        }
    }
    holder
}

/// Returns whether a pattern with a `!` may take a file away.
pub(super) fn take_away(patterns: &[PathPattern], file: &Path) -> bool {
    patterns.iter().any(|pattern| pattern.negated && pattern.may_hold(file))
}

/// Returns the address that a file is. It is in no directory.
fn address_of(file: &Path) -> Option<&str> {
    let text = file.to_str()?;
    if text.contains(":/") && !text.starts_with('/') { Some(text) } else { None }
}

/// Returns whether a part of a path is made of wildcards.
pub(super) fn is_only_wild(part: &str) -> bool {
    part.contains(['*', '?']) && part.chars().all(|letter| "*?.[]!^{},".contains(letter))
}

impl<'p> Here<'p> {
    pub(super) fn of(patterns: &'p [PathPattern], read: &CallReading<'_>) -> Self {
        let mut paths = Vec::new();
        for pattern in patterns {
            if let Named::Path(glob) = &pattern.named
                && !pattern.negated
            {
                let elsewhere =
                    glob.compiled().root.as_deref().and_then(|root| read.elsewhere(root));
                paths.push(PathHere { pattern, glob, real: elsewhere });
            }
        }
        Self { all: patterns, paths }
    }

    /// Returns the directories in which a word may lie that begins with what only the shell knows: the
    /// home, and those above what is named.
    pub(super) fn guesses(&self, home: Option<PathBuf>) -> BTreeSet<PathBuf> {
        let mut guesses = BTreeSet::from_iter(home);
        for here in &self.paths {
            if let Some(root) = &here.glob.compiled().root {
                guesses.extend(root.ancestors().skip(1).map(Path::to_owned));
            }
        }
        guesses
    }

    /// Returns the pattern that fits a path, under any of its `names`. A path fits if it, or a directory
    /// that it is in, does.
    pub(super) fn fitting(
        &self,
        names: &[PathBuf],
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        for name in names {
            if take_away(self.all, name) {
                continue;
            }
            let parts = parts_of(name);
            for PathHere { pattern, glob, real } in &self.paths {
                if glob.leads_to(real.as_deref(), name, &parts) && !excepted(name) {
                    return Some(pattern);
                }
            }
        }
        None
    }

    /// Returns the pattern that names something below a directory, if that is `wanted`.
    pub(super) fn below(
        &self,
        names: &[PathBuf],
        wanted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        for PathHere { pattern, glob, real } in &self.paths {
            for root in [&glob.compiled().root, real].into_iter().flatten() {
                let is_below = names.iter().any(|name| strip_base(root, name, false).is_some());
                if is_below && wanted(root) {
                    return Some(pattern);
                }
            }
        }
        None
    }

    /// Returns the pattern of an address that a text is.
    pub(super) fn address(
        &self,
        text: &str,
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        let file = Path::new(text);
        if !text.contains(":/") || excepted(file) {
            return None;
        }
        if self.all.iter().any(|pattern| pattern.negated && pattern.holds(file)) {
            return None;
        }
        self.all.iter().find(|pattern| match &pattern.named {
            Named::Address(address) => !pattern.negated && address.fits(text),
            Named::Path(_) => false,
        })
    }
}

/// Returns where the system would go for a path from `/` on, as such a path.
pub(super) fn real(path: &Path) -> PathBuf {
    let place = hookexec_files::paths::physical(&Platform::HERE.native(path));
    if Platform::HERE.has_drives { rooted(&place) } else { place }
}

/// Returns the names of the file that `path` leads to; an address has one.
pub(super) fn names(path: &Path) -> Vec<PathBuf> {
    if address_of(path).is_some() {
        return vec![path.to_owned()];
    }
    let mut names = vec![lexical(path), real(path)];
    names.dedup();
    for name in names.clone() {
        names.extend(Platform::HERE.first_name(&name));
    }
    names
}

/// Returns the parts of a path.
fn parts_of(path: &Path) -> Vec<String> {
    let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "/").collect()
}

/// Returns the parts of a path with wildcards.
fn parts_written(path: &str) -> Vec<Part> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).map(Part::of).collect()
}
