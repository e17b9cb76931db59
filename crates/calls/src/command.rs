//! One reading of a call: a list of commands whose words know how far they are known.

use super::history::History;
use super::names::{FETCHERS, FORMS, POWERSHELL_RUNNERS};
use super::reader::LONGEST;
use super::shells::is_shell;
use crate::shell::unquoted;
use hookexec::describe;
use hookexec_files::glob::has_part;
use hookexec_files::text::is_invisible;
use std::sync::Arc;

/// How much of a word is known before a shell reads it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The program gets exactly this text.
    #[default]
    Known,
    /// The program gets exactly this text, but a person does not see all letters of it.
    Invisible,
    /// The program gets one word that begins with the known letters: `"$HOME/x"`, `a$?`.
    OneWord,
    /// The program gets one or more words that begin with the known letters, such as the paths that
    /// a wildcard stands for: `src/*.rs`, `src/{a,b}`; or a path in a home directory: `~/x`.
    Paths,
    /// The program gets any number of words, and each of them may be anything: `$x`, `*.rs`.
    Unknown,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text without quotes. A part that is not known stands in it as it is written: `$x`, `*`.
    pub text: String,
    /// How far the word is known.
    pub certainty: Certainty,
    /// How many bytes at the beginning of the text are known. They are all of it if it is
    /// [`Certainty::Known`].
    pub known: usize,
    /// Whether a part of it stands in quotes.
    pub quoted: bool,
}

impl Word {
    /// Returns a word that no shell reads. An invisible letter in it makes it unknown.
    pub fn known(text: &str) -> Self {
        let (certainty, known) = (Certainty::Known, text.len());
        Self { text: text.to_owned(), certainty, known, quoted: true }.written_as(text)
    }

    /// Returns the word as it is written. An invisible letter in it makes it unknown.
    pub(super) fn written_as(mut self, written: &str) -> Self {
        if written.contains(|letter: char| !matches!(letter, '\n' | '\t') && is_invisible(letter)) {
            let is_known = self.is_known();
            self.certainty = if is_known { Certainty::Invisible } else { Certainty::Unknown };
            self.known = 0;
        }
        self
    }

    /// Returns a word of which nothing is known but how it is written.
    pub fn unknown(written: &str) -> Self {
        let text = written.to_owned();
        Self { text, certainty: Certainty::Unknown, known: 0, quoted: false }
    }

    /// Returns the word with a text before it.
    #[must_use]
    pub fn behind(self, before: &str) -> Self {
        Self { text: format!("{before}{}", self.text), known: before.len() + self.known, ..self }
    }

    /// Returns the end of the word that `text` is: the value of an option or of an assignment.
    #[must_use]
    pub fn ending(&self, text: &str) -> Self {
        let known = self.known.saturating_sub(self.text.len() - text.len());
        Self { text: text.to_owned(), known, ..self.clone() }
    }

    /// Returns whether the program gets exactly this text, all of it visible.
    pub fn is_known(&self) -> bool {
        self.certainty == Certainty::Known
    }

    /// Returns whether no shell makes anything else of it.
    pub fn is_literal(&self) -> bool {
        matches!(self.certainty, Certainty::Known | Certainty::Invisible)
    }

    /// Returns whether the program may get something else than one known text or paths.
    pub fn may_vary(&self) -> bool {
        match self.certainty {
            Certainty::Known => false,
            Certainty::Paths => self.may_be_option(),
            Certainty::Invisible | Certainty::OneWord | Certainty::Unknown => true,
        }
    }

    /// Returns whether the shell expands the first part of a path, or may make `..` of a later one: `r?`,
    /// `r{m,}`, `a/.?`.
    pub fn is_expanded(&self) -> bool {
        let is_name = !self.text[..self.known].contains('/') && !self.text.starts_with('~');
        let may_climb = [".{", ".[", ".?"].iter().any(|part| self.text.contains(part));
        self.certainty == Certainty::Paths && (is_name || may_climb)
    }

    /// Returns whether the program may get an option for this word that is not written in it.
    pub fn may_be_option(&self) -> bool {
        match self.certainty {
            Certainty::Known => false,
            Certainty::Invisible | Certainty::Unknown => true,
            Certainty::OneWord | Certainty::Paths => {
                let known = &self.text[..self.known];
                known.is_empty() && !self.text.starts_with('~')
                    || known.starts_with('-') && !known.contains('=')
            }
        }
    }
}

/// Commands that a command runs beside those of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Hidden {
    #[default]
    /// None.
    Nothing,
    /// Commands that can't be read. All their words are among these.
    Words(Vec<String>),
    /// Commands of which nothing is known, as in `curl x | sh`.
    Anything,
}

