//! Names and kinds of tools.

use crate::calls::kinds;
use crate::tools::{TOOL_KINDS, other_names};
use hookexec::Input;
use hookexec_files::text::is_invisible;

use super::glob::one_fits;

/// The tool of a call: its old and new names, the names of MCP tools that it can be read as, and its
/// kinds.
#[derive(Debug)]
pub(super) struct CalledTool {
    /// The first is that of the call.
    names: Vec<String>,
    readings: Vec<String>,
    kinds: Vec<String>,
    /// Whether the name can't be that of a tool: a host that trims it would call another one.
    is_odd: bool,
}

impl CalledTool {
    pub(super) fn of(input: &Input) -> Self {
        let name = input.tool();
        let is_odd = name.is_empty() || name != name.trim() || name.contains(is_invisible);
        let mut names = vec![plain(name)];
        names.extend(other_names(name).map(plain));
        let mut all: Vec<String> = kinds(input).iter().map(|kind| plain(kind)).collect();
        all.retain(|kind| !names[1..].contains(kind));
        let (readings, kinds) = all.into_iter().partition(|kind| kind.starts_with("mcp__"));
        Self { names, readings, kinds, is_odd }
    }

    /// Returns whether it reads and changes files or addresses, and certainly does nothing else.
    pub(super) fn is_of_files(&self) -> bool {
        const KINDS: [&str; 7] = ["read", "write", "edit", "list", "glob", "grep", "fetch"];
        are_listed(&KINDS, &self.kinds)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        count_listed(&[kind], &self.kinds) > 0
    }

    /// Returns whether one of its names or kinds is listed.
    pub(super) fn is_one_of(&self, patterns: &[String]) -> bool {
        let all = [&self.names[..], &self.readings, &self.kinds].concat();
        self.is_odd || count_listed(patterns, &all) > 0
    }

    /// Returns whether it is listed under each name that it can be read as, or each of its kinds is.
    pub(super) fn is_certainly_one_of(&self, patterns: &[String]) -> bool {
        if self.is_odd {
            return false;
        }
        if are_listed(patterns, &self.kinds) || are_listed(patterns, &self.readings) {
            return true;
        }
        // The name of a kind says too little: Kiro's `write` also edits.
        let kind = TOOL_KINDS.iter().find(|(kind, _)| *kind == self.names[0]);
        kind.is_none() && count_listed(patterns, &self.names) > 0
    }
}

/// Returns whether there are names, and all of them are listed.
fn are_listed(patterns: &[impl AsRef<str>], names: &[String]) -> bool {
    !names.is_empty() && count_listed(patterns, names) == names.len()
}

/// Returns how many of the names are listed.
fn count_listed(patterns: &[impl AsRef<str>], names: &[String]) -> usize {
    let mut count = 0;
    for name in names {
        count += usize::from(one_fits(patterns, name));
    }
    count
}

/// Returns a name as names are compared: in small letters, and in that of an MCP tool `-` and `.` are
/// `_`.
pub(super) fn plain(name: &str) -> String {
    let name = name.to_lowercase();
    if name.starts_with("mcp__") { name.replace(['-', '.'], "_") } else { name }
}
