//! The words of one command, read by its rows in the table of options.

use std::borrow::Cow;

use super::table::Row;
use hookexec_calls::{SimpleCommand, Word, base_name, before_subcommand, is_interpreter};

/// Words of `find` that turn the next test around, or act before it.
const BEFORE_TESTS: [&str; 9] =
    ["!", "-not", "-delete", "-exec", "-execdir", "-ok", "-okdir", "-printf", "-fprintf"];

/// The arguments of a command.
#[derive(Debug)]
pub(super) struct Arguments<'c> {
    pub(super) command: &'c SimpleCommand,
    /// The base name of the program, if it is known.
    pub(super) program: Option<String>,
    pub(super) row: Row,
    pub(super) options: Vec<GivenOption<'c>>,
    /// The words beside the options and their values.
    pub(super) operands: Vec<&'c Word>,
}

/// The word that the value of an option stands in, and the value.
pub(super) type Value<'c> = Option<(&'c Word, &'c str)>;

/// An option of a command.
#[derive(Debug)]
pub(super) struct GivenOption<'c> {
    /// The first name of the option in the table.
    pub(super) name: Cow<'c, str>,
    /// The word that it stands in.
    pub(super) word: &'c Word,
    pub(super) value: Value<'c>,
    /// How many operands stand before it.
    pub(super) operands_before: usize,
    /// Whether it is an option of a module or a subcommand that stands before it.
    pub(super) is_behind: bool,
    /// The word behind it.
    pub(super) behind: Option<&'c Word>,
}

impl GivenOption<'_> {
    /// Returns the option as it is written, without a value in the same word.
    pub(super) fn before_value(&self) -> &str {
        self.word.text.split('=').next().unwrap_or_default()
    }
}

impl<'c> Arguments<'c> {
    pub(super) fn of(command: &'c SimpleCommand) -> Self {
        let program = match command.words.first() {
            Some(word) => program_name(word),
            // `> file` does what `: > file` does.
            None if !command.redirections.is_empty() => Some(":".to_owned()),
            None => None,
        };
        let name = program.clone().unwrap_or_default();
        let row = Row::of(&name, "");
        let mut arguments =
            Self { command, program, row, options: Vec::new(), operands: Vec::new() };
        arguments.read();
        if let Some(subcommand) = arguments.operands.get(arguments.before_subcommand())
            && subcommand.is_known()
        {
            let row = Row::of(&name, &subcommand.text);
            if row.is_known {
                arguments.row = row;
                arguments.read();
            }
        }
        if name.starts_with("python") {
            arguments.read_module();
        }
        if matches!(&*name, "find" | "gfind" | "bfs") && !finds_empty(&command.words) {
            arguments.options.retain(|option| option.name != "-empty");
        }
        // Code in a here-document is what it is behind an option.
        if is_interpreter(&name) {
            for word in command.documents() {
                let (value, operands_before) =
                    (Some((word, &*word.text)), arguments.operands.len());
                for name in ["-c", "-e"] {
                    let (name, behind, is_behind) = (Cow::Borrowed(name), None, false);
                    arguments.options.push(GivenOption {
                        name,
                        word,
                        value,
                        operands_before,
                        is_behind,
                        behind,
                    });
                }
            }
        }
        arguments
    }

    /// Reads the options behind `python -m MODULE` as those of the module.
    fn read_module(&mut self) {
        let mut options = self.options.iter();
        let Some(at) = options.position(|option| option.name == "-m") else { return };
        let GivenOption { value: Some((_, module)), operands_before: 0, .. } = self.options[at]
        else {
            return;
        };
        self.row.add_module(module);
        for option in &mut self.options[at + 1..] {
            option.is_behind = true;
        }
    }

