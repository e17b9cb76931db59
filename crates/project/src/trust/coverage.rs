//! Finds the files that an approval of a hooks file covers: those that its commands name.
//!
//! Named are the program of each command and, behind an interpreter or a wrapper, the first argument
//! that is a file of the project, or else a file that it reads by `<`; `scripts:` adds what the author
//! lists. Of options only those are known that load a module.
//! Everything else that a command names or runs is reported as not covered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use super::programs::{below, changes_directory, is_assignment, is_shell_word};
use super::project_file::{Found, NamedFile, NamedPath, ProjectFile, Start};
use hookexec::config::{Command, Diagnostic, FileConfig, Hook, Location};
use hookexec::registry::is_posix_shell;
use hookexec_calls::shell::{
    SUBSTITUTED, UNKNOWN, is_interpreter, is_shell, is_understood, quoted, runs_next,
    without_outputs,
};
use hookexec_calls::{SimpleCommand, Word, commands_of_text};

/// The variables that hookexec or an agent sets for a directory, and whether it is that of the hooks
/// file: the others stand for the project.
const DIRECTORIES: [(&str, bool); 3] =
    [("CLAUDE_PROJECT_DIR", false), ("HOOKEXEC_PROJECT_DIR", false), ("HOOKEXEC_CONFIG_DIR", true)];

/// Returns the path below a directory that a word names by its variable, unless `env` sets that, and whether
/// the directory is that of the hooks file. Else it is the project.
pub fn in_known_directory<'w>(
    word: &'w Word,
    env: &BTreeMap<String, String>,
) -> Option<(bool, &'w str)> {
    for (name, is_of_file) in DIRECTORIES {
        if let Some(rest) = below(word, name)
            && !env.contains_key(name)
        {
            return Some((is_of_file, rest));
        }
    }
    None
}

/// The options of interpreters that name a module, which may stand right behind them.
const LOADING: [&str; 5] = ["-m", "-M", "-r", "--require", "--import"];

/// The files that an approval of a hooks file covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The text of the hooks file.
    pub text: String,
    /// The paths that the commands name.
    pub paths: BTreeSet<NamedPath>,
    /// The targets of these paths.
    pub files: Vec<NamedFile>,
    /// The programs and scripts of the project that are not there. If one appears, the hooks file waits.
    pub missing: BTreeSet<PathBuf>,
    /// Everything that the commands name or run and the approval does not cover.
    pub uncovered: BTreeSet<String>,
    /// Why the file can't be approved.
    pub problems: Vec<Diagnostic>,
}

impl Coverage {
    /// Reads what the hooks and processes of `config` name. On a system that `has_drives`, `\` separates
    /// the parts of a path.
    pub(crate) fn read(file: &ProjectFile, config: &FileConfig, has_drives: bool) -> Self {
        let mut search = Search {
            file,
            has_drives,
            coverage: Self::default(),
            mentioned: BTreeMap::new(),
            start: Start::WorkingDir,
            env: &BTreeMap::new(),
            at: 0,
            moves: false,
        };
        for hook in &config.hooks {
            search.begin(hook.working_dir.as_deref(), &hook.env, &hook.location);
            search.hook(hook);
        }
        for process in config.processes.values() {
            search.begin(process.working_dir.as_deref(), &process.env, &process.location);
            search.argv(&process.command);
        }
        let Search { mut coverage, mut mentioned, .. } = search;
        for path in file.places_of(&coverage.paths).into_keys() {
            mentioned.remove(&path);
            let named = file.look_at(path);
            if let Found::Unreadable(why) = &named.found {
                let text = format!("can't approve `{}`: {why}", named.name);
                let hint = "make it a file that you can read, or name another one";
                coverage.problems.push(Diagnostic::error(text).hint(hint));
            }
            coverage.files.push(named);
        }
        if file.path.to_str().is_none() {
            let path = file.path.display();
            let problem = format!("the path {path} is not UTF-8, so no approval can name it");
            let hint = "rename the directory, or move the project";
            coverage.problems.push(Diagnostic::error(problem).hint(hint));
        }
        coverage.uncovered.extend(mentioned.into_values());
        coverage
    }
}

/// The search for what the commands of a hooks file name.
struct Search<'s> {
    file: &'s ProjectFile,
    has_drives: bool,
    coverage: Coverage,
    /// The files of the project that any word is, as they are written.
    mentioned: BTreeMap<PathBuf, String>,
    /// Where the hook that is read runs.
    start: Start,
    /// Its `env:`.
    env: &'s BTreeMap<String, String>,
    /// Where it stands in the hooks file, in bytes.
    at: usize,
    /// Whether its command may change the directory, so that relative words lead elsewhere.
    moves: bool,
}

