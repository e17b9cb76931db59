//! Reads the text of a shell.
//!
//! Outside of quotes a text may use only what dash, busybox sh, zsh and bash read alike, or what one
//! of them refuses to run. Every other text is [`Unread`]: nothing is known of it but its words.

mod documents;
mod expansion;
mod grammar;
mod word;

use super::command::{Certainty, Frame, Hidden, SimpleCommand, Word};
use super::history::History;
use hookexec_files::text::name_length;
use std::collections::HashSet;
use std::ops::Range;

/// How deep compound commands and substitutions may nest in a text.
const DEEPEST: usize = 32;
/// How long a text may be: longer ones are data, or hostile.
pub const LONGEST: usize = 48 << 10;
/// How many commands a text may have. Loops are read twice, so a short text may have many.
pub(super) const MOST_COMMANDS: usize = 4_000;

/// The failure of a text that shells may read in different ways, or not at all.
#[derive(Debug)]
pub(super) struct Unread;

pub(super) type Read<T> = Result<T, Unread>;

/// The commands that were found so far in a call.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) commands: Vec<SimpleCommand>,
    /// The steps of the shell so far.
    pub(super) history: History,
    pipelines: usize,
    /// Whether something decides what runs that the words of the commands do not show.
    pub(super) is_doubtful: bool,
    /// Whether a text was too long to be read to its end.
    is_too_long: bool,
    /// Whether a shell evaluates as arithmetic what a variable holds: `a[$(rm x)]` runs `rm`.
    pub(super) evaluates: bool,
    /// Whether a `[[` stands in it.
    pub(super) has_test: bool,
    /// Whether quoted letters could be such a value.
    has_quoted_bracket: bool,
    has_quoted_dollar: bool,
    /// The texts that the shell runs when it ends or at a signal, and its state where they are set.
    pub(super) traps: Vec<(String, Frame, History)>,
    /// The names of files that come from the network.
    pub(super) fetched: HashSet<String>,
    /// The names of those that are put into another directory, where the shell may look for programs.
    pub(super) installed: HashSet<String>,
    /// The last pipeline that gets something from the network.
    pub(super) fetching: usize,
    /// Whether the call gets files whose names are not known, such as those of a repository.
    pub(super) gets_unnamed_files: bool,
    /// How many programs run what stands in their input, which nothing in the text gives them.
    pub(super) without_input: usize,
    /// How many words were copied for commands that others run, and for those of a group. They may be as
    /// many as the letters of a text: 20 ms.
    pub(super) copied: usize,
}

/// Returns the commands of a shell text.
pub fn commands_of_text(text: &str) -> Vec<SimpleCommand> {
    let mut found = Found::default();
    found.whole_text(text, &Frame::default());
    found.finished()
}

impl SimpleCommand {
    /// Returns the command with other words, and what it runs then.
    pub fn with_words(&self, words: Vec<Word>) -> Vec<Self> {
        let mut found = Found { history: self.history.clone(), ..Found::default() };
        let command = found.begun(&self.frame);
        let (assignments, redirections) = (self.assignments.clone(), self.redirections.clone());
        found.simple(Self { words, assignments, redirections, ..command });
        found.finished()
    }
}

impl Found {
    /// Adds the commands of a text that `frame` runs.
    pub(super) fn text(&mut self, text: &str, frame: &Frame) -> Read<()> {
        if text.len() > LONGEST {
            return Err(self.too_long());
        }
        if text.contains('\0') {
            return Err(Unread);
        }
        Reader::new(text, frame, self).whole()
    }

    /// Adds the commands of a whole text, or one that stands for them if it can't be read.
    fn whole_text(&mut self, text: &str, frame: &Frame) {
        if self.text(text, frame).is_err() {
            self.is_doubtful = true;
            self.commands.push(SimpleCommand::unreadable(text, Hidden::words_of(text)));
        }
    }

    /// Returns the commands, with what holds for all of them.
    pub(super) fn finished(mut self) -> Vec<SimpleCommand> {
        // They may run in any directory. A trap may set another one.
        while let Some((text, frame, set_in)) = self.traps.pop() {
            self.history.may_be(&set_in);
            self.history.may_stray();
            self.whole_text(&text, &frame);
        }
        if self.evaluates && self.has_quoted_bracket && self.has_quoted_dollar {
            self.hides_anything();
        }
        let is_doubtful = self.is_doubtful || self.evaluates;
        for command in &mut self.commands {
            command.is_certain &= !is_doubtful;
            command.is_too_long |= self.is_too_long;
        }
        self.commands
    }

    /// Notes that a text is too long, or nests too deep.
    fn too_long(&mut self) -> Unread {
        self.is_too_long = true;
        Unread
    }

    /// Adds a command that stands for some of which nothing is known.
    fn hides_anything(&mut self) {
        self.commands.push(SimpleCommand { hidden: Hidden::Anything, ..Default::default() });
    }

    /// Returns a command that has nothing of its own yet.
    pub(super) fn begun(&self, frame: &Frame) -> SimpleCommand {
        let (history, frame) = (self.history.clone(), frame.clone());
        let redirections = frame.inputs.to_vec();
        SimpleCommand { history, frame, redirections, is_certain: true, ..Default::default() }
    }
}

/// Reads one text from its beginning to its end.
struct Reader<'t, 'f> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The end of the line in which here-documents begin, and that of their bodies.
    documents: Option<Range<usize>>,
    /// That of the commands that are read now.
    frame: Frame,
    /// For each loop around them, the states in which the shell may leave a round.
    loops: Vec<Vec<History>>,
    found: &'f mut Found,
}

impl<'t, 'f> Reader<'t, 'f> {
    fn new(text: &'t str, frame: &Frame, found: &'f mut Found) -> Self {
        let frame = frame.clone();
        let (documents, loops) = (None, Vec::new());
        Self { text, at: 0, depth: 0, documents, frame, loops, found }
    }

    fn whole(&mut self) -> Read<()> {
        self.list()?;
        if self.at < self.text.len() || self.documents.is_some() { Err(Unread) } else { Ok(()) }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn previous(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at.checked_sub(1)?).copied()
    }

    fn has(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let has = self.has(text);
        if has {
            self.at += text.len();
        }
        has
    }

    fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) { Ok(()) } else { Err(Unread) }
    }

    /// Skips blanks, continued lines and a comment.
    fn blanks(&mut self) -> Read<()> {
        loop {
            let before = self.previous();
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.eat("\\\n") => {
                    // The two of `$(` and `(` begin arithmetic.
                    let is_joined = before == Some(b'(') && self.has("(");
                    if is_joined || self.has("#") || self.has("\\\n") || self.rest().is_empty() {
                        return Err(Unread);
                    }
                }
                Some(b'#') => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    // Old shells look for quotes in the comments of a substitution.
                    let comment = &self.rest()[..length];
                    self.found.is_doubtful |= comment.contains(['\'', '"', '`', '(', ')', '\\']);
                    self.at += length;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips blanks, the ends of lines, and the bodies of here-documents, which were read.
    fn newlines(&mut self) -> Read<()> {
        loop {
            self.blanks()?;
            let line_end = self.at;
            if !self.eat("\n") {
                return Ok(());
            }
            if let Some(documents) = self.documents.take() {
                // A quoted end of a line is behind the first one.
                if documents.start != line_end {
                    return Err(Unread);
                }
                self.at = documents.end;
            }
        }
    }
}
