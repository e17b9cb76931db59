//! One simple command, and the commands that it runs.

use super::command::{Frame, Hidden, SimpleCommand, Word, has_word, line_of};
use super::history::Change;
use super::names::{FETCHERS, STAYING, UNNAMED, UNPACKERS};
use super::reader::{Found, LONGEST};
use super::shells::{self, has_command_in_index, is_interpreter, names_device, names_evaluated};
use super::wrappers::{self, Inner, Run};
use crate::shell::hidden;
use hookexec_files::glob::has_part;
use std::sync::Arc;

impl SimpleCommand {
    /// Returns the name of the program; nothing without one.
    pub(super) fn program(&self) -> String {
        base_name(self.words.first().map_or("", |program| &program.text))
    }

    /// Returns whether the command gets files from the network.
    pub fn fetches(&self) -> bool {
        self.gets_unnamed_files() || FETCHERS.contains(&&*self.program())
    }

    /// Returns whether the command gets files whose names stand in none of its words: a repository, or what
    /// lies in a directory of another machine.
    fn gets_unnamed_files(&self) -> bool {
        let mut sources = self.words.get(1..).unwrap_or_default();
        match &*self.program() {
            "git" | "gh" | "glab" | "hg" => return has_word(sources, &["clone", "download"]),
            "svn" => return has_word(sources, &["checkout", "co", "export"]),
            "curl" | "wget" => return has_word(sources, UNNAMED),
            "scp" | "rsync" | "aws" | "gsutil" | "gcloud" => {
                // The last one is where they go.
                sources = &sources[..sources.len().saturating_sub(1)];
            }
            "sftp" => {}
            _ => return false,
        }
        let mut sources = sources.iter().filter(|word| !word.text.starts_with('-'));
        sources.any(|word| word.text.contains(':'))
    }

    /// Returns whether a text that the command writes goes into a file of this name.
    fn writes(&self, name: &str) -> bool {
        let mut outputs = self.redirections.iter().filter(|one| one.operator.contains('>'));
        outputs.any(|output| is_named(&output.word, name))
            || self.words.iter().any(|word| is_named(word, name)) && self.program() == "tee"
    }

    /// Returns the words that the command prints, if it is `echo` or `printf`.
    pub fn printed_words(&self) -> Option<&[Word]> {
        let (_, mut words) = self.words.split_first()?;
        while let [option, behind @ ..] = words
            && option.text.starts_with('-')
            && !option.text.contains(char::is_whitespace)
        {
            words = behind;
        }
        if matches!(&*self.program(), "echo" | "printf") { Some(words) } else { None }
    }

    /// Returns the text that the command prints, if no format is in it.
    fn printed(&self) -> Option<String> {
        let words = self.printed_words()?;
        let is_format = self.program() == "printf" && words.first()?.text.contains('%');
        if is_format { None } else { Some(line_of(words).replace("\\n", "\n")) }
    }
}

impl Found {
    /// Adds a command, and what it runs.
    pub(super) fn simple(&mut self, mut command: SimpleCommand) {
        command.sets = shells::variables(&command.assignments, &command.words);
        if names_evaluated(&command.assignments) || names_evaluated(&command.words) {
            command.hidden = Hidden::Anything;
        }
        let before = self.history.clone();
        self.history.assign(&command.assignments);
        let words = command.words.clone();
        let Some((program, arguments)) = words.split_first() else {
            self.commands.push(command);
            return;
        };
        let name = base_name(&program.text);
        // What stands behind `[[ x &&` may be the rest of the test.
        self.has_test |= name == "[[";
        if self.has_test && words.iter().any(has_command_in_index) {
            command.hidden = Hidden::Anything;
        }
        self.evaluates |= shells::evaluates(&name, arguments);
        self.is_doubtful |= shells::changes_the_shell(&name, arguments);
        // Some shells run `[[` as a program, for which `>` is a redirection. What `runuser` runs depends on
        // the order and the beginnings of its options.
        command.is_certain &= !matches!(&*name, "[[" | "runuser");
        let takes_code = is_interpreter(&name);
        let mut inputs = command.redirections.clone();
        inputs.retain(|input| input.is_input() && (input.is_file() || !takes_code));
        // The call shows the code, but not in a word.
        command.is_certain &= !takes_code || command.documents().next().is_none();
        let is_path = hidden(&program.text).contains('/');
        let is_fetched = if is_path {
            self.is_fetched(program) || self.may_be_unnamed(program)
        } else {
            self.installed.contains(&*program.text)
        };
        self.note_fetched(&name, &command);
        let runs_output = takes_code && command.documents().any(has_output);
        let (place, assigns) = (self.commands.len(), !command.assignments.is_empty());
        let inner = Frame { inputs: inputs.into(), ..command.frame.within(&name) };
        self.commands.push(command);
        let texts = if is_path { self.texts_of(program) } else { Vec::new() };
        let hidden = match &*texts {
            // So many programs run one another in no command of people.
            _ if inner.wrappers.len() > 8 => Hidden::Anything,
            _ if is_fetched || runs_output => Hidden::Anything,
            [] if !program.is_known() => Hidden::Nothing,
            [] => self.inner(arguments, inner),
            [Some(text)] => self.script(&interpreter_of(text), text, inner),
            _ => Hidden::Anything,
        };
        // All but these run their command in another process. Some builtins keep what is assigned before them.
        if !STAYING.contains(&&*name) {
            let assigned = std::mem::replace(&mut self.history, before);
            self.history.may_be(&assigned);
        } else if assigns {
            self.history.may_be(&before);
        }
        self.history.note(&program.text, arguments);
        // It may be `cd`.
        if !program.is_known() && !is_path {
            self.history.may_stray();
        }
        if hidden != Hidden::Nothing {
            self.commands[place].hidden = hidden;
        }
    }