impl Hidden {
    /// Returns the words that stand in a text that can't be read. An expansion may put any word
    /// together: `ca$@t` is `cat`.
    pub(super) fn words_of(text: &str) -> Self {
        if may_compose(text) || has_form(text) {
            return Self::Anything;
        }
        let found = Self::words_in(text);
        // A shell may take what it runs from a pipe, a file or the network.
        if let Self::Words(words) = &found {
            let fetches = has_in_any_case(words, FETCHERS);
            let runs_text = words.iter().any(|word| is_shell(word))
                || has_in_any_case(words, POWERSHELL_RUNNERS);
            if (fetches || text.contains(['|', '<'])) && runs_text {
                return Self::Anything;
            }
        }
        found
    }

    /// Returns the words that stand in a text that can't be read, and in which no others are put together.
    pub(super) fn words_in(text: &str) -> Self {
        let text = unquoted(&text.replace("\\\n", ""));
        let mut words: Vec<String> = Vec::new();
        let has_colon = may_run_colon(&text);
        for word in text.split(|letter| !is_part(letter)) {
            if word.is_empty() || word == ":" && !has_colon {
                continue;
            }
            words.push(word.to_owned());
            // An assignment, an option with its value, or a list in braces.
            for part in word.split(['=', ',']) {
                if !part.is_empty() && part != word {
                    words.push(part.to_owned());
                }
            }
        }
        // A mark that there are several commands.
        if text.trim().contains([';', '|', '&', '\n']) {
            words.push(";".to_owned());
        }
        if words.len() > 500 { Self::Anything } else { Self::Words(words) }
    }

    /// Returns commands of which all words stand among these, if they are known and no `others` come.
    pub(super) fn of_words(words: &[Word], others: bool) -> Self {
        if others || !are_known(words) {
            return Self::Anything;
        }
        Self::words_of(&line_of(words))
    }
}

/// Returns whether a text is made of digits.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && !text.contains(|one: char| !one.is_ascii_digit())
}

/// Returns the texts of words as one line.
pub fn line_of(words: &[Word]) -> String {
    texts(words).join(" ")
}

fn texts(words: &[Word]) -> Vec<String> {
    words.iter().map(|word| word.text.clone()).collect()
}

/// Returns whether one of the words is one of these texts.
pub(super) fn has_word(words: &[Word], texts: &[&str]) -> bool {
    words.iter().any(|word| texts.contains(&&*word.text))
}

/// Returns whether the program gets exactly these words.
pub(super) fn are_known(words: &[Word]) -> bool {
    words.iter().all(Word::is_known)
}

/// Returns whether one of the words is in a list of names in small letters.
fn has_in_any_case(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&&*word.to_ascii_lowercase()))
}

/// Returns whether a letter may be one of a word that stands in a text.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./:@%+=,$~".contains(letter)
}

/// Returns whether a `:` stands where a command may begin.
fn may_run_colon(text: &str) -> bool {
    text.starts_with(':')
        || [" :", "\n:", ";:", "|:", "&:", "(:"].iter().any(|begun| text.contains(begun))
}

/// Returns whether a shell may put a word together that does not stand in a text.
fn may_compose(text: &str) -> bool {
    let joined = text.replace("\\\n", "");
    text.contains('`')
        || joined.split('$').skip(1).any(|behind| behind.starts_with(may_be_expanded))
        || unquoted(text).split_whitespace().any(may_be_other)
}

/// Returns whether a function, a `case` or another form stands in a text that can't be read: every shell may
/// run it. Without one, the text has a mistake.
fn has_form(text: &str) -> bool {
    let mut joined = text.to_owned();
    joined.retain(|letter| !letter.is_whitespace());
    let mut words = text.split(|letter: char| letter.is_whitespace() || ";&|(){}".contains(letter));
    has_part(&joined, &["(){", "()(", "((", "=("]) || words.any(|word| FORMS.contains(&word))
}

/// Returns whether a `$` before this letter may begin an expansion.
fn may_be_expanded(letter: char) -> bool {
    letter.is_alphanumeric() || "_{('\"@*#?!$-[^=~+".contains(letter)
}

/// Returns whether a word is a wildcard for paths, or has a list in braces that letters stand beside:
/// `c{a,b}t`.
fn may_be_other(word: &str) -> bool {
    if word.contains('/') && word.contains(['*', '?', '[']) {
        return true;
    }
    for (start, _) in word.match_indices('{') {
        let Some((inside, behind)) = word[start..].split_once('}') else { continue };
        let is_list = inside.contains(',') || inside.contains("..");
        let is_beside = word[..start].ends_with(may_be_in_name)
            || behind.trim_start_matches('}').starts_with(may_be_in_name);
        if is_list && is_beside {
            return true;
        }
    }
    false
}

fn may_be_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || "_-./".contains(letter)
}

/// Facts that hold for all commands of a part of a text.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The pipeline of the call that it belongs to, counted from 1.
    pub pipeline: usize,
    /// Whether it reads the output of another command through a pipe.
    pub piped: bool,
    /// The base names of the programs that run it, the outermost first.
    pub wrappers: Vec<String>,
    /// Whether words that are not known are added at its end, as by `xargs`.
    pub more: bool,
    /// Whether a substitution stands around it.
    pub(super) substituted: bool,
    /// The redirections for the input of the program that runs it.
    pub(super) inputs: Arc<[Redirection]>,
}

