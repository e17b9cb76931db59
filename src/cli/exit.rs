//! The exit codes, which for `run` are the answer itself.

use std::process::ExitCode;

/// What the process exits with.
///
/// 2 is a denial and nothing else: the argument parser's own 2 is mapped to [`Exit::Usage`]. The
/// codes from 64 on are those of `sysexits.h`. None of them but 0 means "go on".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; of `run`: it may go on.
    Success = 0,
    /// Wrong arguments, among them an event that nobody knows.
    Usage = 64,
    /// The program itself is at fault, or could not write its answer.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
