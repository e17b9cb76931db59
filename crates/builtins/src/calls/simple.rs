//! One simple command, and the commands that it runs.

use super::command::{Frame, Hidden, Redirection, SimpleCommand, Word, line_of};
use super::history::Change;
use super::names::{FETCHERS, STARTING, STAYING};
use super::powershell::commands_behind_powershell;
use super::reader::Found;
use super::shells;
use super::wrappers::{self, Inner, Run};

impl SimpleCommand {
    /// Returns whether the command gets files from the network.
    pub(crate) fn fetches(&self) -> bool {
        let Some((program, arguments)) = self.words.split_first() else { return false };
        let name = base_name(&program.text);
        FETCHERS.contains(&&*name)
            || name == "git" && arguments.iter().any(|word| word.text == "clone")
    }
}

impl Found {
    /// Adds a command, and what it runs.
    pub(super) fn simple(&mut self, mut command: SimpleCommand) {
        let (assignments, words) = (command.assignments.clone(), command.words.clone());
        let frame = command.frame.clone();
        command.sets = shells::variables(&assignments, &words);
        if assignments.iter().chain(&words).any(shells::names_evaluated) {
            command.hidden = Hidden::Anything;
        }
        let place = self.commands.len();
        if let Some((program, arguments)) = words.split_first() {
            let name = base_name(&program.text);
            self.evaluates |= shells::evaluates(&name, arguments);
            self.is_doubtful |= shells::changes_the_shell(&name, arguments);
            // Some shells run it as a program, for which `>` is a redirection.
            command.is_certain &= name != "[[";
            let is_fetched = self.is_fetched(program)
                || self.has_cloned && program.text.contains('/') && !is_installed(program);
            let mut inputs = Vec::new();
            for input in command.redirections.iter().filter(|one| one.is_input()) {
                if shells::is_interpreter(&name) && !input.is_file() {
                    // The call shows the code, but not in a word.
                    command.is_certain = false;
                } else {
                    inputs.push(input.clone());
                }
            }
            if FETCHERS.contains(&&*name) {
                self.fetching = frame.pipeline;
            }
            // What it gets may be written by another program of the pipeline.
            if self.fetching == frame.pipeline && frame.pipeline > 0 {
                self.note_fetched(&command);
            }
            self.has_cloned |= name == "git" && command.fetches();
            self.commands.push(command);
            let before = self.history.clone();
            self.history.note(&assignments, &[]);
            let is_path = program.text.contains('/');
            let written = if is_path { self.written(program) } else { Written::No };
            let hidden = match written {
                _ if !program.is_known() || is_fetched => Hidden::Anything,
                Written::No => self.inner(&name, arguments, &inputs, &frame),
                Written::Unknown => Hidden::Anything,
                Written::Text(text) => {
                    self.script(&interpreter_of(&text), &text, frame.within(&name))
                }
            };
            // All but these run their command in another process.
            if !STAYING.contains(&&*name) {
                self.history = before;
            }
            self.history.note(&[], &words);
            if hidden != Hidden::Nothing {
                self.commands[place].hidden = hidden;
            }
        } else {
            self.history.note(&assignments, &[]);
            self.commands.push(command);
        }
    }

