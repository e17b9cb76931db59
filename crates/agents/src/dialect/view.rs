//! A tool call with another agent's names of tools and arguments.

use super::arguments::{self, Call};
use super::{NAME, TITLE};
use hookexec::Input;
use hookexec::registry::NotInDialect;
use hookexec_calls::tools::{self, TOOL_KINDS};

/// One call of the other agent that this call stands for.
pub(super) struct View {
    /// The agent's names of the tool; at least one, and the first is shown.
    pub(super) names: Vec<String>,
    /// `None` when the call is as the agent itself would write it.
    pub(super) call: Option<Call>,
}

/// Returns every name that the agent may give the tool.
pub(super) fn names(input: &Input) -> Vec<String> {
    let kinds = if is_own(input) { Vec::new() } else { kinds(input) };
    let mut names: Vec<String> = known(&kinds).into_iter().map(|name| (*name).to_owned()).collect();
    names.extend(kinds.iter().filter(|kind| kind.starts_with("mcp__")).cloned());
    if names.is_empty() && kinds.iter().any(|kind| kind == "mcp") {
        // The server is unknown, but a guard for all servers must match.
        let tool = input.tool().rsplit(':').next().unwrap_or_default();
        names.push(format!("mcp__unknown__{tool}"));
    }
    if names.is_empty() {
        names.push(input.tool().to_owned());
    }
    names
}

fn not_in_dialect(input: &Input, why: &str) -> NotInDialect {
    NotInDialect(format!("`{}` can't be said in the words of {TITLE}: {why}", input.tool()))
}

/// Returns the calls of the agent that this call stands for.
///
/// # Errors
/// When the agent's words can't express the call.
pub(super) fn views(input: &Input) -> Result<Vec<View>, NotInDialect> {
    let names = names(input);
    if is_own(input) {
        return Ok(vec![View { names, call: None }]);
    }
    let kinds = kinds(input);
    if known(&kinds).is_empty() {
        // An event may have no tool, and a tool of an MCP server has its own arguments under any
        // agent.
        let tool = input.tool();
        if tool.is_empty() || !input.tool_kinds.is_empty() || tools::is_listed(tool) {
            return Ok(vec![View { names, call: None }]);
        }
        return Err(not_in_dialect(
            input,
            "no agent in the table of tools has it; say what it does in `tool_kinds`, or narrow the hook's matcher",
        ));
    }
    let arguments = input.tool_input.clone().unwrap_or_default();
    let calls = arguments::translate(input.tool(), &kinds, &arguments, &input.cwd)
        .map_err(|error| not_in_dialect(input, &error.to_string()))?;
    let mut views = Vec::new();
    for call in calls {
        let names = match call.tools {
            Some(tools) => tools.iter().map(|name| (*name).to_owned()).collect(),
            None => names.clone(),
        };
        views.push(View { names, call: Some(call) });
    }
    Ok(views)
}

/// Returns whether the input is the agent's own, in its own words.
///
/// Other programs call the hooks of an agent as well, with names of tools that its hooks don't know.
pub(super) fn is_own(input: &Input) -> bool {
    if input.native.is_none() || input.agent_name.as_deref() != Some(NAME) {
        return false;
    }
    let is_listed = tools::of_agent(NAME).named().any(|(name, _)| name == input.tool());
    is_listed || known(&kinds(input)).is_empty()
}

/// Returns the agent's names for tools of these kinds.
fn known(kinds: &[String]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (kind, _) in TOOL_KINDS {
        if kinds.iter().any(|known| known == kind) {
            found.extend(tools::of_agent(NAME).first_of_kind(kind));
        }
    }
    found
}

/// Returns the kinds of the tool, and its name, which may be one.
///
/// If no adapter set them, they are those of any agent's tool of that name.
fn kinds(input: &Input) -> Vec<String> {
    let tool = input.tool();
    let mut kinds = input.tool_kinds.clone();
    if kinds.is_empty() {
        kinds = tools::kinds_anywhere(tool);
    }
    kinds.push(tool.to_owned());
    kinds
}
