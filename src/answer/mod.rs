//! What the exit code and the standard output of a hook mean.

mod stdout;

pub(crate) use stdout::{MAX_ASYNC_LINE, Stdout, asks_for_background};

use crate::event::{Contract, FailureMode};
use crate::wire::Input;

/// Exit code of a hook that blocks.
pub(crate) const BLOCK: i32 = 2;
/// Exit codes of a shell that can't run or find the program.
pub(crate) const NOT_RUN: [i32; 2] = [126, 127];

/// Returns whether an exit code and stdout deny, ask or are a failure.
pub(crate) fn is_strict(code: i32, stdout: &[u8], contract: &Contract, input: &Input) -> bool {
    code == BLOCK
        || NOT_RUN.contains(&code)
        || signal(code).is_some()
        || match Stdout::read(stdout, contract.failure != FailureMode::Open) {
            Stdout::Answer(output) => output.holds_up() || output.lacks_an_answer(input).is_some(),
            Stdout::Malformed(_) | Stdout::Background => true,
            Stdout::Empty | Stdout::Text(_) => false,
        }
}

/// Returns the signal that a shell reports by its own exit code: 128 and the signal's number, 1 to
/// 64 with the real-time signals.
pub(crate) fn signal(code: i32) -> Option<i32> {
    (129..=192).contains(&code).then(|| code - 128)
}
