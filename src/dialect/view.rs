//! A tool call as another agent would see it: under its names of tools and arguments.

use super::Dialect;
use super::arguments::{self, Call};
use crate::tools::{self, TOOL_KINDS};
use crate::wire::Input;

/// One call of the agent that the call at hand stands for.
pub(super) struct View {
    /// What the agent may call the tool; at least one name, the one to show first.
    pub(super) names: Vec<String>,
    /// `None` when the call is as the agent itself would write it.
    pub(super) call: Option<Call>,
}

/// Returns every name that the agent may give the tool.
pub(super) fn names(dialect: Dialect, input: &Input) -> Vec<String> {
    let kinds = if is_own(dialect, input) { Vec::new() } else { kinds(input) };
    let mut names: Vec<String> =
        known(dialect, &kinds).into_iter().map(|name| (*name).to_owned()).collect();
    names.extend(kinds.iter().filter(|kind| kind.starts_with("mcp__")).cloned());
    if names.is_empty() && kinds.iter().any(|kind| kind == "mcp") {
        // The server is not told; a guard for all servers must match nevertheless.
        let tool = input.tool().rsplit(':').next().unwrap_or_default();
        names.push(format!("mcp__unknown__{tool}"));
    }
    if names.is_empty() {
        names.push(input.tool().to_owned());
    }
    names
}

/// Returns the calls of the agent that the call at hand stands for.
///
/// # Errors
/// When the call can't be said in the agent's words.
pub(super) fn views(dialect: Dialect, input: &Input) -> Result<Vec<View>, String> {
    let names = names(dialect, input);
    let cannot = |why: String| {
        format!("`{}` can't be said in the words of {}: {why}", input.tool(), dialect.title())
    };
    if is_own(dialect, input) {
        return Ok(vec![View { names, call: None }]);
    }
    let kinds = kinds(input);
    if known(dialect, &kinds).is_empty() {
        // An event may be about no tool, and a tool of an MCP server has its own arguments there, too.
        let tool = input.tool();
        if tool.is_empty() || !input.tool_kinds.is_empty() || tools::is_listed(tool) {
            return Ok(vec![View { names, call: None }]);
        }
        return Err(cannot(
            "no agent in the table of tools has it; say what it does in `tool_kinds`, or narrow the hook's matcher".to_owned(),
        ));
    }
    let arguments = input.tool_input.clone().unwrap_or_default();
    let calls =
        arguments::translate(input.tool(), &kinds, &arguments, &input.cwd).map_err(cannot)?;
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
pub(super) fn is_own(dialect: Dialect, input: &Input) -> bool {
    let toolset = tools::of_agent(dialect.agent());
    let listed = || toolset.named().any(|(name, _)| name == input.tool());
    input.native.is_some()
        && input.agent_name.as_deref() == Some(dialect.agent())
        && (listed() || known(dialect, &kinds(input)).is_empty())
}

/// Returns the agent's names for tools of these kinds.
fn known(dialect: Dialect, kinds: &[String]) -> Vec<&'static str> {
    let of_kind = |kind: &str| kinds.iter().any(|known| known == kind);
    let found = TOOL_KINDS.iter().filter(|(kind, _)| of_kind(kind));
    found
        .flat_map(|(kind, _)| tools::of_agent(dialect.agent()).first_of_kind(kind))
        .copied()
        .collect()
}

/// Returns the kinds of the tool, and its name, which may be one.
///
/// Where no adapter told them, they are those that any agent has for a tool of that name.
fn kinds(input: &Input) -> Vec<String> {
    let tool = input.tool();
    let mut kinds = input.tool_kinds.clone();
    if kinds.is_empty() {
        kinds = tools::kinds_anywhere(tool);
    }
    kinds.push(tool.to_owned());
    kinds
}
