//! Where a command runs, and the variables that it sees, as far as the call tells.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::arguments::{directory, named_directories};
use super::command::{Certainty, Word};
use super::history::{Change, History};
use super::limits::{MOST_ALTERNATIVES, MOST_PATHS, TOO_MANY};
use super::surroundings::Surroundings;
use crate::shell::UNKNOWN;
use crate::wildcard::has_wildcard;
use hookexec::Input;
use hookexec_files::paths::lexical;
use hookexec_files::platform::Platform;
use hookexec_files::text::name_length;

/// The surroundings of a call.
pub struct Scene<'w> {
    /// The machine.
    pub surroundings: &'w Surroundings,
    /// The directory of the agent.
    pub cwd: PathBuf,
    /// The directories that the call may start in; `None` is one that is not known.
    pub starts: Vec<Option<PathBuf>>,
    /// How many texts and paths of the call were looked at.
    looked_at: Cell<usize>,
}

impl<'w> Scene<'w> {
    /// Returns the surroundings of a call.
    pub fn of(input: &Input, surroundings: &'w Surroundings) -> std::io::Result<Self> {
        let mut cwd = rooted(Path::new(&input.cwd));
        if !cwd.starts_with("/") {
            cwd = rooted(&std::env::current_dir()?).join(cwd);
        }
        let mut starts = Vec::new();
        for text in named_directories(input).into_iter().flat_map(items_of) {
            let rest = text.strip_prefix('~').or(text.strip_prefix("$HOME"));
            starts.push(Some(match (rest, surroundings.home()) {
                (Some(rest), Some(home)) => rooted(home).join(rest.trim_start_matches('/')),
                _ => cwd.join(rooted(Path::new(text))),
            }));
        }
        match directory(input) {
            Some(_) if starts.is_empty() => starts.push(Some(cwd.clone())),
            Some(_) => {}
            None => starts.push(None),
        }
        Ok(Self { surroundings, cwd, starts: bounded(starts, None), looked_at: Cell::default() })
    }

    /// Returns the directory that the call starts in, if it is known.
    pub fn start(&self) -> Option<&PathBuf> {
        if let [Some(start)] = &self.starts[..] { Some(start) } else { None }
    }

    /// Counts texts and paths that are looked at.
    pub fn look(&self, count: usize) -> Result<(), &'static str> {
        self.looked_at.set(self.looked_at.get().saturating_add(count));
        if self.looked_at.get() > MOST_PATHS { Err(TOO_MANY) } else { Ok(()) }
    }

    /// Returns the home directory.
    pub fn home(&self) -> Option<&str> {
        self.surroundings.home()?.to_str()
    }

    /// Returns the value of a variable of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        match name {
            "HOME" if Platform::HERE.has_drives => Some(self.home()?.to_owned()),
            name => Some(self.surroundings.var(name)?.to_str()?.to_owned()),
        }
    }

    /// Returns the place in which the call begins.
    pub fn beginning(&self) -> Place<'_> {
        let directories = self.starts.clone();
        Place { scene: self, directories, variables: BTreeMap::new() }
    }
}

/// The directories that a command may run in, and the values that variables may have.
#[derive(Clone)]
pub struct Place<'s> {
    /// The call.
    pub scene: &'s Scene<'s>,
    /// `None` is a directory that is not known.
    pub directories: Vec<Option<PathBuf>>,
    /// The variables that the call sets. The places of a call share most of their values.
    pub variables: BTreeMap<String, Rc<Vec<String>>>,
}

/// The places of the commands of one call.
pub struct Places<'s> {
    scene: &'s Scene<'s>,
    known: HashMap<*const (), Rc<Place<'s>>>,
}

impl<'s> Places<'s> {
    /// Returns the places of a call, of which none is known yet.
    pub fn of(scene: &'s Scene<'s>) -> Self {
        Self { scene, known: HashMap::new() }
    }

    /// Returns the place after these steps.
    pub fn after(&mut self, history: &History) -> Rc<Place<'s>> {
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
                Change::Each(word) => changed.set_each(word),
                Change::Other => changed.lose_variables(),
                Change::MayBe(before) => changed.add(&self.after(before)),
                Change::Round(before) => changed.go_round(&self.after(before)),
            }
            place = Rc::new(changed);
            self.known.insert(Arc::as_ptr(step).cast(), Rc::clone(&place));
        }
        place
    }
}

