//! A tool call as another agent would see it: under its names of tools and arguments.

use super::arguments::{self, Call};
use crate::agents::Agent;
use crate::agents::tools::{self, Mcp};
use crate::wire::{Input, JsonObject};

/// What Claude Code calls the tools of a kind.
///
/// A tool of a kind that is not here, and one of no kind, keeps its own name.
const NAMES: [(&str, &[&str]); 10] = [
    ("shell", &["Bash"]),
    ("write", &["Write"]),
    ("edit", &["Edit"]),
    ("read", &["Read"]),
    ("list", &["LS"]),
    ("glob", &["Glob"]),
    ("grep", &["Grep"]),
    ("fetch", &["WebFetch"]),
    ("search", &["WebSearch"]),
    ("subagent", &["Agent", "Task"]),
];

/// Tools of hosts that call hookexec themselves, where nobody says what kinds they are of.
const OTHER_TOOLS: [(&str, &str); 14] = [
    ("exec", "shell"),
    ("execute_command", "shell"),
    ("terminal", "shell"),
    ("run_terminal_cmd", "shell"),
    ("sh", "shell"),
    ("zsh", "shell"),
    ("edit_file", "edit"),
    ("append_file", "write"),
    ("create_file", "write"),
    ("read_multiple_files", "read"),
    ("directory_tree", "list"),
    ("search_files", "grep"),
    ("search_files_content", "grep"),
    ("fetch", "fetch"),
];

/// One call of the agent that the call at hand stands for.
pub(super) struct View {
    /// What the agent may call the tool; at least one name, the one to show first.
    pub(super) names: Vec<String>,
    /// `None` when the call is as the agent itself would write it.
    pub(super) call: Option<Call>,
}

/// Returns every name that the agent may give the tool.
pub(super) fn names(agent: Agent, input: &Input) -> Vec<String> {
    let kinds = kinds(agent, input);
    let known = NAMES.iter().filter(|(kind, _)| kinds.iter().any(|is| is == kind));
    let mut names: Vec<String> =
        known.flat_map(|(_, names)| *names).map(|name| (*name).to_owned()).collect();
    names.extend(kinds.iter().filter(|kind| kind.starts_with("mcp__")).cloned());
    if names.is_empty() && kinds.iter().any(|kind| kind == "mcp") {
        // Its server is not told; a guard for all of them must match it nevertheless.
        let tool = input.tool().rsplit(':').next().unwrap_or_default();
        names.push(format!("mcp__unknown__{tool}"));
    }
    if names.is_empty() {
        names.push(input.tool().to_owned());
    }
    names
}

/// Returns the calls of the agent that the call at hand stands for.
pub(super) fn views(agent: Agent, input: &Input) -> Result<Vec<View>, String> {
    let names = names(agent, input);
    let kinds = kinds(agent, input);
    let is = |kind: &str| kinds.iter().any(|known| known == kind);
    if !NAMES.iter().any(|(kind, _)| is(kind)) {
        return Ok(vec![View { names, call: None }]);
    }
    let arguments = input.tool_input.clone().unwrap_or_default();
    let calls = arguments::translate(&arguments, is, &input.cwd).map_err(|trouble| {
        format!("`{}` can't be said in the words of {}: {trouble}", input.tool(), agent.title())
    })?;
    let view = |call: Call| {
        let names = match call.tools {
            Some(tools) => tools.iter().map(|name| (*name).to_owned()).collect(),
            None => names.clone(),
        };
        View { names, call: Some(call) }
    };
    Ok(calls.into_iter().map(view).collect())
}

/// Returns whether the input is the agent's own, in its own words.
///
/// Other programs call the hooks of an agent as well, with names of tools that its hooks don't know.
pub(super) fn is_own(agent: Agent, input: &Input) -> bool {
    let listed = || agent.tools().iter().any(|(name, _)| *name == input.tool());
    let foreign = || {
        let kinds = kinds_of_any(input);
        NAMES.iter().any(|(kind, _)| kinds.iter().any(|is| is == kind))
    };
    input.native.is_some()
        && input.agent_name.as_deref() == Some(agent.name())
        && (listed() || !foreign())
}

/// Returns the kinds of a tool that has to be translated; none of the agent's own.
fn kinds(agent: Agent, input: &Input) -> Vec<String> {
    if is_own(agent, input) { Vec::new() } else { kinds_of_any(input) }
}

/// Returns the kinds of the tool, and its name, which may be one.
///
/// Where no adapter told them, they are those that any agent has for a tool of that name.
fn kinds_of_any(input: &Input) -> Vec<String> {
    let tool = input.tool();
    let mut kinds = input.tool_kinds.clone();
    if kinds.is_empty() {
        kinds = tools::kinds(&[], Mcp::Plain, tool, &JsonObject::new());
        let other = OTHER_TOOLS.iter().filter(|(name, _)| *name == tool);
        kinds.extend(other.map(|(_, kind)| (*kind).to_owned()));
    }
    kinds.push(tool.to_owned());
    kinds
}
