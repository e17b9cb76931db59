//! The exit codes, which for `run` are the answer itself.

use std::process::ExitCode;

use hookexec::{Decision, Verdict};

/// The exit code of the process.
///
/// 2 is a denial and nothing else: the argument parser's own 2 is mapped to [`Exit::USAGE`]. The
/// codes from 64 on are those of `sysexits.h`. Only 0 means "go on".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    /// Done; of `run`: it may go on.
    pub(crate) const SUCCESS: Self = Self(0);
    /// The answer is no: a file is not approved, a test failed.
    pub(crate) const NEGATIVE: Self = Self(1);
    /// Denied.
    pub(crate) const DENIED: Self = Self(2);
    /// A person must approve it first.
    pub(crate) const ASK: Self = Self(3);
    /// Wrong arguments, for example an unknown event.
    pub(crate) const USAGE: Self = Self(64);
    /// Stdin holds no usable input.
    pub(crate) const DATA: Self = Self(65);
    /// The program itself is at fault, or could not write its answer.
    pub(crate) const INTERNAL: Self = Self(70);
    /// The configuration is broken, or not there.
    pub(crate) const CONFIG: Self = Self(78);

    /// Returns the exit code that stands for a verdict.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        match (verdict.allowed, verdict.decision) {
            (true, _) => Self::SUCCESS,
            (false, Some(Decision::Ask)) => Self::ASK,
            (false, _) => Self::DENIED,
        }
    }

    /// Returns the exit code that says that a signal ended it before there was an answer.
    pub(crate) fn interrupted(signal: u8) -> Self {
        Self(128_u8.saturating_add(signal))
    }
}

/// The exit of a subcommand that has done its work and has no answer of its own.
impl From<()> for Exit {
    fn from((): ()) -> Self {
        Self::SUCCESS
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

#[cfg(test)]
mod tests {
    use hookexec::Event;

    use super::*;

    #[test]
    fn only_an_allowed_verdict_is_a_success() {
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        assert_eq!(Exit::of(&verdict), Exit::SUCCESS);
        verdict.decision = Some(Decision::Allow);
        assert_eq!(Exit::of(&verdict), Exit::SUCCESS);
        verdict.allowed = false;
        assert_eq!(Exit::of(&verdict), Exit::DENIED);
        verdict.decision = Some(Decision::Ask);
        assert_eq!(Exit::of(&verdict), Exit::ASK);
        verdict.decision = None;
        assert_eq!(Exit::of(&verdict), Exit::DENIED);
    }
}
