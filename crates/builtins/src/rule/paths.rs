//! Patterns of paths and addresses, and whether a path fits them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::address::AddressPattern;
use super::call::CallReading;
use super::expand::is_rest_of_path;
use super::part::{Part, braces, fit, fit_whole};
use super::pattern::Mistake;
use super::texts::Texts;
use crate::builtins::Surroundings;
use hookexec_files::paths::lexical;
use hookexec_files::platform::{Platform, strip_base};

/// Directories for temporary files.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/"];

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
    /// The project and the home, if the pattern names temporary files: they never are.
    spared: Vec<PathBuf>,
    compiled: OnceLock<Compiled>,
}

/// A pattern of a path in its parts.
#[derive(Debug)]
struct Compiled {
    parts: Vec<Part>,
    /// The directory or file before its first wildcard.
    root: Option<PathBuf>,
    /// How many parts the root has.
    root_parts: usize,
}

/// The patterns of one key, and where what they name really lies now.
pub(super) struct Here<'p> {
    all: &'p [PathPattern],
    paths: Vec<PathHere<'p>>,
    home: Option<PathBuf>,
    guesses: OnceCell<BTreeSet<PathBuf>>,
}

/// A pattern of paths, and where its directory really lies if that is elsewhere.
struct PathHere<'p> {
    pattern: &'p PathPattern,
    glob: &'p PathGlob,
    real: Option<PathBuf>,
}

impl Machine {
    /// Returns the home of the user as a path from `/` on.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.surroundings.home().map(rooted)
    }
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

    fn glob(&self) -> Option<&PathGlob> {
        match &self.named {
            Named::Path(glob) => Some(glob),
            Named::Address(_) => None,
        }
    }

    /// Returns whether a path, or a directory that it is in, or an address certainly is like the pattern.
    fn holds(&self, file: &Path) -> bool {
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
            (Named::Path(glob), None) => fit(&glob.compiled().parts, &parts_of(file), false),
            _ => false,
        }
    }

    /// Returns whether a path is the named one, lies above it, or is a wildcard directly in it.
    pub(super) fn is_at_stake(&self, path: &Path) -> bool {
        self.glob().is_some_and(|glob| glob.is_at_stake(path))
    }

    /// Returns whether a path of which only the last part is known may be at stake.
    pub(super) fn may_be_at_stake(&self, last: &str) -> bool {
        self.glob().is_some_and(|glob| glob.may_be_at_stake(last))
    }
}

impl PathGlob {
    fn parse(item: &str, machine: &Machine) -> Result<Self, Mistake> {
        if item.contains('[') {
            let hint = "write `?` for any letter, or `{a,b}` for one of two".to_owned();
            return Err((format!("`[` is not a wildcard: `{item}`"), hint));
        }
        let glob = Platform::HERE.rooted(item);
        let at_temporary = behind(&glob, &["$TMPDIR"]);
        let (base, rest) = if let Some(rest) = behind(&glob, &["~", "$HOME", "${HOME}"]) {
            let Some(home) = machine.home() else {
                return Err((format!("`{item}` needs the home directory"), "set HOME".to_owned()));
            };
            (home, rest)
        } else if let Some(rest) = behind(&glob, &["$PROJECT", "."]) {
            (rooted(&machine.project), rest)
        } else if let Some(rest) = at_temporary {
            (rooted(machine.surroundings.temp_dir()), rest)
        } else if glob.starts_with(['~', '$', '!']) {
            let hint = "begin with `/`, `~/`, `$PROJECT/` or a name; exceptions go into `except`";
            let message = format!("`{item}` is not a path that can be known");
            return Err((message, hint.to_owned()));
        } else if glob.starts_with('/') {
            (PathBuf::from("/"), &*glob)
        } else {
            // The directory that it is relative to is not known, so it counts in each.
            (PathBuf::new(), &*glob)
        };
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
        if at_temporary.is_some() || TEMPORARY.iter().any(|place| glob.starts_with(place)) {
            spared.push(rooted(&machine.project));
            spared.extend(machine.home());
        }
        let rest = rest.to_owned();
        Ok(Self { base, rest, spared, compiled: OnceLock::new() })
    }

