//! Expansions: variables, substitutions and arithmetic.

use super::word::Building;
use super::{Certainty, Frame, Read, Reader, Unread, name_length};

impl Reader<'_, '_> {
    /// Reads what begins with `$`.
    pub(super) fn expansion(
        &mut self,
        word: &mut Building,
        quoted: bool,
        frame: &Frame,
    ) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let many = if quoted { Certainty::OneWord } else { Certainty::Unknown };
        let certainty = match self.peek() {
            Some(b'(') if self.has("((") => {
                self.at += 2;
                self.arithmetic(frame)?;
                Certainty::OneWord
            }
            Some(b'(')
                if quoted
                    && self.documents.is_empty()
                    && let Some((length, text)) = document_of_cat(&self.text[self.at..]) =>
            {
                for letter in text.chars() {
                    self.quoted_letter(letter);
                }
                word.text.push_str(text);
                self.at += length;
                return Ok(());
            }
            Some(b'(') => {
                self.at += 1;
                self.substituted(frame)?;
                many
            }
            Some(b'{') => self.parameter(quoted)?,
            Some(b'\'') if !quoted => {
                // Without a backslash before it, every shell ends the text at the same quote.
                let inside = &self.rest()[1..];
                let length = inside.find('\'').ok_or(Unread)?;
                let inside = &inside[..length];
                if inside.ends_with('\\') && !inside.ends_with("\\\\") || inside.contains("\\\\\\")
                {
                    return Err(Unread);
                }
                // Escapes may write any letter.
                self.found.has_quoted_bracket |= inside.contains(['[', '\\']);
                self.found.has_quoted_dollar |= inside.contains(['$', '`', '\\']);
                self.at += length + 2;
                Certainty::OneWord
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(word, true, frame)?;
                // Some shells keep the `$`.
                word.unknown("", Certainty::Unknown);
                return Ok(());
            }
            Some(b'@') => self.special(Certainty::Unknown)?,
            Some(b'*') => self.special(many)?,
            Some(b'?' | b'#' | b'$' | b'!' | b'-') => self.special(Certainty::OneWord)?,
            Some(digit) if digit.is_ascii_digit() => self.special(many)?,
            _ if name_length(self.rest()) > 0 => {
                self.at += name_length(self.rest());
                // zsh reads `$x[...]` as an element.
                if self.has("[") {
                    return Err(Unread);
                }
                many
            }
            next => {
                let is_plain = next.is_none_or(|next| b" \t\n/|.,%)".contains(&next))
                    || quoted && next == Some(b'"');
                if !is_plain {
                    return Err(Unread);
                }
                word.text.push('$');
                return Ok(());
            }
        };
        word.unknown(&self.text[start..self.at], certainty);
        Ok(())
    }

    /// Reads the one letter of a special parameter.
    fn special(&mut self, certainty: Certainty) -> Read<Certainty> {
        self.at += 1;
        let is_odd = self.has("[") || self.has(":") && certainty != Certainty::OneWord;
        if is_odd { Err(Unread) } else { Ok(certainty) }
    }

    /// Reads the commands of a substitution up to its `)`.
    pub(super) fn substituted(&mut self, frame: &Frame) -> Read<()> {
        let waiting = std::mem::take(&mut self.documents);
        let before = self.at;
        let history = self.found.history.clone();
        self.list(&Frame { substituted: true, ..frame.clone() })?;
        self.found.history = history;
        // A here-document of the substitution ends in it, and none of the line outside begins in it.
        if !self.documents.is_empty()
            || !waiting.is_empty() && self.text[before..self.at].contains('\n')
        {
            return Err(Unread);
        }
        self.documents = waiting;
        self.expect(")")
    }

    /// Reads a text in backquotes, in which nothing may need a backslash.
    pub(super) fn backquoted(
        &mut self,
        word: &mut Building,
        quoted: bool,
        frame: &Frame,
    ) -> Read<()> {
        let inside = &self.rest()[1..];
        let length = inside.find('`').ok_or(Unread)?;
        let inside = &inside[..length];
        if inside.contains('\\') || quoted && inside.contains('"') || self.depth >= super::DEEPEST {
            return Err(Unread);
        }
        let history = self.found.history.clone();
        let mut reader = Reader::new(inside, self.found);
        reader.depth = self.depth + 1;
        reader.all(&Frame { substituted: true, ..frame.clone() })?;
        self.found.history = history;
        let end = self.at + length + 2;
        let certainty = if quoted { Certainty::OneWord } else { Certainty::Unknown };
        word.unknown(&self.text[self.at..end], certainty);
        self.at = end;
        Ok(())
    }

    /// Reads arithmetic behind `((` with its `))`. It may only have numbers, names, operators and
    /// expansions.
    pub(super) fn arithmetic(&mut self, frame: &Frame) -> Read<()> {
        let mut open = 0_usize;
        let start = self.at;
        loop {
            if open == 0 && self.eat("))") {
                break;
            }
            match self.peek().ok_or(Unread)? {
                b'(' => open += 1,
                b')' => open = open.checked_sub(1).ok_or(Unread)?,
                b'$' if self.has("$(") && !self.has("$((") => {
                    let start = self.at + 2;
                    self.at = start;
                    self.substituted(frame)?;
                    // What a command prints is evaluated.
                    self.found.is_doubtful = true;
                    let inside = &self.text[start..self.at];
                    self.found.evaluates |= inside.contains(['[', '\'', '"', '\\', '`', '$']);
                    continue;
                }
                b'$' if self.eat("${") => {
                    self.at -= 1;
                    self.parameter(true)?;
                    continue;
                }
                b'$' => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'_' | b'#' | b'?') => {}
                        Some(next) if next.is_ascii_alphanumeric() => {}
                        _ => return Err(Unread),
                    }
                }
                letter
                    if letter.is_ascii_alphanumeric()
                        || b"_+-*/%<>=!&|^~?:, \t".contains(&letter) => {}
                _ => return Err(Unread),
            }
            self.at += 1;
        }
        self.evaluated(&self.text[start..self.at - 2]);
        Ok(())
    }

    /// Notes that a text is evaluated as arithmetic.
    pub(super) fn evaluated(&mut self, text: &str) {
        let has_name = text.contains(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        self.found.evaluates |= has_name;
    }

    /// Reads `{...}` behind `$`.
    fn parameter(&mut self, quoted: bool) -> Read<Certainty> {
        let length = self.rest().find('}').ok_or(Unread)?;
        let inside = &self.rest()[1..length];
        for letter in inside.chars() {
            let is_plain = letter.is_ascii_alphanumeric()
                || "_./:,-@%+=*?#^![]$".contains(letter)
                || letter == ' ' && quoted;
            if !is_plain {
                return Err(Unread);
            }
        }
        self.at += length + 1;
        let one = if quoted { Certainty::OneWord } else { Certainty::Unknown };
        let (counts, inside) = match inside.strip_prefix('#') {
            Some("") => return Ok(Certainty::OneWord),
            Some(rest) => (true, rest),
            None => (false, inside),
        };
        let indirect = inside.strip_prefix('!');
        self.found.evaluates |= indirect.is_some();
        let inside = indirect.unwrap_or(inside);
        let name = match name_length(inside) {
            0 if inside.starts_with(|first: char| first.is_ascii_digit()) => {
                inside.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(inside.len())
            }
            0 if inside.starts_with(['@', '*', '?', '-', '$', '!']) => 1,
            0 => return Err(Unread),
            length => length,
        };
        let mut is_list = inside.starts_with('@');
        let mut operator = &inside[name..];
        if let Some(rest) = operator.strip_prefix('[') {
            let (index, behind) = rest.split_once(']').ok_or(Unread)?;
            is_list |= index == "@";
            self.evaluated(index);
            operator = behind;
        }
        self.operator(operator)?;
        Ok(match (counts, is_list) {
            (true, _) => Certainty::OneWord,
            (false, true) => Certainty::Unknown,
            (false, false) => one,
        })
    }

    /// Judges the part of `${name...}` behind the name.
    fn operator(&mut self, operator: &str) -> Read<()> {
        // A variable in it is only one by its name.
        let mut dollars = operator.split('$').skip(1);
        if dollars.any(|part| name_length(part) == 0 || part.contains('[')) {
            return Err(Unread);
        }
        let mut letters = operator.chars();
        match (letters.next(), letters.next()) {
            // It assigns.
            (Some('='), _) | (Some(':'), Some('=')) => self.found.is_doubtful = true,
            (None | Some('-' | '+' | '?' | '%' | '#' | '/' | '^' | ','), _)
            | (Some(':'), Some('-' | '+' | '?')) => {}
            (Some(':'), _) => self.evaluated(operator),
            _ => return Err(Unread),
        }
        Ok(())
    }
}

/// Returns the length of `(cat <<'END'`, a text and its end, and the text, if every shell takes it as it
/// stands. Old ones look for the bracket in the text, and would expand what stands behind it.
fn document_of_cat(rest: &str) -> Option<(usize, &str)> {
    let (end, behind) = rest.strip_prefix("(cat <<'")?.split_once('\'')?;
    let (text, behind) = behind.split_once(&format!("\n{end}\n"))?;
    let text = text.strip_prefix('\n')?;
    let behind = behind.trim_start().strip_prefix(')')?;
    let may_expand = text.contains(['$', '`', '"', '\\']) && text.contains([')', '\'', '"']);
    let is_plain = !end.is_empty() && end.chars().all(|letter| letter.is_ascii_alphanumeric());
    if may_expand || !is_plain {
        return None;
    }
    Some((rest.len() - behind.len(), text.trim_end_matches('\n')))
}
