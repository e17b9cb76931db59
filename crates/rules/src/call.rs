//! One reading of a call: its tool, its commands, and the files that it mentions.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::arguments::Arguments;
use super::fit::Fit;
use super::judge::{Checked, quoted};
use super::mentions::{self, Mention};
use super::paths::{Here, PathPattern, is_only_wild, names, real, take_away};
use super::tool_files;
use super::tools::CalledTool;
use hookexec::Input;
use hookexec_calls::place::{Place, Places, Scene, is_dir, rooted};
use hookexec_calls::shell::UNKNOWN;
use hookexec_calls::wildcard::{Part, has_wildcard};
use hookexec_calls::{Certainty, Finder, Reading, SimpleCommand, Word};
use hookexec_files::locks::locked;
use hookexec_files::plain::line;
use hookexec_files::platform::Platform;

/// A call: its commands and its files.
pub(super) struct CallReading<'c> {
    pub(super) tool: CalledTool,
    pub(super) commands: Vec<Arguments<'c>>,
    pub(super) reading: &'c Reading,
    input: &'c Input,
    pub(super) scene: &'c Scene<'c>,
    /// Its files, once a rule asked for them.
    files: OnceCell<Files<'c>>,
    finder: Finder,
    /// Looks for the files of searches.
    searcher: Finder,
    /// Whether wildcards fit names that begin with a dot: `shopt -s dotglob`.
    dots: bool,
}

/// The files of a call, and where its commands run.
struct Files<'c> {
    mentions: Vec<Mention>,
    /// The directories that the arguments of the tool name, each with its text.
    named: Vec<(String, PathBuf)>,
    places: Vec<Rc<Place<'c>>>,
}

impl<'c> CallReading<'c> {
    pub(super) fn of(
        input: &'c Input,
        commands: &'c [SimpleCommand],
        reading: &'c Reading,
        scene: &'c Scene<'c>,
    ) -> Self {
        Self {
            tool: CalledTool::of(input),
            commands: commands.iter().map(Arguments::of).collect(),
            reading,
            input,
            finder: Finder::default(),
            searcher: Finder::default(),
            dots: commands.iter().any(may_set_dotglob),
            scene,
            files: OnceCell::new(),
        }
    }

    /// Returns whether a text of the call is too long to be read to its end.
    pub(super) fn is_too_long(&self) -> bool {
        self.commands.iter().any(|given| given.command.is_too_long)
    }

    /// Returns the files that the call mentions, or only those of one command.
    pub(super) fn mentions(&self, command: Option<usize>) -> Checked<&[Mention]> {
        let all = &self.files()?.mentions;
        let Some(command) = command else { return Ok(all) };
        // They stand in the order of their commands, and those of the tool behind them.
        let start = all.partition_point(|one| matches!(one.command, Some(at) if at < command));
        let length = all[start..].partition_point(|one| one.command == Some(command));
        Ok(&all[start..start + length])
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
        let mut named = Vec::new();
        let mut mentions = mentions::of_commands(&self.commands, &places)?;
        if !self.tool.is("shell") {
            let of_tool = tool_files::of_tool(self.input, &self.tool, self.scene)?;
            // A text of a tool may lie in the directory that another one names.
            named = self.named(&of_tool, &self.directories(&self.scene.starts))?;
            mentions.extend(of_tool);
        }
        Ok(self.files.get_or_init(|| Files { mentions, named, places }))
    }

    /// Returns the directories that `cd` may go to; `None` is one that is not known.
    pub(super) fn directories_behind(&self, at: usize) -> Checked<Vec<Option<PathBuf>>> {
        let Arguments { operands, options, .. } = &self.commands[at];
        // `cd -P link/..` and, in zsh, `cd A B` go elsewhere than the first operand says.
        if !options.is_empty() || operands.len() > 1 {
            return Ok(vec![None]);
        }
        let to = operands.first().copied();
        if matches!(to, Some(to) if to.text == "-") {
            return Ok(vec![None]);
        }
        let mut place = (*self.files()?.places[at]).clone();
        place.go(to, true);
        Ok(place.directories)
    }

    /// Returns the directories that a command may run in.
    pub(super) fn runs_in(&self, at: usize) -> Checked<BTreeSet<PathBuf>> {
        Ok(self.directories(&self.files()?.places[at].directories))
    }

    /// Returns the names of all files that a mention stands for, those that its wildcards find among them;
    /// `None` if they are too many, or if shells may find others.
    pub(super) fn all_names(&self, mention: &Mention) -> Option<Vec<PathBuf>> {
        let mut all = Vec::new();
        for path in &mention.paths {
            if mention.certainty == Certainty::Paths && path.iter().any(may_find_more) {
                return None;
            }
            all.extend(names(path));
            for found in self.finder.find(path, true)? {
                all.extend(names(&found));
            }
        }
        Some(all)
    }