    fn read(&mut self) {
        self.options.clear();
        self.operands.clear();
        let words = &self.command.words;
        let mut at = 1;
        // `tar xf a` is `tar -xf a`.
        if let Some("tar" | "gtar" | "bsdtar") = self.program.as_deref()
            && let Some(word) = words.get(at)
            && !word.text.starts_with('-')
        {
            at = self.bundle(&word.text);
        }
        while let Some(word) = words.get(at) {
            let sure = &word.text[..word.known];
            // For `find` it ends nothing.
            if word.text == "--" && word.is_known() && !self.row.long {
                self.add("--", at, None);
                self.operands.extend(&words[at + 1..]);
                return;
            }
            if is_option(sure) {
                at = self.option(at);
            } else {
                self.operands.push(word);
                at += 1;
            }
        }
    }

    /// Reads an option, and returns where to read on.
    fn option(&mut self, at: usize) -> usize {
        let word = &self.command.words[at];
        // The letters that say which option it is.
        let (text, sure) = (word.text.as_str(), &word.text[..word.known]);
        let is_sure = word.is_known() || sure.contains('=');
        if let Some((name, value)) = text.split_once('=')
            && is_sure
            && (name.starts_with("--") || self.row.long || name.len() == 2)
        {
            let completed = if name.len() > 3 { self.row.completed(name) } else { None };
            let name = self.row.first_name(completed.unwrap_or(name));
            self.add(name, at, Some((word, value)));
        } else if !word.is_known() {
            // `-o$FILE` is an option with a value.
            match sure.get(..2) {
                None | Some("--") => self.operands.push(word),
                Some(name) => {
                    let name = self.row.first_name(name);
                    self.add(name, at, Some((word, &text[2..])));
                }
            }
        } else if text.starts_with("--") || self.row.long || self.row.takes_value(text) {
            let known = self.row.completed(text).unwrap_or(text);
            let takes_value = self.row.takes_value(known);
            let (value, next) = if takes_value { self.value_behind(at) } else { (None, at + 1) };
            self.add(self.row.first_name(text), at, value);
            return next;
        } else if self.row.is_known {
            return self.cluster(at, &text[1..]);
        } else {
            self.add(text, at, None);
        }
        at + 1
    }

    /// Reads `-abc` as `-a -b -c`, and returns where to read on; behind an option that takes a value, the
    /// rest is the value.
    fn cluster(&mut self, at: usize, letters: &'c str) -> usize {
        let word = &self.command.words[at];
        for (start, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let takes_value = self.row.takes_value(&name);
            let rest = &letters[start + letter.len_utf8()..];
            let (value, next) = match (takes_value, rest) {
                (false, _) => (None, at + 1),
                (true, "") => self.value_behind(at),
                (true, rest) => (Some((word, rest)), at + 1),
            };
            self.add(self.row.first_name(&name).to_owned(), at, value);
            if takes_value {
                return next;
            }
        }
        at + 1
    }

    /// Reads the options of `tar xfC FILE DIRECTORY`, and returns where to read on.
    fn bundle(&mut self, letters: &str) -> usize {
        let (words, mut next) = (&self.command.words, 2);
        for letter in letters.chars() {
            let name = self.row.first_name(&format!("-{letter}")).to_owned();
            let mut value = None;
            if self.row.takes_value(&name)
                && let Some(word) = words.get(next)
            {
                value = Some((word, word.text.as_str()));
                next += 1;
            }
            self.add(name, 1, value);
        }
        next
    }

    /// Returns the value behind an option, and where to read on. A value that looks like an option is
    /// read as one, too: the table may be wrong for this program.
    fn value_behind(&self, at: usize) -> (Value<'c>, usize) {
        let Some(word) = self.command.words.get(at + 1) else { return (None, at + 1) };
        let text = word.text.as_str();
        let looks_like_option = is_option(text) && text != "--";
        (Some((word, text)), if looks_like_option { at + 1 } else { at + 2 })
    }