impl<'s> Search<'s> {
    /// Goes on to the next hook or process.
    fn begin(
        &mut self,
        working_dir: Option<&str>,
        env: &'s BTreeMap<String, String>,
        location: &Location,
    ) {
        self.start = match working_dir {
            Some(written) => Start::Written(written.to_owned()),
            None => Start::WorkingDir,
        };
        (self.env, self.at) = (env, location.range().start);
        for value in env.values() {
            self.mention(&Word::known(value));
        }
    }

    fn hook(&mut self, hook: &Hook) {
        match &hook.command {
            Some(Command::Argv(words)) if hook.kind == "command" => {
                self.argv(&[words.as_slice(), &hook.args].concat());
            }
            Some(Command::Text(text)) if hook.kind == "command" => {
                self.moves = changes_directory(text);
                if is_posix_shell(hook.shell.as_deref().unwrap_or_default()) {
                    self.text(text);
                } else {
                    self.foreign_text(text);
                }
                if let Some(shell) = &hook.shell {
                    self.program(&Word::known(shell));
                }
                for word in self.literal(&hook.args) {
                    self.mention(&word);
                }
            }
            _ => {}
        }
        for path in &hook.scripts {
            self.listed(path);
        }
    }

    /// Reads a command without a shell.
    fn argv(&mut self, words: &[String]) {
        self.moves = changes_directory(&words.join(" "));
        let words = self.literal(words);
        let texts: Vec<String> = words.iter().map(|word| quoted(&word.text)).collect();
        let script = texts.join(" ");
        self.text(&script);
    }

    fn literal(&self, texts: &[String]) -> Vec<Word> {
        let mut words = Vec::new();
        for text in texts {
            let text = if self.has_drives { text.replace('\\', "/") } else { text.clone() };
            words.push(Word::known(&text));
        }
        words
    }

    /// Reads a text for a shell.
    fn text(&mut self, text: &str) {
        let commands = commands_of_text(text);
        if !is_understood(&commands) {
            self.foreign_text(text);
        }
        for (at, command) in commands.iter().enumerate() {
            self.command(command, runs_next(&commands, at));
        }
    }

    /// Reads a text for cmd or PowerShell: every word that is a file of the project is covered.
    fn foreign_text(&mut self, text: &str) {
        self.uncovered("a part of the command text, which only a shell can read");
        for word in text.replace('\\', "/").split(separates_foreign_words) {
            // The calls of PowerShell: `. ./x.ps1` and `& ./x.ps1`.
            self.cover(&Word::known(word.trim_start_matches('@')));
        }
    }

    /// Reads one simple command.
    fn command(&mut self, command: &SimpleCommand, runs_next: bool) {
        let redirected = command.redirections.iter().map(|one| &one.word);
        for word in command.assignments.iter().chain(&command.words).chain(redirected) {
            self.mention(word);
        }
        let words = &command.words;
        let Some(program) = words.first() else { return };
        let is_path = program.text.contains('/');
        let hides = command.hides();
        if is_interpreter(&program.text) || is_shell(&program.text) || hides {
            if is_path {
                self.cover(program);
            }
            if hides || !runs_next {
                let mut words = words.clone();
                for input in &command.redirections {
                    if input.is_file() && input.is_input() {
                        words.push(input.word.clone());
                    }
                }
                self.run_file(&words, hides);
            }
        } else if is_path || !runs_next && !is_shell_word(program) {
            self.program(program);
        }
    }

    /// Covers the first argument that is a file of the project. Reports the command if it may run
    /// something else: a module, code, a program that is found by name, or its standard input.
    fn run_file(&mut self, words: &[Word], hides: bool) {
        let mut is_unknown = hides;
        for (index, word) in words.iter().enumerate().skip(1) {
            if is_assignment(word) {
                continue;
            }
            if self.cover(word) {
                if is_unknown {
                    self.uncovered_words(&words[..index]);
                }
                return;
            }
            is_unknown |= !word.is_literal() || !word.text.starts_with(is_dash_or_digit);
            is_unknown |= LOADING.iter().any(|option| word.text.starts_with(option));
        }
        // Behind an option it may be the option's value, and without a `.` or `/` a command.
        let script = words
            .get(1)
            .filter(|word| !is_assignment(word) && !word.text.starts_with(is_dash_or_digit));
        if !script.is_some_and(|word| word.text.contains(['.', '/']) && self.misses(word)) {
            self.uncovered_words(words);
        }
    }

