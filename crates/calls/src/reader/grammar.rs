//! Lists, pipelines, compound and simple commands.

use super::word::SEPARATORS;
use super::{
    DEEPEST, Hidden, LONGEST, MOST_COMMANDS, Read, Reader, SimpleCommand, Unread, Word, name_length,
};
use crate::history::{Change, History, Outcome, either};
use crate::names::{BEGINNINGS, LIST_ENDS, UNREAD_WORDS};
use crate::shell::hidden;
use crate::shells::{is_plain_variable, names_evaluated};
use crate::{Redirection, is_number};
use hookexec_files::glob::has_part;
use std::sync::Arc;

impl<'t> Reader<'t, '_> {
    /// Reads commands up to the end of the text, a bracket, or a word that ends a list. The outcome is that of
    /// the last one.
    pub(super) fn list(&mut self) -> Read<Outcome> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.found.too_long());
        }
        let mut outcome = Outcome::of(&self.found.history);
        loop {
            self.newlines()?;
            if matches!(self.peek(), None | Some(b')')) || LIST_ENDS.contains(&self.keyword()) {
                break;
            }
            let before = self.found.history.clone();
            outcome = self.and_or()?;
            self.go_on(outcome.clone().any());
            self.blanks()?;
            match self.peek() {
                Some(b';') if !self.has(";;") && !self.has(";&") && !self.has(";|") => self.at += 1,
                Some(b'&') if !self.has("&&") && !self.has("&!") && !self.has("&|") => {
                    self.at += 1;
                    // It runs in a subshell; zsh runs all but the last command of a list itself.
                    let after = std::mem::replace(&mut self.found.history, before);
                    self.found.history.may_be(&after);
                    outcome = Outcome::of(&self.found.history);
                }
                Some(b'\n') => {}
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(outcome)
    }

    /// Goes on in a state of the shell. What can't be reached is read as if it were.
    fn go_on(&mut self, history: Option<History>) {
        if let Some(history) = history {
            self.found.history = history;
        }
    }

    /// Reads what runs in a subshell: its steps are not those of the shell.
    pub(super) fn subshell<T>(&mut self, read: fn(&mut Self) -> Read<T>) -> Read<()> {
        let history = self.found.history.clone();
        let loops = std::mem::take(&mut self.loops);
        read(self)?;
        (self.found.history, self.loops) = (history, loops);
        Ok(())
    }

    /// Returns the word that begins here, as it is written; nothing if it has quotes.
    pub(super) fn keyword(&self) -> &'t str {
        self.rest().split(SEPARATORS).next().unwrap_or_default()
    }

    fn expect_keyword(&mut self, keyword: &str) -> Read<()> {
        if self.keyword() == keyword { self.expect(keyword) } else { Err(Unread) }
    }

    fn and_or(&mut self) -> Read<Outcome> {
        let mut outcome = self.pipeline()?;
        loop {
            self.blanks()?;
            let is_and = self.eat("&&");
            if !is_and && !self.eat("||") {
                return Ok(outcome);
            }
            self.newlines()?;
            if is_and {
                self.go_on(outcome.success);
                let next = self.pipeline()?;
                let failure = either(outcome.failure, next.failure);
                outcome = Outcome { success: next.success, failure };
            } else {
                self.go_on(outcome.failure);
                let next = self.pipeline()?;
                let success = either(outcome.success, next.success);
                outcome = Outcome { success, failure: next.failure };
            }
        }
    }

    fn pipeline(&mut self) -> Read<Outcome> {
        let outer = self.frame.clone();
        self.found.pipelines += 1;
        self.frame.pipeline = self.found.pipelines;
        let is_negated = self.keyword() == "!";
        if is_negated {
            self.at += 1;
            self.blanks()?;
        }
        let mut is_timed = self.keyword() == "time";
        if is_timed {
            let before = self.at;
            self.at += 4;
            self.blanks()?;
            // With an option, which may have quotes, or alone, it is read as a program.
            let may_be_option = self.rest().starts_with(['-', '\\', '\'', '"']);
            if may_be_option || self.is_at_end_of_word() && !self.has("(") {
                self.at = before;
                is_timed = false;
            }
        }
        let before = self.found.history.clone();
        let (mut outcome, mut is_piped) = (self.command()?, false);
        loop {
            self.blanks()?;
            if self.has("||") || !self.eat("|&") && !self.eat("|") {
                break;
            }
            (self.frame.piped, is_piped) = (true, true);
            self.frame.inputs = Arc::default();
            self.found.history = before.clone();
            self.newlines()?;
            outcome = self.command()?;
        }
        // Some shells run the last command of a pipeline themselves, and for some `time` is a program.
        if is_piped || is_timed {
            let mut history = outcome.any().unwrap_or_else(|| before.clone());
            history.may_be(&before);
            outcome = Outcome::of(&history);
        }
        self.frame = outer;
        Ok(if is_negated { outcome.negated() } else { outcome })
    }

    pub(super) fn command(&mut self) -> Read<Outcome> {
        let (start, without_input) = (self.found.commands.len(), self.found.without_input);
        let before = self.found.history.clone();
        if start > MOST_COMMANDS || self.found.history.is_full() {
            return Err(self.found.too_long());
        }
        let mut outcome = None;
        match self.keyword() {
            "{" => {
                self.at += 1;
                outcome = Some(self.list()?);
                self.expect_keyword("}")?;
            }
            // Some shells evaluate `((...))`, others run the commands in the brackets.
            "" if self.has("((") => return Err(Unread),
            "" if self.eat("(") => {
                self.subshell(Self::list)?;
                self.expect(")")?;
            }
            "if" => outcome = Some(self.if_command()?),
            "while" | "until" => {
                self.at += 5;
                self.rounds(true)?;
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
        let mut outcome = outcome.unwrap_or_else(|| Outcome::of(&self.found.history));
        self.blanks()?;
        while self.is_at_redirection() {
            let redirection = self.redirection()?;
            self.blanks()?;
            let Some(redirection) = redirection else { continue };
            if redirection.can_fail() {
                // Bash does not turn this failure around behind `!`.
                outcome.success = either(outcome.success, Some(before.clone()));
                outcome.failure = either(outcome.failure, Some(before.clone()));
            }
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
        Ok(outcome)
    }

    /// Reads the rounds of a loop, and `done`. If the second round may begin elsewhere or with other variables,
    /// it is read, too, and what the first one set is not known in it.
    fn rounds(&mut self, has_condition: bool) -> Read<()> {
        let (start, documents) = (self.at, self.documents.clone());
        let before = self.found.history.clone();
        let condition = self.round(has_condition)?;
        let mut changes = !condition.is(&before) && condition.has_moved();
        changes |= self.found.history.may_be(&condition);
        if changes {
            let after = self.found.history.clone();
            self.found.history.add(Change::Round(before));
            self.at = start;
            self.documents = documents;
            self.round(has_condition)?;
            self.found.history.may_be(&after);
        }
        self.expect_keyword("done")
    }

    /// Reads one round of a loop, which `break` and `continue` leave. Returns the state in which it does not begin.
    fn round(&mut self, has_condition: bool) -> Read<History> {
        self.loops.push(Vec::new());
        if has_condition {
            self.list()?;
        }
        let condition = self.found.history.clone();
        self.expect_keyword("do")?;
        self.list()?;
        for left in self.loops.pop().unwrap_or_default() {
            self.found.history.may_be(&left);
        }
        Ok(condition)
    }

    fn if_command(&mut self) -> Read<Outcome> {
        self.at += 2;
        let mut outcome = Outcome::default();
        loop {
            let condition = self.list()?;
            self.go_on(condition.success);
            self.expect_keyword("then")?;
            outcome = outcome.or(self.list()?);
            self.go_on(condition.failure);
            match self.keyword() {
                "elif" => self.at += 4,
                "else" => {
                    self.at += 4;
                    outcome = outcome.or(self.list()?);
                    break;
                }
                _ => {
                    outcome = outcome.or(Outcome::of(&self.found.history));
                    break;
                }
            }
        }
        self.expect_keyword("fi")?;
        Ok(outcome)
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
            self.found.history.add(Change::Each(word.clone()));
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
        self.rounds(false)
    }

    pub(super) fn simple(&mut self) -> Read<Outcome> {
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
        let before = self.found.history.clone();
        let program = simple.words.first().map_or_else(String::new, |word| word.text.clone());
        let ends = may_end(&simple, &program);
        let can_fail = simple.redirections.iter().any(Redirection::can_fail);
        self.found.simple(simple);
        if ends == Ends::Shell {
            return Ok(Outcome::default());
        }
        if ends != Ends::Nothing {
            let mut left = before.clone();
            // What `eval` did before is not known.
            if ends == Ends::Unknown {
                left.add(Change::Strayed);
            }
            for states in &mut self.loops {
                states.push(left.clone());
            }
            if ends == Ends::Round && !self.loops.is_empty() {
                return Ok(Outcome::default());
            }
        }
        let mut outcome = Outcome::of_command(&program, &before, &self.found.history);
        if can_fail {
            // If the file can't be opened, nothing runs.
            outcome.failure = either(outcome.failure, Some(before));
        }
        Ok(outcome)
    }

    /// Returns whether an assignment begins here.
    fn is_at_assignment(&self) -> bool {
        let behind = &self.rest()[name_length(self.rest())..];
        behind.len() < self.rest().len() && (behind.starts_with('=') || behind.starts_with("+="))
    }
}

/// The part of a text that a command ends: nothing behind it runs there.
#[derive(PartialEq)]
enum Ends {
    Nothing,
    Shell,
    /// A round of a loop.
    Round,
    /// A round of a loop, unless the command fails.
    MaybeRound,
    /// A round, in a state that is not known.
    Unknown,
}

/// Returns what a command ends. With anything but one number behind it, `exit` or `break` may fail.
fn may_end(command: &SimpleCommand, program: &str) -> Ends {
    let arguments = command.words.get(1..).unwrap_or_default();
    let is_plain = command.redirections.is_empty() && command.assignments.is_empty();
    let is_sure = is_plain && arguments.len() < 2 && arguments.iter().all(is_status);
    match program {
        "exit" if is_sure => Ends::Shell,
        "break" | "continue" if is_sure => Ends::Round,
        "break" | "continue" => Ends::MaybeRound,
        "eval" | "command" | "builtin" => {
            let mut words = arguments.iter();
            let leaves = words.any(|word| has_part(&word.text, &["break", "continue"]));
            if leaves { Ends::Unknown } else { Ends::Nothing }
        }
        _ => Ends::Nothing,
    }
}

fn is_status(word: &Word) -> bool {
    word.is_known() && is_number(&word.text) || word.text == "$?"
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