    /// Adds what a program runs, and returns what it runs that can't be read.
    fn inner(
        &mut self,
        name: &str,
        words: &[Word],
        inputs: &[Redirection],
        frame: &Frame,
    ) -> Hidden {
        let reads_input = frame.piped || !inputs.is_empty();
        let inner = frame.within(name);
        // So many programs run one another in no command of people.
        if inner.wrappers.len() > 8 {
            return Hidden::Anything;
        }
        let found = match wrappers::inner(name, words) {
            Inner::Nothing => shells::code(name, words, reads_input),
            // `bun x` runs a program, and `bun x.ts` a file.
            found => found,
        };
        match found {
            // Without a command it runs a shell.
            Inner::Nothing if STARTING.contains(&name) && reads_input => self.input(inputs, inner),
            Inner::Nothing => Hidden::Nothing,
            Inner::Input => self.input(inputs, inner),
            Inner::Unknown => Hidden::Anything,
            Inner::File(file) => self.file(name, file, inner),
            Inner::Text(text) if name == "trap" => {
                self.at_exit.push((text, inner));
                Hidden::Nothing
            }
            Inner::Text(text) => self.inner_text(&text, inner),
            Inner::Open(text) => {
                // What is known of it is read, too.
                self.inner_text(&text, inner);
                self.is_doubtful = true;
                Hidden::Anything
            }
            Inner::Unread => {
                if let Some(commands) = commands_behind_powershell(name, words) {
                    self.commands.extend(commands);
                    return Hidden::Nothing;
                }
                let mut all = vec![Word::known(name)];
                all.extend(words.iter().cloned());
                Hidden::of_words(&all, frame.more || reads_input)
            }
            Inner::Shown(words) => Hidden::of_words(words, frame.more),
            Inner::Commands(runs) => {
                let is_known = runs.into_iter().all(|run| self.run(run, inputs, &inner));
                if is_known { Hidden::Nothing } else { Hidden::Anything }
            }
        }
    }