    /// Covers the file that a program word is. One that is found by name, or that only a shell can
    /// find, is not covered.
    fn program(&mut self, word: &Word) {
        let by_name = word.is_literal() && !word.text.contains('/');
        if by_name || !self.cover(word) && !self.misses(word) {
            self.uncovered_words(from_ref(word));
        }
    }

    /// Adds the path of the project that `word` is to those that are missing; returns false if it is none.
    fn misses(&mut self, word: &Word) -> bool {
        let Some(named) = self.named(word) else { return false };
        let place = self.file.place_of(&named);
        // Behind `cd` another file may run.
        let is_moved = self.moves && word.is_literal();
        if is_moved || place.exists() || !self.file.is_inside(&place) {
            return false;
        }
        self.coverage.missing.insert(place);
        true
    }

    /// Adds the path that `word` is, and returns whether it leads to a file of the project.
    fn cover(&mut self, word: &Word) -> bool {
        let Some(named) = self.named(word) else { return false };
        let place = self.file.place_of(&named);
        if !self.file.is_inside(&place) {
            return false;
        }
        self.coverage.paths.insert(named);
        // Behind `cd` another file runs.
        let is_relative = word.is_literal() && Path::new(&word.text).is_relative();
        if self.moves && is_relative && place.is_file() {
            self.uncovered(&word.text);
        }
        place.is_file()
    }

    /// Remembers that a word, or the value behind its `=`, is a file of the project.
    fn mention(&mut self, word: &Word) {
        let value = word.text.split_once('=').map_or("", |(_, value)| value);
        for text in [&*word.text, value] {
            let Some(named) = self.named(&word.ending(text)) else { continue };
            let place = self.file.place_of(&named);
            if place.is_file() && self.file.is_inside(&place) {
                self.mentioned.insert(place, named.path);
            }
        }
    }

    /// Returns the path that a word is, when nothing but a known directory is expanded in it.
    fn named(&self, word: &Word) -> Option<NamedPath> {
        if word.is_literal() {
            let is_empty = word.text.is_empty();
            return if is_empty { None } else { Some(self.path(self.start.clone(), &word.text)) };
        }
        let (is_of_file, rest) = in_known_directory(word, self.env)?;
        let start = if is_of_file { Start::HooksFile } else { Start::WorkingDir };
        Some(self.path(start, rest))
    }

    fn path(&self, start: Start, path: &str) -> NamedPath {
        NamedPath { start, path: path.to_owned(), at: self.at }
    }

    /// Covers a file that `scripts:` lists: where the hook runs, and beside the hooks file.
    fn listed(&mut self, path: &str) {
        let (mut is_inside, mut is_there) = (false, false);
        for start in [self.start.clone(), Start::HooksFile] {
            let named = self.path(start, path);
            let place = self.file.place_of(&named);
            if self.file.is_inside(&place) {
                is_inside = true;
                is_there |= place.is_file();
                self.coverage.paths.insert(named);
            }
        }
        if !is_there {
            let (what, hint) = if is_inside {
                ("missing", "restore or create it, or take it out of `scripts:`")
            } else {
                ("outside of the project", "take it out of `scripts:`")
            };
            let text = format!("`{path}`, listed in `scripts:`, is {what}");
            self.coverage.problems.push(Diagnostic::error(text).hint(hint));
        }
    }

    fn uncovered_words(&mut self, words: &[Word]) {
        let mut texts = Vec::new();
        for word in words {
            let is_literal = word.is_literal();
            let text = &word.text;
            texts.push(if is_literal {
                text.clone()
            } else {
                without_outputs(text).replace(UNKNOWN, SUBSTITUTED)
            });
        }
        self.uncovered(&texts.join(" "));
    }

    fn uncovered(&mut self, text: &str) {
        self.coverage.uncovered.insert(text.to_owned());
    }
}

/// Returns whether a character stands between the words of a text for cmd or PowerShell.
fn separates_foreign_words(letter: char) -> bool {
    letter.is_whitespace() || "\"'`^&|;<>(){}[],=".contains(letter)
}

/// Returns whether an option or a number begins so.
fn is_dash_or_digit(letter: char) -> bool {
    letter == '-' || letter.is_ascii_digit()
}