impl Place<'_> {
    /// Goes to a directory; home without one. If that is not sure, the shell may stay where it is.
    pub fn go(&mut self, to: Option<&Word>, is_sure: bool) {
        let mut texts = match to {
            Some(word) => self.expansions(word),
            None => vec![self.home().unwrap_or("\0").to_owned()],
        };
        // Without quotes an empty variable leaves `cd` alone, which goes home.
        if let Some(Word { quoted: false, .. }) = to
            && texts.iter().any(String::is_empty)
        {
            texts.push(self.home().unwrap_or("\0").to_owned());
        }
        // A wildcard may lead through a link, and of several words shells take the first, or none.
        if let Some(word) = to
            && (is_wild(word) || may_be_several(word, &texts))
        {
            texts.push(UNKNOWN.to_string());
        }
        if matches!(self.variables.get("CDPATH"), Some(values) if **values != [""]) {
            texts.push(UNKNOWN.to_string());
        }
        let mut reached = Vec::new();
        for text in &texts {
            for directory in &self.directories {
                let Some(path) = path_in(directory.as_deref(), text) else {
                    reached.push(None);
                    continue;
                };
                // `cd link/..` goes back to where the link stands, and `cd missing/..` may fail.
                let plain = lexical(&path);
                let is_there = is_dir(&plain) && is_dir(&path);
                if !is_sure && !is_there {
                    reached.push(directory.clone());
                }
                reached.push(Some(plain));
            }
        }
        self.directories = bounded(reached, None);
    }

    /// Notes what a further round of a loop may do: nothing is known of what was set since the one before.
    fn go_round(&mut self, before: &Self) {
        if self.directories.iter().any(|directory| !before.directories.contains(directory)) {
            self.directories.push(None);
        }
        for (name, values) in &mut self.variables {
            // Each time it is set it gets a list of its own.
            let is_same =
                matches!(before.variables.get(name), Some(known) if Rc::ptr_eq(known, values));
            if !is_same {
                Rc::make_mut(values).push(UNKNOWN.to_string());
            }
        }
    }

    /// Returns the absolute paths that a text may name, `..` still in them; `None` if that is not known.
    pub fn paths(&self, text: &str) -> Vec<Option<PathBuf>> {
        if text.contains(UNKNOWN) || text.starts_with('/') {
            return vec![path_in(None, text)];
        }
        let mut paths = Vec::new();
        for directory in &self.directories {
            paths.push(path_in(directory.as_deref(), text));
        }
        paths
    }

    /// Returns the absolute paths that texts may name, and the last part of one that is not known; it
    /// is empty if that is not known either.
    pub fn named(&self, texts: &[String]) -> (Vec<PathBuf>, Option<String>) {
        let (mut named, mut open) = (Vec::new(), None);
        // An empty word names no file.
        for text in texts {
            if text.is_empty() {
                continue;
            }
            let last = text.rsplit('/').next().unwrap_or_default();
            for path in self.paths(text) {
                match path {
                    Some(path) => named.push(path),
                    None if last.contains(UNKNOWN) || matches!(last, "." | "..") => {
                        open = Some(String::new());
                    }
                    // Of two names, each may be meant.
                    None if matches!(&open, Some(other) if other != last) => {
                        open = Some(String::new());
                    }
                    None => open = Some(last.to_owned()),
                }
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
            for before in self.values_of(plain) {
                for value in &values {
                    longer.push(format!("{before}{value}"));
                }
            }
            values = bounded(longer, UNKNOWN.to_string());
        }
        // Some shells set it behind each command.
        if plain == "_" {
            values = vec![UNKNOWN.to_string()];
        }
        self.variables.insert(plain.to_owned(), Rc::new(values));
    }

    /// Sets a variable of a loop to a word, and to each part of one that a shell may divide.
    fn set_each(&mut self, word: &Word) {
        self.set(word);
        let Some((name, _)) = word.text.split_once('=') else { return };
        if word.certainty != Certainty::Unknown {
            return;
        }
        let mut values = Vec::new();
        for whole in self.values_of(name) {
            values.extend(whole.split_whitespace().map(str::to_owned));
        }
        if self.variables.contains_key("IFS") {
            values.push(UNKNOWN.to_string());
        }
        self.variables.insert(name.to_owned(), Rc::new(bounded(values, UNKNOWN.to_string())));
    }

    /// Returns the home directory, which the call may set.
    pub(super) fn home(&self) -> Option<&str> {
        match self.variables.get("HOME") {
            Some(values) if values.len() == 1 => Some(&values[0]),
            Some(_) => None,
            None => self.scene.home(),
        }
    }

    /// Notes that each variable may have another value.
    fn lose_variables(&mut self) {
        for values in self.variables.values_mut() {
            if !values.iter().any(|value| value.contains(UNKNOWN)) {
                Rc::make_mut(values).push(UNKNOWN.to_string());
            }
        }
    }

    /// Adds what holds in another place.
    fn add(&mut self, other: &Self) {
        let mut directories = std::mem::take(&mut self.directories);
        directories.extend(other.directories.iter().cloned());
        self.directories = bounded(directories, None);
        let mut names: BTreeSet<String> = self.variables.keys().cloned().collect();
        names.extend(other.variables.keys().cloned());
        for name in names {
            if self.variables.get(&name) == other.variables.get(&name) {
                continue;
            }
            let mut values = self.values_of(&name);
            values.extend(other.values_of(&name));
            self.variables.insert(name, Rc::new(bounded(values, UNKNOWN.to_string())));
        }
    }

    /// Returns the values that a variable may have.
    fn values_of(&self, name: &str) -> Vec<String> {
        match self.variables.get(name) {
            Some(values) => values.to_vec(),
            None => vec![self.scene.variable(name).unwrap_or_default()],
        }
    }
}

fn is_wild(word: &Word) -> bool {
    word.certainty == Certainty::Paths && has_wildcard(&word.text)
}

/// Returns whether a shell may make several words of one that stands for these texts.
fn may_be_several(word: &Word, texts: &[String]) -> bool {
    let has_blank = texts.iter().any(|text| text.contains(char::is_whitespace));
    word.text.contains('{') && texts.len() > 1 || word.certainty == Certainty::Unknown && has_blank
}

/// Returns a path of the system as a path from `/` on.
pub fn rooted(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(Platform::HERE.rooted(text).as_ref()),
        None => path.to_owned(),
    }
}

/// Returns the absolute path of a text in a directory, if it is known.
fn path_in(directory: Option<&Path>, text: &str) -> Option<PathBuf> {
    if text.contains(UNKNOWN) {
        return None;
    }
    if text.starts_with('/') { Some(PathBuf::from(text)) } else { Some(directory?.join(text)) }
}

/// Returns whether a path from `/` on is a directory.
pub fn is_dir(path: &Path) -> bool {
    Platform::HERE.native(path).is_dir()
}

/// Returns the texts of an argument: its own, or those of its list.
pub fn items_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
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
