//! What must come of a hook's end: computed from the event's contract and the hook's `on_error`.

use hookexec::{Contract, Decision, Event, FailureMode, Permission};

/// The kinds of events that differ in what a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    FailsClosed,
    FailsToAsk,
    MayBlock,
    Observes,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] =
        [Self::FailsClosed, Self::FailsToAsk, Self::MayBlock, Self::Observes];

    /// Returns the first event of the contract table that is of this kind.
    pub(crate) fn event(self) -> Event {
        Event::all().find(|event| Self::of(event.contract()) == self).unwrap()
    }

    fn of(contract: &Contract) -> Self {
        match (contract.failure, contract.may_block) {
            (FailureMode::Closed, _) => Self::FailsClosed,
            (FailureMode::Ask, _) => Self::FailsToAsk,
            (_, true) => Self::MayBlock,
            (_, false) => Self::Observes,
        }
    }
}

/// What stands in a hook's `on_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnErrorKey {
    Unset,
    Block,
    Ask,
    Warn,
    Ignore,
}

impl OnErrorKey {
    pub(crate) const ALL: [Self; 5] =
        [Self::Unset, Self::Block, Self::Ask, Self::Warn, Self::Ignore];

    /// Returns the word for `hooks.yaml`.
    pub(crate) const fn word(self) -> Option<&'static str> {
        match self {
            Self::Unset => None,
            Self::Block => Some("block"),
            Self::Ask => Some("ask"),
            Self::Warn => Some("warn"),
            Self::Ignore => Some("ignore"),
        }
    }
}

/// How a hook ends, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ends {
    /// Without an answer.
    Fails,
    /// With an exit code that is an error of its own.
    Errs,
    /// With no opinion.
    Silent,
    /// With an allow.
    Allows,
    /// Before it begins: the hooks file is refused.
    Refused,
}

/// What is decided, as expected and as seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The hooks file can't be loaded.
    Refused,
    /// The event goes on, and nothing has failed.
    Fine(Option<Decision>),
    /// The failure decides.
    Decided(Decision),
    /// The event goes on, and the user is told of the failure.
    Warned,
    /// The event goes on, and the failure stands in the report.
    Noted,
}

/// Returns what must come of a hook that ends in this way.
pub(crate) fn expected(contract: &Contract, on_error: OnErrorKey, ends: Ends) -> Outcome {
    let blocks = matches!(on_error, OnErrorKey::Block | OnErrorKey::Ask);
    if ends == Ends::Refused || (blocks && !contract.may_block) {
        return Outcome::Refused;
    }
    let on_error = match (ends, on_error) {
        (Ends::Silent | Ends::Refused, _) => return Outcome::Fine(None),
        (Ends::Allows, _) => {
            return Outcome::Fine(contract.may_block.then_some(Decision::Allow));
        }
        (Ends::Fails, OnErrorKey::Unset) if contract.fails_closed() => OnErrorKey::Block,
        (Ends::Fails, OnErrorKey::Unset) if contract.failure == FailureMode::Ask => OnErrorKey::Ask,
        // Also of an error, whatever the event is: by convention it blocks nothing.
        (_, OnErrorKey::Unset) => OnErrorKey::Warn,
        (_, said) => said,
    };
    match on_error {
        OnErrorKey::Ask if contract.permission != Permission::None => {
            Outcome::Decided(Decision::Ask)
        }
        OnErrorKey::Block | OnErrorKey::Ask => Outcome::Decided(Decision::Deny),
        OnErrorKey::Ignore => Outcome::Noted,
        OnErrorKey::Warn | OnErrorKey::Unset => Outcome::Warned,
    }
}
