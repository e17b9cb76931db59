//! Where a command runs, and the variables that it sees, as far as the call tells.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::expand::UNKNOWN;
use super::judge::Checked;
use super::limits::{MOST_ALTERNATIVES, MOST_PATHS, TOO_MANY};
use super::paths::rooted;
use super::wildcards::has_wildcard;
use crate::builtins::Surroundings;
use crate::calls::{Certainty, Change, History, Word, directory, named_directories};
use hookexec::wire::Input;
use hookexec_files::paths::lexical;
use hookexec_files::platform::Platform;
use hookexec_files::text::name_length;

/// The surroundings of a call.
pub(super) struct Scene<'w> {
    pub(super) surroundings: &'w Surroundings,
    /// The directory of the agent.
    pub(super) cwd: PathBuf,
    /// The directories that the call may start in; `None` is one that is not known.
    pub(super) starts: Vec<Option<PathBuf>>,
    /// How many texts were made of the words of the call.
    pub(super) made: Cell<usize>,
}

impl<'w> Scene<'w> {
    pub(super) fn of(input: &Input, surroundings: &'w Surroundings) -> Checked<Self> {
        let mut cwd = rooted(Path::new(&input.cwd));
        if !cwd.starts_with("/") {
            cwd = rooted(&std::env::current_dir()?).join(cwd);
        }
        let start = directory(input).map(|start| cwd.join(rooted(&start)));
        let mut starts = Vec::new();
        if start.is_none() {
            for text in named_directories(input).into_iter().flat_map(items_of) {
                let home = ["~", "$HOME"].iter().find_map(|home| text.strip_prefix(home));
                let start = match (home, surroundings.home()) {
                    (Some(rest), Some(home)) => rooted(home).join(rest.trim_start_matches('/')),
                    _ => cwd.join(rooted(Path::new(text))),
                };
                starts.push(Some(start));
            }
        }
        starts.push(start);
        Ok(Self { surroundings, cwd, starts: bounded(starts, None), made: Cell::new(0) })
    }

    /// Returns the directory that the call starts in, if it is known.
    pub(super) fn start(&self) -> Option<&PathBuf> {
        if let [Some(start)] = &self.starts[..] { Some(start) } else { None }
    }

    /// Counts texts that are made of a word.
    pub(super) fn make(&self, count: usize) -> Result<(), &'static str> {
        self.made.set(self.made.get() + count);
        if self.made.get() > MOST_PATHS { Err(TOO_MANY) } else { Ok(()) }
    }

    pub(super) fn home(&self) -> Option<&str> {
        self.surroundings.home()?.to_str()
    }

    /// Returns the value of a variable of the environment.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match name {
            "HOME" if Platform::HERE.has_drives => self.home().map(str::to_owned),
            name => Some(self.surroundings.var(name)?.to_str()?.to_owned()),
        }
    }

    /// Returns the place in which the call begins.
    pub(super) fn beginning(&self) -> Place<'_> {
        let directories = self.starts.clone();
        Place { scene: self, directories, variables: BTreeMap::new() }
    }
}

/// The directories that a command may run in, and the values that variables may have.
#[derive(Clone)]
pub(super) struct Place<'s> {
    pub(super) scene: &'s Scene<'s>,
    /// `None` is a directory that is not known.
    pub(super) directories: Vec<Option<PathBuf>>,
    /// The variables that the call sets.
    pub(super) variables: BTreeMap<String, Vec<String>>,
}

/// The places of the commands of one call.
pub(super) struct Places<'s> {
    scene: &'s Scene<'s>,
    known: HashMap<*const (), Rc<Place<'s>>>,
}

impl<'s> Places<'s> {
    pub(super) fn of(scene: &'s Scene<'s>) -> Self {
        Self { scene, known: HashMap::new() }
    }

    /// Returns the place after these steps.
    pub(super) fn after(&mut self, history: &History) -> Rc<Place<'s>> {
        // The steps from the first that is not known yet; each stands on the one before it.
        let mut steps = Vec::new();
        let mut next = history;
        let mut place = Rc::new(self.scene.beginning());
        while let Some(step) = next.last() {
            if let Some(known) = self.known.get(&Arc::as_ptr(step).cast()) {
                place = Rc::clone(known);
                break;
            }
            steps.push(step);
            next = &step.before;
        }
        for step in steps.into_iter().rev() {
            let mut changed = (*place).clone();
            match &step.change {
                Change::Went { to, is_sure } => changed.go(to.as_ref(), *is_sure),
                Change::Strayed => changed.directories = vec![None],
                Change::Set(word) => changed.set(word),
                Change::MayBe(before) => changed.add(&self.after(before)),
            }
            place = Rc::new(changed);
            self.known.insert(Arc::as_ptr(step).cast(), Rc::clone(&place));
        }
        place
    }
}

