//! Runs the parser, within bounds of size, time and stack.

use std::thread;

use rable::Node;

use super::{unreadable, walk};
use hookexec::describe::Command;

/// The longest text that is parsed, in bytes.
const LONGEST: usize = 32 << 10;
/// The stack of the thread that parses. The parser calls itself for each level of nesting. A text of
/// [`LONGEST`] bytes needs less than 64 MiB in a build without optimisation. The system provides
/// only the pages that are touched.
const STACK: usize = 256 << 20;
/// The parser reads the text of a substitution again for each substitution around it. The length,
/// times the square of the number of substitutions, is at most this: 50 ms.
const MOST_WORK: usize = 256 << 10;
/// How many operators, braces and lines a text may have. They bound the number of commands, and from
/// each `{` the parser looks for the end of the text.
const MOST_OPERATORS: usize = 4_000;

/// Returns the commands of a shell text; one that is uncertain if it can't be read.
pub(super) fn commands_of_text(text: &str) -> Vec<Command> {
    let is_comment = |line: &str| line.trim_start().starts_with('#') || line.trim().is_empty();
    let runs_something = !text.lines().all(is_comment);
    let commands = in_thread(text).filter(|found| !found.is_empty() || !runs_something);
    commands.unwrap_or_else(|| vec![unreadable()])
}

fn in_thread(text: &str) -> Option<Vec<Command>> {
    if !is_within_bounds(text) {
        return None;
    }
    thread::scope(|scope| {
        let parser = thread::Builder::new().name("hookexec-shell".into()).stack_size(STACK);
        parser.spawn_scoped(scope, || walk::commands(text)).ok()?.join().ok()?
    })
}

/// Parses `text`; `None` if it is not a text of a shell, or outside of the bounds.
pub(super) fn parse(text: &str) -> Option<Vec<Node>> {
    if is_within_bounds(text) { rable::parse(text, false).ok() } else { None }
}

fn is_within_bounds(text: &str) -> bool {
    if text.len() > LONGEST || text.contains('\0') {
        return false;
    }
    let substitutions = substitutions(text) + 1;
    text.len().saturating_mul(substitutions * substitutions) <= MOST_WORK
        && text.bytes().filter(|byte| b";&|\n({".contains(byte)).count() <= MOST_OPERATORS
}

/// Returns how many substitutions a text has at most; a shell joins continued lines first.
pub(super) fn substitutions(text: &str) -> usize {
    let text = text.replace("\\\n", "");
    let bytes = text.as_bytes();
    let opens = |pair: &&[u8]| pair[1] == b'(' && matches!(pair[0], b'$' | b'<' | b'>');
    let opened = bytes.windows(2).filter(opens).count();
    opened + bytes.iter().filter(|byte| **byte == b'`').count().div_ceil(2)
}
