//! What a test case is.

use std::path::PathBuf;

use regex::Regex;

use crate::moment::Moment;
use hookexec::config::Location;
use hookexec::handler::{HandlerError, HandlerResult};
use hookexec::wire::{Decision, JsonObject};

/// The cases of one file.
#[derive(Debug, Clone)]
pub(crate) struct CaseFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// The hooks file that is tested; of several, the hooks add up.
    pub(crate) configs: Vec<PathBuf>,
    /// The cases, in the order of the file.
    pub(crate) cases: Vec<Case>,
}

/// One event, and what the hooks should make of it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its name, which no other case of the file has.
    pub(crate) name: String,
    /// What happened.
    pub(crate) moment: Moment,
    /// What hooks say that are not run, each by its name with the place it stands at.
    pub(crate) stubs: Vec<(String, Location, Stub)>,
    /// What should come out.
    pub(crate) expect: Expectation,
    /// Where it stands.
    pub(crate) location: Location,
}

/// What stands in for a hook.
pub(crate) type Stub = Result<HandlerResult, HandlerError>;

/// What should come out; what is `None` is not looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expectation {
    /// The decision; `Nothing` stands for no opinion.
    pub(crate) decision: Option<Expected<Decision>>,
    /// Whether it may go on.
    pub(crate) allowed: Option<bool>,
    /// The reasons.
    pub(crate) message: Option<TextExpectation>,
    /// The whole arguments of the tool; nothing when they must not change.
    pub(crate) updated_input: Option<Expected<JsonObject>>,
    /// The context for the model.
    pub(crate) additional_context: Option<TextExpectation>,
    /// The warnings for the user.
    pub(crate) system_message: Option<TextExpectation>,
    /// The hooks that run, and no others.
    pub(crate) ran: Option<Vec<(String, Location)>>,
    /// Hooks that must not run.
    pub(crate) not_run: Vec<(String, Location)>,
    /// The hooks that failed while the event went on.
    pub(crate) failed_open: Option<Vec<(String, Location)>>,
    /// What `hookexec run` would exit with.
    pub(crate) exit_code: Option<u8>,
}

/// What a value should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected<T> {
    /// There is none.
    Nothing,
    /// It is this one.
    Is(T),
}

impl<T> Expected<T> {
    /// Returns the value that is expected.
    pub(crate) fn value(&self) -> Option<&T> {
        match self {
            Self::Nothing => None,
            Self::Is(value) => Some(value),
        }
    }
}

/// What a text should be.
#[derive(Debug, Clone)]
pub(crate) enum TextExpectation {
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
