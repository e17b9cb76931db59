//! What a test case is.

use std::path::PathBuf;

use regex::Regex;

use crate::moment::Moment;
use hookexec::config::Location;
use hookexec::wire::{Decision, JsonObject, Output};

/// The cases of one file.
#[derive(Debug, Clone)]
pub struct CaseFile {
    /// The file.
    pub path: PathBuf,
    /// The hooks file that is tested; of several, the hooks add up.
    pub configs: Vec<PathBuf>,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// One event, and what the hooks should make of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, which no other case of the file has.
    pub name: String,
    /// What happened.
    pub moment: Moment,
    /// What hooks say that are not run, each by its name with the place it stands at.
    pub stubs: Vec<(String, Location, Stub)>,
    /// What should come out.
    pub expect: Expectation,
    /// Where it stands.
    pub location: Location,
}

/// What stands in for a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum Stub {
    /// It answers.
    Answer(Box<Output>),
    /// It can't give an answer, for this cause.
    Failure(String),
}

/// What should come out; what is `None` is not looked at.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// The decision; `Nothing` stands for no opinion.
    pub decision: Option<Expected<Decision>>,
    /// Whether it may go on.
    pub allowed: Option<bool>,
    /// The reasons.
    pub message: Option<TextExpectation>,
    /// The whole arguments of the tool; nothing when they must not change.
    pub updated_input: Option<Expected<JsonObject>>,
    /// The context for the model.
    pub additional_context: Option<TextExpectation>,
    /// The warnings for the user.
    pub system_message: Option<TextExpectation>,
    /// The hooks that run, and no others.
    pub ran: Option<Vec<(String, Location)>>,
    /// Hooks that must not run.
    pub not_run: Vec<(String, Location)>,
    /// The hooks that failed while the event went on.
    pub failed_open: Option<Vec<(String, Location)>>,
    /// What `hookexec run` would exit with.
    pub exit_code: Option<u8>,
}

/// What a value should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected<T> {
    /// There is none.
    Nothing,
    /// It is this one.
    Is(T),
}

impl<T> Expected<T> {
    /// Returns the value that is expected.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Nothing => None,
            Self::Is(value) => Some(value),
        }
    }
}

/// What a text should be.
#[derive(Debug, Clone)]
pub enum TextExpectation {
    /// There is none.
    Absent,
    /// It is this one.
    Is(String),
    /// A regular expression is found in it.
    Matches(Regex),
}

impl Expectation {
    /// Returns every hook that is named, with the place.
    pub(super) fn named_hooks(&self) -> impl Iterator<Item = &(String, Location)> {
        self.ran.iter().flatten().chain(&self.not_run).chain(self.failed_open.iter().flatten())
    }
}
