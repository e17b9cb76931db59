//! Expansions: variables, substitutions and arithmetic.

use super::word::Building;
use super::{Certainty, Read, Reader, Unread, name_length};
use crate::is_number;

impl Reader<'_, '_> {
    /// Reads what begins with `$`.
    pub(super) fn expansion(&mut self, word: &mut Building, quoted: bool) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let many = if quoted { Certainty::OneWord } else { Certainty::Unknown };
        let certainty = match self.peek() {
            Some(b'(') if self.has("((") => {
                self.arithmetic()?;
                Certainty::OneWord
            }
            Some(b'(')
                if quoted
                    && self.documents.is_none()
                    && let Some((length, text)) = document_of_cat(&self.text[self.at..]) =>
            {
                self.quoted(text, word);
                self.at += length;
                return Ok(());
            }
            Some(b'(') => {
                self.at += 1;
                self.substituted()?;
                many
            }
            Some(b'{') => self.parameter(quoted)?,
            Some(b'\'') if !quoted => {
                // Without a backslash before it, every shell ends the text at the same quote.
                let length = self.rest()[1..].find('\'').ok_or(Unread)?;
                if self.rest()[..=length].ends_with('\\') {
                    return Err(Unread);
                }
                // Escapes may write any letter.
                (self.found.has_quoted_bracket, self.found.has_quoted_dollar) = (true, true);
                self.at += length + 2;
                Certainty::OneWord
            }
            Some(b'@') => self.special(Certainty::Unknown)?,
            Some(b'*') => self.special(many)?,
            Some(b'?' | b'#' | b'$' | b'!' | b'-') => self.special(Certainty::OneWord)?,
            Some(digit) if digit.is_ascii_digit() => self.special(many)?,
            _ if name_length(self.rest()) > 0 => {
                let name = &self.rest()[..name_length(self.rest())];
                self.at += name.len();
                // zsh reads `$x[...]` as an element.
                if self.has("[") || matches!(name, "HOME" | "PWD") && self.is_at_modifier() {
                    return Err(Unread);
                }
                many
            }
            Some(b'"') if !quoted => return Err(Unread),
            None | Some(b' ' | b'\t' | b'\n' | b'/' | b'|' | b'.' | b',' | b'%' | b')' | b'"') => {
                word.text.push('$');
                return Ok(());
            }
            _ => return Err(Unread),
        };
        let written = &self.text[start..self.at];
        let behind = self.rest().trim_start_matches(['"', '\'', '\\']);
        // Behind a quote a letter is none of its name: `"$f"nv`.
        let goes_on = behind.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '_');
        let is_name = name_length(&written[1..]) + 1 == written.len();
        if is_name && goes_on && behind.len() < self.rest().len() {
            word.unknown(&format!("${{{}}}", &written[1..]), certainty);
        } else {
            word.unknown(written, certainty);
        }
        Ok(())
    }

    /// Reads the one letter of a special parameter.
    fn special(&mut self, certainty: Certainty) -> Read<Certainty> {
        self.at += 1;
        let is_odd = self.has("[")
            || self.has(":") && certainty != Certainty::OneWord
            || self.is_at_modifier();
        if is_odd { Err(Unread) } else { Ok(certainty) }
    }

    /// Returns whether zsh may change the value of the variable before: `$?:s,0,.e,nv`.
    fn is_at_modifier(&self) -> bool {
        let Some(behind) = self.rest().strip_prefix(':') else { return false };
        behind.starts_with(|one: char| one.is_ascii_alphabetic() || one == '&')
    }

    /// Reads the commands of a substitution up to its `)`.
    pub(super) fn substituted(&mut self) -> Read<()> {
        let waiting = self.documents.take();
        let before = self.at;
        let outer = self.frame.clone();
        self.frame.substituted = true;
        self.subshell(Self::list)?;
        self.frame = outer;
        // A here-document of the substitution ends in it, and none of the line outside begins in it.
        let is_many_lines = self.text[before..self.at].contains('\n');
        if self.documents.is_some() || waiting.is_some() && is_many_lines {
            return Err(Unread);
        }
        self.documents = waiting;
        self.expect(")")
    }

    /// Reads a text in backquotes, in which nothing may need a backslash.
    pub(super) fn backquoted(&mut self, word: &mut Building, quoted: bool) -> Read<()> {
        let inside = &self.rest()[1..];
        let Some(length) = inside.find('`') else {
            word.unknown(self.rest(), Certainty::Unknown);
            self.at = self.text.len();
            return self.unclosed();
        };
        let inside = &inside[..length];
        if inside.contains('\\') || quoted && inside.contains('"') || self.depth >= super::DEEPEST {
            return Err(Unread);
        }
        let mut reader = Reader::new(inside, &self.frame, self.found);
        reader.depth = self.depth + 1;
        reader.frame.substituted = true;
        reader.subshell(Reader::whole)?;
        let end = self.at + length + 2;
        let certainty = if quoted { Certainty::OneWord } else { Certainty::Unknown };
        word.unknown(&self.text[self.at..end], certainty);
        self.at = end;
        Ok(())
    }

    /// Reads `((...))` behind `$`. It may only have numbers, names, operators, brackets and expansions.
    fn arithmetic(&mut self) -> Read<()> {
        let start = self.at;
        self.at += 2;
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(Unread);
        }
        let mut brackets = 0;
        while brackets > 0 || !self.has("))") {
            let letter = self.peek().ok_or(Unread)?;
            match letter {
                b'$' => {
                    self.expansion(&mut Building::default(), true)?;
                    continue;
                }
                b'(' => brackets += 1,
                b')' if brackets > 0 => brackets -= 1,
                // `10#$x` is a number.
                b'#' if matches!(self.previous(), Some(digit) if digit.is_ascii_digit()) => {}
                _ if letter.is_ascii_alphanumeric() => {}
                _ if b"_+-*/%<>=!&|^~?:, \t".contains(&letter) => {}
                _ => return Err(Unread),
            }
            self.at += 1;
        }
        self.at += 2;
        self.depth -= 1;
        // A shell evaluates the value of a variable, and what a command prints.
        let text = &self.text[start..self.at];
        self.found.evaluates |= text.contains(|one: char| one.is_ascii_alphabetic() || one == '_');
        // `$((X=1))` and `$((X++))` set the variable.
        let sets = text.contains('=') || text.contains("++") || text.contains("--");
        for name in text.split(|one: char| !one.is_ascii_alphanumeric() && one != '_') {
            if sets && name_length(name) > 0 {
                self.found.history.forget(name);
            }
        }
        Ok(())
    }

    /// Reads `{...}` behind `$`.
    fn parameter(&mut self, quoted: bool) -> Read<Certainty> {
        let length = self.rest().find('}').ok_or(Unread)?;
        let inside = &self.rest()[1..length];
        self.at += length + 1;
        let name = inside.strip_prefix('#').unwrap_or(inside);
        let behind = &name[name_length(name)..];
        if behind.len() == name.len() {
            return Err(Unread);
        }
        let (index, operator) = split_index(behind);
        let is_one = quoted && index != "@";
        if inside.starts_with('#') {
            return if operator.is_empty() { Ok(Certainty::OneWord) } else { Err(Unread) };
        }
        let plain = if quoted { "_./:,-@%+=*?#$ " } else { "_./:,-@%+=*?#$" };
        let written = operator.replace("\\/", "");
        if written.contains(|one: char| !one.is_ascii_alphanumeric() && !plain.contains(one)) {
            return Err(Unread);
        }
        let behind = operator.strip_prefix(':').unwrap_or(operator);
        let is_operator = behind.starts_with(['-', '+', '?']) || operator.starts_with(['%', '#', '/'])
                // A part of the value: `${x:0:8}`.
                || behind.len() < operator.len() && is_number(&behind.replace(':', ""));
        if !operator.is_empty() && !is_operator {
            return Err(Unread);
        }
        if operator.split('$').skip(1).any(|behind| name_length(behind) == 0) {
            return Err(Unread);
        }
        Ok(if is_one { Certainty::OneWord } else { Certainty::Unknown })
    }
}

