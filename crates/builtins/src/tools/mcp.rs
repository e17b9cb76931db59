//! The tools of MCP servers: `mcp__server__tool`, whatever an agent calls them.

use serde_json::Value;

use super::JsonObject;

/// How an agent names the tools of MCP servers, where the name isn't `mcp__server__tool`.
#[derive(Debug)]
pub(super) struct Mcp {
    /// The beginning of all their names, or of some if a `?` follows it.
    pub(super) begin: &'static str,
    /// The texts that may join server and tool. Without one, the payload may tell the server.
    pub(super) joints: Vec<&'static str>,
}

/// Returns `mcp` and every `mcp__server__tool` that `name` can stand for; nothing when it does not
/// name the tool of a server.
pub(super) fn names(form: &Mcp, name: &str, payload: &JsonObject) -> Vec<String> {
    let mut names = Vec::new();
    for (server, tool) in pairs(form, name, payload) {
        if names.is_empty() {
            names.push("mcp".to_owned());
        }
        if !server.is_empty() {
            names.push(format!("mcp__{server}__{tool}"));
        }
    }
    names
}

fn pairs<'n>(form: &Mcp, name: &'n str, payload: &'n JsonObject) -> Vec<(&'n str, &'n str)> {
    if let Some(rest) = name.strip_prefix("mcp__") {
        return rest.split_once("__").into_iter().collect();
    }
    let context = payload.get("mcp_context").and_then(Value::as_object);
    if let Some(context) = context
        && let (Some(server), Some(tool)) =
            (text(context, "server_name"), text(context, "tool_name"))
    {
        return vec![(server, tool)];
    }
    let rest = match form.begin.strip_suffix('?') {
        Some(begin) => name.strip_prefix(begin).unwrap_or(name),
        None => match name.strip_prefix(form.begin) {
            Some(rest) if form.joints.is_empty() => {
                return vec![(text(payload, "mcp_server_name").unwrap_or_default(), rest)];
            }
            Some(rest) => rest,
            None => return Vec::new(),
        },
    };
    let joint = form.joints.iter().find(|joint| rest.contains(**joint));
    joint.map(|joint| splits(rest, joint)).unwrap_or_default()
}

fn text<'o>(object: &'o JsonObject, key: &str) -> Option<&'o str> {
    object.get(key).and_then(Value::as_str)
}

/// Returns every way to cut `name` into a server and a tool: where an agent joins the two by a text
/// that may stand in both, a guard must see each reading.
fn splits<'n>(name: &'n str, by: &str) -> Vec<(&'n str, &'n str)> {
    let cuts = name.match_indices(by).map(|(at, _)| (&name[..at], &name[at + by.len()..]));
    cuts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()).collect()
}
