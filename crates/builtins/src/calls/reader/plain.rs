//! Simple commands and assignments.

use super::{Read, Reader, Unread, Word, name_length};
use crate::calls::names::{BEGINNINGS, LIST_ENDS, UNREAD_WORDS};
use crate::shell::with_expansions_as;

impl Reader<'_, '_> {
    pub(super) fn simple(&mut self) -> Read<()> {
        let mut simple = self.found.begun(&self.frame);
        let mut is_ended = false;
        loop {
            self.blanks()?;
            if self.is_at_redirection() {
                // A shell that does not know `&>` ends the command here.
                is_ended |= self.has("&>");
                simple.redirections.extend(self.redirection()?);
            } else if self.is_at_end_of_word() && !self.has("<(") && !self.has(">(") {
                break;
            } else if is_ended {
                return Err(Unread);
            } else if simple.words.is_empty() && self.is_at_assignment() {
                simple.assignments.push(self.word()?);
            } else {
                let start = self.at;
                let word = self.word()?;
                if simple.words.is_empty() {
                    check_program(&word, &self.text[start..self.at])?;
                }
                simple.words.push(word);
            }
        }
        // A function may have the name of any program.
        let is_empty = simple.words.is_empty()
            && simple.assignments.is_empty()
            && simple.redirections.is_empty();
        if self.has("(") || is_empty {
            return Err(Unread);
        }
        self.found.simple(simple);
        Ok(())
    }

    /// Returns whether an assignment begins here.
    fn is_at_assignment(&self) -> bool {
        let behind = &self.rest()[name_length(self.rest())..];
        behind.len() < self.rest().len() && (behind.starts_with('=') || behind.starts_with("+="))
    }
}

/// Refuses a program that a shell takes for something else once lines are joined.
fn check_program(word: &Word, raw: &str) -> Read<()> {
    let text = &*word.text;
    let is_special =
        LIST_ENDS.contains(&text) || UNREAD_WORDS.contains(&text) || BEGINNINGS.contains(&text);
    let is_joined = raw.contains("\\\n") && (is_special || text.contains('='));
    // Zsh also assigns to `1`, and behind it any quotes may stand; bash and zsh assign to `x[1]`.
    let is_assignment = text.contains('=')
        && (word.is_known() || text.starts_with(char::is_numeric) || text.contains(']'));
    let has_list = !word.quoted && with_expansions_as("", text).contains(['{', '}']);
    if is_joined || is_assignment || has_list {
        return Err(Unread);
    }
    Ok(())
}