/// Returns the index of an element and what stands behind it, if nothing is evaluated in the index:
/// `${PIPESTATUS[0]}`.
fn split_index(behind: &str) -> (&str, &str) {
    if let Some(inside) = behind.strip_prefix('[')
        && let Some((index, operator)) = inside.split_once(']')
        && (matches!(index, "@" | "*") || is_number(index))
    {
        return (index, operator);
    }
    ("", behind)
}

/// Returns the length of `(cat <<'END'`, a text and its end, and the text, if every shell takes it as it
/// stands. Old ones look for the bracket in the text, and would expand what stands behind it.
fn document_of_cat(rest: &str) -> Option<(usize, &str)> {
    let (end, behind) = rest.strip_prefix("(cat <<'")?.split_once('\'')?;
    let (text, behind) = behind.split_once(&format!("\n{end}\n"))?;
    let text = text.strip_prefix('\n')?;
    let behind = behind.trim_start().strip_prefix(')')?;
    let may_expand = text.contains(['$', '`', '"', '\\']) && text.contains([')', '\'', '"']);
    let is_odd = end.is_empty() || end.contains(|one: char| !one.is_ascii_alphanumeric());
    if may_expand || is_odd {
        return None;
    }
    Some((rest.len() - behind.len(), text.trim_end_matches('\n')))
}