impl Place<'_> {
    pub(super) fn go(&mut self, to: Option<&Word>, is_sure: bool) {
        let texts = match (to, self.scene.home()) {
            // A wildcard may lead through a link.
            (Some(word), _) if word.certainty == Certainty::Paths && has_wildcard(&word.text) => {
                let mut texts = self.expansions(word);
                texts.push(UNKNOWN.to_string());
                texts
            }
            (Some(word), _) => self.expansions(word),
            (None, Some(home)) => vec![home.to_owned()],
            (None, None) => vec![UNKNOWN.to_string()],
        };
        let mut reached: Vec<Option<PathBuf>> = Vec::new();
        for text in &texts {
            for path in self.paths(text) {
                // `cd link/..` goes back to where the link stands.
                let path = path.map(|path| lexical(&path));
                let exists = path.as_ref().is_some_and(|path| Platform::HERE.native(path).is_dir());
                if !is_sure && !exists && path.is_some() {
                    // It may fail, and the shell stay where it is.
                    reached.extend(self.directories.iter().cloned());
                }
                reached.push(path);
            }
        }
        self.directories = bounded(reached, None);
    }

    /// Returns the absolute paths that a text may name, `..` still in them; `None` if that is not known.
    pub(super) fn paths(&self, text: &str) -> Vec<Option<PathBuf>> {
        if text.contains(UNKNOWN) {
            return vec![None];
        }
        if text.starts_with('/') {
            return vec![Some(PathBuf::from(text))];
        }
        let mut paths = Vec::new();
        for directory in &self.directories {
            paths.push(directory.as_ref().map(|directory| directory.join(text)));
        }
        paths
    }

    /// Returns the absolute paths that texts may name, and the last part of one that is not known; it
    /// is empty if that is not known either.
    pub(super) fn named(&self, texts: &[String]) -> (Vec<PathBuf>, Option<String>) {
        let (mut named, mut open) = (Vec::new(), None);
        // An empty word names no file.
        for text in texts.iter().filter(|text| !text.is_empty()) {
            for path in self.paths(text) {
                if let Some(path) = path {
                    named.push(path);
                    continue;
                }
                let last = text.rsplit('/').next().unwrap_or_default();
                open = Some(if last.contains(UNKNOWN) { String::new() } else { last.to_owned() });
            }
        }
        (named, open)
    }

    fn set(&mut self, word: &Word) {
        let Some((name, value)) = word.text.split_once('=') else { return };
        let (plain, operator) = name.split_at(name_length(name));
        if plain.is_empty() {
            return;
        }
        let mut values = vec![UNKNOWN.to_string()];
        // An array is not followed.
        if matches!(operator, "" | "+") && !value.starts_with('(') {
            values = bounded(self.expansions(&word.ending(value)), UNKNOWN.to_string());
        }
        if operator == "+" {
            let mut longer = Vec::new();
            for before in &self.values_of(plain) {
                longer.extend(values.iter().map(|value| format!("{before}{value}")));
            }
            values = bounded(longer, UNKNOWN.to_string());
        }
        self.variables.insert(plain.to_owned(), values);
    }

    /// Adds what holds in another place.
    fn add(&mut self, other: &Self) {
        let mut directories = std::mem::take(&mut self.directories);
        directories.extend(other.directories.iter().cloned());
        self.directories = bounded(directories, None);
        let names: BTreeSet<String> =
            self.variables.keys().chain(other.variables.keys()).cloned().collect();
        for name in names {
            let mut values = self.values_of(&name);
            values.extend(other.values_of(&name));
            self.variables.insert(name, bounded(values, UNKNOWN.to_string()));
        }
    }

    /// Returns the values that a variable may have.
    fn values_of(&self, name: &str) -> Vec<String> {
        self.variables.get(name).cloned().unwrap_or_else(|| vec![self.unset(name)])
    }

    /// Returns the value of a variable that the call does not set.
    fn unset(&self, name: &str) -> String {
        self.scene.variable(name).unwrap_or_default()
    }
}

/// Returns the texts of an argument: its own, or those of its list.
fn items_of(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

/// Returns items, each once; `last` stands for those that are too many.
fn bounded<T: PartialEq>(items: Vec<T>, last: T) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for item in items {
        if kept.contains(&item) {
            continue;
        }
        if kept.len() == MOST_ALTERNATIVES {
            kept.push(last);
            break;
        }
        kept.push(item);
    }
    kept
}