    /// Adds a command in the words of another, and returns whether it can be known.
    fn run(&mut self, run: Run, inputs: &[Redirection], inner: &Frame) -> bool {
        self.inner_words += run.words.len();
        // The words to come are the command, but `xargs` alone runs `echo`.
        let Some(first) = run.words.first() else {
            let is_sudo =
                inner.wrappers.last().is_some_and(|name| name == "sudo" || name == "doas");
            return !(inner.more || is_sudo && inner.piped);
        };
        let more = inner.more || run.more;
        // Words that come later may be the text that a shell runs, or name the program.
        let name = base_name(&first.text);
        let takes_code = shells::takes_code(&name);
        let mut words = run.words.iter().filter(|word| word.text != "{}");
        // Each of the words is copied: 20 ms.
        if self.inner_words > 64 << 10
            || run.replaces(&first.text)
            || takes_code && words.any(|word| run.replaces(&word.text))
            || takes_code && more && !shells::has_code(&name, &run.words[1..])
        {
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
        let (assignments, redirections) = (run.assignments, inputs.to_vec());
        self.simple(SimpleCommand { words, assignments, redirections, ..command });
        if moves {
            self.history = before;
        }
        true
    }

    /// Adds the commands of a file that a program runs, if the call wrote it.
    fn file(&mut self, name: &str, file: &Word, inner: Frame) -> Hidden {
        if self.is_fetched(file) || self.has_cloned && !is_installed(file) {
            return Hidden::Anything;
        }
        match self.written(file) {
            Written::No => Hidden::Nothing,
            Written::Unknown => Hidden::Anything,
            Written::Text(text) => self.script(name, &text, inner),
        }
    }

    /// Adds the commands of a script that the call wrote, for the program `name`.
    fn script(&mut self, name: &str, text: &str, inner: Frame) -> Hidden {
        if !shells::is_interpreter(name) || shells::is_shell(name) {
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
    fn input(&mut self, inputs: &[Redirection], inner: Frame) -> Hidden {
        match inputs {
            // zsh reads a pipe beside it, too.
            [one] if one.operator == "<<" && one.word.is_known() && !inner.piped => {
                self.inner_text(&one.word.text, inner)
            }
            _ => Hidden::Anything,
        }
    }

    /// Adds the commands of a text that a program runs.
    fn inner_text(&mut self, text: &str, inner: Frame) -> Hidden {
        let stays = inner.wrappers.last().is_some_and(|name| STAYING.contains(&&**name));
        let frame = Frame { more: false, other_shell: inner.other_shell || !stays, ..inner };
        if self.text(text, &frame).is_ok() {
            return Hidden::Nothing;
        }
        self.is_doubtful = true;
        Hidden::words_of(text)
    }

    /// Returns the text that the call itself writes to a file. It is known if one `cat`, `tee`, `echo` or
    /// `printf` writes it.
    fn written(&self, file: &Word) -> Written {
        let name = file.text.trim_start_matches("./");
        let mut writers = self.commands.iter().filter(|command| writes(command, name));
        let Some(command) = writers.next() else { return Written::No };
        if writers.next().is_some() {
            return Written::Unknown;
        }
        let mut inputs = command.redirections.iter().filter(|one| !one.is_file());
        let program = command.words.first().map(|word| base_name(&word.text)).unwrap_or_default();
        let text = match (&*program, inputs.next()) {
            ("cat" | "tee", Some(document)) => Some(document.word.text.clone()),
            ("tee", None) => {
                let pipeline = command.frame.pipeline;
                let mut all = self.commands.iter().filter(|one| one.frame.pipeline == pipeline);
                let first = all.next();
                // Another program between them may make another text of it.
                let is_next = all.next().is_some_and(|second| std::ptr::eq(second, command));
                first.filter(|_| is_next).and_then(printed)
            }
            _ => printed(command),
        };
        text.map_or(Written::Unknown, Written::Text)
    }

    /// Notes the files that a command gets from the network: one of its words names them.
    fn note_fetched(&mut self, command: &SimpleCommand) {
        let files = command.redirections.iter().map(|redirection| &redirection.word);
        for word in command.words.iter().skip(1).chain(files) {
            self.fetched.push(last_part(&word.text).to_owned());
        }
    }

    fn is_fetched(&self, file: &Word) -> bool {
        let name = last_part(&file.text);
        self.fetched.iter().any(|fetched| fetched == name)
    }
}

/// Returns the program that the first line of a script names, or a shell.
fn interpreter_of(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("#!").and_then(|line| line.split_whitespace().last()) {
        Some(program) => base_name(program),
        None => "sh".to_owned(),
    }
}

/// The text that a call writes to a file.
enum Written {
    No,
    Text(String),
    Unknown,
}

/// Returns whether a command writes a file of this name.
fn writes(command: &SimpleCommand, name: &str) -> bool {
    let mut outputs = command.redirections.iter().filter(|one| one.operator.contains('>'));
    let is_tee = command.words.first().is_some_and(|word| word.text == "tee");
    outputs.any(|output| is_named(&output.word, name))
        || is_tee && command.words.iter().any(|word| is_named(word, name))
}

/// Returns whether one of these commands would run what stands in its input. The command that `ssh` runs
/// stands behind it.
pub(super) fn read_code(commands: &[SimpleCommand]) -> bool {
    for (at, command) in commands.iter().enumerate() {
        let Some(program) = command.words.first() else { continue };
        let name = base_name(&program.text);
        let inner = commands.get(at + 1).and_then(|next| next.frame.wrappers.last());
        let starts_shell = STARTING.contains(&&*name) && inner != Some(&name);
        if starts_shell || command.words.len() == 1 && shells::is_interpreter(&name) {
            return true;
        }
    }
    false
}

/// Returns what a command prints, if it is `echo` or `printf`.
fn printed(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.words.split_first()?;
    let is_formatted = arguments.first().is_some_and(|word| word.text.contains('%'));
    match &*base_name(&program.text) {
        "echo" => {}
        "printf" if !is_formatted => {}
        _ => return None,
    }
    let options = arguments.iter().take_while(|word| word.text.starts_with('-')).count();
    Some(line_of(&arguments[options..]).replace("\\n", "\n"))
}

/// Returns whether a word is a file of the current directory, with or without `./`.
fn is_named(word: &Word, name: &str) -> bool {
    word.text.trim_start_matches("./") == name
}

/// Returns whether a file lies where the system keeps its programs.
fn is_installed(file: &Word) -> bool {
    ["/usr/", "/bin/", "/opt/"].iter().any(|place| file.text.starts_with(place))
}

fn last_part(text: &str) -> &str {
    text.rsplit(['/', '=']).next().unwrap_or(text)
}

/// Returns a program's name without its directory, in small letters: some file systems ignore case.
pub(crate) fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or_else(|| name.clone(), str::to_owned)
}
