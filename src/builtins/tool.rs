//! What a tool does, as far as its kinds or the table of tools tell.

use crate::tools::{TOOL_KINDS, kinds_anywhere};
use crate::wire::Input;

/// Returns the kinds of the tool: those that the host gives, else those in the table of tools.
pub(super) fn kinds(input: &Input) -> Vec<String> {
    let is_kind = |name: &str| TOOL_KINDS.iter().any(|(kind, _)| *kind == name);
    let mut kinds = match &*input.tool_kinds {
        [] => kinds_anywhere(input.tool()),
        known => known.to_vec(),
    };
    // A tool that is called like its kind does not repeat it.
    if is_kind(input.tool()) {
        kinds.push(input.tool().to_owned());
    }
    kinds
}

/// Returns whether it is certain that the tool writes nothing.
pub(super) fn only_reads(input: &Input) -> bool {
    input.tool_read_only == Some(true) || is_only(input, &["read", "list", "glob", "grep"])
}

/// Returns whether it is certain that the tool shows nothing of what was there.
pub(super) fn only_writes(input: &Input) -> bool {
    !only_reads(input) && is_only(input, &["write"])
}

/// A tool of several kinds is only what all of them are.
fn is_only(input: &Input, wanted: &[&str]) -> bool {
    let kinds = kinds(input);
    !kinds.is_empty() && kinds.iter().all(|kind| wanted.contains(&kind.as_str()))
}
