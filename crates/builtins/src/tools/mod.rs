//! The one table of tools and of the meaning of their arguments, which agents, dialects, builtins and
//! pages read.
//!
//! A tool is found by its exact name. It is of one or more kinds, and the kinds say which role each
//! argument has. A tool that is not in the table has no roles of its own; `role_by_name` then goes
//! by the argument's name alone.

mod mcp;
pub mod patch;
mod table;

use serde_json::Value;

use table::Tool;

type JsonObject = serde_json::Map<String, Value>;

/// The neutral kinds of tools, with what each of them does.
pub const TOOL_KINDS: [(&str, &str); 11] = [
    ("shell", "runs a command, or types into one that runs"),
    ("write", "writes, creates or deletes a file"),
    ("edit", "changes a part of a file"),
    ("read", "reads a file"),
    ("list", "lists a directory"),
    ("glob", "finds files by name"),
    ("grep", "finds text in files"),
    ("fetch", "fetches a web page"),
    ("search", "searches the web"),
    ("subagent", "hands work to another agent"),
    ("mcp", "belongs to an MCP server; it is also named `mcp__server__tool`"),
];

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

/// The tools of one agent, and how it names those of MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct Toolset {
    agents: &'static [&'static str],
    forms: &'static str,
    tools: &'static [Tool],
}

/// An agent that has no row.
const UNKNOWN: Toolset = Toolset { agents: &[], forms: "", tools: &[] };

/// Returns the tools of the agent of that name, such as `claude-code`; an unknown agent has none.
pub fn of_agent(name: &str) -> Toolset {
    let mut toolsets = table::TOOLSETS.iter();
    toolsets.find(|toolset| toolset.agents.contains(&name)).copied().unwrap_or(UNKNOWN)
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
        let mut all: Vec<String> = Vec::new();
        if let Some(own) = self.tools.iter().find(|tool| tool.names.contains(&name)) {
            own.kinds.iter().for_each(|kind| add(&mut all, kind, name));
        } else {
            let kinds = table::named(name).flat_map(|tool| tool.kinds);
            kinds.for_each(|kind| add(&mut all, kind, name));
            for kind in mcp::names(self.forms, name, payload) {
                add(&mut all, &kind, name);
            }
        }
        for other in other_names(name) {
            add(&mut all, other, name);
        }
        all
    }

    /// Returns whether `name` is a kind that no tool of the agent is of, or a tool that only others
    /// have. A name that stands in no table may be a new tool, or one of an MCP server.
    pub fn certainly_lacks(self, name: &str) -> bool {
        let is_kind = name != "mcp" && TOOL_KINDS.iter().any(|(kind, _)| *kind == name);
        if !is_kind && table::named(name).next().is_none() {
            return false;
        }
        for tool in self.tools {
            if tool.names.contains(&name)
                || tool.kinds.contains(&name)
                || other_names(name).any(|other| tool.names.contains(&other))
            {
                return false;
            }
        }
        mcp::names(self.forms, name, &JsonObject::new()).is_empty()
    }

    /// Returns the names of the first tool that is of `kind` before any other.
    pub fn first_of_kind(self, kind: &str) -> impl Iterator<Item = &'static str> {
        let tool = self.tools.iter().find(|tool| tool.kinds.first() == Some(&kind));
        tool.into_iter().flat_map(|tool| tool.names.iter().copied())
    }
}

/// Returns the kinds of a tool of which only the name is known, and the agent that has it.
pub fn kinds_of(agent: Option<&str>, name: &str) -> Vec<String> {
    of_agent(agent.unwrap_or_default()).kinds(name, &JsonObject::new())
}

/// Returns the kinds that any agent has for a tool called `name`.
pub fn kinds_anywhere(name: &str) -> Vec<String> {
    UNKNOWN.kinds(name, &JsonObject::new())
}

/// Returns whether any agent has a tool called `name`, or its name is that of an MCP server's tool.
pub fn is_listed(name: &str) -> bool {
    name.starts_with("mcp__") || table::named(name).next().is_some()
}

/// Returns the names that the tool called `name` had before, or has now.
pub fn other_names(name: &str) -> impl Iterator<Item = &'static str> {
    table::renamed(name).iter().copied().filter(move |other| *other != name)
}

fn add(kinds: &mut Vec<String>, kind: &str, name: &str) {
    if kind != name && !kinds.iter().any(|known| known == kind) {
        kinds.push(kind.to_owned());
    }
}

/// Returns what sets the tool called `name` apart, of whichever agent.
pub fn special(name: &str) -> Special {
    let mut named = table::named(name).map(|tool| tool.special);
    named.find(|special| *special != Special::Nothing).unwrap_or(Special::Nothing)
}

/// The roles of one tool's arguments.
#[derive(Debug)]
pub struct Roles(Vec<&'static str>);

impl Roles {
    /// Returns the roles of the arguments of a tool called `name` that is of `kinds`.
    pub fn of<K: AsRef<str>>(name: &str, kinds: &[K]) -> Self {
        if table::named(name).any(|tool| tool.special == Special::Patches) {
            return Self(vec!["patch", "edit"]);
        }
        // In one order, whichever kinds the host names first: a file comes before a place to search.
        let all = TOOL_KINDS.iter().map(|(kind, _)| *kind);
        Self(all.filter(|kind| kinds.iter().any(|known| known.as_ref() == *kind)).collect())
    }

    /// Returns the role of the argument `key`, and Claude Code's name of it.
    pub fn get(&self, key: &str) -> Option<(Role, &'static str)> {
        self.0.iter().find_map(|kind| role_in(kind, key))
    }

    /// Returns whether one of the arguments can have this role.
    pub fn has(&self, role: Role) -> bool {
        self.0.iter().any(|kind| table::arguments(kind).any(|row| row.role == role))
    }
}

/// Returns the role that an argument called `key` has in tools that are not in the table.
pub fn role_by_name(key: &str) -> Option<Role> {
    role_in("any", key).map(|(role, _)| role)
}

fn role_in(kind: &str, key: &str) -> Option<(Role, &'static str)> {
    let mut rows = table::arguments(kind);
    let row = rows.find(|row| row.names.iter().any(|name| name.eq_ignore_ascii_case(key)))?;
    Some((row.role, row.names.first()?))
}

/// Returns what a call of a tool is about, for one line of text: its command, file, address or
/// query.
pub fn subject<'a>(name: &str, arguments: &'a JsonObject) -> Option<&'a str> {
    const TELLING: [Role; 5] = [Role::Command, Role::Path, Role::Url, Role::Query, Role::Pattern];
    let mut kinds = kinds_anywhere(name);
    kinds.push(name.to_owned());
    let roles = Roles::of(name, &kinds);
    TELLING.iter().find_map(|role| {
        let of_role = |key: &str| roles.get(key).is_some_and(|(known, _)| known == *role);
        arguments.iter().find(|(key, _)| of_role(key)).and_then(|(_, value)| value.as_str())
    })
}

#[cfg(test)]
mod tests;
