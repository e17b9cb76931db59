//! Names and kinds of tools.

use crate::calls::kinds;
use crate::tools::{TOOL_KINDS, other_names};
use hookexec::wire::Input;
use hookexec_files::text::is_invisible;

use super::glob::glob;

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
        let others: Vec<String> = other_names(name).map(plain).collect();
        let mut all: Vec<String> = kinds(input).iter().map(|kind| plain(kind)).collect();
        all.retain(|kind| !others.contains(kind));
        let (readings, kinds) = all.into_iter().partition(|kind| kind.starts_with("mcp__"));
        let names = [vec![plain(name)], others].concat();
        Self { names, readings, kinds, is_odd }
    }

    /// Returns whether it reads and changes files or addresses, and certainly does nothing else.
    pub(super) fn is_of_files(&self) -> bool {
        const KINDS: [&str; 7] = ["read", "write", "edit", "list", "glob", "grep", "fetch"];
        !self.kinds.is_empty() && self.kinds.iter().all(|kind| KINDS.contains(&kind.as_str()))
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }

    /// Returns whether one of its names or kinds is listed.
    pub(super) fn is_one_of(&self, patterns: &[String]) -> bool {
        let mut names = self.names.iter().chain(&self.readings).chain(&self.kinds);
        self.is_odd || names.any(|name| is_listed(patterns, name))
    }

    /// Returns whether it is listed under each name that it can be read as, or each of its kinds is.
    pub(super) fn is_certainly_one_of(&self, patterns: &[String]) -> bool {
        if self.is_odd {
            return false;
        }
        let are_kinds = are_listed(patterns, &self.kinds);
        // The name of a kind: Kiro's `write` also edits.
        let is_kind = TOOL_KINDS.iter().any(|(kind, _)| *kind == self.names[0]);
        are_kinds
            || are_listed(patterns, &self.readings)
            || !is_kind && self.names.iter().any(|name| is_listed(patterns, name))
    }
}

/// Returns whether there are names, and all of them are listed.
fn are_listed(patterns: &[String], names: &[String]) -> bool {
    !names.is_empty() && names.iter().all(|name| is_listed(patterns, name))
}

fn is_listed(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| glob(pattern, name))
}

/// Returns a name as names are compared: in small letters, and in that of an MCP tool `-` and `.` are
/// `_`.
pub(super) fn plain(name: &str) -> String {
    let name = name.to_lowercase();
    if name.starts_with("mcp__") { name.replace(['-', '.'], "_") } else { name }
}
