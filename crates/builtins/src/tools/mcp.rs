//! The tools of MCP servers: `mcp__server__tool`, whatever an agent calls them.

use super::JsonObject;

/// Returns `mcp` and every `mcp__server__tool` that `name` can stand for; nothing when it does not
/// name the tool of a server. `forms` are the agent's own, such as `server/tool`; the first one that fits
/// counts.
pub(super) fn names(forms: &str, name: &str, payload: &JsonObject) -> Vec<String> {
    let context = payload.get("mcp_context");
    let told = |key: &str| context.and_then(|context| context.get(key)?.as_str());
    let mut pairs = Vec::new();
    if let Some(rest) = name.strip_prefix("mcp__") {
        pairs.extend(rest.split_once("__"));
    } else if let (Some(server), Some(tool)) = (told("server_name"), told("tool_name")) {
        pairs.push((server, tool));
    } else {
        let mut readings = forms.split(' ').map(|form| readings(form, name));
        pairs.extend(readings.find(|pairs| !pairs.is_empty()).unwrap_or_default());
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut names = vec!["mcp".to_owned()];
    for (mut server, tool) in pairs {
        if server.is_empty() {
            server = payload.get("mcp_server_name").and_then(|name| name.as_str()).unwrap_or("");
        }
        if !server.is_empty() {
            names.push(format!("mcp__{server}__{tool}"));
        }
    }
    names
}

/// Returns every way to cut `name` into a server and a tool: where an agent joins the two by a text
/// that may stand in both, a guard must see each reading.
fn readings<'n>(form: &str, name: &'n str) -> Vec<(&'n str, &'n str)> {
    let Some(form) = form.strip_suffix("tool") else { return Vec::new() };
    let Some((before, by)) = form.split_once("server") else {
        return name.strip_prefix(form).map(|tool| ("", tool)).into_iter().collect();
    };
    let name = name.trim_start_matches('@').strip_prefix(before).unwrap_or_default();
    let cuts = name.match_indices(by).map(|(at, _)| (&name[..at], &name[at + by.len()..]));
    cuts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()).collect()
}
