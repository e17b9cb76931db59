//! The exit codes, which for `run` are the answer itself.

use std::process::ExitCode;

use hookexec::{Decision, Verdict};

/// The exit code of the process.
///
/// 2 is a denial and nothing else: the argument parser's own 2 is mapped to [`Exit::Usage`]. The
/// codes from 64 on are those of `sysexits.h`. Only 0 means "go on".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done; of `run`: it may go on.
    Success,
    /// 1: the answer is no: a file is not approved, a test failed.
    Negative,
    /// 2: denied.
    Denied,
    /// 3: a person must approve it first.
    Ask,
    /// 64: wrong arguments, for example an unknown event.
    Usage,
    /// 65: stdin holds no usable input.
    Data,
    /// 70: the program itself is at fault, or could not write its answer.
    Internal,
    /// 78: the configuration is broken, or not there.
    Config,
    /// The code with which the server behind `mcp` exited.
    Server(u8),
    /// 128 and the number of the signal that ended it before there was an answer.
    Interrupted(u8),
}

impl Exit {
    /// Returns the exit code that stands for a verdict.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        match (verdict.allowed, verdict.decision) {
            (true, _) => Self::Success,
            (false, Some(Decision::Ask)) => Self::Ask,
            (false, _) => Self::Denied,
        }
    }

    /// Returns the code itself.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Negative => 1,
            Self::Denied => 2,
            Self::Ask => 3,
            Self::Usage => 64,
            Self::Data => 65,
            Self::Internal => 70,
            Self::Config => 78,
            Self::Server(code) => code,
            Self::Interrupted(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// The exit of a subcommand that has done its work and has no answer of its own.
impl From<()> for Exit {
    fn from((): ()) -> Self {
        Self::Success
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use hookexec::Event;

    use super::*;

    #[test]
    fn only_an_allowed_verdict_is_a_success() {
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        assert_eq!(Exit::of(&verdict), Exit::Success);
        verdict.decision = Some(Decision::Allow);
        assert_eq!(Exit::of(&verdict), Exit::Success);
        verdict.allowed = false;
        assert_eq!(Exit::of(&verdict), Exit::Denied);
        verdict.decision = Some(Decision::Ask);
        assert_eq!(Exit::of(&verdict), Exit::Ask);
        verdict.decision = None;
        assert_eq!(Exit::of(&verdict), Exit::Denied);
    }
}