    /// Returns the names of the file that a path leads to. Commands and rules share most paths, so each is looked
    /// at once for a call.
    pub(super) fn names(&self, path: &Path) -> Arc<[PathBuf]> {
        if let Some(known) = locked(&self.reading.names).get(path) {
            return Arc::clone(known);
        }
        let names: Arc<[PathBuf]> = names(path).into();
        locked(&self.reading.names).insert(path.to_owned(), Arc::clone(&names));
        names
    }

    /// Returns where the directory or file of a pattern really lies, if that is elsewhere. Patterns share
    /// most directories, and rules most patterns, so each is looked at once for a call.
    pub(super) fn elsewhere(&self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = locked(&self.reading.reals).get(path.as_os_str()) {
            return known.clone();
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        let mut place = match self.elsewhere(parent) {
            Some(parent) => parent.join(name),
            None => path.to_owned(),
        };
        if Platform::HERE.has_drives || Platform::HERE.native(&place).is_symlink() {
            place = real(&place);
        }
        let place = if place == path { None } else { Some(place) };
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
        let files = self.files()?;
        let directories = match mention.command {
            Some(at) => &files.places[at].directories,
            None => &self.scene.starts,
        };
        let from = self.directories(directories);
        // A text may lie in the directory that another one names: `join("~", ".ssh")`.
        let reached = match mention.command {
            Some(_) => self.named(std::slice::from_ref(mention), &from)?,
            None => files.named.clone(),
        };
        for text in mention.texts.iter() {
            if let Some(pattern) = here.address(text, excepted) {
                return Ok(Some(format!("is in `{}`", pattern.written)));
            }
            let mut bases = from.clone();
            for (other, directory) in &reached {
                if other != text {
                    bases.insert(directory.clone());
                }
            }
            self.scene.look(bases.len())?;
            let mut paths = self.places(text, &bases);
            let known = paths.len();
            if directories.contains(&None) || text.starts_with(UNKNOWN) {
                paths.extend(self.guessed(text, here)?);
            }
            for (number, path) in paths.iter().enumerate() {
                let descends = mention.descends && number < known;
                for meant in self.meant(path, text, mention)? {
                    let names = self.names(&meant);
                    if let Some(pattern) = here.fitting(&names, excepted) {
                        return Ok(Some(format!("is in `{}`", pattern.written)));
                    }
                    if descends
                        && is_dir(&meant)
                        && let Some(pattern) =
                            here.below(&names, &|root| self.is_wanted(root, mention))
                    {
                        return Ok(Some(format!("holds `{}`", pattern.written)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns whether a mention that goes through directories touches something in one of them.
    fn is_wanted(&self, root: &Path, mention: &Mention) -> bool {
        let Some(wanted) = &mention.wanted else { return true };
        let own = root.file_name().unwrap_or_default().to_string_lossy();
        if Part::of(wanted).fits(&own, false) {
            return true;
        }
        // Too many files to look at are not the few of a group.
        let found = self.searcher.find(&root.join("**").join(wanted), true).unwrap_or_default();
        found.iter().any(|path| path.symlink_metadata().is_ok())
    }

    /// Returns the paths of a text in the directories that it may lie in if its own is not known.
    fn guessed(&self, text: &str, here: &Here<'_>) -> Checked<Vec<String>> {
        let guesses = here.guesses(self.home_of(""));
        self.scene.look(guesses.len())?;
        let mut paths = Vec::new();
        for rest in relative(text) {
            // Everything in an unknown directory is too vague for a guess.
            if !is_only_wildcards(rest) {
                paths.extend(at(&guesses, rest));
            }
        }
        Ok(paths)
    }

    /// Returns the paths that one with wildcards stands for; a name may contain a `*` itself.
    fn meant(&self, path: &str, text: &str, mention: &Mention) -> Checked<Vec<PathBuf>> {
        let mut meant = vec![PathBuf::from(path)];
        if has_wildcard(path) {
            // `.env*` is `.env`, too, even if there is none yet.
            meant.push(PathBuf::from(path.trim_end_matches('*')));
        }
        if mention.certainty == Certainty::Known && is_only_wild(text) {
            return Ok(meant);
        }
        let Some(found) = self.finder.find(&meant[0], self.dots) else {
            // What only the shell knows is a `*` to people.
            let shown = line(&text.replace(UNKNOWN, "*"));
            return Err(format!("`{shown}` matches more files than can be checked").into());
        };
        meant.extend(found);
        Ok(meant)
    }

    /// Returns whether a target is one of those that patterns name.
    pub(super) fn target(&self, mention: &Mention, patterns: &[PathPattern]) -> Fit {
        for path in &mention.paths {
            let mut all = self.names(path).to_vec();
            if !path.iter().any(|part| part == "**") {
                // What it stands for now; if that is too much, the pattern alone counts.
                for found in self.finder.find(path, false).unwrap_or_default() {
                    all.extend_from_slice(&self.names(&found));
                }
            }
            all.retain(|name| !take_away(patterns, name));
            for pattern in patterns {
                if !pattern.negated
                    && let Some(name) = all.iter().find(|name| pattern.is_at_stake(name))
                {
                    let how = if pattern.holds(name) { "is in" } else { "holds" };
                    let (shown, written) = (quoted(&mention.shown), &pattern.written);
                    return Fit::Yes(format!("{shown} {how} `{written}`"));
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

    /// Returns those of the directories that are known, or that of the call.
    fn directories(&self, directories: &[Option<PathBuf>]) -> BTreeSet<PathBuf> {
        let known: BTreeSet<PathBuf> = directories.iter().flatten().cloned().collect();
        if known.is_empty() { BTreeSet::from([self.scene.cwd.clone()]) } else { known }
    }

    /// Returns the directories that the texts of mentions name, each with its text.
    fn named(
        &self,
        mentions: &[Mention],
        from: &BTreeSet<PathBuf>,
    ) -> Checked<Vec<(String, PathBuf)>> {
        let mut named = Vec::new();
        for mention in mentions {
            for text in mention.texts.iter() {
                self.scene.look(from.len())?;
                for path in self.places(text, from) {
                    if !has_wildcard(text) && is_dir(Path::new(&path)) {
                        named.push((text.to_owned(), PathBuf::from(path)));
                    }
                }
            }
        }
        Ok(named)
    }

    /// Returns the absolute paths that `text` may stand for, wildcards still in them.
    fn places(&self, text: &str, bases: &BTreeSet<PathBuf>) -> Vec<String> {
        let text = &*Platform::HERE.rooted(text);
        let mut places = Vec::new();
        if text.starts_with('/') {
            places.push(text.to_owned());
            for base in bases {
                // `\x` may be on the drive of each.
                if let Some(drive) = base.iter().nth(1)
                    && Platform::HERE.has_drives
                    && drive.len() == 1
                {
                    places.push(format!("/{}{text}", drive.display()));
                }
            }
            return places;
        }
        let Some(rest) = text.strip_prefix('~') else {
            for rest in relative(text) {
                places.extend(at(bases, rest));
            }
            return places;
        };
        let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some(home) = self.home_of(user) {
            places.extend(at(&BTreeSet::from([home]), rest));
        }
        // A tool that does not know `~` takes it for a name.
        places.extend(at(bases, text));
        places
    }

    /// Returns the home of a user; that of the own one without a name.
    fn home_of(&self, user: &str) -> Option<PathBuf> {
        if user == "root" {
            return Some("/root".into());
        }
        let own = rooted(self.scene.surroundings.home()?);
        if user.is_empty() { Some(own) } else { Some(own.parent()?.join(user)) }
    }
}

/// Returns whether a command may make wildcards fit names that begin with a dot.
fn may_set_dotglob(command: &SimpleCommand) -> bool {
    command.words.iter().any(|word| word.text.contains("glob"))
}

/// Returns whether some shell finds more for a part of a path than is looked for: `.?` may be `..`, and sets
/// and ranges have forms of their own.
fn may_find_more(part: &OsStr) -> bool {
    let Some(part) = part.to_str() else { return true };
    part.contains(['[', '{']) || part.starts_with('.') && has_wildcard(part)
}

/// Returns a path in each of the directories.
fn at(bases: &BTreeSet<PathBuf>, rest: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for base in bases {
        let path = format!("{}/{rest}", base.display());
        paths.push(Platform::HERE.rooted(&path).into_owned());
    }
    paths
}

/// Returns the directory that a program goes to by its own option.
fn moved_to(given: &Arguments<'_>) -> Option<Word> {
    let program = given.program.as_deref()?;
    let names = match program {
        "git" | "make" | "gmake" | "ninja" | "tar" | "gtar" | "bsdtar" => ["-C", "--directory"],
        "terraform" | "tofu" => ["-chdir", "--chdir"],
        _ => return None,
    };
    for option in &given.options {
        let text = option.word.text.as_str();
        if !text.starts_with(names[0]) && !text.starts_with(names[1]) {
            continue;
        }
        // `git diff -C` is about copies.
        if program == "git" && option.operands_before > 0 {
            return None;
        }
        let (word, text) = option.value?;
        return Some(word.ending(text));
    }
    None
}

/// Returns what to look for in a directory when `text` is a relative path. The rest of a word that
/// begins with what only the shell knows may lie in any directory, or end a name there.
fn relative(text: &str) -> Vec<&str> {
    let rest = text.trim_start_matches([UNKNOWN, '/']);
    if rest.is_empty() || text.starts_with(['/', '~']) {
        return Vec::new();
    }
    let may_end_name = text.starts_with(UNKNOWN) && text.trim_start_matches(UNKNOWN) == rest;
    if may_end_name { vec![rest, text] } else { vec![rest] }
}

/// Returns whether nothing is known of how a path begins, as in `*.txt` or `$(x)[0]`.
fn is_only_wildcards(path: &str) -> bool {
    path.trim_start_matches(UNKNOWN).starts_with(['*', '?', '['])
}
