//! The one table of tools and of the meaning of their arguments, which agents, dialects, builtins and
//! pages read.
//!
//! A tool is found by its exact name. It is of one or more kinds, and the kinds say which role each
//! argument has. A tool that is not in the table has no roles of its own; `role_by_name` then goes
//! by the argument's name alone.

pub mod patch;

use serde_json::Value;

// The build script takes the rows from files of `data`; their heads describe the form.
include!(concat!(env!("OUT_DIR"), "/kinds.rs"));
include!(concat!(env!("OUT_DIR"), "/tools.rs"));
include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

type JsonObject = serde_json::Map<String, Value>;

/// The meaning of a tool's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A command, as a text or as a list of words.
    Command,
    /// The arguments of the command.
    Words,
    /// One file or directory.
    Path,
    /// Several: paths, or objects with one path each.
    Paths,
    /// Several edits of the file that is named beside them.
    Edits,
    /// An address.
    Url,
    /// Text that is written into a file.
    Content,
    /// Text that an edit takes out.
    Old,
    /// Text that an edit puts in.
    New,
    /// A patch of any number of files.
    Patch,
    /// Text that is searched for in files.
    Pattern,
    /// The names of the files to look at.
    Glob,
    /// The text that is searched for on the web.
    Query,
    /// Text for people and models.
    Prose,
}

/// A property that sets a tool apart from others of its kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// Nothing.
    Nothing,
    /// It takes a patch.
    Patches,
    /// Its text is not one for a POSIX shell: it is for PowerShell or `cmd`, or keys for a program
    /// that already runs.
    Opaque,
    /// It deletes files.
    Deletes,
}

/// One tool under one or more names.
#[derive(Debug)]
struct Tool {
    kinds: &'static [&'static str],
    names: &'static [&'static str],
    special: Special,
}

/// The names of the arguments that have a role in tools of some kinds.
#[derive(Debug)]
struct Arguments {
    kinds: &'static [&'static str],
    role: Role,
    names: &'static [&'static str],
}

/// The tools of one agent, and how it names those of MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct Toolset {
    agents: &'static [&'static str],
    forms: &'static str,
    tools: &'static [Tool],
}

const NO_TOOL: Tool = Tool { kinds: &[], names: &[], special: Special::Nothing };

/// An agent that has no row.
const UNKNOWN: Toolset = Toolset { agents: &[], forms: "", tools: &[] };

/// Returns the tools of the agent of that name, such as `claude-code`; an unknown agent has none.
pub fn of_agent(name: &str) -> Toolset {
    let known = TOOLSETS.iter().find(|toolset| toolset.agents.contains(&name));
    *known.unwrap_or(&UNKNOWN)
}

impl Toolset {
    /// Returns the names of the agent's tools, each with its neutral kinds.
    pub fn named(self) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        self.tools
            .iter()
            .flat_map(|tool| tool.names.iter().map(|name| (*name, tool.kinds.to_vec())))
    }

    /// Returns the neutral kinds of the tool `name`, such as `shell` for `Bash`, and its other names.
    /// `payload` is what the agent says of the call, which may tell the MCP server.
    ///
    /// Kinds that equal the name are left out. A tool that the agent does not have may belong to
    /// another agent: several agents read the hooks of Claude Code and call them with tools of their
    /// own. Matching too much costs a run, matching too little costs a guard.
    pub fn kinds(self, name: &str, payload: &JsonObject) -> Vec<String> {
        let own = self.tools.iter().find(|tool| tool.names.contains(&name));
        let known = own.or(tool_named(name)).unwrap_or(&NO_TOOL);
        let mut kinds: Vec<String> = Vec::new();
        for kind in known.kinds {
            kinds.push((*kind).to_owned());
        }
        if own.is_none() {
            kinds.extend(self.server_names(name, payload));
        }
        for other in other_names(name) {
            kinds.push(other.to_owned());
        }
        let mut all = Vec::new();
        for kind in kinds {
            if kind != name && !all.contains(&kind) {
                all.push(kind);
            }
        }
        all
    }

    /// Returns whether `name` is a kind that no tool of the agent is of, or a tool that only others
    /// have. A name that stands in no table may be a new tool, or one of an MCP server.
    pub fn certainly_lacks(self, name: &str) -> bool {
        if !is_kind(name) && tool_named(name).is_none() || name == "mcp" {
            return false;
        }
        for tool in self.tools {
            let has_other = other_names(name).any(|other| tool.names.contains(&other));
            if has_other || tool.kinds.contains(&name) || tool.names.contains(&name) {
                return false;
            }
        }
        self.server_names(name, &JsonObject::new()).is_empty()
    }

    /// Returns the names of the first tool that is of `kind` before any other.
    pub fn first_of_kind(self, kind: &str) -> impl Iterator<Item = &'static str> {
        let tool = self.tools.iter().find(|tool| tool.kinds.first() == Some(&kind));
        tool.unwrap_or(&NO_TOOL).names.iter().copied()
    }

    /// Returns `mcp` and every `mcp__server__tool` that `name` can stand for; nothing when it does not
    /// name the tool of a server. The first of the agent's forms that fits counts, such as `server/tool`.
    fn server_names(self, name: &str, payload: &JsonObject) -> Vec<String> {
        let mut pairs = Vec::new();
        if let Some(rest) = name.strip_prefix("mcp__") {
            pairs.extend(rest.split_once("__"));
        } else if let Some(told) = told_by(payload) {
            pairs.push(told);
        } else {
            for form in self.forms.split(' ') {
                if pairs.is_empty() {
                    pairs = readings(form, name);
                }
            }
        }
        if pairs.is_empty() {
            return Vec::new();
        }
        let mut names = vec!["mcp".to_owned()];
        for (mut server, tool) in pairs {
            if server.is_empty() {
                server = text_of(payload, "mcp_server_name").unwrap_or_default();
            }
            if !server.is_empty() {
                names.push(format!("mcp__{server}__{tool}"));
            }
        }
        names
    }
}