    /// Returns its parts. Most patterns are never compared with a path.
    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::of(&self.base, &self.rest))
    }

    /// Returns whether a path, or a directory that it is in, is like the pattern in the same case.
    fn holds(&self, path: &Path) -> bool {
        let mut spared = self.spared.iter();
        !spared.any(|place| path.starts_with(place) || place.starts_with(path))
            && fit(&self.compiled().parts, &parts_of(path), true)
    }

    fn is_at_stake(&self, path: &Path) -> bool {
        let mut path = path;
        while let (Some(parent), Some(last)) = (path.parent(), path.file_name())
            && is_only_wild(&text_of(last))
        {
            path = parent;
        }
        let Compiled { parts, root, .. } = self.compiled();
        let named = parts_of(path);
        let is_below = self.rest.ends_with("**") && fit(parts, &named, false);
        if is_below || fit_whole(parts, &named) {
            return true;
        }
        let Some(root) = root else { return false };
        // A wildcard in it may stand for what is named, or for what lies above that.
        let wild: Vec<Part> = named.iter().map(|part| Part::of(part)).collect();
        strip_base(root, path, false).is_some()
            || wild.iter().any(Part::is_wild) && fit(&wild, &parts_of(root), false)
    }

    fn may_be_at_stake(&self, last: &str) -> bool {
        let is_open = last.is_empty() || last.contains(['*', '?', '[']);
        is_open
            || self.rest.ends_with("**")
            || self.compiled().parts.iter().any(|part| !part.is_deep() && part.fits(last, false))
    }

    /// Returns whether a path, or a directory that it is in, is like the pattern; `real` is where its
    /// root really lies.
    fn leads_to(&self, real: Option<&Path>, name: &Path, parts: &[String]) -> bool {
        let own = self.compiled();
        // `/` alone is the root, and not every file.
        if own.parts.is_empty() && !self.rest.ends_with("**") {
            return name.parent().is_none();
        }
        if fit(&own.parts, parts, false) {
            return true;
        }
        // `~/.ssh` may be a link itself: what it leads to counts, too.
        let Some(rest) = real.and_then(|real| strip_base(name, real, false)) else { return false };
        fit(&own.parts[own.root_parts..], &parts_of(&rest), false)
    }
}

/// Returns whether one of the patterns holds a file, and none with a `!` takes some of it away.
pub(super) fn hold(patterns: &[PathPattern], file: &Path) -> bool {
    let mut taken = patterns.iter().filter(|pattern| pattern.negated);
    patterns.iter().any(|pattern| !pattern.negated && pattern.holds(file))
        && !taken.any(|pattern| pattern.is_at_stake(file))
        && !take_away(patterns, file)
}

/// Returns whether a pattern with a `!` may take a file away.
pub(super) fn take_away(patterns: &[PathPattern], file: &Path) -> bool {
    patterns.iter().any(|pattern| pattern.negated && pattern.may_hold(file))
}

/// Returns the address that a file is. It is in no directory.
fn address_of(file: &Path) -> Option<&str> {
    file.to_str().filter(|text| text.contains(":/") && !text.starts_with('/'))
}

/// Returns the rest of a path that begins with one of these names.
fn behind<'g>(glob: &'g str, names: &[&str]) -> Option<&'g str> {
    let mut rests = names.iter().filter_map(|name| glob.strip_prefix(name));
    rests.find(|rest| is_rest_of_path(rest))
}

/// Returns whether a part of a path is made of wildcards.
fn is_only_wild(part: &str) -> bool {
    part.contains(['*', '?']) && part.chars().all(|letter| "*?.[]!^{},".contains(letter))
}

