//! Finds the files that the words of a command lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::bases::Bases;
use super::bundle::{Fault, ScriptProblem};
use super::programs::{
    base_name, is_interpreter, is_launcher, is_name, is_shell_word, stands_before,
};
use crate::shell::{Word, read_script};

/// The variables that hookexec or an agent sets for a directory, and whether it is that of the hooks
/// file: the others stand for the project.
pub const DIRECTORIES: [(&str, bool); 3] =
    [("CLAUDE_PROJECT_DIR", false), ("HOOKEXEC_PROJECT_DIR", false), ("HOOKEXEC_CONFIG_DIR", true)];
/// How deep `sh -c` may nest.
const MAX_DEPTH: usize = 4;

/// What a hook executes.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// The scripts by name: the path from the root of the repository, links not followed.
    pub(crate) scripts: BTreeMap<String, PathBuf>,
    /// The names of scripts that run, or that `scripts:` lists. Other scripts only lie beside the hooks
    /// file, and the hook runs elsewhere.
    pub(crate) run: BTreeSet<String>,
    /// The names of scripts that `scripts:` lists and that no command text names.
    pub(crate) listed: BTreeSet<String>,
    /// Where a word leads and no file is. An approval that names one of these misses it.
    pub(crate) absent: BTreeMap<String, PathBuf>,
    /// What is wrong with files that `scripts:` lists.
    pub(crate) problems: Vec<ScriptProblem>,
    /// What the hook names or runs and an approval does not cover.
    pub(crate) uncovered: BTreeSet<String>,
}

/// The search for what one hook executes.
pub(super) struct Search<'p> {
    pub(super) bases: &'p Bases,
    /// Where the hook runs.
    pub(super) run_in: PathBuf,
    /// Whether its command may change the directory, so that relative words lead elsewhere.
    pub(super) moves: bool,
    /// The variables that the hook sets.
    pub(super) own: &'p BTreeMap<String, String>,
    /// Words that are not executed, as far as is known.
    pub(super) seen: BTreeSet<Word>,
    pub(super) executed: Executed,
}

