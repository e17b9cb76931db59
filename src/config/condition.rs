//! `when:` conditions: one field and one operator a leaf, joined with `all`, `any`, `not`.

use crate::wire::Input;

/// A condition on an event's input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Condition {
    /// Every part holds.
    All(Vec<Condition>),
    /// At least one part holds.
    Any(Vec<Condition>),
    /// The part does not hold.
    Not(Box<Condition>),
}

impl Condition {
    /// Returns whether `input` meets the condition.
    #[must_use]
    #[expect(clippy::only_used_in_recursion, reason = "leaves read it")]
    pub fn holds(&self, input: &Input) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(input)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(input)),
            Self::Not(part) => !part.holds(input),
        }
    }
}