    fn add(&mut self, name: impl Into<Cow<'c, str>>, at: usize, value: Value<'c>) {
        let words = &self.command.words;
        let (name, word, behind) = (name.into(), &words[at], words.get(at + 1));
        let operands_before = self.operands.len();
        let is_behind = operands_before > 0;
        self.options.push(GivenOption { name, word, value, operands_before, is_behind, behind });
    }

    /// Returns the operands of which one is the first: those before it may be the values of options that
    /// the table does not know, as in `docker --context x compose`.
    pub(super) fn first_operands(&self) -> &[&'c Word] {
        for (at, operand) in self.operands.iter().enumerate() {
            if !operand.text.starts_with('+') && !self.may_be_value(operand) {
                let end = at + 1 + self.before_subcommand();
                return &self.operands[..end.min(self.operands.len())];
            }
        }
        &self.operands
    }

    /// Returns how many operands stand before the subcommand.
    fn before_subcommand(&self) -> usize {
        let Some(first) = self.operands.first() else { return 0 };
        let before = before_subcommand(self.program.as_deref().unwrap_or_default(), &first.text);
        if before < self.operands.len() { before } else { 0 }
    }

    /// Returns whether a word may be the value of the option before it.
    pub(super) fn may_be_value(&self, word: &Word) -> bool {
        for option in &self.options {
            if matches!(option.behind, Some(behind) if std::ptr::eq(behind, word))
                && self.may_take_behind(option)
            {
                return true;
            }
        }
        false
    }

    /// Returns whether an option may take the word behind it: one that takes a value, or that the table
    /// does not know.
    pub(super) fn may_take_behind(&self, option: &GivenOption<'_>) -> bool {
        match (option.value, option.behind) {
            (Some((value, _)), Some(behind)) => std::ptr::eq(value, behind),
            (Some(_), None) => false,
            (None, _) => !self.row.names(&option.name),
        }
    }

    /// Returns whether an option is there, by any of its names.
    pub(super) fn has(&self, option: &str) -> bool {
        let name = self.row.first_name(option);
        self.options.iter().any(|given| given.name == name)
    }

    /// Returns whether the shell may make another operand of a word.
    pub(super) fn is_expanded(&self) -> bool {
        self.command.words.iter().any(Word::is_expanded)
    }

    /// Returns whether the program deletes or changes files that its words name.
    pub(super) fn may_have_targets(&self) -> bool {
        self.row.uses.iter().any(|one| one.is_target)
    }

    /// Returns whether it is a `git clean` that deletes.
    pub(super) fn is_git_clean(&self) -> bool {
        self.program.as_deref() == Some("git")
            && self.has("-f")
            && matches!(self.operands.first(), Some(word) if word.text == "clean")
    }

    /// Returns the operands that may be files: a subcommand is none.
    pub(super) fn file_operands(&self) -> &[&'c Word] {
        let skipped = usize::from(self.row.has_subcommands && !self.operands.is_empty());
        &self.operands[skipped..]
    }
}

/// Returns whether a word begins like an option: `- x` is an item of a list.
fn is_option(text: &str) -> bool {
    matches!(text.strip_prefix('-'), Some(rest) if !rest.is_empty() && !rest.starts_with(char::is_whitespace))
}

/// Returns the base name of a program, if its last part is known: that of `"$DIR"/x` is `x`.
pub(super) fn program_name(word: &Word) -> Option<String> {
    if word.is_known() {
        return Some(base_name(&word.text));
    }
    let (_, last) = word.text.rsplit_once('/')?;
    let is_odd =
        last.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"._-".contains(letter));
    if last.is_empty() || is_odd { None } else { Some(base_name(last)) }
}

/// Returns whether all that a `find` acts on is empty.
fn finds_empty(words: &[Word]) -> bool {
    for word in words {
        if !word.is_known() || matches!(&*word.text, "-o" | "-or" | ",") {
            return false;
        }
    }
    for word in words {
        if word.text == "-empty" || BEFORE_TESTS.contains(&&*word.text) {
            return word.text == "-empty";
        }
    }
    false
}