impl Search<'_> {
    /// Reads a text for a shell.
    pub(super) fn text(&mut self, text: &str, depth: usize) {
        let script = read_script(text);
        if !script.understood || depth > MAX_DEPTH {
            self.uncovered("a part of the command text, which only a shell can read");
        }
        for command in &script.commands {
            self.command(command, depth);
        }
    }

    /// Reads a text for cmd or PowerShell: every word that names a file of the project is covered.
    pub(super) fn foreign_text(&mut self, text: &str) {
        self.uncovered("a part of the command text, which only its shell can read");
        let is_between =
            |letter: char| letter.is_whitespace() || "\"'`^&|;<>(){}[],=".contains(letter);
        for word in text.replace('\\', "/").split(is_between) {
            // The calls of PowerShell: `. ./x.ps1` and `& ./x.ps1`.
            self.cover(&Word::literal(word.trim_start_matches('@')));
        }
    }

    /// Reads one simple command.
    pub(super) fn command(&mut self, words: &[Word], depth: usize) {
        self.seen.extend(words.iter().cloned());
        let before = words.iter().take_while(|word| stands_before(word)).count();
        let [program, arguments @ ..] = &words[before..] else { return };
        if is_interpreter(program) || is_launcher(program) {
            self.launch(program, arguments, depth);
        } else if !is_shell_word(program) {
            self.program(program);
        }
    }

    /// Covers the first of `arguments` that names a file of the project, behind an interpreter or a
    /// wrapper, and reads the command texts before it.
    fn launch(&mut self, program: &Word, arguments: &[Word], depth: usize) {
        self.cover(program);
        let is_shell = base_name(program).ends_with("sh");
        let runs_commands = is_launcher(program);
        let mut is_reported = arguments.is_empty() && runs_commands && !is_shell;
        for (index, word) in arguments.iter().enumerate().filter(|(_, word)| !word.is_assignment())
        {
            if self.cover(word) {
                self.passed_over(program, &arguments[..index]);
                return;
            }
            if runs_commands && (is_interpreter(word) || is_launcher(word)) {
                self.passed_over(program, &arguments[..index]);
                self.launch(word, &arguments[index + 1..], depth);
                return;
            }
            if runs_commands && word.literal && !is_name(&word.text) {
                self.text(&word.text, depth + 1);
                // The words behind the text of `sh -c` are its arguments.
                if is_shell {
                    return;
                }
                is_reported = true;
            } else if !word.literal || word.text.contains('/') && !word.text.starts_with('-') {
                self.uncovered(&word.text);
                is_reported = true;
            }
        }
        if !is_reported {
            // It runs something all the same: its standard input, a module, or a name of its own.
            self.uncovered_words(program, arguments);
        }
    }

    /// Reports the words between a program and the file that it runs when one of them may be a module,
    /// a program or code.
    fn passed_over(&mut self, program: &Word, words: &[Word]) {
        let may_run = |word: &Word| {
            let starts = |letter: char| letter == '-' || letter.is_ascii_digit();
            word.literal && !word.text.starts_with(starts) && !word.is_assignment()
        };
        if words.iter().any(may_run) {
            self.uncovered_words(program, words);
        }
    }

    fn uncovered_words(&mut self, program: &Word, words: &[Word]) {
        let words = std::iter::once(program).chain(words);
        let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
        self.uncovered(&words.join(" "));
    }

    /// Covers the script that a program word is; one that is found by name, or that only a shell can
    /// find, is not covered.
    pub(super) fn program(&mut self, word: &Word) {
        let by_name = word.literal && !word.text.contains('/');
        let outside = word.literal && self.is_outside(&word.text);
        if by_name || !(self.cover(word) || outside) {
            self.uncovered(&word.text);
        }
    }

    /// Returns whether a path begins at a root, and not where the hook runs.
    fn is_outside(&self, text: &str) -> bool {
        let drive = |letter: char| self.bases.has_drives && letter.is_ascii_alphabetic();
        text.starts_with('/') || text.trim_start_matches(drive).starts_with(":/")
    }

    /// Covers the file of the project that `word` leads to, and returns whether there is one.
    fn cover(&mut self, word: &Word) -> bool {
        let path = self.path(word).filter(|path| path.is_absolute() || !self.moves);
        let run = path.map(|path| self.run_in.join(path));
        let found = self.locate(word);
        let runs = found.iter().filter(|(_, path)| Some(path) == run.as_ref());
        let run: Vec<String> = runs.map(|(name, _)| name.clone()).collect();
        // A file beside the hooks file is not the one that runs elsewhere, and behind `cd` no file is.
        if run.is_empty() && !found.is_empty() {
            self.uncovered(&word.text);
        }
        self.executed.run.extend(run);
        !found.is_empty()
    }

    /// Covers a file that `scripts:` lists.
    pub(super) fn list(&mut self, path: &str) {
        let before = self.executed.scripts.keys().chain(self.executed.absent.keys());
        let before: BTreeSet<String> = before.cloned().collect();
        let word = Word::literal(path);
        if self.locate(&word).is_empty() {
            let names: Vec<String> =
                self.candidates(&word).into_iter().map(|(name, _)| name).collect();
            let (what, hint, fault) = if names.is_empty() {
                ("outside of the project", "take it out of `scripts:`", Fault::Other)
            } else {
                let hint = "restore or create it, or take it out of `scripts:`";
                ("missing", hint, Fault::Missing(names))
            };
            let text = format!("`{path}`, listed in `scripts:`, is {what}");
            self.executed.problems.push(ScriptProblem { text, hint, fault });
        }
        for (name, _) in self.candidates(&word) {
            if !before.contains(&name) {
                self.executed.listed.insert(name.clone());
            }
            self.executed.run.insert(name);
        }
    }

    /// Covers the files of the project that `word` leads to and returns them. Remembers the places
    /// that it leads to where no file is.
    fn locate(&mut self, word: &Word) -> Vec<(String, PathBuf)> {
        let (found, absent): (Vec<_>, Vec<_>) =
            self.candidates(word).into_iter().partition(|(_, path)| self.bases.is_there(path));
        self.executed.scripts.extend(found.iter().cloned());
        self.executed.absent.extend(absent);
        found
    }

    fn uncovered(&mut self, what: &str) {
        self.executed.uncovered.insert(what.to_owned());
    }

    /// Returns the places in the project that `word` leads to, by name, whether a file is there or not.
    fn candidates(&self, word: &Word) -> Vec<(String, PathBuf)> {
        let Some(path) = self.path(word) else { return Vec::new() };
        let places = [&self.run_in, &self.bases.directory].map(|base| base.join(&path));
        places.into_iter().filter_map(|path| Some((self.bases.name(&path)?, path))).collect()
    }

    /// Returns the path that a word is, when nothing but a known directory is expanded in it.
    fn path(&self, word: &Word) -> Option<PathBuf> {
        if word.literal {
            return Some(PathBuf::from(&word.text)).filter(|_| !word.text.is_empty());
        }
        DIRECTORIES.into_iter().find_map(|(name, is_config)| {
            let rest = word.below(name).filter(|_| !self.own.contains_key(name))?;
            let directory = if is_config { &self.bases.directory } else { &self.bases.project };
            Some(directory.join(rest))
        })
    }

    /// Reports the files that are named and that nothing executes, as far as the rule tells.
    pub(super) fn name_the_rest(&mut self) {
        for word in std::mem::take(&mut self.seen) {
            let value =
                word.text.split_once('=').map(|(_, value)| Word { text: value.into(), ..word });
            for word in [Some(word), value].into_iter().flatten() {
                let places = self.candidates(&word).into_iter();
                let new =
                    places.filter(|(_, path)| self.bases.is_there(path)).map(|(name, _)| name);
                let new = new.filter(|name| !self.executed.scripts.contains_key(name));
                self.executed.uncovered.extend(new.collect::<Vec<_>>());
            }
        }
    }
}
