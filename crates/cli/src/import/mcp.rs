//! A hook that calls a tool of an MCP server, as Claude Code writes it.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec::internal::reading::{At, Node};
use hookexec::wire::parse_strict;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::PLUGIN_ROOT;
use super::hook::HookKeys;
use super::hooks::Import;
use super::parameters::address;
use super::tree::{Strict, made, required};

/// The entry of a server, which Claude Code has in another file than the hooks.
#[derive(Deserialize)]
struct Server {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Returns the parameters of an MCP hook, as the value of `with`, and adds the server that it calls.
pub(super) fn parameters(
    import: &mut Import<'_>,
    node: &Node<'_>,
    hook: &HookKeys<'_>,
    plugin: Option<&str>,
) -> Option<Value> {
    let reader = &mut import.reader;
    let name = required(reader, node, hook.server.as_ref(), "an mcp_tool hook needs a `server`")?;
    let tool = required(reader, node, hook.tool.as_ref(), "an mcp_tool hook needs a `tool`")?;
    let At { node: place, value: Strict(name) } = name;
    let server = match server(&import.source.path, plugin, name) {
        Ok(server) => server,
        Err(problem) => {
            let hint = "write the hook by hand: docs/configuration.md, \"MCP hooks\"";
            return reader.refuse_with_hint(place, problem, hint);
        }
    };
    let mut with = match (server.url, server.command) {
        (Some(url), _) => address(&url, &server.headers),
        (None, command) => {
            let words: Vec<String> = command.into_iter().chain(server.args).collect();
            let process = json!({ "command": words, "protocol": "mcp", "env": server.env });
            if import.processes.iter().all(|(known, _)| known.as_text() != Some(name)) {
                let name = made(&name.clone().into(), &(0..0));
                import.processes.push((name, made(&process, &(0..0))));
            }
            json!({ "server": name })
        }
    };
    with["tool"] = tool.0.clone().into();
    with["arguments"] = hook.input.clone().unwrap_or_else(|| json!({}));
    Some(with)
}

/// Returns the server called `name` of the first file that has one: that of the plugin, or those of
/// the project and the user for the settings at `path`.
fn server(path: &Path, plugin: Option<&str>, name: &str) -> Result<Server, String> {
    let mut paths = Vec::new();
    if let Some(root) = plugin {
        paths.push(Path::new(root).join(".mcp.json"));
    } else {
        let settings = dunce::canonicalize(path).unwrap_or_default();
        let project = settings.parent().and_then(Path::parent);
        paths.extend(project.map(|project| project.join(".mcp.json")));
        paths.extend(std::env::home_dir().map(|home| home.join(".claude.json")));
    }
    for path in &paths {
        let Ok(mut text) = std::fs::read_to_string(path) else { continue };
        if let Some(root) = plugin {
            let root = Value::from(root).to_string();
            text = text.replace(&format!("${{{PLUGIN_ROOT}}}"), root.trim_matches('"'));
        }
        let problem = |problem: &str| format!("{}: {problem}", path.display());
        let settings = parse_strict(&text).map_err(|error| problem(&error.to_string()))?;
        if let Some(entry) = settings.get("mcpServers").and_then(|servers| servers.get(name)) {
            return of_entry(entry).map_err(|cause| problem(&format!("server `{name}`: {cause}")));
        }
    }
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Err(format!("no server `{name}` is configured in {}", paths.join(" or ")))
}

fn of_entry(entry: &Value) -> Result<Server, String> {
    if entry.to_string().contains("${") {
        return Err("its entry has variables, which mean something else here".to_owned());
    }
    let server = Server::deserialize(entry).map_err(|error| error.to_string())?;
    match (server.kind.as_deref(), &server.command, &server.url) {
        (None | Some("stdio"), Some(_), None) | (Some("http"), None, Some(_)) => Ok(server),
        _ => Err("only servers over stdio and HTTP can be imported".to_owned()),
    }
}
