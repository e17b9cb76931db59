//! Redirections and here-documents.

use super::word::Building;
use super::{Certainty, Frame, Hidden, Read, Reader, Unread, Word};
use crate::calls::command::Redirection;
use crate::calls::shells;

/// A here-document whose body was not reached yet.
#[derive(Debug)]
pub(super) struct Document {
    delimiter: String,
    strips_tabs: bool,
    expands: bool,
    /// Stands for its body in the command.
    mark: String,
}

/// Operators of redirections; one that begins with another stands before it.
const OPERATORS: [&str; 12] =
    ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];

/// How many here-documents may begin in one line.
const MOST_DOCUMENTS: usize = 16;

impl Reader<'_, '_> {
    pub(super) fn is_at_redirection(&self) -> bool {
        let rest = self.rest().trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.starts_with(['<', '>'])
            && (rest.len() < self.rest().len() || !self.has("<(") && !self.has(">("))
            || self.has("&>")
    }

    /// Reads a redirection, which begins here; `None` if it is not to or from a file.
    pub(super) fn redirection(&mut self, frame: &Frame) -> Read<Option<Redirection>> {
        if self.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            self.at += 1;
            // A descriptor other than that of the standard input.
            if self.has("<<") && self.previous() != Some(b'0') {
                return Err(Unread);
            }
        }
        let operator = OPERATORS.iter().find(|operator| self.has(operator)).ok_or(Unread)?;
        self.at += operator.len();
        if operator.ends_with('&') {
            let rest = self.rest();
            let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let duplicates = number.len() < rest.len() || rest.starts_with('-');
            if duplicates {
                self.at += (rest.len() - number.len()).max(1);
                return if self.is_at_end_of_word() { Ok(None) } else { Err(Unread) };
            }
        }
        // Other operators of zsh, and its sets of numbers: `<1-5>`.
        let is_odd = match self.peek() {
            Some(b'<' | b'>' | b'&' | b'|' | b'!' | b'-') => !self.has("<(") && !self.has(">("),
            Some(digit) => *operator == "<" && digit.is_ascii_digit(),
            None => true,
        };
        if is_odd || self.has("<(") || self.has(">(") {
            return Err(Unread);
        }
        self.blanks()?;
        if operator.starts_with("<<") && *operator != "<<<" {
            return self.document(*operator == "<<-").map(Some);
        }
        if matches!(self.peek(), Some(b'!' | b'&' | b'|')) {
            return Err(Unread);
        }
        let word = self.word(frame)?;
        // Bash takes a word behind `>&` for a number, and evaluates it: `>& 'a[$(x)]'`.
        if operator.ends_with('&') && (word.quoted || !word.is_known()) {
            return Err(Unread);
        }
        Ok(Some(Redirection { operator: (*operator).to_owned(), word }))
    }

    /// Reads the delimiter of a here-document.
    fn document(&mut self, strips_tabs: bool) -> Read<Redirection> {
        let length = self.rest().find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
        let written = &self.rest()[..length.unwrap_or(self.rest().len())];
        let delimiter = unquoted(written);
        if !is_plain_delimiter(delimiter) || self.documents.len() >= MOST_DOCUMENTS {
            return Err(Unread);
        }
        self.at += written.len();
        let mark = format!("\0{}", self.at);
        self.documents.push(Document {
            delimiter: delimiter.to_owned(),
            strips_tabs,
            expands: delimiter.len() == written.len(),
            mark: mark.clone(),
        });
        let word = Word { text: mark, certainty: Certainty::Known, known: 0, quoted: true };
        Ok(Redirection { operator: "<<".to_owned(), word })
    }

    /// Reads the bodies of the here-documents, which begin here.
    pub(super) fn bodies(&mut self, frame: &Frame) -> Read<()> {
        for document in std::mem::take(&mut self.documents) {
            let body = self.body(&document)?;
            if frame.substituted && !is_quiet(&body) {
                // Shells of old read the quotes and brackets of a body in a substitution.
                self.found.is_doubtful = true;
            }
            let mut word = Building::new();
            if document.expands {
                let mut reader = Reader::new(&body, self.found);
                reader.depth = self.depth + 1;
                reader.double_quoted(&mut word, false, frame)?;
            } else {
                body.chars().for_each(|letter| self.quoted_letter(letter));
                word.text.push_str(&body);
            }
            self.fill(&document.mark, &word.finished(""), frame)?;
        }
        Ok(())
    }

    /// Reads one body and its last line. Shells must not disagree on which line that is.
    fn body(&mut self, document: &Document) -> Read<String> {
        let mut body = String::new();
        let mut is_continued = false;
        while !self.rest().is_empty() {
            let line = self.rest().split('\n').next().unwrap_or_default();
            self.at = (self.at + line.len() + 1).min(self.text.len());
            let bare = line.trim_start_matches('\t');
            let line = if document.strips_tabs { bare } else { line };
            if line == document.delimiter && !is_continued {
                return Ok(body);
            }
            if bare.starts_with(&document.delimiter) {
                // Some shells run what stands behind it.
                self.found.hides_anything();
                return Err(Unread);
            }
            is_continued = line.ends_with('\\');
            body.push_str(line);
            body.push('\n');
        }
        Ok(body)
    }

    /// Puts a body in the place of its mark. A shell may run it.
    fn fill(&mut self, mark: &str, body: &Word, frame: &Frame) -> Read<()> {
        for place in 0..self.found.commands.len() {
            let command = &mut self.found.commands[place];
            let redirections = command.redirections.iter_mut();
            let Some(redirection) = redirections.filter(|r| r.word.text == mark).last() else {
                continue;
            };
            redirection.word = body.clone();
            let Some(program) = command.words.first().map(|word| word.text.clone()) else {
                continue;
            };
            let inputs = command.redirections.iter().filter(|one| one.is_input()).count();
            let reads_it = inputs == 1 && (shells::is_shell(&program) || program == "ssh");
            if command.hidden == Hidden::Anything && reads_it && body.is_known() {
                command.hidden = Hidden::Nothing;
                let mut wrappers = command.wrappers.clone();
                wrappers.push(super::super::simple::base_name(&program));
                let inner = Frame { wrappers, depth: frame.depth + 1, ..frame.clone() };
                self.found.text(&body.text, &inner)?;
            }
        }
        Ok(())
    }
}

/// Returns a delimiter without the quotes or the backslash around all of it.
fn unquoted(written: &str) -> &str {
    for quote in ['\'', '"'] {
        let inside = written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inside) = inside {
            return inside;
        }
    }
    written.strip_prefix('\\').unwrap_or(written)
}

fn is_plain_delimiter(delimiter: &str) -> bool {
    let mut letters = delimiter.chars();
    !delimiter.is_empty()
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}

/// Returns whether no quote and no bracket of a body could end or begin something outside of it.
fn is_quiet(body: &str) -> bool {
    let mut open = 0_usize;
    for letter in body.chars() {
        match letter {
            '(' => open += 1,
            ')' if open == 0 => return !body.contains(['"', '`', '$', '\\']),
            ')' => open -= 1,
            _ => {}
        }
    }
    let double = body.matches('"').count();
    let single = body.matches('\'').count();
    double.is_multiple_of(2)
        && !body.contains(['`', '\\'])
        && (single.is_multiple_of(2) || !body.contains(['"', '$']))
}
