//! Tells by its kinds, or by the table of tools, whether a tool reads or writes.

pub(super) use crate::calls::kinds;
use hookexec::wire::Input;

/// Returns whether it is certain that the tool writes nothing.
pub(crate) fn only_reads(input: &Input) -> bool {
    input.tool_read_only == Some(true) || is_only(input, &["read", "list", "glob", "grep"])
}

/// Returns whether it is certain that the tool shows nothing of what was there.
pub(crate) fn only_writes(input: &Input) -> bool {
    !only_reads(input) && is_only(input, &["write"])
}

/// A tool of several kinds is only what all of them are.
fn is_only(input: &Input, wanted: &[&str]) -> bool {
    let kinds = kinds(input);
    !kinds.is_empty() && kinds.iter().all(|kind| wanted.contains(&kind.as_str()))
}
