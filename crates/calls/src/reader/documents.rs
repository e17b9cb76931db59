//! Redirections and here-documents.

use super::word::{Building, SEPARATORS};
use super::{Read, Reader, Unread};
use crate::command::Redirection;

/// Operators of redirections; one that begins with another stands before it.
const OPERATORS: [&str; 12] =
    ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"];

impl Reader<'_, '_> {
    pub(super) fn is_at_redirection(&self) -> bool {
        let rest = self.rest().trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.starts_with(['<', '>'])
            && (rest.len() < self.rest().len() || !self.has("<(") && !self.has(">("))
            || self.has("&>")
    }

    /// Reads a redirection, which begins here; `None` if it is not to or from a file.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        if matches!(self.peek(), Some(b'0'..=b'9')) {
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
                let length = (rest.len() - number.len()).max(1);
                self.at += length;
                // Another descriptor may not be open, and then the command does not run.
                let descriptor = &rest[..length];
                let is_open = matches!(descriptor, "0" | "1" | "2" | "-")
                    || self.text[..self.at - length].contains(&format!("{descriptor}>"));
                let is_plain = is_open && self.is_at_end_of_word();
                return if is_plain { Ok(None) } else { Err(Unread) };
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
            return Ok(Some(self.document(*operator == "<<-")?));
        }
        if matches!(self.peek(), Some(b'!' | b'&' | b'|')) {
            return Err(Unread);
        }
        let word = self.word()?;
        // Bash takes a word behind `>&` for a number, and evaluates it: `>& 'a[$(x)]'`.
        if operator.ends_with('&') && (word.quoted || !word.is_known()) {
            return Err(Unread);
        }
        Ok(Some(Redirection { operator: (*operator).to_owned(), word }))
    }

    /// Reads the delimiter of a here-document, and its body, which begins behind the line.
    fn document(&mut self, strips_tabs: bool) -> Read<Redirection> {
        let length = self.rest().find(SEPARATORS);
        let written = &self.rest()[..length.ok_or(Unread)?];
        let delimiter = unquoted(written);
        if !is_plain_delimiter(delimiter) {
            return Err(Unread);
        }
        self.at += written.len();
        let line_end = self.at + self.rest().find('\n').ok_or(Unread)?;
        let start = if let Some(known) = &self.documents { known.end } else { line_end + 1 };
        let back = std::mem::replace(&mut self.at, start);
        let body = self.body(delimiter, strips_tabs)?;
        self.documents = Some(line_end..self.at);
        self.at = back;
        // Shells of old read the quotes and brackets of a body in a substitution.
        self.found.is_doubtful |= self.frame.substituted;
        let mut word = Building::default();
        if delimiter.len() == written.len() {
            // Some shells take the end of the body for the end of a backquote.
            if body.matches('`').count() % 2 == 1 {
                return Err(Unread);
            }
            let mut reader = Reader::new(&body, &self.frame, self.found);
            reader.depth = self.depth + 1;
            reader.double_quoted(&mut word, false)?;
        } else {
            self.quoted(&body, &mut word);
        }
        Ok(Redirection { operator: "<<".to_owned(), word: word.finished("") })
    }

    /// Reads one body and its last line. Shells must not disagree on which line that is.
    fn body(&mut self, delimiter: &str, strips_tabs: bool) -> Read<String> {
        let mut body = String::new();
        let mut is_continued = false;
        while !self.rest().is_empty() {
            let line = self.rest().split('\n').next().unwrap_or_default();
            self.at = (self.at + line.len() + 1).min(self.text.len());
            let bare = line.trim_start_matches('\t');
            let line = if strips_tabs { bare } else { line };
            if line == delimiter && !is_continued {
                return Ok(body);
            }
            if bare.starts_with(delimiter) {
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
}

/// Returns a delimiter without the quotes or the backslash around all of it.
fn unquoted(written: &str) -> &str {
    for quote in ['\'', '"'] {
        if let Some(rest) = written.strip_prefix(quote)
            && let Some(inside) = rest.strip_suffix(quote)
        {
            return inside;
        }
    }
    written.strip_prefix('\\').unwrap_or(written)
}

fn is_plain_delimiter(delimiter: &str) -> bool {
    !delimiter.is_empty()
        && !delimiter.contains(|one: char| !one.is_ascii_alphanumeric() && !"_-.".contains(one))
}
