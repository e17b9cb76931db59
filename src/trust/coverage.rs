//! What an approval of a hooks file covers: the files that its commands name.
//!
//! Named are the program of each command and, behind an interpreter or a wrapper, the first argument
//! that is a file of the project; `scripts:` adds what the author lists. Options are not understood.
//! What else a command names or runs is reported as not covered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::named::{Found, NamedFile, NamedPath, Start};
use super::programs::{
    base_name, changes_directory, is_interpreter, is_launcher, is_name, is_shell_word,
    stands_before,
};
use super::project_file::ProjectFile;
use crate::config::{Command, FileConfig, Hook};
use crate::event::Event;
use crate::handlers::command::shells::Language;
use crate::shell::{Word, read_script};

/// The variables that hookexec or an agent sets for a directory, and whether it is that of the hooks
/// file: the others stand for the project.
pub const DIRECTORIES: [(&str, bool); 3] =
    [("CLAUDE_PROJECT_DIR", false), ("HOOKEXEC_PROJECT_DIR", false), ("HOOKEXEC_CONFIG_DIR", true)];
/// How deep `sh -c` may nest.
const MAX_DEPTH: usize = 4;

/// What an approval of a hooks file covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The paths that the commands name.
    pub paths: BTreeSet<NamedPath>,
    /// What these paths lead to.
    pub files: Vec<NamedFile>,
    /// What the commands name or run and the approval does not cover.
    pub uncovered: BTreeSet<String>,
    /// Why the file can't be approved.
    pub problems: Vec<Problem>,
}

/// Why a hooks file can't be approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}; {hint}")]
pub struct Problem {
    /// What is wrong.
    pub text: String,
    /// What a person can do about it.
    pub hint: &'static str,
}

impl Coverage {
    /// Reads what the hooks and processes of `config` name. On a system that `has_drives`, `\` separates
    /// the parts of a path.
    pub(crate) fn read(file: &ProjectFile, config: &FileConfig, has_drives: bool) -> Self {
        let (mut coverage, mut mentioned) = (Self::default(), BTreeMap::new());
        for hook in &config.hooks {
            Search::new(file, &mut coverage, hook, has_drives).hook(&mut mentioned);
        }
        for process in config.processes.values() {
            let command = Command::Argv(process.command.clone());
            let hook = Hook {
                env: process.env.clone(),
                working_dir: process.working_dir.clone(),
                location: process.location.clone(),
                ..Hook::new(Event::SessionStart, "command", command)
            };
            Search::new(file, &mut coverage, &hook, has_drives).hook(&mut mentioned);
        }
        for (path, at) in file.places_of(&coverage.paths) {
            mentioned.remove(&path);
            let named = file.look_at(path, at);
            if let Found::Unreadable(why) = &named.found {
                let text = format!("can't approve `{}`: {why}", named.name);
                let hint = "make it a file that you can read, or name another one";
                coverage.problems.push(Problem { text, hint });
            }
            coverage.files.push(named);
        }
        coverage.uncovered.extend(mentioned.into_values());
        coverage
    }
}

/// The search for what one hook names.
struct Search<'s> {
    file: &'s ProjectFile,
    coverage: &'s mut Coverage,
    hook: &'s Hook,
    has_drives: bool,
    /// Whether its command may change the directory, so that relative words lead elsewhere.
    moves: bool,
    /// The words of its commands.
    seen: BTreeSet<Word>,
}

impl<'s> Search<'s> {
    fn new(
        file: &'s ProjectFile,
        coverage: &'s mut Coverage,
        hook: &'s Hook,
        has_drives: bool,
    ) -> Self {
        let seen = hook.env.values().map(Word::literal).collect();
        Self { file, coverage, hook, has_drives, moves: false, seen }
    }

    /// Adds what the hook names, and to `mentioned` the files of the project that its words are.
    fn hook(mut self, mentioned: &mut BTreeMap<PathBuf, String>) {
        let hook = self.hook;
        match &hook.command {
            Some(Command::Argv(words)) if hook.kind == "command" => {
                let words = [words.as_slice(), &hook.args].concat();
                self.moves = changes_directory(&words.join(" "));
                self.command(&self.literal(&words), 0);
            }
            Some(Command::Text(text)) if hook.kind == "command" => {
                self.moves = changes_directory(text);
                match Language::of(hook.shell.as_deref().unwrap_or_default()) {
                    Language::Posix => self.text(text, 0),
                    Language::Cmd | Language::PowerShell => self.foreign_text(text),
                }
                if let Some(shell) = &hook.shell {
                    self.program(&Word::literal(shell));
                }
                self.seen.extend(self.literal(&hook.args));
            }
            _ => {}
        }
        for path in &hook.scripts {
            self.listed(path);
        }
        self.mentioned(mentioned);
    }

