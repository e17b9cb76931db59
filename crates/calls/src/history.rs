//! The steps of a shell before a command: the directories it went to, and the variables it set.

use std::sync::Arc;

use super::command::Word;
use hookexec_files::text::name_length;

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
    /// Whether the shell may be in another directory than it began in.
    has_moved: bool,
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
    /// It set a variable to each of the words that a word of a loop becomes.
    Each(Word),
    /// It is another shell, or may have set any variable: it may not have those of the one before.
    Other,
    /// Or it did this instead.
    MayBe(History),
    /// It may do one more round of a loop. These are the steps up to the end of the round before the last.
    Round(History),
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
            let moves = match &change {
                Change::Set(_) | Change::Each(_) | Change::Other | Change::Round(_) => false,
                Change::MayBe(other) => other.has_moved(),
                Change::Went { .. } | Change::Strayed => true,
            };
            let has_moved = moves || before.has_moved();
            self.0 = Some(Arc::new(Step { change, before, count, has_moved }));
        }
    }

    /// Returns whether there may be more steps than are kept. No command is read behind them.
    pub(super) fn is_full(&self) -> bool {
        matches!(&self.0, Some(step) if step.count > 200)
    }

    /// Returns whether the other one has the same steps.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self.last(), other.last()) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    /// Notes that the shell may also be as it is after `other`, and returns whether that differs.
    pub(super) fn may_be(&mut self, other: &Self) -> bool {
        if self.is(other) || self.is_confirmed_by(other) {
            return false;
        }
        self.add(Change::MayBe(other.clone()));
        true
    }

    /// Returns whether the other one has the same last step, which is certain there.
    fn is_confirmed_by(&self, other: &Self) -> bool {
        let (Some(own), Some(other)) = (self.last(), other.last()) else { return false };
        let (Change::Went { to, is_sure: false }, Change::Went { to: other_to, is_sure: true }) =
            (&own.change, &other.change)
        else {
            return false;
        };
        own.before.is(&other.before) && to == other_to
    }

    /// Returns whether the shell may be in another directory than it began in.
    pub fn has_moved(&self) -> bool {
        matches!(self.last(), Some(step) if step.has_moved)
    }

    /// Returns the steps if the last one, which went to a directory, succeeded.
    fn confirmed(&self) -> Self {
        let Some(step) = &self.0 else { return self.clone() };
        let Change::Went { to, .. } = &step.change else { return self.clone() };
        let mut confirmed = step.before.clone();
        confirmed.add(Change::Went { to: to.clone(), is_sure: true });
        confirmed
    }

    /// Notes the variables that words set: `NAME=value`.
    pub(super) fn assign(&mut self, words: &[Word]) {
        for word in words {
            let (name, is_set) = match word.text.split_once('=') {
                Some((name, _)) => (name, true),
                None => (&*word.text, false),
            };
            // `export $(cat f)` may set each variable, and so may `declare "x$n=1"`.
            if name.contains(['$', '`']) {
                self.add(Change::Other);
            } else if is_set {
                self.add(Change::Set(word.clone()));
            }
        }
    }

    /// Notes that the value of a variable is not known any more.
    pub(super) fn forget(&mut self, name: &str) {
        self.add(Change::Set(Word::unknown("$0").behind(&format!("{name}="))));
    }

    /// Notes that the shell may have gone to a directory that is not known.
    pub(super) fn may_stray(&mut self) {
        let before = self.clone();
        self.add(Change::Strayed);
        self.may_be(&before);
    }

    /// Notes what a program did to its shell.
    pub(super) fn note(&mut self, program: &str, arguments: &[Word]) {
        match program {
            "cd" | "chdir" | "pushd" => {
                let arguments = behind_plain_options(arguments);
                // `cd -` goes back, and an option that a shell lacks makes `cd` fail. `cd x y` fails in bash,
                // and puts a text in the place of another in zsh.
                let has_option = arguments.iter().any(|word| word.text.starts_with('-'));
                if has_option || arguments.is_empty() && program == "pushd" {
                    self.add(Change::Strayed);
                } else if arguments.len() > 1 {
                    self.may_stray();
                } else {
                    let to = arguments.first().cloned();
                    self.add(Change::Went { to, is_sure: false });
                }
            }
            "popd" => self.add(Change::Strayed),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.assign(arguments),
            // Without `-v` it sets nothing.
            "printf" if !matches!(arguments, [word, ..] if word.text.starts_with("-v")) => {}
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "printf" | "let" => {
                match program {
                    "read" => self.forget("REPLY"),
                    "getopts" => self.forget("OPTARG"),
                    _ => {}
                }
                for word in arguments {
                    let name = word.text.strip_prefix("-v").unwrap_or(&word.text);
                    let name = &name[..name_length(name)];
                    if !name.is_empty() {
                        self.forget(name);
                    } else if word.text.starts_with(['$', '`']) {
                        self.add(Change::Other);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the words of `cd` behind the options that each shell has.
fn behind_plain_options(mut words: &[Word]) -> &[Word] {
    while let [option, behind @ ..] = words
        && matches!(&*option.text, "--" | "-L" | "-P")
    {
        words = behind;
    }
    words
}

/// The states of a shell behind commands, by how they ended; none where it does not go on.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    pub(super) success: Option<History>,
    pub(super) failure: Option<History>,
}

impl Outcome {
    /// Returns that of commands after which the shell is in the same state, however they ended.
    pub(super) fn of(history: &History) -> Self {
        Self { success: Some(history.clone()), failure: Some(history.clone()) }
    }

    /// Returns that of a command before which the shell was in another state.
    pub(super) fn of_command(program: &str, before: &History, after: &History) -> Self {
        let mut outcome = Self::of(after);
        let Some(Change::Went { .. }) = after.last().map(|step| &step.change) else {
            return outcome;
        };
        // Shells differ in what `command cd x` and `pushd x` do.
        let (is_alone, may_stay) = match program {
            "cd" => (true, false),
            "chdir" | "pushd" => (true, true),
            _ => (false, matches!(program, "command" | "builtin")),
        };
        if may_stay {
            outcome.failure = either(outcome.failure, Some(before.clone()));
        }
        outcome.success = if is_alone { Some(after.confirmed()) } else { outcome.failure.clone() };
        outcome
    }

    /// Returns that of one of two commands.
    pub(super) fn or(self, other: Self) -> Self {
        let success = either(self.success, other.success);
        Self { success, failure: either(self.failure, other.failure) }
    }

    /// Returns that of a command behind `!`.
    pub(super) fn negated(self) -> Self {
        Self { success: self.failure, failure: self.success }
    }

    /// Returns the state, however the commands ended.
    pub(super) fn any(self) -> Option<History> {
        either(self.failure, self.success)
    }
}

/// Returns the state of a shell that is in one of two.
pub(super) fn either(one: Option<History>, other: Option<History>) -> Option<History> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.may_be(&other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}
