//! A hook that calls a tool of an MCP server, as Claude Code writes it.

use std::path::{Path, PathBuf};

use hookexec::internal::reading::{Fields, Node, Reader};
use hookexec::wire::parse_strict;
use serde_json::{Value, json};

use super::command::PLUGIN_ROOT;
use super::json::{object, required};
use super::parameters::is_local;

/// A server that hooks call.
pub(super) struct Server {
    pub(super) name: String,
    /// Its entry of `processes:`; `None` for one behind an address.
    pub(super) process: Option<Value>,
    with: Value,
}

/// Returns the parameters of an MCP hook, as the value of `with`, and the server that it calls. The
/// servers are configured in other `files` than the hooks.
pub(super) fn parameters(
    reader: &mut Reader,
    node: &Node<'_>,
    hook: &Fields<'_>,
    files: &Files,
) -> Option<(Value, Server)> {
    let name = required(reader, node, hook, "server", "an mcp_tool hook")?;
    let tool = required(reader, node, hook, "tool", "an mcp_tool hook")?;
    let mut server = match files.server(&name) {
        Ok(server) => server,
        Err(problem) => {
            let hint = "write the hook by hand: docs/configuration.md, \"MCP hooks\"";
            let place = hook.get("server").unwrap_or(node);
            return reader.refuse_with_hint(place, problem, hint);
        }
    };
    let arguments = match hook.get("input") {
        Some(input) => {
            object(reader, input, "`input`")?;
            reader.value(input, "`input`")?
        }
        None => json!({}),
    };
    server.with["tool"] = tool.into();
    server.with["arguments"] = arguments;
    Some((server.with.clone(), server))
}

/// Where Claude Code finds the servers for the hooks of a file.
pub(super) struct Files {
    paths: Vec<PathBuf>,
    plugin: Option<String>,
}

impl Files {
    /// Returns those for the settings at `path`, or for the plugin whose directory it is.
    pub(super) fn of(path: &Path, plugin: Option<&str>) -> Self {
        let settings = dunce::canonicalize(path).unwrap_or_default();
        let project = settings.parent().and_then(Path::parent).map(|root| root.join(".mcp.json"));
        let user = std::env::home_dir().map(|home| home.join(".claude.json"));
        let paths = match plugin {
            Some(root) => vec![Path::new(root).join(".mcp.json")],
            None => project.into_iter().chain(user).collect(),
        };
        Self { paths, plugin: plugin.map(str::to_owned) }
    }

    /// Returns the server called `name` of the first file that has one.
    fn server(&self, name: &str) -> Result<Server, String> {
        for path in &self.paths {
            let Ok(mut text) = std::fs::read_to_string(path) else { continue };
            if let Some(root) = &self.plugin {
                let root = Value::from(root.as_str()).to_string();
                text = text.replace(&format!("${{{PLUGIN_ROOT}}}"), root.trim_matches('"'));
            }
            let problem = |problem: &str| format!("{}: {problem}", path.display());
            let settings = parse_strict(&text).map_err(|error| problem(&error.to_string()))?;
            let entry = settings.get("mcpServers").and_then(|servers| servers.get(name));
            let Some(entry) = entry else { continue };
            return of_entry(name, entry)
                .map_err(|cause| problem(&format!("server `{name}`: {cause}")));
        }
        let paths: Vec<String> = self.paths.iter().map(|it| it.display().to_string()).collect();
        Err(format!("no server `{name}` is configured in {}", paths.join(" or ")))
    }
}

fn of_entry(name: &str, entry: &Value) -> Result<Server, String> {
    if entry.to_string().contains("${") {
        return Err("its entry has variables, which mean something else here".to_owned());
    }
    let get = |key: &str| entry.get(key).filter(|value| !value.is_null());
    let kind = get("type").and_then(Value::as_str);
    let (process, with) = match (kind, get("command"), get("url")) {
        (None | Some("stdio"), Some(command), None) => {
            let mut words = vec![command.clone()];
            words.extend(get("args").and_then(Value::as_array).cloned().unwrap_or_default());
            let mut process = json!({ "command": words, "protocol": "mcp" });
            if let Some(env) = get("env") {
                process["env"] = env.clone();
            }
            (Some(process), json!({ "server": name }))
        }
        (Some("http"), None, Some(Value::String(url))) => {
            let mut with = json!({ "url": url });
            if is_local(url) {
                with["allow_private"] = true.into();
            }
            if let Some(headers) = get("headers") {
                with["headers"] = headers.clone();
            }
            (None, with)
        }
        _ => return Err("only servers over stdio and HTTP can be imported".to_owned()),
    };
    Ok(Server { name: name.to_owned(), process, with })
}
