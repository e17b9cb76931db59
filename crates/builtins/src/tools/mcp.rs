//! The tools of MCP servers: `mcp__server__tool`, whatever an agent calls them.

use super::JsonObject;

/// How an agent names the tools of MCP servers, where the name isn't `mcp__server__tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mcp {
    /// In no other way.
    Plain,
    /// `mcp_server_tool`; the payload may say which part is which.
    Underscore,
    /// `MCP:tool`, with the server in the payload or nowhere.
    Colon,
    /// `server/tool`, also as `@server/tool`.
    Slash,
    /// `server/tool` or `server-tool`.
    SlashOrDash,
    /// The server and the tool, joined by this text; a tool that is not the agent's own is one of a server.
    Joined(&'static str),
    /// `mcp_server.tool`; a tool that is not the agent's own is one of a server or connector.
    Dotted,
}

/// Returns `mcp` and every `mcp__server__tool` that `name` can stand for; nothing when it does not
/// name the tool of a server.
pub(super) fn names(form: Mcp, name: &str, payload: &JsonObject) -> Vec<String> {
    let context = payload.get("mcp_context");
    let told = |key: &str| context.and_then(|context| context.get(key)?.as_str());
    let slash = || name.trim_start_matches('@').split_once('/');
    let pairs: Vec<(&str, &str)> = if let Some(rest) = name.strip_prefix("mcp__") {
        rest.split_once("__").into_iter().collect()
    } else {
        match form {
            Mcp::Plain => Vec::new(),
            Mcp::Underscore => match (told("server_name"), told("tool_name")) {
                (Some(server), Some(tool)) => vec![(server, tool)],
                _ => name.strip_prefix("mcp_").map(|rest| splits(rest, "_")).unwrap_or_default(),
            },
            Mcp::Colon => {
                let server = payload.get("mcp_server_name").and_then(|name| name.as_str());
                let tool = name.strip_prefix("MCP:");
                tool.map(|tool| (server.unwrap_or_default(), tool)).into_iter().collect()
            }
            Mcp::Slash => slash().into_iter().collect(),
            Mcp::SlashOrDash => slash().map_or_else(|| splits(name, "-"), |pair| vec![pair]),
            Mcp::Joined(by) => splits(name, by),
            Mcp::Dotted => splits(name.strip_prefix("mcp_").unwrap_or(name), "."),
        }
    };
    if pairs.is_empty() {
        return Vec::new();
    }
    let named = pairs.iter().filter(|(server, _)| !server.is_empty());
    let named = named.map(|(server, tool)| format!("mcp__{server}__{tool}"));
    std::iter::once("mcp".to_owned()).chain(named).collect()
}

/// Returns every way to cut `name` into a server and a tool: where an agent joins the two by a text
/// that may stand in both, a guard must see each reading.
fn splits<'n>(name: &'n str, by: &str) -> Vec<(&'n str, &'n str)> {
    let cuts = name.match_indices(by).map(|(at, _)| (&name[..at], &name[at + by.len()..]));
    cuts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()).collect()
}
