//! The meaning of the exit code and the standard output of a hook.

mod stdout;

pub(crate) use stdout::{MAX_ASYNC_LINE, Stdout, Suspect, asks_for_background};

/// Exit code of a hook that blocks.
pub(crate) const BLOCK: i32 = 2;
/// Exit codes of a shell that can't run or find the program.
pub(crate) const NOT_RUN: [i32; 2] = [126, 127];

/// Returns the signal that a shell reports by its own exit code: 128 and the signal's number, 1 to
/// 64 with the real-time signals.
pub(crate) fn signal(code: i32) -> Option<i32> {
    if (129..=192).contains(&code) { Some(code - 128) } else { None }
}
