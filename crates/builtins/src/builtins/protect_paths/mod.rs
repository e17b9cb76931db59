//! `protect_paths`: keeps tools away from files.

use std::sync::Arc;

mod rules;
mod targets;
pub(crate) mod texts;
pub(crate) mod wildcards;
pub(crate) mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Surroundings, Work, tool};
use hookexec::registry::BuiltinError;
use hookexec::wire::{Input, Output};
use hookexec_files::paths::lexical;
use hookexec_files::platform::Platform;
use rules::{Access, Rules, RulesHere, real, rooted};
use targets::Targets;
use texts::TOO_MANY;
use wildcards::{Finder, has_wildcard};
use words::UNKNOWN;

/// How many directories one call may name as places that other paths start from.
const MOST_BASES: usize = 256;
/// How many paths of one call can be checked.
const MOST_PATHS: usize = 200_000;

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, String> {
    let rules = Rules::parse(args, surroundings.home(), Platform::HERE)?;
    let surroundings = surroundings.clone();
    Ok(Arc::new(move |input| {
        let check = Check { rules: rules.here(), surroundings: &surroundings };
        check.call(input).map(|reason| reason.map(Output::deny))
    }))
}

/// The check of one call.
struct Check<'a> {
    rules: RulesHere<'a>,
    surroundings: &'a Surroundings,
}

