//! One reading of a call: its tool, its commands, and the files that it mentions.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::arguments::Arguments;
use super::expand::UNKNOWN;
use super::fit::Fit;
use super::judge::{Checked, quoted};
use super::limits::{MOST_PATHS, TOO_MANY};
use super::mentions::{self, Mention};
use super::paths::{Here, Machine, PathPattern, names, real, take_away};
use super::place::{Place, Places, Scene};
use super::tool_files;
use super::tools::CalledTool;
use super::wildcards::{Finder, has_wildcard};
use crate::calls::{Reading, SimpleCommand, Word};
use hookexec::wire::Input;
use hookexec_files::locks::locked;
use hookexec_files::platform::Platform;

/// A call: its commands and its files.
pub(super) struct CallReading<'c> {
    pub(super) tool: CalledTool,
    pub(super) commands: Vec<Arguments<'c>>,
    pub(super) reading: &'c Reading,
    input: &'c Input,
    machine: &'c Machine,
    scene: &'c Scene<'c>,
    /// Its files, once a rule asked for them.
    files: OnceCell<Files<'c>>,
    finder: RefCell<Finder>,
    /// Whether wildcards fit names that begin with a dot: `shopt -s dotglob`.
    dots: bool,
    /// How many paths were looked at.
    looked_at: Cell<usize>,
}

/// The files of a call, and where its commands run.
struct Files<'c> {
    mentions: Vec<Mention>,
    /// The directories that the arguments of the tool name, each with its text.
    named: Vec<(String, PathBuf)>,
    places: Vec<Rc<Place<'c>>>,
    beginning: Place<'c>,
}

impl<'c> CallReading<'c> {
    pub(super) fn of(
        input: &'c Input,
        commands: &'c [SimpleCommand],
        reading: &'c Reading,
        machine: &'c Machine,
        scene: &'c Scene<'c>,
    ) -> Self {
        let mut words = commands.iter().flat_map(|command| &command.words);
        let dots = words.any(|word| word.text.contains("glob"));
        Self {
            tool: CalledTool::of(input),
            commands: commands.iter().map(Arguments::of).collect(),
            reading,
            input,
            machine,
            finder: RefCell::default(),
            dots,
            scene,
            files: OnceCell::new(),
            looked_at: Cell::default(),
        }
    }

    /// Returns whether a text of the call is too long to be read to its end.
    pub(super) fn is_too_long(&self) -> bool {
        self.commands.iter().any(|given| given.command.is_too_long)
    }

    /// Returns the files that the call mentions.
    pub(super) fn mentions(&self) -> Checked<&[Mention]> {
        Ok(&self.files()?.mentions)
    }

