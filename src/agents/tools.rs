//! Names of tools that hold for every agent: `shell`, `write`, `edit`, `read`, `mcp__server__tool`.

use crate::wire::JsonObject;

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

/// An agent's own names of its tools, with the kinds they are of.
pub(super) type Tools = &'static [(&'static str, &'static [&'static str])];

/// How an agent names the tools of MCP servers, where it isn't `mcp__server__tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mcp {
    /// In no other way.
    Plain,
    /// `mcp_server_tool`; the payload may say which is which.
    Underscore,
    /// `MCP:tool`, the server in the payload or nowhere.
    Colon,
    /// `server/tool`, also as `@server/tool`.
    Slash,
    /// `server/tool` or `server-tool`.
    SlashOrDash,
    /// The server and the tool, joined by this text.
    Joined(&'static str),
}

/// Tools of programs that have no adapter and call the hooks of others: VS Code, and what builds on it.
const ELSEWHERE: Tools = &[
    ("run_in_terminal", &["shell"]),
    ("create_file", &["write"]),
    ("insert_edit_into_file", &["edit"]),
    ("replace_string_in_file", &["edit"]),
    ("multi_replace_string_in_file", &["edit"]),
    ("list_dir", &["list"]),
    ("file_search", &["glob"]),
    ("fetch_webpage", &["fetch"]),
];

/// The longest name of a tool, in bytes; those of all servers and agents are far shorter.
pub(super) const LONGEST: usize = 512;

/// Returns the kinds of the tool `name`, less those that are its name already.
///
/// A name that is none of the agent's own may be another's: several agents read the hooks of Claude Code
/// and call them with names of their own. To match too much costs a run, too little a guard.
pub(super) fn kinds(tools: Tools, form: Mcp, name: &str, payload: &JsonObject) -> Vec<String> {
    let named =
        |tools: Tools| tools.iter().find(|(tool, _)| *tool == name).map(|(_, kinds)| *kinds);
    let mut kinds: Vec<String> = Vec::new();
    let mut add = |kind: &str| {
        if kind != name && !kinds.iter().any(|known| known == kind) {
            kinds.push(kind.to_owned());
        }
    };
    if let Some(own) = named(tools) {
        for kind in own {
            add(kind);
        }
    } else {
        let tables = super::ADAPTERS.iter().map(|adapter| adapter.tools).chain([ELSEWHERE]);
        for kind in tables.filter_map(named).flatten() {
            add(kind);
        }
        for kind in mcp(form, name, payload) {
            add(&kind);
        }
    }
    kinds
}

/// Returns `mcp` and the tool's `mcp__server__tool`, or nothing for what is no tool of a server.
fn mcp(form: Mcp, name: &str, payload: &JsonObject) -> Vec<String> {
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
            Mcp::Joined(by) => splits(name, by),
            Mcp::Slash => slash().into_iter().collect(),
            Mcp::SlashOrDash => slash().map_or_else(|| splits(name, "-"), |pair| vec![pair]),
        }
    };
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut kinds = vec!["mcp".to_owned()];
    kinds.extend(
        pairs
            .iter()
            .filter(|(server, _)| !server.is_empty())
            .map(|(s, t)| format!("mcp__{s}__{t}")),
    );
    kinds
}

/// Returns every way to cut `name` into a server and a tool: where an agent joins the two by a
/// letter that may stand in both, a guard must see each reading.
fn splits<'n>(name: &'n str, at: &str) -> Vec<(&'n str, &'n str)> {
    name.match_indices(at)
        .map(|(index, _)| (&name[..index], &name[index + at.len()..]))
        .filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(form: Mcp, name: &str, payload: &str) -> String {
        let payload = serde_json::from_str(payload).unwrap();
        kinds(&[("Bash", &["shell"]), ("edit", &["edit", "write"])], form, name, &payload).join(" ")
    }

    #[test]
    fn a_tool_goes_by_its_kinds_beside_its_own_name() {
        let nine = (1..10).fold("mcp".to_owned(), |all, at| {
            let (server, tool) = "a-b-c-d-e-f-g-h-i-j".split_at(2 * at);
            format!("{all} mcp__{}__{tool}", &server[..server.len() - 1])
        });
        for (form, name, expected) in [
            (Mcp::Plain, "Bash", "shell"),
            (Mcp::Plain, "edit", "write"),
            (Mcp::Plain, "unknown_tool", ""),
            (Mcp::Plain, "run_in_terminal", "shell"),
            (Mcp::Plain, "Shell", "shell"),
            (Mcp::Plain, "mcp__kit__say", "mcp"),
            (Mcp::Plain, "mcp__git__push__all", "mcp"),
            (Mcp::Underscore, "mcp__kit__say", "mcp"),
            (Mcp::Underscore, "mcp_kit_say", "mcp mcp__kit__say"),
            (Mcp::Underscore, "mcp_my_kit_say", "mcp mcp__my__kit_say mcp__my_kit__say"),
            (Mcp::Slash, "kit/say", "mcp mcp__kit__say"),
            (Mcp::Slash, "@kit/say", "mcp mcp__kit__say"),
            (Mcp::SlashOrDash, "kit/say", "mcp mcp__kit__say"),
            (Mcp::SlashOrDash, "kit-say", "mcp mcp__kit__say"),
            (Mcp::SlashOrDash, "my-kit-say", "mcp mcp__my__kit-say mcp__my-kit__say"),
            (Mcp::SlashOrDash, "a-b-c-d-e-f-g-h-i-j", &nine),
            (Mcp::SlashOrDash, "-", ""),
            (Mcp::Colon, "MCP:say", "mcp"),
        ] {
            assert_eq!(named(form, name, "{}"), expected, "{form:?} {name}");
        }
    }

    #[test]
    fn a_name_that_another_agent_would_give_the_tool_of_a_server_is_just_a_name() {
        let forms = [Mcp::Plain, Mcp::Underscore, Mcp::Colon, Mcp::Slash, Mcp::SlashOrDash];
        for (name, form) in [
            ("kit-say", Mcp::SlashOrDash),
            ("mcp_kit_say", Mcp::Underscore),
            ("MCP:say", Mcp::Colon),
        ] {
            for other in forms.into_iter().filter(|other| *other != form) {
                assert_eq!(named(other, name, "{}"), "", "{other:?} {name}");
            }
        }
    }

    #[test]
    fn the_documentation_has_the_same_words_for_each_kind() {
        let page = include_str!("../../docs/agents.md");
        for (kind, does) in TOOL_KINDS {
            assert!(page.contains(&format!("| `{kind}` | {does} |")), "{kind}: {does}");
        }
    }

    #[test]
    fn what_the_payload_says_of_the_server_counts() {
        let gemini = r#"{"mcp_context":{"server_name":"my_kit","tool_name":"say"}}"#;
        assert_eq!(named(Mcp::Underscore, "mcp_my_kit_say", gemini), "mcp mcp__my_kit__say");
        assert_eq!(
            named(Mcp::Colon, "MCP:say", r#"{"mcp_server_name":"kit"}"#),
            "mcp mcp__kit__say"
        );
    }
}
