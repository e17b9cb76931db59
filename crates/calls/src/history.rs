//! The steps of a shell before a command: the directories it went to, and the variables it set.

use std::sync::Arc;

use super::command::Word;

/// The steps of a shell, the latest first. A subshell goes on with those of the shell around it.
#[derive(Debug, Clone, Default)]
pub struct History(Option<Arc<Step>>);

/// One step, and those before it.
#[derive(Debug)]
pub struct Step {
    /// The step itself.
    pub change: Change,
    /// The steps before it.
    pub before: History,
    count: usize,
}

/// A step of a shell.
#[derive(Debug, Clone)]
pub enum Change {
    /// It went to the directory of this word, to the home without one. Unless that is sure, it may
    /// have stayed where it was.
    Went {
        /// The word; none for the home.
        to: Option<Word>,
        /// Whether it certainly went there.
        is_sure: bool,
    },
    /// It went to a directory that is not known.
    Strayed,
    /// It set a variable: `NAME=value`.
    Set(Word),
    /// Or it did this instead.
    MayBe(History),
}

impl History {
    /// Returns the latest step.
    pub fn last(&self) -> Option<&Arc<Step>> {
        self.0.as_ref()
    }

    pub(super) fn add(&mut self, change: Change) {
        if !self.is_full() {
            let count = self.0.as_ref().map_or(1, |step| step.count + 1);
            let before = std::mem::take(self);
            self.0 = Some(Arc::new(Step { change, before, count }));
        }
    }

    /// Returns whether there may be more steps than are kept. No command is read behind them.
    pub(super) fn is_full(&self) -> bool {
        matches!(&self.0, Some(step) if step.count > 200)
    }

    /// Notes that the shell may also be as it is after `before`, and returns whether that differs.
    pub(super) fn may_be(&mut self, before: &Self) -> bool {
        let is_same = self.last().map(Arc::as_ptr) == before.last().map(Arc::as_ptr);
        if !is_same {
            self.add(Change::MayBe(before.clone()));
        }
        !is_same
    }

    /// Returns whether the shell may be in another directory than it began in.
    pub fn has_moved(&self) -> bool {
        let mut next = self;
        while let Some(step) = next.last() {
            match &step.change {
                Change::Set(_) => {}
                Change::MayBe(other) if !other.has_moved() => {}
                _ => return true,
            }
            next = &step.before;
        }
        false
    }

    /// Goes on with what one of several branches did.
    pub(super) fn join(&mut self, branches: Vec<Self>) {
        for branch in branches {
            self.may_be(&branch);
        }
    }

    /// Notes that the last command succeeded: the shell is in the directory that it went to.
    pub(super) fn confirm(&mut self) {
        let Some(step) = &self.0 else { return };
        if let Change::Went { to, is_sure: false } = &step.change {
            let to = to.clone();
            *self = step.before.clone();
            self.add(Change::Went { to, is_sure: true });
        }
    }

    /// Notes the variables that words set: `NAME=value`.
    pub(super) fn assign(&mut self, words: &[Word]) {
        for word in words {
            if word.text.contains('=') {
                self.add(Change::Set(word.clone()));
            }
        }
    }

    /// Notes what a program did to its shell.
    pub(super) fn note(&mut self, program: &str, arguments: &[Word]) {
        match program {
            "cd" | "chdir" | "pushd" => {
                // `cd -` goes back, and an option that a shell lacks makes `cd` fail.
                let has_option = arguments.iter().any(|word| word.text.starts_with('-'));
                let strays = has_option || arguments.is_empty() && program == "pushd";
                let to = arguments.first().cloned();
                self.add(if strays {
                    Change::Strayed
                } else {
                    Change::Went { to, is_sure: false }
                });
            }
            "popd" => self.add(Change::Strayed),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.assign(arguments),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "printf" => {
                for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
                    self.add(Change::Set(Word::unknown("$0").behind(&format!("{}=", word.text))));
                }
            }
            _ => {}
        }
    }
}