impl Check<'_> {
    /// Returns why the call must not be made.
    fn call(&self, input: &Input) -> Result<Option<String>, BuiltinError> {
        let environment = |name: &str| match name {
            // The variables of the agent's shell, which is elsewhere.
            "PWD" => Some(input.cwd.clone()).filter(|cwd| !cwd.is_empty()),
            "OLDPWD" => None,
            // PowerShell sets it.
            "HOME" if self.platform().has_drives => {
                self.surroundings.home()?.to_str().map(str::to_owned)
            }
            name => Some(self.surroundings.var(name)?.to_str()?.to_owned()),
        };
        let targets = Targets::of(input, self.platform(), &environment)?;
        let access = Access { reads: !tool::only_writes(input), writes: !tool::only_reads(input) };
        let bases = self.bases(&input.cwd, &targets)?;
        let guesses = if targets.strays { self.guesses() } else { BTreeSet::new() };
        checkable(&targets, bases.len() + guesses.len())?;
        let mut finder = Finder::new(self.platform());
        for (text, dots) in targets.texts.iter() {
            let known = self.places(text, &bases).into_iter().map(|path| (path, targets.descends));
            // Everything in an unknown directory is too vague for a guess.
            let rests = relative(text).filter(|rest| !rest.starts_with(['*', '?', '[']));
            let unknown = rests.flat_map(|rest| self.at(&guesses, rest)).map(|path| (path, false));
            for (path, descends) in known.chain(unknown) {
                // A name may contain a `*` itself.
                let mut meant = vec![PathBuf::from(&path)];
                if has_wildcard(&path) {
                    let found = finder.find(&path, dots).map_err(|_| {
                        format!("`{}` matches more files than can be checked", shown(text))
                    })?;
                    meant.extend(found);
                }
                let denied = meant.iter().find_map(|path| self.path(text, path, access, descends));
                if denied.is_some() {
                    return Ok(denied);
                }
            }
        }
        Ok(None)
    }

    /// Returns why `path`, which `text` stands for, must not be touched.
    fn path(&self, text: &str, path: &Path, access: Access, descends: bool) -> Option<String> {
        let names = self.rules.names(path);
        let (does, rule) = match self.rules.protecting(&names, access) {
            Some(rule) => ("is", rule),
            None if descends && self.is_dir(path) => {
                ("holds what is", self.rules.protecting_below(&names, access)?)
            }
            None => return None,
        };
        let place = lexical(path);
        let place = if place == Path::new(text) {
            String::new()
        } else {
            format!(" (`{}`)", place.display())
        };
        Some(format!("`{}`{place} {does} protected by `{rule}`", shown(text)))
    }

    /// Returns the directories that a relative path may start from: the agent's, and every one that
    /// the call names, since it may go there first.
    fn bases(&self, cwd: &str, targets: &Targets) -> Result<BTreeSet<PathBuf>, BuiltinError> {
        let rooted_cwd = self.platform().rooted(cwd);
        let start = if rooted_cwd.starts_with('/') {
            PathBuf::from(rooted_cwd.as_ref())
        } else {
            rooted(&std::env::current_dir()?, self.platform())
        };
        let mut bases = BTreeSet::from([start]);
        let mut fresh = bases.clone();
        while !fresh.is_empty() {
            checkable(targets, bases.len())?;
            let texts = targets.texts.iter().filter(|(text, _)| !has_wildcard(text));
            let places = texts.flat_map(|(text, _)| self.places(text, &fresh)).map(PathBuf::from);
            let found: BTreeSet<PathBuf> = places
                .filter(|path| self.is_dir(path))
                .map(|path| real(&path, self.platform()))
                .collect();
            fresh = found.difference(&bases).cloned().collect();
            bases.extend(fresh.iter().cloned());
            if bases.len() > MOST_BASES {
                return Err("the call names more directories than can be checked".into());
            }
        }
        Ok(bases)
    }

    /// Returns where a path may start from when the call does not tell: home, and every directory
    /// on the way to what is protected.
    fn guesses(&self) -> BTreeSet<PathBuf> {
        self.rules.above().map(Path::to_owned).chain(self.home()).collect()
    }

    /// Returns the absolute paths that `text` may stand for, wildcards still in them.
    fn places(&self, text: &str, bases: &BTreeSet<PathBuf>) -> Vec<String> {
        let text = &*self.platform().rooted(text);
        if text.starts_with('/') {
            let mut places = vec![text.to_owned()];
            places.extend(self.drives(bases).map(|drive| format!("{drive}{text}")));
            return places;
        }
        let Some(rest) = text.strip_prefix('~') else {
            return relative(text).flat_map(|rest| self.at(bases, rest)).collect();
        };
        let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let home = match (user, self.home()) {
            ("", home) => home,
            ("root", _) => Some("/root".into()),
            (user, home) => home.and_then(|home| Some(home.parent()?.join(user))),
        };
        let homes = home.into_iter().collect();
        // A tool that does not know `~` takes it for a name.
        self.at(&homes, rest).chain(self.at(bases, text)).collect()
    }

    /// Returns the drives that a path such as `\x` may be on.
    fn drives(&self, bases: &BTreeSet<PathBuf>) -> impl Iterator<Item = String> {
        let drive = |path: &Path| {
            let name = path.components().nth(1)?.as_os_str().to_str()?;
            Some(format!("/{name}")).filter(|_| name.len() == 1)
        };
        let paths = bases.iter().map(PathBuf::as_path).chain(self.rules.above());
        let drives = paths.filter(|_| self.platform().has_drives).filter_map(drive);
        drives.collect::<BTreeSet<_>>().into_iter()
    }

    fn at<'b>(
        &self,
        bases: &'b BTreeSet<PathBuf>,
        rest: &'b str,
    ) -> impl Iterator<Item = String> + use<'b> {
        let has_drives = self.platform().has_drives;
        bases.iter().map(move |base| {
            let path = format!("{}/{rest}", base.display());
            if has_drives { path.replace('\\', "/") } else { path }
        })
    }

    fn home(&self) -> Option<PathBuf> {
        self.surroundings.home().map(|home| rooted(home, self.platform()))
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.platform().native(path).is_dir()
    }

    fn platform(&self) -> Platform {
        self.rules.platform()
    }
}

fn checkable(targets: &Targets, bases: usize) -> Result<(), BuiltinError> {
    let paths = targets.texts.len().saturating_mul(bases);
    if paths > MOST_PATHS { Err(TOO_MANY.into()) } else { Ok(()) }
}

/// Returns what to look for in a directory when `text` is a relative path. The rest of a word that
/// begins with what only the shell knows may lie in any directory, or end a name there.
fn relative(text: &str) -> impl Iterator<Item = &str> {
    let rest = text.trim_start_matches([UNKNOWN, '/']);
    let is_end = text.starts_with(UNKNOWN) && text.trim_start_matches(UNKNOWN) == rest;
    let whole = if is_end { Some(text) } else { None };
    let relative = !rest.is_empty() && !text.starts_with(['/', '~']);
    std::iter::once(rest).chain(whole).filter(move |_| relative)
}

/// Returns a text for people: what only the shell knows is a `*` to them.
fn shown(text: &str) -> String {
    hookexec_files::text::one_line(&text.replace(UNKNOWN, "*"))
}