impl Frame {
    /// Returns the frame of what a program runs.
    pub(super) fn within(&self, program: &str) -> Self {
        let mut inner = self.clone();
        inner.wrappers.push(program.to_owned());
        inner
    }

    /// Returns whether something is written to the input of what runs in it.
    pub(super) fn has_input(&self) -> bool {
        self.piped || !self.inputs.is_empty()
    }

    /// Returns the name of the program that runs it; nothing without one.
    pub(super) fn program(&self) -> &str {
        let Some(program) = self.wrappers.last() else { return "" };
        program
    }
}

/// One simple command of a call, such as `grep -n x file` in `grep -n x file | head`.
///
/// A command that runs another one, such as `sudo rm x`, is followed by the command that it runs.
/// Commands in substitutions stand before the command whose words they are in.
///
/// A rule that allows must look at all fields: `is_certain`, `hidden`, `sets`, `more`, `assignments`,
/// `redirections` and the certainty of each word. A rule that denies looks at the words and at
/// `hidden`.
#[derive(Debug, Clone, Default)]
pub struct SimpleCommand {
    /// The program and its arguments. There are none if it only assigns or redirects, or if the
    /// text can't be read.
    pub words: Vec<Word>,
    /// The assignments before the program, such as `LANG=C`.
    pub assignments: Vec<Word>,
    /// Its redirections, in their order.
    pub redirections: Vec<Redirection>,
    /// Its place in the text.
    pub frame: Frame,
    /// The steps of its shell before it.
    pub history: History,
    /// Whether every shell reads it alike, and its words alone say what runs.
    pub is_certain: bool,
    /// Whether the text of the call is too long to be read to its end.
    pub is_too_long: bool,
    /// Commands that it runs beside those of the list.
    pub hidden: Hidden,
    /// The variables that it sets, if they may change what this or another command does.
    pub sets: Vec<String>,
}

impl SimpleCommand {
    /// Returns the command of a text that can't be read.
    pub(super) fn unreadable(text: &str, hidden: Hidden) -> Self {
        let is_too_long = text.len() > LONGEST;
        let frame = Frame { pipeline: 1, ..Frame::default() };
        Self { frame, is_too_long, hidden, ..Self::default() }
    }

    /// Returns the texts of its here-documents and here-strings.
    pub fn documents(&self) -> impl Iterator<Item = &Word> {
        self.redirections.iter().filter(|one| !one.is_file()).map(|one| &one.word)
    }

    /// Returns whether it has neither words nor assignments.
    pub fn is_without_words(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty()
    }

    /// Returns whether it runs commands that can't be read.
    pub fn hides(&self) -> bool {
        self.hidden != Hidden::Nothing
    }

    /// Returns whether anything runs that its words do not say: such commands, or a program that is not known.
    pub fn runs_unknown(&self) -> bool {
        self.hides() || matches!(self.words.first(), Some(program) if !program.is_known())
    }

    /// Returns the command as data for conditions and hooks.
    pub(super) fn described(&self) -> describe::Command {
        let mut args = texts(&self.words);
        let program = if args.is_empty() { String::new() } else { args.remove(0) };
        let mut redirections = Vec::new();
        for one in self.redirections.iter().filter(|one| one.is_file()) {
            let (operator, file) = (one.operator.clone(), one.word.text.clone());
            let certain = one.word.is_known();
            redirections.push(describe::Redirection { operator, file, certain });
        }
        describe::Command {
            program,
            args,
            pipeline: self.frame.pipeline,
            piped: self.frame.piped,
            redirections,
            assignments: texts(&self.assignments),
            wrappers: self.frame.wrappers.clone(),
            uncertain: self.is_uncertain(),
            hides: self.runs_unknown(),
        }
    }

    /// Returns whether something runs that its words do not say.
    fn is_uncertain(&self) -> bool {
        let mut words = self.assignments.iter().chain(&self.words);
        !self.is_certain
            || self.frame.more
            || self.runs_unknown()
            // A builtin sets them, not the command before it.
            || self.assignments.is_empty() && !self.sets.is_empty()
            || self.redirections.iter().any(|one| !one.word.is_known())
            || words.any(Word::may_vary)
    }
}

/// Where a command gets its input, or where its output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// `<`, `>`, `>>`, `>|`, `&>`, `&>>`, `>&`, `<>`, or `<<` and `<<<` for a text.
    pub operator: String,
    /// The file, or the text of a here-document or here-string.
    pub word: Word,
}

impl Redirection {
    /// Returns whether it is from or to a file.
    pub fn is_file(&self) -> bool {
        !self.operator.starts_with("<<")
    }

    /// Returns whether the shell may fail to open it, and then does not run the command.
    pub(super) fn can_fail(&self) -> bool {
        let text = &*self.word.text;
        self.is_file() && !matches!(text, "/dev/null" | "-") && !is_number(text)
    }

    /// Returns whether the command reads it.
    pub fn is_input(&self) -> bool {
        self.operator.starts_with('<')
    }
}
