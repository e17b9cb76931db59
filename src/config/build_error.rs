//! The error of a hook that can't be built.

use super::{Diagnostic, Hook};

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
