//! Simple commands, assignments and functions.

use super::grammar::{ENDS, UNREAD};
use super::{Frame, Function, Read, Reader, Unread, Word, name_length};
use crate::calls::simple::Simple;
use crate::shell::with_expansions_as;

/// Words with a meaning of their own in the place of a program.
const BEGINNINGS: [&str; 9] = ["if", "while", "until", "for", "case", "{", "[[", "time", "coproc"];
/// How long the index of an array may be.
const LONGEST_INDEX: usize = 64;

impl Reader<'_, '_> {
    pub(super) fn simple(&mut self, frame: &Frame) -> Read<()> {
        let mut simple = Simple::default();
        let mut is_ended = false;
        loop {
            self.blanks()?;
            if self.is_at_redirection() {
                // A shell that does not know `&>` ends the command here.
                is_ended |= self.has("&>");
                simple.redirections.extend(self.redirection(frame)?);
            } else if self.is_at_end_of_word() && !self.has("<(") && !self.has(">(") {
                break;
            } else if is_ended {
                return Err(Unread::Unclear);
            } else if simple.words.is_empty() && self.assignment_length() > 0 {
                let word = self.assignment(frame)?;
                simple.assignments.push(word);
            } else {
                let start = self.at;
                let word = self.word(frame)?;
                if simple.words.is_empty() {
                    check_program(&word, &self.text[start..self.at])?;
                }
                simple.words.push(word);
            }
        }
        if self.has("(") {
            return self.function(&simple, frame);
        }
        if simple.is_empty() {
            return Err(Unread::Unclear);
        }
        let name =
            simple.words.first().filter(|word| word.is_known()).map(|word| word.text.clone());
        self.found.simple(simple, frame);
        if let Some(name) = name {
            self.found.call(&name, frame);
        }
        Ok(())
    }

    /// Returns how long the name and the `=` of an assignment are that begins here.
    fn assignment_length(&self) -> usize {
        let rest = self.rest();
        let name = name_length(rest);
        let mut behind = &rest[name..];
        if let Some(index) = behind.strip_prefix('[') {
            let end = index.bytes().take(LONGEST_INDEX).position(|byte| byte == b']');
            let Some(end) = end else { return 0 };
            behind = &index[end + 1..];
        }
        let sign = if behind.starts_with("+=") { 2 } else { usize::from(behind.starts_with('=')) };
        if name == 0 || sign == 0 { 0 } else { rest.len() - behind.len() + sign }
    }

    fn assignment(&mut self, frame: &Frame) -> Read<Word> {
        let start = self.at;
        let length = self.assignment_length();
        let name = &self.text[start..start + length];
        if name.contains('[') {
            // The index is evaluated, and may be one of a variable that holds commands.
            self.evaluated("x");
            let index = name.split(['[', ']']).nth(1).unwrap_or_default();
            if !index.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
                return Err(Unread::Unclear);
            }
        }
        self.at += length;
        if !self.has("(") {
            self.at = start;
            return self.word(frame);
        }
        self.at += 1;
        self.found.is_doubtful = true;
        loop {
            self.newlines(frame)?;
            if self.eat(")") {
                let written = &self.text[start..self.at];
                return if self.is_at_end_of_word() {
                    Ok(Word::unknown(written))
                } else {
                    Err(Unread::Unclear)
                };
            }
            let word = self.word(frame)?;
            if word.text.starts_with('[') {
                self.evaluated("x");
            }
        }
    }

    /// Reads a function whose name was read. It may have the name of any program.
    fn function(&mut self, simple: &Simple, frame: &Frame) -> Read<()> {
        let [name] = &*simple.words else { return Err(Unread::Unclear) };
        let is_plain =
            name.is_known() && !name.quoted && name_length(&name.text) == name.text.len();
        if !is_plain || !simple.assignments.is_empty() || !simple.redirections.is_empty() {
            return Err(Unread::Unclear);
        }
        self.at += 1;
        self.blanks()?;
        self.expect(")")?;
        self.newlines(frame)?;
        if self.keyword() != "{" && (!self.has("(") || self.has("((")) {
            return Err(Unread::Unclear);
        }
        let (start, place) = (self.at, self.found.commands.len());
        let before = self.found.history.clone();
        self.command(frame)?;
        self.found.history = before;
        if !self.documents.is_empty() {
            return Err(Unread::Unclear);
        }
        self.found.functions.push(Function {
            name: name.text.clone(),
            body: self.text[start..self.at].to_owned(),
            commands: self.found.commands.split_off(place),
            is_called: false,
        });
        Ok(())
    }
}

/// Refuses a program that a shell takes for something else once lines are joined.
fn check_program(word: &Word, raw: &str) -> Read<()> {
    let text = &*word.text;
    let is_special = ENDS.contains(&text) || UNREAD.contains(&text) || BEGINNINGS.contains(&text);
    let is_joined = raw.contains("\\\n") && (is_special || text.contains('='));
    let is_assignment = !word.quoted && text.contains('=') && word.is_known();
    let has_list = || with_expansions_as("", text).contains(['{', '}']);
    if is_joined || is_assignment || !word.quoted && has_list() {
        return Err(Unread::Unclear);
    }
    Ok(())
}