    fn files(&self) -> Checked<&Files<'c>> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let mut known = Places::of(self.scene);
        let mut places: Vec<Rc<Place<'_>>> = Vec::new();
        for given in &self.commands {
            let mut place = known.after(&given.command.history);
            if let Some(to) = moved_to(given) {
                Rc::make_mut(&mut place).go(Some(&to), true);
            }
            places.push(place);
        }
        let beginning = self.scene.beginning();
        let mut named = Vec::new();
        let mut mentions = mentions::of_commands(&self.commands, &places)?;
        if !self.tool.is("shell") {
            let of_tool = tool_files::of_tool(self.input, &self.tool, self.scene)?;
            // A text of a tool may lie in the directory that another one names.
            named = self.named(&of_tool, &self.directories(&beginning))?;
            mentions.extend(of_tool);
        }
        Ok(self.files.get_or_init(|| Files { mentions, named, places, beginning }))
    }

    /// Returns the directories that `cd` may go to; `None` is one that is not known.
    pub(super) fn directories_behind(&self, at: usize) -> Checked<Vec<Option<PathBuf>>> {
        let operands = &self.commands[at].operands;
        let to = operands.first().copied();
        // `cd -P link/..` and, in zsh, `cd A B` go elsewhere than the first operand says.
        let is_plain = operands.len() <= 1 && self.commands[at].options.is_empty();
        if !is_plain || to.is_some_and(|to| to.text == "-") {
            return Ok(vec![None]);
        }
        let mut place = (*self.files()?.places[at]).clone();
        place.go(to, true);
        Ok(place.directories)
    }

    /// Returns the directory that the call starts in, if it is known.
    pub(super) fn start(&self) -> Option<&PathBuf> {
        self.scene.start()
    }

    /// Returns the directories that a command may run in, if the call went there.
    pub(super) fn went_to(&self, at: usize) -> Checked<Vec<PathBuf>> {
        let files = self.files()?;
        let mut directories: Vec<PathBuf> =
            files.places[at].directories.iter().flatten().cloned().collect();
        directories.retain(|directory| *directory != self.scene.cwd);
        Ok(directories)
    }

    /// Counts paths that are looked at.
    fn look(&self, count: usize) -> Checked<()> {
        self.looked_at.set(self.looked_at.get().saturating_add(count));
        if self.looked_at.get() > MOST_PATHS { Err(TOO_MANY.into()) } else { Ok(()) }
    }

    /// Returns the names of all files that a mention stands for, those that its wildcards find among them;
    /// `None` if they are too many, or if shells may find others.
    pub(super) fn all_names(&self, mention: &Mention) -> Option<Vec<PathBuf>> {
        let mut all = Vec::new();
        for path in &mention.paths {
            let mut parts = path.iter();
            if mention.is_wildcard && parts.any(|part| part.to_str().is_none_or(may_find_more)) {
                return None;
            }
            all.extend(names(path));
            for found in self.found(path, true).ok()? {
                all.extend(names(&found));
            }
        }
        Some(all)
    }

    /// Returns the files that a path with wildcards stands for now.
    fn found(&self, path: &Path, dots: bool) -> Result<Vec<PathBuf>, &'static str> {
        match path.to_str().filter(|text| has_wildcard(text)) {
            Some(text) => self.finder.borrow_mut().find(text, dots),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        self.machine.home()
    }

    /// Returns where the directory or file of a pattern really lies, if that is elsewhere. Patterns share
    /// most directories, and rules most patterns, so each is looked at once for a call.
    pub(super) fn elsewhere(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = locked(&self.reading.reals).get(path.as_os_str()) {
            return known.clone();
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        let mut place = self.elsewhere(parent).map(|parent| parent.join(name));
        let named = place.as_deref().unwrap_or(path);
        if Platform::HERE.has_drives || Platform::HERE.native(named).is_symlink() {
            place = Some(real(named)).filter(|place| place != path);
        }
        locked(&self.reading.reals).insert(path.into(), place.clone());
        place
    }

    /// Returns how a mentioned file fits one of the patterns that is not excepted: for people.
    pub(super) fn fits(
        &self,
        mention: &Mention,
        here: &Here<'_>,
        excepted: &dyn Fn(&Path) -> bool,
    ) -> Checked<Option<String>> {
        if let Some(pattern) = here.address(&mention.texts, excepted) {
            return Ok(Some(format!("is in `{}`", pattern.written)));
        }
        let files = self.files()?;
        let place = mention.command.map_or(&files.beginning, |at| &files.places[at]);
        let strays = place.directories.contains(&None);
        let from = self.directories(place);
        // A text may lie in the directory that another one names: `join("~", ".ssh")`.
        let own;
        let reached = if mention.command.is_some() {
            own = self.named(std::slice::from_ref(mention), &from)?;
            &own
        } else {
            &files.named
        };
        for text in mention.texts.iter() {
            let mut bases = from.clone();
            let others = reached.iter().filter(|(other, _)| other != text);
            bases.extend(others.map(|(_, directory)| directory.clone()));
            self.look(bases.len())?;
            let known = self.places(text, &bases).into_iter();
            let mut paths: Vec<_> = known.map(|path| (path, mention.descends)).collect();
            if strays || text.starts_with(UNKNOWN) {
                self.look(here.guesses().len())?;
                for rest in relative(text) {
                    // Everything in an unknown directory is too vague for a guess.
                    if !is_only_wildcards(rest) {
                        paths.extend(at(here.guesses(), rest).map(|path| (path, false)));
                    }
                }
            }
            for (path, descends) in paths {
                for meant in self.meant(&path, text)? {
                    let names = names(&meant);
                    if let Some(pattern) = here.fitting(&names, excepted) {
                        return Ok(Some(format!("is in `{}`", pattern.written)));
                    }
                    if descends
                        && is_dir(&meant)
                        && let Some(pattern) = here.below(&names)
                    {
                        return Ok(Some(format!("holds `{}`", pattern.written)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the paths that one with wildcards stands for; a name may contain a `*` itself.
    fn meant(&self, path: &str, text: &str) -> Checked<Vec<PathBuf>> {
        let mut meant = vec![PathBuf::from(path)];
        let Ok(found) = self.found(&meant[0], self.dots) else {
            return Err(format!("`{}` matches more files than can be checked", shown(text)).into());
        };
        if has_wildcard(path) {
            // `.env*` is `.env`, too, even if there is none yet.
            meant.push(PathBuf::from(path.trim_end_matches('*')));
        }
        meant.extend(found);
        Ok(meant)
    }

    /// Returns whether a target is one of those that patterns name.
    pub(super) fn target(&self, mention: &Mention, patterns: &[PathPattern]) -> Fit {
        for path in &mention.paths {
            let mut all = names(path);
            if !path.iter().any(|part| part == "**") {
                // What it stands for now; if that is too much, the pattern alone counts.
                for found in self.found(path, false).unwrap_or_default() {
                    all.extend(names(&found));
                }
            }
            all.retain(|name| !take_away(patterns, name));
            for pattern in patterns.iter().filter(|pattern| !pattern.negated) {
                if all.iter().any(|name| pattern.is_at_stake(name)) {
                    let shown = quoted(&mention.shown);
                    return Fit::Yes(format!("{shown} is in `{}`", pattern.written));
                }
            }
        }
        if let Some(last) = &mention.open
            && patterns.iter().any(|pattern| pattern.may_be_at_stake(last))
        {
            return Fit::Unknown(mention.shown.clone());
        }
        Fit::No
    }

    /// Returns the directories that a command may run in, or that of the call if none is known.
    fn directories(&self, place: &Place<'_>) -> BTreeSet<PathBuf> {
        let known: BTreeSet<PathBuf> = place.directories.iter().flatten().cloned().collect();
        if known.is_empty() { BTreeSet::from([self.scene.cwd.clone()]) } else { known }
    }

    /// Returns the directories that the texts of mentions name, each with its text.
    fn named(
        &self,
        mentions: &[Mention],
        from: &BTreeSet<PathBuf>,
    ) -> Checked<Vec<(String, PathBuf)>> {
        let mut named = Vec::new();
        for text in mentions.iter().flat_map(|mention| mention.texts.iter()) {
            self.look(from.len())?;
            for path in self.places(text, from).into_iter().map(PathBuf::from) {
                if !has_wildcard(text) && is_dir(&path) {
                    named.push((text.to_owned(), path));
                }
            }
        }
        Ok(named)
    }

    /// Returns the absolute paths that `text` may stand for, wildcards still in them.
    fn places(&self, text: &str, bases: &BTreeSet<PathBuf>) -> Vec<String> {
        let text = &*Platform::HERE.rooted(text);
        if text.starts_with('/') {
            let mut places = vec![text.to_owned()];
            places.extend(drives(bases).map(|drive| format!("{drive}{text}")));
            return places;
        }
        let Some(rest) = text.strip_prefix('~') else {
            return relative(text).flat_map(|rest| at(bases, rest)).collect();
        };
        let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let home = match (user, self.machine.home()) {
            ("", home) => home,
            ("root", _) => Some("/root".into()),
            (user, home) => home.and_then(|home| Some(home.parent()?.join(user))),
        };
        let homes = home.into_iter().collect();
        // A tool that does not know `~` takes it for a name.
        at(&homes, rest).chain(at(bases, text)).collect()
    }
}

/// Returns whether some shell finds more for a part of a path than is looked for: `.?` may be `..`, and sets
/// and ranges have forms of their own.
fn may_find_more(part: &str) -> bool {
    part.contains(['[', '{']) || part.starts_with('.') && has_wildcard(part)
}

/// Returns the drives that a path such as `\x` may be on.
fn drives(bases: &BTreeSet<PathBuf>) -> impl Iterator<Item = String> {
    let mut drives = BTreeSet::new();
    for base in bases.iter().filter(|_| Platform::HERE.has_drives) {
        let name = base.components().nth(1).and_then(|name| name.as_os_str().to_str());
        if let Some(name) = name.filter(|name| name.len() == 1) {
            drives.insert(format!("/{name}"));
        }
    }
    drives.into_iter()
}

fn at<'b>(bases: &'b BTreeSet<PathBuf>, rest: &'b str) -> impl Iterator<Item = String> + use<'b> {
    let has_drives = Platform::HERE.has_drives;
    bases.iter().map(move |base| {
        let path = format!("{}/{rest}", base.display());
        if has_drives { path.replace('\\', "/") } else { path }
    })
}

pub(super) fn is_dir(path: &Path) -> bool {
    Platform::HERE.native(path).is_dir()
}

/// Returns the directory that a program goes to by its own option.
fn moved_to(given: &Arguments<'_>) -> Option<Word> {
    let program = given.program.as_deref()?;
    if !["git", "make", "gmake", "ninja", "tar", "gtar", "bsdtar"].contains(&program) {
        return None;
    }
    let mut options = given.options.iter();
    let option = options.find(|option| {
        option.word.text.starts_with("-C") || option.word.text.starts_with("--directory")
    })?;
    // `git diff -C` is about copies.
    let (word, text) = option.value.filter(|_| program != "git" || option.operands_before == 0)?;
    Some(word.ending(text))
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

/// Returns whether nothing is known of how a path begins, as in `*.txt` or `$(x)[0]`.
fn is_only_wildcards(path: &str) -> bool {
    path.trim_start_matches(UNKNOWN).starts_with(['*', '?', '['])
}

/// Returns a text for people: what only the shell knows is a `*` to them.
fn shown(text: &str) -> String {
    hookexec_files::plain::line(&text.replace(UNKNOWN, "*"))
}
