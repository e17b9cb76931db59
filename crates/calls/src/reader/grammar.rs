//! Lists, pipelines, compound and simple commands.

use super::word::SEPARATORS;
use super::{
    DEEPEST, Hidden, LONGEST, MOST_COMMANDS, Read, Reader, SimpleCommand, Unread, Word, name_length,
};
use crate::history::Change;
use crate::names::{BEGINNINGS, LEAVING, LIST_ENDS, UNREAD_WORDS};
use crate::shell::hidden;
use crate::shells::{is_plain_variable, names_evaluated};
use std::sync::Arc;

impl<'t> Reader<'t, '_> {
    /// Reads commands up to the end of the text, a bracket, or a word that ends a list.
    pub(super) fn list(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.found.too_long());
        }
        loop {
            self.newlines()?;
            if matches!(self.peek(), None | Some(b')')) || LIST_ENDS.contains(&self.keyword()) {
                break;
            }
            let before = self.found.history.clone();
            self.and_or()?;
            self.blanks()?;
            match self.peek() {
                Some(b';') if !self.has(";;") && !self.has(";&") && !self.has(";|") => self.at += 1,
                Some(b'&') if !self.has("&&") && !self.has("&!") && !self.has("&|") => {
                    self.at += 1;
                    // It runs in a subshell.
                    self.found.history = before;
                }
                Some(b'\n') => {}
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads what runs in a subshell: its steps are not those of the shell.
    pub(super) fn subshell(&mut self, read: fn(&mut Self) -> Read<()>) -> Read<()> {
        let history = self.found.history.clone();
        read(self)?;
        self.found.history = history;
        Ok(())
    }

    /// Returns the word that begins here, as it is written; nothing if it has quotes.
    pub(super) fn keyword(&self) -> &'t str {
        self.rest().split(SEPARATORS).next().unwrap_or_default()
    }

    fn expect_keyword(&mut self, keyword: &str) -> Read<()> {
        if self.keyword() == keyword { self.expect(keyword) } else { Err(Unread) }
    }

    fn and_or(&mut self) -> Read<()> {
        self.pipeline()?;
        // What the shell did if it does not go on to the next pipeline.
        let mut ends = Vec::new();
        loop {
            self.blanks()?;
            let before = self.found.history.clone();
            let is_and = self.eat("&&");
            if !is_and && !self.eat("||") {
                break;
            }
            self.newlines()?;
            if is_and {
                self.found.history.confirm();
                ends.push(before);
                self.pipeline()?;
                continue;
            }
            let leaves = LEAVING.contains(&self.keyword());
            self.found.history.join(ends.clone());
            self.pipeline()?;
            if leaves {
                // What follows only runs if the shell did not leave.
                self.found.history = before;
                self.found.history.confirm();
                ends.clear();
            } else {
                ends.push(before);
            }
        }
        self.found.history.join(ends);
        Ok(())
    }

    fn pipeline(&mut self) -> Read<()> {
        let outer = self.frame.clone();
        self.found.pipelines += 1;
        self.frame.pipeline = self.found.pipelines;
        if self.keyword() == "!" {
            self.at += 1;
            self.blanks()?;
        }
        if self.keyword() == "time" {
            let before = self.at;
            self.at += 4;
            self.blanks()?;
            // With an option, which may have quotes, or alone, it is read as a program.
            let may_be_option = self.rest().starts_with(['-', '\\', '\'', '"']);
            if may_be_option || self.is_at_end_of_word() && !self.has("(") {
                self.at = before;
            }
        }
        let before = self.found.history.clone();
        loop {
            self.command()?;
            self.blanks()?;
            if self.has("||") || !self.eat("|&") && !self.eat("|") {
                if self.frame.piped {
                    // Some shells run the last command of a pipeline themselves.
                    self.found.history.may_be(&before);
                }
                self.frame = outer;
                return Ok(());
            }
            self.frame.piped = true;
            self.frame.inputs = Arc::default();
            self.found.history = before.clone();
            self.newlines()?;
        }
    }

    pub(super) fn command(&mut self) -> Read<()> {
        let (start, without_input) = (self.found.commands.len(), self.found.without_input);
        if start > MOST_COMMANDS || self.found.history.is_full() {
            return Err(self.found.too_long());
        }
        match self.keyword() {
            "{" => {
                self.at += 1;
                self.list()?;
                self.expect_keyword("}")?;
            }
            // Some shells evaluate `((...))`, others run the commands in the brackets.
            "" if self.has("((") => return Err(Unread),
            "" if self.eat("(") => {
                self.subshell(Self::list)?;
                self.expect(")")?;
            }
            "if" => self.if_command()?,
            "while" | "until" => {
                self.at += 5;
                self.list()?;
                self.do_body()?;
            }
            "for" => self.for_command()?,
            word if UNREAD_WORDS.contains(&word)
                || LIST_ENDS.contains(&word)
                || word.starts_with(['{', '}', '!', '%']) =>
            {
                return Err(Unread);
            }
            _ => return self.simple(),
        }
        self.blanks()?;
        while self.is_at_redirection() {
            let redirection = self.redirection()?;
            self.blanks()?;
            let Some(redirection) = redirection else { continue };
            if redirection.is_input() && self.found.without_input > without_input {
                self.found.hides_anything();
            }
            let mut is_taken = false;
            self.found.copied += self.found.commands.len() - start;
            if self.found.copied > LONGEST {
                return Err(self.found.too_long());
            }
            for command in &mut self.found.commands[start..] {
                if command.frame.wrappers.len() == self.frame.wrappers.len() {
                    command.redirections.push(redirection.clone());
                    is_taken = true;
                }
            }
            if !is_taken {
                // Without a command in it, the shell opens the file all the same.
                let redirections = vec![redirection];
                let command = SimpleCommand { redirections, ..self.found.begun(&self.frame) };
                self.found.commands.push(command);
            }
        }
        Ok(())
    }

    /// Reads `do`, commands and `done`; once more if a second round may begin elsewhere.
    fn do_body(&mut self) -> Read<()> {
        self.expect_keyword("do")?;
        let (start, before) = (self.at, self.found.history.clone());
        let documents = self.documents.clone();
        self.list()?;
        if self.found.history.may_be(&before) {
            self.at = start;
            self.documents = documents;
            self.list()?;
        }
        self.expect_keyword("done")
    }

    fn if_command(&mut self) -> Read<()> {
        self.at += 2;
        let mut branches = Vec::new();
        loop {
            self.list()?;
            let otherwise = self.found.history.clone();
            self.expect_keyword("then")?;
            self.list()?;
            branches.push(std::mem::replace(&mut self.found.history, otherwise));
            match self.keyword() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    self.list()?;
                    break;
                }
                _ => break,
            }
        }
        self.found.history.join(branches);
        self.expect_keyword("fi")
    }

    fn for_command(&mut self) -> Read<()> {
        self.at += 3;
        self.blanks()?;
        let variable = &self.rest()[..name_length(self.rest())];
        self.at += variable.len();
        if variable.is_empty() || !self.is_at_end_of_word() {
            return Err(Unread);
        }
        self.newlines()?;
        // The words of a loop are assigned to its variable.
        let mut assignments = Vec::new();
        if self.keyword() == "in" {
            self.at += 2;
            self.blanks()?;
            while !matches!(self.peek(), Some(b';' | b'\n') | None) {
                assignments.push(self.word()?.behind(&format!("{variable}=")));
                self.blanks()?;
            }
        } else {
            assignments.push(Word::unknown("$@").behind(&format!("{variable}=")));
        }
        for (at, word) in assignments.iter().enumerate() {
            let before = self.found.history.clone();
            self.found.history.add(Change::Set(word.clone()));
            if at > 0 {
                self.found.history.may_be(&before);
            }
        }
        // A variable such as `npm_config_registry` may be one that programs see.
        let is_plain = is_plain_variable(variable) && !variable.contains('_');
        let sets = if is_plain { Vec::new() } else { vec![variable.to_owned()] };
        let mut simple = SimpleCommand { sets, ..self.found.begun(&self.frame) };
        if names_evaluated(&assignments) {
            simple.hidden = Hidden::Anything;
        }
        self.found.commands.push(SimpleCommand { assignments, ..simple });
        self.blanks()?;
        self.eat(";");
        self.newlines()?;
        self.do_body()
    }

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
        // Where `[[` is a keyword, a test goes on in the next line.
        let is_test = matches!(simple.words.first(), Some(program) if program.text == "[[");
        let is_open = is_test
            && self.has("\n")
            && !matches!(simple.words.last(), Some(last) if last.text == "]]");
        if self.has("(") || is_empty || is_open {
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
    let has_list = !word.quoted && hidden(text).contains(['{', '}']);
    if is_joined || is_assignment || has_list {
        return Err(Unread);
    }
    Ok(())
}
