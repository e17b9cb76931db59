//! The kinds of a tool, also of one that stands in no table.

use hookexec::Input;
use hookexec::wire::JsonObject;
use hookexec_calls::tools::{self, Role, Roles, Toolset};

use super::{Agent, NativeCall};

/// Adds the kinds of the tool where the input names none, as [`read`](crate::read) does for an agent's own
/// payload. Guards by kind, such as `matcher: shell`, then match. Without the name of a known agent, the
/// tool has the kinds that any agent's tool of this name has.
pub fn add_tool_kinds(input: &mut Input) {
    if !input.tool_kinds.is_empty() {
        return;
    }
    let Some(tool) = &input.tool_name else { return };
    let agent = input.agent_name.as_deref().and_then(|name| name.parse::<Agent>().ok());
    let toolset = agent.map_or_else(|| tools::of_agent(""), Agent::toolset);
    let none = JsonObject::new();
    let payload = input.native.as_ref().and_then(|native| native.as_object());
    let arguments = input.tool_input.as_ref().unwrap_or(&none);
    input.tool_kinds = kinds(toolset, tool, arguments, payload.unwrap_or(&none));
}

/// Returns the kinds of a tool. One that stands in no table and takes a command counts as a shell: a
/// tool that is newer than hookexec must not get past the guards of commands.
pub(super) fn kinds(
    toolset: Toolset,
    tool: &str,
    arguments: &JsonObject,
    payload: &JsonObject,
) -> Vec<String> {
    let mut kinds = toolset.kinds(tool, payload);
    if kinds.is_empty() && !tools::is_listed(tool) && takes(arguments, &[Role::Command]) {
        kinds.push("shell".to_owned());
    }
    kinds
}

/// Returns whether one of the kinds is one of those that are asked for.
pub(super) fn is_one_of(kinds: &[String], asked: &[&str]) -> bool {
    kinds.iter().any(|kind| asked.contains(&kind.as_str()))
}

/// Returns whether one of the arguments has one of `roles`, by its name.
fn takes(arguments: &JsonObject, roles: &[Role]) -> bool {
    let known = Roles::of("", &["shell", "read", "fetch"]);
    for key in arguments.keys() {
        if let Some((role, _)) = known.get(key)
            && roles.contains(&role)
            && (role != Role::Command || tools::role_by_name(key) == Some(role))
        {
            return true;
        }
    }
    false
}

/// Returns the name of a tool that stands in no table, if it takes a command, a file or an address.
pub fn unknown_tool(call: &NativeCall) -> Option<&str> {
    const TELLING: [Role; 4] = [Role::Command, Role::Path, Role::Paths, Role::Url];
    let (name, arguments) = (call.input.tool_name.as_deref()?, call.input.tool_input.as_ref()?);
    let is_mcp = is_one_of(&call.input.tool_kinds, &["mcp"]);
    if is_mcp || tools::is_listed(name) || !takes(arguments, &TELLING) { None } else { Some(name) }
}