impl Compiled {
    fn of(base: &Path, rest: &str) -> Self {
        let is_absolute = !base.as_os_str().is_empty();
        let mut parts = vec![Part::of("**")];
        if is_absolute {
            parts = parts_of(&lexical(base)).iter().map(|part| Part::literal(part)).collect();
        }
        let rest = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.extend(rest.map(Part::of));
        // A directory stands for all that is in it, so these ends say nothing.
        while parts.last().is_some_and(Part::is_deep) {
            parts.pop();
        }
        let root_parts = parts.iter().take_while(|part| !part.is_wild()).count();
        let mut root = PathBuf::from("/");
        root.extend(parts[..root_parts].iter().map(Part::name));
        let root = if is_absolute { Some(root) } else { None };
        Self { parts, root, root_parts }
    }
}

impl<'p> Here<'p> {
    pub(super) fn of(patterns: &'p [PathPattern], read: &CallReading<'_>) -> Self {
        let mut paths = Vec::new();
        for pattern in patterns.iter().filter(|pattern| !pattern.negated) {
            if let Some(glob) = pattern.glob() {
                let root = glob.compiled().root.as_deref();
                let elsewhere = root.and_then(|root| read.elsewhere(root));
                paths.push(PathHere { pattern, glob, real: elsewhere });
            }
        }
        Self { all: patterns, paths, home: read.home(), guesses: OnceCell::new() }
    }

    /// Returns the directories in which a word may lie that begins with what only the shell knows: those
    /// above what is named, and the home.
    pub(super) fn guesses(&self) -> &BTreeSet<PathBuf> {
        self.guesses.get_or_init(|| {
            let mut guesses: BTreeSet<PathBuf> = self.home.iter().cloned().collect();
            for here in &self.paths {
                let root = here.glob.compiled().root.as_deref();
                let above = root.into_iter().flat_map(Path::ancestors).skip(1);
                guesses.extend(above.map(Path::to_owned));
            }
            guesses
        })
    }

    /// Returns the pattern that fits a path, under any of its `names`. A path fits if it, or a directory
    /// that it is in, does.
    pub(super) fn fitting(
        &self,
        names: &[PathBuf],
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        for name in names.iter().filter(|name| !take_away(self.all, name)) {
            let parts = parts_of(name);
            for PathHere { pattern, glob, real } in &self.paths {
                if glob.leads_to(real.as_deref(), name, &parts) && !excepted(name) {
                    return Some(pattern);
                }
            }
        }
        None
    }

    /// Returns the pattern that names something below a directory.
    pub(super) fn below(&self, names: &[PathBuf]) -> Option<&'p PathPattern> {
        for PathHere { pattern, glob, real } in &self.paths {
            for root in glob.compiled().root.iter().chain(real) {
                if names.iter().any(|name| strip_base(root, name, false).is_some()) {
                    return Some(pattern);
                }
            }
        }
        None
    }

    /// Returns the pattern of an address that one of these texts is.
    pub(super) fn address(
        &self,
        texts: &Texts,
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Option<&'p PathPattern> {
        for address in texts.iter().filter(|text| text.contains(":/")) {
            let file = Path::new(address);
            if excepted(file) || self.all.iter().any(|one| one.negated && one.holds(file)) {
                continue;
            }
            for pattern in self.all.iter().filter(|pattern| !pattern.negated) {
                if let Named::Address(named) = &pattern.named
                    && named.fits(address)
                {
                    return Some(pattern);
                }
            }
        }
        None
    }
}

/// Returns where the system would go for a path from `/` on, as such a path.
pub(super) fn real(path: &Path) -> PathBuf {
    let place = hookexec_files::paths::physical(&Platform::HERE.native(path));
    if Platform::HERE.has_drives { rooted(&place) } else { place }
}

/// Returns a path of the system as a path from `/` on.
pub(super) fn rooted(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(Platform::HERE.rooted(text).as_ref()),
        None => path.to_owned(),
    }
}

/// Returns the names of the file that `path` leads to; an address has one.
pub(super) fn names(path: &Path) -> Vec<PathBuf> {
    if address_of(path).is_some() {
        return vec![path.to_owned()];
    }
    let mut names = vec![lexical(path), real(path)];
    names.dedup();
    let first: Vec<PathBuf> =
        names.iter().filter_map(|name| Platform::HERE.first_name(name)).collect();
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
