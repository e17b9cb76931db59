//! Hooks and hooks files that don't count as they stand or can't be built, and why.

use std::sync::Arc;

use hookexec_files::diagnostic::Diagnostic;
use hookexec_files::source::Location;
use hookexec_files::text::counted;

use super::model::{Hook, OnError};

/// Why a hook must not run, although it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untrusted {
    /// The cause, in words that a model may read.
    pub cause: Arc<str>,
    /// The remedy of the user; a model must not see it.
    pub remedy: Arc<str>,
    /// Whether the hook stands for a whole file that fails.
    of_file: bool,
}

/// A hooks file that doesn't count as it stands, or a place that should have one: it can't be
/// loaded, or no person approved it.
///
/// An executor runs it as one hook that always fails, so that the absence of a guard is never taken
/// for its permission. The hooks of all other files run as ever.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FailedFile {
    /// The file or directory, and its layer.
    pub location: Location,
    /// The meaning of a failure; the event's contract decides when `None`.
    pub on_error: Option<OnError>,
    /// The cause, in words that a model may read.
    pub cause: Arc<str>,
    /// The remedy of the user; a model must not see it.
    pub remedy: Arc<str>,
    /// The act of a person, in one word, if it fails because it is not as a person approved it.
    pub person_must: Option<&'static str>,
}

impl Untrusted {
    pub(crate) fn new(cause: impl Into<Arc<str>>, remedy: Arc<str>) -> Self {
        Self { cause: cause.into(), remedy, of_file: false }
    }
}

impl Hook {
    /// Returns whether it stands for a file that fails.
    pub(crate) fn is_failed_file(&self) -> bool {
        self.untrusted.as_ref().is_some_and(|untrusted| untrusted.of_file)
    }
}

impl FailedFile {
    /// Returns the failure of a file at every event, by the event's contract.
    pub fn new(
        location: Location,
        cause: impl Into<Arc<str>>,
        remedy: impl Into<Arc<str>>,
    ) -> Self {
        let (cause, remedy) = (cause.into(), remedy.into());
        Self { location, on_error: None, cause, remedy, person_must: None }
    }

    /// Returns which file fails and why, in words that a model may read.
    pub fn message(&self) -> String {
        Self::message_at(&self.location, &self.cause)
    }

    /// Returns which file fails, why, and what the user can do. The text is for a person, not for a
    /// model.
    pub fn notice(&self) -> String {
        format!("{}; {}", self.message(), self.remedy)
    }

    /// Returns its problem: an error, unless a person may still let it count, or its hooks are merely gone.
    pub(super) fn problem(&self) -> Diagnostic {
        let problem = match (self.person_must, self.on_error) {
            (Some(_), _) => Diagnostic::warning(format!("{}: its hooks fail", self.cause)),
            (None, Some(OnError::Warn)) => Diagnostic::warning(&*self.cause),
            _ => Diagnostic::error(&*self.cause),
        };
        problem.hint(&*self.remedy).at(self.location.clone())
    }

    /// Returns why a hook that stands for it must not run.
    pub(crate) fn untrusted(&self) -> Untrusted {
        let cause = match self.person_must {
            Some(verb) => format!("{}. A person must {verb} it.", self.cause).into(),
            None => Arc::clone(&self.cause),
        };
        Untrusted { cause, remedy: Arc::clone(&self.remedy), of_file: true }
    }

    /// Returns the message of a file at `location` that fails for `cause`.
    pub(crate) fn message_at(location: &Location, cause: &str) -> String {
        match cause.strip_prefix("this file ") {
            Some(rest) => format!("{location} {rest}"),
            None => format!("{location}: {cause}"),
        }
    }

    /// Returns the failure of a file that can't be loaded for these `problems`.
    pub(crate) fn unloadable<'p>(
        location: Location,
        problems: impl IntoIterator<Item = &'p Diagnostic>,
    ) -> Self {
        let mut cause = "this file can't be loaded".to_owned();
        let mut errors = 0;
        for error in problems.into_iter().filter(|problem| problem.is_error()) {
            errors += 1;
            if errors == 1 {
                cause.extend([": ", &error.message]);
                cause.extend(error.hint.iter().flat_map(|hint| ["; ", hint]));
            }
        }
        if errors > 1 {
            cause.extend([" (and ", &counted(errors - 1, "more error"), ")"]);
        }
        Self::new(location, cause, "run `hookexec check`: it shows every error and its place")
    }
}

/// A hook that can't be built from its definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
#[must_use]
pub struct BuildError {
    /// The mistake.
    pub message: String,
    /// The key that is wrong; `None` means the whole hook.
    pub key: Option<&'static str>,
    /// The remedy.
    pub hint: Option<String>,
    /// Mistakes that have a place of their own; then this error has no message.
    problems: Vec<Diagnostic>,
}

impl BuildError {
    /// Returns an error about the hook as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), key: None, hint: None, problems: Vec::new() }
    }

    /// Returns an error for several mistakes, each of which has its place.
    pub(crate) fn of_problems(problems: impl IntoIterator<Item = Diagnostic>) -> Self {
        let problems: Vec<Diagnostic> = problems.into_iter().collect();
        let message = problems.first().map(|problem| problem.message.clone());
        Self { problems, ..Self::new(message.unwrap_or_default()) }
    }

    /// Returns the mistakes in the definition of `hook`.
    pub(crate) fn of_hook(self, hook: &Hook) -> Vec<Diagnostic> {
        if !self.problems.is_empty() {
            return self.problems;
        }
        let place = self.key.and_then(|key| hook.key_locations.get(key)).unwrap_or(&hook.location);
        let mut diagnostic = Diagnostic::error(self.message).at(place.clone());
        diagnostic.hint = self.hint;
        vec![diagnostic]
    }

    /// Points at one key of the hook.
    pub fn at(mut self, key: &'static str) -> Self {
        self.key = Some(key);
        self
    }

    /// Adds an instruction: what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