    /// Adds what a program runs, and returns what it runs that can't be read.
    fn inner(&mut self, words: &[Word], inner: Frame) -> Hidden {
        let name = &*inner.program().to_owned();
        let found = match wrappers::inner(name, words) {
            Inner::Nothing => shells::code(name, words),
            // `bun x` runs a program, and `bun x.ts` a file.
            found => found,
        };
        match found {
            Inner::Nothing => Hidden::Nothing,
            Inner::Input => self.input(inner),
            Inner::Unknown => Hidden::Anything,
            Inner::File(file) => self.file(name, file, inner),
            Inner::FileOrInput(file) => {
                let has_input = inner.has_input();
                match self.file(name, file, inner) {
                    Hidden::Nothing if has_input => Hidden::Anything,
                    hidden => hidden,
                }
            }
            Inner::Text { text, .. } if name == "trap" => {
                self.is_doubtful = true;
                let set_in = self.history.clone();
                // At a signal, the shell goes on behind it.
                if has_part(&text, &["cd", "chdir", "pushd", "popd"])
                    && !has_word(words, &["EXIT", "0"])
                {
                    self.history.may_stray();
                }
                self.traps.push((text, inner, set_in));
                Hidden::Nothing
            }
            Inner::Text { text, is_known } => {
                // What is known of it is read, too.
                let hidden = self.inner_text(&text, inner);
                self.is_doubtful |= !is_known;
                if is_known { hidden } else { Hidden::Anything }
            }
            Inner::Unread => {
                if let Some(hidden) = self.behind_powershell(words, &inner) {
                    return hidden;
                }
                let all = [&[Word::known(name)][..], words].concat();
                let mut gets_more = inner.more || inner.has_input();
                for word in words {
                    gets_more |= self.is_fetched(word)
                        || word.text.contains('/') && self.may_be_unnamed(word);
                }
                Hidden::of_words(&all, gets_more)
            }
            Inner::Shown(words) => Hidden::of_words(words, inner.more),
            Inner::Commands(runs) => {
                let is_known = runs.into_iter().all(|run| self.run(run, &inner));
                if is_known { Hidden::Nothing } else { Hidden::Anything }
            }
        }
    }

    /// Adds a command in the words of another, and returns whether it can be known.
    fn run(&mut self, run: Run, inner: &Frame) -> bool {
        self.copied += run.words.len() * (1 + run.marks.len());
        // The words to come are the command, but `xargs` alone runs `echo`.
        if run.words.is_empty() {
            return !inner.more;
        }
        let more = inner.more || run.more;
        if self.copied > LONGEST || run.is_open(more) || self.history.is_full() {
            return false;
        }
        let words = run.given_words();
        let before = self.history.clone();
        let moves = run.directory.is_some();
        if moves {
            self.history.add(Change::Went { to: run.directory, is_sure: true });
        }
        let mut command = self.begun(&Frame { more, ..inner.clone() });
        // In another directory a program reads the settings of another project.
        command.is_certain &= !moves;
        let assignments = run.assignments;
        self.simple(SimpleCommand { words, assignments, ..command });
        if moves {
            self.history = before;
        }
        true
    }

