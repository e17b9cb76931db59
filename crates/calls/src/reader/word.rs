//! Words and quotes.

use super::{Certainty, Read, Reader, Unread, Word};
use crate::names::STAYING;

/// Letters that end a word without quotes.
pub(super) const SEPARATORS: [char; 10] = [' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')'];

/// A word that is being read.
#[derive(Default)]
pub(super) struct Building {
    pub(super) text: String,
    certainty: Certainty,
    /// How long the text was before the first part that is not known.
    known: Option<usize>,
    quoted: bool,
    /// Where the outermost open brace is, and how many are open.
    brace: Option<usize>,
    braces: usize,
}

impl Building {
    /// Adds a part that is not known.
    pub(super) fn unknown(&mut self, part: &str, certainty: Certainty) {
        self.known.get_or_insert(self.text.len());
        self.certainty = self.certainty.max(certainty);
        self.text.push_str(part);
    }

    pub(super) fn finished(self, raw: &str) -> Word {
        let known = self.known.unwrap_or(self.text.len());
        let Self { text, certainty, quoted, .. } = self;
        Word { text, certainty, known, quoted }.written_as(raw)
    }
}

impl Reader<'_, '_> {
    /// Reads a word, which begins here.
    pub(super) fn word(&mut self) -> Read<Word> {
        let start = self.at;
        let mut word = Building::default();
        if self.has("<(") || self.has(">(") {
            self.at += 2;
            self.substituted()?;
            word.unknown(&self.text[start..self.at], Certainty::Unknown);
        }
        // A shell that does not know it runs a program of this name.
        if self.keyword() == "[[" && self.eat("[[") {
            word.text.push_str("[[");
        }
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                // In zsh the wildcard may fit nothing; the others refuse it.
                '(' if word.certainty == Certainty::Paths && self.eat("(N)") => {}
                _ if SEPARATORS.contains(&letter) => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => {
                    self.at += 1;
                    word.quoted = true;
                    self.double_quoted(&mut word, true)?;
                }
                '\\' => self.escaped(&mut word)?,
                '$' => self.expansion(&mut word, false)?,
                '`' => self.backquoted(&mut word, false)?,
                _ => {
                    self.at += letter.len_utf8();
                    self.plain(letter, self.at - letter.len_utf8() == start, &mut word)?;
                }
            }
        }
        if self.at == start || word.braces > 0 {
            return Err(Unread);
        }
        // `{name}>` opens a file in some shells.
        if self.previous() == Some(b'}') && matches!(self.peek(), Some(b'<' | b'>')) {
            return Err(Unread);
        }
        Ok(word.finished(&self.text[start..self.at]))
    }

    /// Adds a letter without quotes.
    fn plain(&mut self, letter: char, is_first: bool, word: &mut Building) -> Read<()> {
        let mut buffer = [0; 4];
        let part: &str = letter.encode_utf8(&mut buffer);
        match letter {
            '[' if is_first && self.is_at_end_of_word() => word.text.push('['),
            '*' | '?' | '[' => word.unknown(part, Certainty::Paths),
            '~' if is_first => word.unknown(part, Certainty::Paths),
            '~' if word.text.ends_with(['=', ':']) => word.unknown(part, Certainty::OneWord),
            // zsh replaces `=ls` by the path of `ls`.
            '=' if is_first && !self.is_at_end_of_word() && !self.has("=") && !self.has("~") => {
                word.unknown(part, Certainty::Unknown);
            }
            '{' => {
                word.brace.get_or_insert(word.text.len());
                word.braces += 1;
                word.text.push('{');
            }
            '}' => {
                word.braces = word.braces.checked_sub(1).ok_or(Unread)?;
                word.text.push('}');
            }
            ',' | '.' if word.braces > 0 && (letter == ',' || self.has(".")) => {
                let brace = word.brace.unwrap_or(0);
                word.known = Some(word.known.map_or(brace, |known| known.min(brace)));
                word.unknown(part, Certainty::Paths);
            }
            // Some shells take them for blanks in some languages.
            _ if letter.is_whitespace() => word.unknown(part, Certainty::Unknown),
            _ => word.text.push(letter),
        }
        Ok(())
    }

    pub(super) fn is_at_end_of_word(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with(SEPARATORS)
    }

    fn escaped(&mut self, word: &mut Building) -> Read<()> {
        let before = self.previous();
        self.at += 1;
        let letter = self.rest().chars().next().ok_or(Unread)?;
        self.at += letter.len_utf8();
        if letter != '\n' {
            word.quoted = true;
            self.quoted_letter(letter);
            word.text.push(letter);
            return Ok(());
        }
        if may_be_joined(before) && may_be_joined(self.peek()) { Ok(()) } else { Err(Unread) }
    }

    fn single_quoted(&mut self, word: &mut Building) -> Read<()> {
        self.at += 1;
        word.quoted = true;
        let Some(length) = self.rest().find('\'') else {
            self.quoted(self.rest(), word);
            self.at = self.text.len();
            return self.unclosed();
        };
        let inside = &self.rest()[..length];
        self.quoted(inside, word);
        self.at += length + 1;
        Ok(())
    }

    /// Closes a quote at the end of the text. A shell refuses the text there, but a terminal waits for more,
    /// and `eval` may have run what stands before.
    pub(super) fn unclosed(&mut self) -> Read<()> {
        self.found.is_doubtful = true;
        if STAYING.contains(&self.frame.program()) { Err(Unread) } else { Ok(()) }
    }

    /// Adds a text in which nothing is expanded.
    pub(super) fn quoted(&mut self, text: &str, word: &mut Building) {
        for letter in text.chars() {
            self.quoted_letter(letter);
        }
        word.text.push_str(text);
    }

    /// Reads to the next `"`, or to the end of a here-document.
    pub(super) fn double_quoted(&mut self, word: &mut Building, ends: bool) -> Read<()> {
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '"' if ends => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    self.at += 1;
                    let next = self.rest().chars().next().ok_or(Unread)?;
                    match next {
                        '$' | '`' | '\\' => word.text.push(next),
                        '"' if ends => word.text.push('"'),
                        '\n' => {
                            let before = self.text.as_bytes().get(self.at.wrapping_sub(2));
                            let after = self.text.as_bytes().get(self.at + 1);
                            if before == Some(&b'$') || matches!(after, Some(b'\\' | b'"')) {
                                return Err(Unread);
                            }
                        }
                        _ => word.text.extend(['\\', next]),
                    }
                    self.quoted_letter(next);
                    self.at += next.len_utf8();
                }
                '$' => self.expansion(word, true)?,
                '`' => self.backquoted(word, true)?,
                _ => {
                    self.quoted_letter(letter);
                    word.text.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
        if ends { self.unclosed() } else { Ok(()) }
    }

    fn quoted_letter(&mut self, letter: char) {
        self.found.has_quoted_bracket |= letter == '[';
        self.found.has_quoted_dollar |= matches!(letter, '$' | '`');
    }
}

/// Returns whether a line may be joined to another beside this letter: it makes no operator, keyword
/// or expansion.
fn may_be_joined(byte: Option<u8>) -> bool {
    let Some(byte) = byte else { return false };
    byte.is_ascii_alphanumeric() || b"_-./,:'\" \t\n".contains(&byte)
}
