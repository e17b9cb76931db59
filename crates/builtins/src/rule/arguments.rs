//! The words of one command, read by its rows in the table of options.

use std::borrow::Cow;
use std::iter::Peekable;

use super::table::Row;
use crate::calls::{SimpleCommand, Word, base_name, is_interpreter};

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

/// An option of a command.
#[derive(Debug)]
pub(super) struct GivenOption<'c> {
    /// The first name of the option in the table.
    pub(super) name: Cow<'c, str>,
    /// The word that it stands in.
    pub(super) word: &'c Word,
    /// The word that its value stands in, and the value.
    pub(super) value: Option<(&'c Word, &'c str)>,
    /// How many operands stand before it.
    pub(super) operands_before: usize,
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
        let row = Row::of(program.as_deref().unwrap_or_default(), None);
        let mut arguments =
            Self { command, program, row, options: Vec::new(), operands: Vec::new() };
        arguments.read();
        if let (Some(program), Some(first)) = (&arguments.program, arguments.operands.first())
            && first.is_known()
        {
            let row = Row::of(program, Some(&first.text));
            if row.is_known {
                arguments.row = row;
                arguments.options.clear();
                arguments.operands.clear();
                arguments.read();
            }
        }
        // Code in a here-document is what it is behind an option.
        if arguments.program.as_deref().is_some_and(is_interpreter) {
            for word in command.documents() {
                let code = Some((word, &*word.text));
                arguments.add(Cow::Borrowed("-c"), word, code);
                arguments.add(Cow::Borrowed("-e"), word, code);
            }
        }
        // `python -m mypy` has the options of `mypy`.
        if arguments.program.as_ref().is_some_and(|name| name.starts_with("python")) {
            let mut options = arguments.options.iter();
            let module = options.find(|option| option.name == "-m").and_then(|option| option.value);
            let name = module.map(|(_, name)| name).unwrap_or_default();
            arguments.row.hazards.extend(Row::of(name, None).hazards);
        }
        arguments
    }

    fn read(&mut self) {
        let mut words = self.command.words.iter().skip(1).peekable();
        let is_tar = matches!(self.program.as_deref(), Some("tar" | "gtar" | "bsdtar"));
        // `tar xf a` is `tar -xf a`.
        if let Some(word) = words.next_if(|word| is_tar && !word.text.starts_with('-')) {
            self.cluster(word, &word.text, &mut words);
        }
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            // The letters that say which option it is.
            let sure = &text[..word.known];
            let is_sure = word.is_known() || sure.contains('=');
            // For `find` it ends nothing.
            if text == "--" && word.is_known() && !self.row.long {
                self.add(Cow::Borrowed("--"), word, None);
                self.operands.extend(words);
                return;
            }
            if !sure.starts_with('-') || sure == "-" {
                self.operands.push(word);
            } else if let Some((name, value)) = text.split_once('=')
                && is_sure
                && (name.starts_with("--") || self.row.long || name.len() == 2)
            {
                let name = self.row.completed(name).filter(|_| name.len() > 3).unwrap_or(name);
                self.add(self.first_name(name), word, Some((word, value)));
            } else if !word.is_known() {
                self.unsure(word, sure);
            } else if text.starts_with("--") || self.row.long || self.row.takes_value(text) {
                let completed = self.row.completed(text).filter(|_| text.starts_with("--"));
                let takes_value = self.row.takes_value(completed.unwrap_or(text));
                let value = if takes_value { value_of(&mut words) } else { None };
                self.add(self.first_name(text), word, value.map(|word| (word, &*word.text)));
            } else if self.row.is_known {
                self.cluster(word, &text[1..], &mut words);
            } else {
                self.add(Cow::Borrowed(text), word, None);
            }
        }
    }

    /// Reads `-abc` as `-a -b -c`; behind an option that takes a value, the rest is the value.
    fn cluster(
        &mut self,
        word: &'c Word,
        letters: &'c str,
        words: &mut Peekable<impl Iterator<Item = &'c Word>>,
    ) {
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let rest = &letters[at + letter.len_utf8()..];
            let takes_value = self.row.takes_value(&name);
            let value = match (takes_value, rest) {
                (false, _) => None,
                (true, "") => value_of(words).map(|word| (word, &*word.text)),
                (true, rest) => Some((word, rest)),
            };
            self.add(Cow::Owned(self.row.first_name(&name).to_owned()), word, value);
            if takes_value {
                return;
            }
        }
    }

    /// Returns the operands of which one is the first: those before it may be the values of options that
    /// the table does not know, as in `docker --context x compose`.
    pub(super) fn first_operands(&self) -> &[&'c Word] {
        let mut count = 1;
        while count < self.operands.len() && self.may_be_value(self.operands[count - 1]) {
            count += 1;
        }
        &self.operands[..count.min(self.operands.len())]
    }

    fn may_be_value(&self, operand: &Word) -> bool {
        operand.text.starts_with('+') || self.may_be_value_of_unknown(operand)
    }

    /// Reads a word of which only the beginning is known: `-o$FILE` is an option with a value.
    fn unsure(&mut self, word: &'c Word, sure: &'c str) {
        match sure.get(..2).filter(|name| *name != "--") {
            Some(name) => self.add(self.first_name(name), word, Some((word, &word.text[2..]))),
            None => self.operands.push(word),
        }
    }

    /// Returns the word behind another one of the command.
    pub(super) fn word_behind(&self, word: &Word) -> Option<&'c Word> {
        let words = &self.command.words;
        let at = words.iter().position(|other| std::ptr::eq(other, word))?;
        words.get(at + 1)
    }

    /// Returns whether a word stands behind an option that the table does not know, and may be its value.
    pub(super) fn may_be_value_of_unknown(&self, word: &Word) -> bool {
        let mut open = self.options.iter().filter(|option| option.value.is_none());
        open.any(|option| {
            let behind = self.word_behind(option.word);
            !self.row.names(&option.name) && behind.is_some_and(|behind| std::ptr::eq(behind, word))
        })
    }

    /// Returns whether a word may be the value of the option before it.
    pub(super) fn is_value(&self, word: &Word) -> bool {
        for option in &self.options {
            if let Some((value, _)) = option.value
                && std::ptr::eq(value, word)
                && !std::ptr::eq(option.word, word)
            {
                return true;
            }
        }
        false
    }

    fn first_name(&self, name: &'c str) -> Cow<'c, str> {
        Cow::Borrowed(self.row.first_name(name))
    }

    fn add(&mut self, name: Cow<'c, str>, word: &'c Word, value: Option<(&'c Word, &'c str)>) {
        let operands_before = self.operands.len();
        self.options.push(GivenOption { name, word, value, operands_before });
    }

    /// Returns whether an option is there, by any of its names.
    pub(super) fn has(&self, option: &str) -> bool {
        let name = self.row.first_name(option);
        self.options.iter().any(|given| given.name == name)
    }

    /// Returns the operands that may be files: a subcommand is none.
    pub(super) fn file_operands(&self) -> &[&'c Word] {
        let skipped = usize::from(self.row.has_subcommands && !self.operands.is_empty());
        &self.operands[skipped..]
    }
}

/// Returns the value behind an option. A value that looks like an option is read as one, too: the
/// table may be wrong for this program.
fn value_of<'c>(words: &mut Peekable<impl Iterator<Item = &'c Word>>) -> Option<&'c Word> {
    match words.peek() {
        Some(word) if word.text.len() > 1 && word.text.starts_with('-') && word.text != "--" => {
            Some(word)
        }
        _ => words.next(),
    }
}

/// Returns the base name of a program, if its last part is known: that of `"$DIR"/x` is `x`.
pub(super) fn program_name(word: &Word) -> Option<String> {
    if word.is_known() {
        return Some(base_name(&word.text));
    }
    let (_, last) = word.text.rsplit_once('/')?;
    let mut letters = last.chars();
    let is_plain = letters.all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    if last.is_empty() || !is_plain { None } else { Some(base_name(last)) }
}