    /// Adds the commands of a file that a program runs, if the call wrote it.
    fn file(&mut self, name: &str, file: &Word, inner: Frame) -> Hidden {
        match &*self.texts_of(file) {
            _ if self.is_fetched(file) || self.may_be_unnamed(file) => Hidden::Anything,
            _ if self.may_be_device(inner.has_input()) => Hidden::Anything,
            [] => Hidden::Nothing,
            [Some(text)] => self.script(name, text, inner),
            _ => Hidden::Anything,
        }
    }

    /// Adds the commands of a script that the call wrote, for the program `name`.
    fn script(&mut self, name: &str, text: &str, inner: Frame) -> Hidden {
        if !is_interpreter(name) || shells::is_shell(name) {
            return self.inner_text(text, inner);
        }
        // Its code is a word, as if it stood in the call.
        let option = match name {
            "php" => "-r",
            _ if name.starts_with("py") => "-c",
            _ => "-e",
        };
        let words = [name, option, text].map(Word::known).to_vec();
        let command = self.begun(&inner);
        self.commands.push(SimpleCommand { words, is_certain: false, ..command });
        Hidden::Nothing
    }

    /// Adds the commands that a shell reads from its input, if that is one text.
    fn input(&mut self, inner: Frame) -> Hidden {
        let inputs = Arc::clone(&inner.inputs);
        match &*inputs {
            _ if inner.more => Hidden::Anything,
            // zsh reads a pipe beside it, too.
            [one] if one.operator == "<<" && one.word.is_known() && !inner.piped => {
                self.inner_text(&one.word.text, Frame { inputs: Arc::default(), ..inner })
            }
            [] if !inner.piped && !shells::is_shell(inner.program()) => {
                self.without_input += 1;
                Hidden::Nothing
            }
            _ => Hidden::Anything,
        }
    }

    /// Adds the commands of a text that a program runs.
    fn inner_text(&mut self, text: &str, inner: Frame) -> Hidden {
        let stays = STAYING.contains(&inner.program());
        let frame = Frame { more: false, ..inner };
        // Many short texts are too many, too.
        self.copied += text.len() + 100;
        let is_read = if self.copied > LONGEST {
            false
        } else if stays {
            self.text(text, &frame).is_ok()
        } else {
            self.text_of_other_shell(text, &frame)
        };
        if is_read {
            return Hidden::Nothing;
        }
        self.is_doubtful = true;
        Hidden::words_of(text)
    }

    /// Adds the commands of a text that another shell reads, and returns whether it can be read.
    pub(super) fn text_of_other_shell(&mut self, text: &str, frame: &Frame) -> bool {
        let outer = self.history.clone();
        self.history.add(Change::Other);
        let is_read = self.text(text, frame).is_ok();
        self.history = outer;
        is_read
    }

    /// Returns the texts that the call itself writes to a file, `None` for one that is not known.
    fn texts_of(&self, file: &Word) -> Vec<Option<String>> {
        let name = file.text.trim_start_matches("./");
        let mut texts = Vec::new();
        for (at, command) in self.commands.iter().enumerate() {
            // Either of two may be there.
            if texts.len() < 2 && command.writes(name) {
                texts.push(self.text_written_by(at));
            }
        }
        texts
    }

    /// Returns the text that a command writes to a file, if it is `cat`, `tee`, `echo` or `printf`.
    fn text_written_by(&self, at: usize) -> Option<String> {
        let command = &self.commands[at];
        let document = command.documents().next();
        match (&*command.program(), document) {
            ("cat" | "tee", Some(document)) => Some(document.text.clone()),
            ("tee", None) => {
                let pipeline = command.frame.pipeline;
                let before = &self.commands[..at];
                let mut before = before.iter().filter(|one| one.frame.pipeline == pipeline);
                // Another program between them may make another text of it.
                if let (Some(only), None) = (before.next(), before.next()) {
                    return only.printed();
                }
                None
            }
            _ => command.printed(),
        }
    }