/// Returns the server and the tool that the agent says.
fn told_by(payload: &JsonObject) -> Option<(&str, &str)> {
    let context = payload.get("mcp_context")?.as_object()?;
    Some((text_of(context, "server_name")?, text_of(context, "tool_name")?))
}

fn text_of<'o>(object: &'o JsonObject, key: &str) -> Option<&'o str> {
    object.get(key)?.as_str()
}

/// Returns every way to cut `name` into a server and a tool: where an agent joins the two by a text
/// that may stand in both, a guard must see each reading.
fn readings<'n>(form: &str, name: &'n str) -> Vec<(&'n str, &'n str)> {
    let mut readings = Vec::new();
    let Some(form) = form.strip_suffix("tool") else { return readings };
    let Some((before, by)) = form.split_once("server") else {
        readings.extend(name.strip_prefix(form).map(|tool| ("", tool)));
        return readings;
    };
    let name = name.trim_start_matches('@').strip_prefix(before).unwrap_or_default();
    for (at, _) in name.match_indices(by) {
        let (server, tool) = (&name[..at], &name[at + by.len()..]);
        if !server.is_empty() && !tool.is_empty() {
            readings.push((server, tool));
        }
    }
    readings
}

/// Returns the kinds that any agent has for a tool called `name`.
pub fn kinds_anywhere(name: &str) -> Vec<String> {
    UNKNOWN.kinds(name, &JsonObject::new())
}

/// Returns whether any agent has a tool called `name`, or its name is that of an MCP server's tool.
pub fn is_listed(name: &str) -> bool {
    name.starts_with("mcp__") || tool_named(name).is_some()
}

/// Returns whether tools can be of the kind `name`.
pub fn is_kind(name: &str) -> bool {
    TOOL_KINDS.iter().any(|(kind, _)| *kind == name)
}

/// Returns the tool of that name, with its kinds in all agents.
fn tool_named(name: &str) -> Option<&'static Tool> {
    let at = TOOLS.binary_search_by_key(&name, |tool| tool.names[0]).ok()?;
    Some(&TOOLS[at])
}

/// Returns the names that the tool called `name` had before, or has now.
pub fn other_names(name: &str) -> impl Iterator<Item = &'static str> {
    let names = RENAMED.iter().find(|names| names.contains(&name)).copied().unwrap_or_default();
    names.iter().copied().filter(move |other| *other != name)
}

/// Returns what sets the tool called `name` apart, of whichever agent.
pub fn special(name: &str) -> Special {
    tool_named(name).unwrap_or(&NO_TOOL).special
}

/// The roles of one tool's arguments.
#[derive(Debug)]
pub struct Roles(Vec<&'static str>);

impl Roles {
    /// Returns the roles of the arguments of a tool called `name` that is of `kinds`.
    pub fn of<K: AsRef<str>>(name: &str, kinds: &[K]) -> Self {
        if special(name) == Special::Patches {
            return Self(vec!["patch", "edit"]);
        }
        // In one order, whichever kinds the host names first: a file comes before a place to search.
        let mut ordered = Vec::new();
        for (kind, _) in TOOL_KINDS {
            if kinds.iter().any(|known| known.as_ref() == kind) {
                ordered.push(kind);
            }
        }
        Self(ordered)
    }

    /// Returns the role of the argument `key`, and Claude Code's name of it.
    pub fn get(&self, key: &str) -> Option<(Role, &'static str)> {
        let mut rows = self.rows();
        let row = rows.find(|row| row.names.iter().any(|name| name.eq_ignore_ascii_case(key)))?;
        Some((row.role, row.names.first()?))
    }

    /// Returns whether one of the arguments can have this role.
    pub fn has(&self, role: Role) -> bool {
        self.rows().any(|row| row.role == role)
    }

    fn rows(&self) -> impl Iterator<Item = &'static Arguments> {
        self.0.iter().flat_map(|kind| ARGUMENTS.iter().filter(|row| row.kinds.contains(kind)))
    }
}

/// Returns the role that an argument called `key` has in tools that are not in the table.
pub fn role_by_name(key: &str) -> Option<Role> {
    Some(Roles(vec!["any"]).get(key)?.0)
}

/// Returns what a call of a tool is about, for one line of text: its command, file, address or
/// query.
pub fn subject<'a>(name: &str, arguments: &'a JsonObject) -> Option<&'a str> {
    let mut kinds = kinds_anywhere(name);
    kinds.push(name.to_owned());
    let roles = Roles::of(name, &kinds);
    for telling in [Role::Command, Role::Path, Role::Url, Role::Query, Role::Pattern] {
        for (key, value) in arguments {
            if let (Some((role, _)), Some(text)) = (roles.get(key), value.as_str())
                && role == telling
            {
                return Some(text);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
