//! Names and kinds of tools.

use std::borrow::Cow;

use hookexec::Input;
use hookexec_calls::kinds;
use hookexec_calls::tools::{TOOL_KINDS, other_names};
use hookexec_files::text::is_invisible;

use crate::names::FILE_KINDS;
use hookexec_files::glob::glob;

/// The name of a tool, of a kind of tools, or a pattern of these, in small letters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolName {
    written: Cow<'static, str>,
    /// In the name of an MCP tool `-` and `.` are `_`: agents differ in them.
    plain: Cow<'static, str>,
}

impl ToolName {
    fn of(name: &str) -> Self {
        Self::listed(Cow::Owned(name.to_lowercase()))
    }

    /// Returns the name of a list, which is not copied if it has small letters alone.
    pub(super) fn listed(name: Cow<'static, str>) -> Self {
        if name.contains(|letter: char| !letter.is_ascii_lowercase() && !"_*".contains(letter)) {
            let written = name.to_lowercase();
            let is_of_server = is_of_server(&written);
            let plain =
                if is_of_server { written.replace(['-', '.'], "_") } else { written.clone() };
            return Self { written: Cow::Owned(written), plain: Cow::Owned(plain) };
        }
        Self { written: name.clone(), plain: name }
    }
}

fn is_of_server(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// The tool of a call: its old and new names, the names of MCP tools that it can be read as, and its
/// kinds.
#[derive(Debug)]
pub(super) struct CalledTool {
    /// The first is that of the call.
    names: Vec<ToolName>,
    readings: Vec<ToolName>,
    kinds: Vec<ToolName>,
    /// Whether the name can't be that of a tool: a host that trims it would call another one.
    is_odd: bool,
}

impl CalledTool {
    pub(super) fn of(input: &Input) -> Self {
        let name = input.tool();
        let is_odd = name.is_empty() || name != name.trim() || name.contains(is_invisible);
        let mut names = vec![ToolName::of(name)];
        names.extend(other_names(name).map(ToolName::of));
        let (mut readings, mut others) = (Vec::new(), Vec::new());
        for kind in kinds(input) {
            let kind = ToolName::of(&kind);
            if is_of_server(&kind.plain) {
                readings.push(kind);
            } else if !names[1..].contains(&kind) {
                others.push(kind);
            }
        }
        Self { names, readings, kinds: others, is_odd }
    }

    /// Returns whether it reads and changes files or addresses, and certainly does nothing else.
    pub(super) fn is_of_files(&self) -> bool {
        let mut kinds = self.kinds.iter();
        !self.kinds.is_empty() && kinds.all(|kind| FILE_KINDS.contains(&&*kind.plain))
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|own| own.plain == kind)
    }

    /// Returns whether one of its names or kinds is listed.
    pub(super) fn is_one_of(&self, patterns: &[ToolName]) -> bool {
        for name in [&self.names, &self.readings, &self.kinds].into_iter().flatten() {
            if patterns.iter().any(|pattern| glob(&pattern.plain, &name.plain)) {
                return true;
            }
        }
        self.is_odd
    }

    /// Returns whether it is listed under each name that it can be read as, or each of its kinds is.
    /// The name counts as it is written: `a-b` and `a_b` may be two servers.
    pub(super) fn is_certainly_one_of(&self, patterns: &[ToolName]) -> bool {
        if self.is_odd {
            return false;
        }
        for names in [&self.kinds, &self.readings] {
            if !names.is_empty() && names.iter().all(|name| is_listed(patterns, name)) {
                return true;
            }
        }
        // The name of a kind says too little: Kiro's `write` also edits.
        let kind = TOOL_KINDS.iter().find(|(kind, _)| *kind == self.names[0].plain);
        kind.is_none() && self.names.iter().any(|name| is_listed(patterns, name))
    }
}

/// Returns whether a name is listed as it is written.
fn is_listed(patterns: &[ToolName], name: &ToolName) -> bool {
    patterns.iter().any(|pattern| glob(&pattern.written, &name.written))
}