    /// Notes what a command gets from the network: one of its words names each file.
    fn note_fetched(&mut self, name: &str, command: &SimpleCommand) {
        let pipeline = command.frame.pipeline;
        if FETCHERS.contains(&name) {
            self.fetching = pipeline;
        }
        self.gets_unnamed_files |= command.gets_unnamed_files();
        if UNPACKERS.contains(&name) {
            let mut is_fetched = self.fetching == pipeline && pipeline > 0;
            for word in &command.words[1..] {
                is_fetched |= self.is_fetched(word);
            }
            // What it unpacks has names of its own.
            self.gets_unnamed_files |= is_fetched;
        }
        // What it gets may be written by another program of the pipeline.
        if self.fetching != pipeline || pipeline == 0 {
            return;
        }
        let keeps_name = keeps_name(name, &command.words);
        let redirected = command.redirections.iter().map(|one| &one.word);
        for word in command.words[1..].iter().chain(redirected) {
            let file = last_part(&word.text);
            // An escaped letter may be any; `-oFILE` and `-soFILE` name a file, too.
            let is_variable = !word.is_known() && word.text.starts_with('$');
            self.gets_unnamed_files |= file.contains('%') || is_variable && keeps_name;
            for (at, _) in file.char_indices().take(if file.starts_with('-') { 16 } else { 1 }) {
                self.fetched.insert(file[at..].to_owned());
            }
            if word.text.starts_with(['/', '~', '.', '$']) {
                self.installed.insert(file.to_owned());
            }
        }
        // The page of a host.
        if name == "wget" {
            self.fetched.insert("index.html".to_owned());
        }
    }

    /// Returns whether the call may give a device the name of a file: it copies one, or it has input, and
    /// links anything.
    fn may_be_device(&self, has_input: bool) -> bool {
        for command in &self.commands {
            let mut words = command.words.iter();
            let may_be = match &*command.program() {
                "ln" if has_input => true,
                "ln" | "cp" | "mv" | "rsync" | "install" => {
                    words.any(|word| names_device(&word.text) && word.text != "/dev/null")
                }
                _ => false,
            };
            if may_be {
                return true;
            }
        }
        false
    }

    /// Returns whether a file of this name comes from the network.
    fn is_fetched(&self, file: &Word) -> bool {
        let name = last_part(&file.text);
        if !file.is_known() && name.contains(['*', '?', '[']) {
            return !self.fetched.is_empty();
        }
        // `wget` puts a number behind the name of a file that is there.
        let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        self.fetched.contains(name) || self.fetched.contains(plain.trim_end_matches('.'))
    }

    /// Returns whether a file may be one that the call gets without its name. A file where the system keeps
    /// its programs is not.
    fn may_be_unnamed(&self, file: &Word) -> bool {
        let mut parts = file.text.split('/');
        let is_absolute = parts.next() == Some("");
        let is_installed = is_absolute && matches!(parts.next(), Some("usr" | "bin" | "opt"))
            || has_part(&file.text, &["/.local/bin/", "/.cargo/bin/"]);
        self.gets_unnamed_files && !is_installed
    }
}

/// Returns whether a program writes what it gets into a file that is called as in the address.
fn keeps_name(program: &str, words: &[Word]) -> bool {
    if program != "curl" {
        return matches!(program, "wget" | "wget2" | "aria2c");
    }
    for word in words {
        let is_cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        if is_cluster && word.text.contains('O') || word.text == "--remote-name" {
            return true;
        }
    }
    false
}

/// Returns whether the output of a command stands in a here-document.
fn has_output(document: &Word) -> bool {
    !document.is_known() && (document.text.contains("$(") || document.text.contains('`'))
}

/// Returns the program that the first line of a script names, or a shell.
fn interpreter_of(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let Some(line) = first.strip_prefix("#!") else { return "sh".to_owned() };
    base_name(line.split_whitespace().last().unwrap_or("sh"))
}

/// Returns whether a word is a file of the current directory, with or without `./`.
fn is_named(word: &Word, name: &str) -> bool {
    word.text.trim_start_matches("./") == name
}

/// Returns the name of the file that a path or an address names.
fn last_part(text: &str) -> &str {
    let path = text.split(['?', '#']).next().unwrap_or(text);
    if path.contains("://") && (path.ends_with('/') || path.matches('/').count() < 3) {
        return "index.html";
    }
    path.rsplit(['/', '=', ':']).next().unwrap_or(path)
}

/// Returns a program's name without its directory, in small letters: some file systems ignore case.
pub fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}
