//! What a test case is.

use std::path::PathBuf;

use regex::Regex;

use super::case_keys::Expectation;
use crate::moment::Moment;
use hookexec::config::Location;
use hookexec::handler::{HandlerError, HandlerResult};

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