    fn literal(&self, texts: &[String]) -> Vec<Word> {
        let mut words = Vec::new();
        for text in texts {
            let text = if self.has_drives { text.replace('\\', "/") } else { text.clone() };
            words.push(Word::literal(text));
        }
        words
    }

    /// Reads a text for a shell.
    fn text(&mut self, text: &str, depth: usize) {
        let script = read_script(text);
        if !script.understood || depth > MAX_DEPTH {
            self.uncovered("a part of the command text, which only a shell can read");
        }
        for command in &script.commands {
            self.command(command, depth);
        }
    }

    /// Reads a text for cmd or PowerShell: every word that is a file of the project is covered.
    fn foreign_text(&mut self, text: &str) {
        self.uncovered("a part of the command text, which only its shell can read");
        let is_between =
            |letter: char| letter.is_whitespace() || "\"'`^&|;<>(){}[],=".contains(letter);
        for word in text.replace('\\', "/").split(is_between) {
            // The calls of PowerShell: `. ./x.ps1` and `& ./x.ps1`.
            self.cover(&Word::literal(word.trim_start_matches('@')));
        }
    }

    /// Reads one simple command.
    fn command(&mut self, words: &[Word], depth: usize) {
        self.seen.extend(words.iter().cloned());
        let before = words.iter().take_while(|word| stands_before(word)).count();
        let [program, arguments @ ..] = &words[before..] else { return };
        if is_interpreter(program) || is_launcher(program) {
            self.launch(program, arguments, depth);
        } else if !is_shell_word(program) {
            self.program(program);
        }
    }

    /// Covers the first of `arguments` that is a file of the project, behind an interpreter or a
    /// wrapper, and reads the command texts before it.
    fn launch(&mut self, program: &Word, arguments: &[Word], depth: usize) {
        if program.text.contains('/') {
            self.cover(program);
        }
        let is_shell = base_name(program).ends_with("sh");
        let runs_commands = is_launcher(program);
        let mut is_reported = arguments.is_empty() && runs_commands && !is_shell;
        for (index, word) in arguments.iter().enumerate() {
            if word.is_assignment() {
                continue;
            }
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
        let mut text = program.text.clone();
        for word in words {
            text.extend([" ", &word.text]);
        }
        self.uncovered(&text);
    }

    /// Covers the file that a program word is. One that is found by name, or that only a shell can
    /// find, is not covered.
    fn program(&mut self, word: &Word) {
        let by_name = word.literal && !word.text.contains('/');
        if by_name || !self.cover(word) {
            self.uncovered(&word.text);
        }
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
        let is_relative = word.literal && Path::new(&word.text).is_relative();
        if self.moves && is_relative && place.is_file() {
            self.uncovered(&word.text);
        }
        place.is_file()
    }

    /// Returns the path that a word is, when nothing but a known directory is expanded in it.
    fn named(&self, word: &Word) -> Option<NamedPath> {
        if word.literal {
            let is_empty = word.text.is_empty();
            return if is_empty { None } else { Some(self.path(self.start(), &word.text)) };
        }
        for (name, is_of_file) in DIRECTORIES {
            if let Some(rest) = word.below(name)
                && !self.hook.env.contains_key(name)
            {
                let start = if is_of_file { Start::HooksFile } else { Start::WorkingDir };
                return Some(self.path(start, rest));
            }
        }
        None
    }

    /// Returns where the hook runs.
    fn start(&self) -> Start {
        match &self.hook.working_dir {
            Some(written) => Start::Written(written.clone()),
            None => Start::WorkingDir,
        }
    }

    fn path(&self, start: Start, path: &str) -> NamedPath {
        NamedPath { start, path: path.to_owned(), at: self.hook.location.range().start }
    }

    /// Covers a file that `scripts:` lists: where the hook runs, and beside the hooks file.
    fn listed(&mut self, path: &str) {
        let (mut is_inside, mut is_there) = (false, false);
        for start in [self.start(), Start::HooksFile] {
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
            self.coverage.problems.push(Problem { text, hint });
        }
    }

    fn uncovered(&mut self, what: &str) {
        self.coverage.uncovered.insert(what.to_owned());
    }

    /// Adds the files of the project that its words name.
    fn mentioned(&mut self, files: &mut BTreeMap<PathBuf, String>) {
        for word in std::mem::take(&mut self.seen) {
            let value = word.text.split_once('=').map(|(_, value)| value.to_owned());
            let value = value.map(|text| Word { text, literal: word.literal });
            for word in [Some(word), value].into_iter().flatten() {
                let Some(named) = self.named(&word) else { continue };
                let place = self.file.place_of(&named);
                if place.is_file() && self.file.is_inside(&place) {
                    files.insert(place, named.path);
                }
            }
        }
    }
}
