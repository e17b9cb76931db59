//! The table, and the names of MCP servers' tools.

use super::table::*;
use super::*;

/// A tool of the agent in these tests.
const TOOLS: Tools = &[
    Tool { names: &["Bash"], kinds: &["shell"], special: Special::Nothing },
    Tool { names: &["edit"], kinds: &["edit", "write"], special: Special::Nothing },
];

fn named(form: Mcp, name: &str, payload: &str) -> String {
    let payload = serde_json::from_str(payload).unwrap();
    Toolset { agent: "", tools: TOOLS, mcp: form }.kinds(name, &payload).join(" ")
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
        (Mcp::Joined("_"), "kit_say", "mcp mcp__kit__say"),
        (Mcp::Joined("_"), "my-kit_do_it", "mcp mcp__my-kit__do_it mcp__my-kit_do__it"),
        (Mcp::Joined("__"), "my_kit__do-it", "mcp mcp__my_kit__do-it"),
        (Mcp::Joined("___"), "my-kit___do-it", "mcp mcp__my-kit__do-it"),
        (Mcp::Joined("___"), "slack_post_file", ""),
        (Mcp::Dotted, "mcp_my_kit.do_it", "mcp mcp__my_kit__do_it"),
        (Mcp::Dotted, "connector_drive.search", "mcp mcp__connector_drive__search"),
        (Mcp::Joined("_"), "edit", "write"),
        (Mcp::Joined("_"), "webfetch", "fetch"),
    ] {
        assert_eq!(named(form, name, "{}"), expected, "{form:?} {name}");
    }
}

#[test]
fn a_name_that_another_agent_would_give_the_tool_of_a_server_is_just_a_name() {
    let forms = [Mcp::Plain, Mcp::Underscore, Mcp::Colon, Mcp::Slash, Mcp::SlashOrDash];
    for (name, form) in
        [("kit-say", Mcp::SlashOrDash), ("mcp_kit_say", Mcp::Underscore), ("MCP:say", Mcp::Colon)]
    {
        for other in forms.into_iter().filter(|other| *other != form) {
            assert_eq!(named(other, name, "{}"), "", "{other:?} {name}");
        }
    }
}

#[test]
fn the_documentation_has_the_same_words_for_each_kind() {
    let page = include_str!("../../../../docs/agents.md");
    for (kind, does) in TOOL_KINDS {
        assert!(page.contains(&format!("| `{kind}` | {does} |")), "{kind}: {does}");
    }
}

#[test]
fn what_the_payload_says_of_the_server_counts() {
    let gemini = r#"{"mcp_context":{"server_name":"my_kit","tool_name":"say"}}"#;
    assert_eq!(named(Mcp::Underscore, "mcp_my_kit_say", gemini), "mcp mcp__my_kit__say");
    assert_eq!(named(Mcp::Colon, "MCP:say", r#"{"mcp_server_name":"kit"}"#), "mcp mcp__kit__say");
}

/// Every agent's tools with the kinds and the roles that its calls have, as the agents document them.
#[test]
fn every_agents_tools_have_kinds_and_their_arguments_roles() {
    use Role::{Command, Content, New, Old, Patch, Path, Paths, Pattern, Query, Url};
    for (tools, name, kinds, arguments) in [
        (CLAUDE_CODE, "Bash", "shell", &[("command", Command)][..]),
        (CLAUDE_CODE, "Write", "write", &[("file_path", Path), ("content", Content)]),
        (
            CLAUDE_CODE,
            "Edit",
            "edit",
            &[("file_path", Path), ("old_string", Old), ("new_string", New)],
        ),
        (CLAUDE_CODE, "NotebookEdit", "edit write", &[("notebook_path", Path)]),
        (CLAUDE_CODE, "Grep", "grep", &[("pattern", Pattern), ("path", Path)]),
        (CLAUDE_CODE, "WebFetch", "fetch", &[("url", Url)]),
        (CLAUDE_CODE, "WebSearch", "search", &[("query", Query)]),
        (CLAUDE_CODE, "Workflow", "subagent", &[]),
        (CODEX, "exec_command", "shell", &[("cmd", Command)]),
        (CODEX, "write_stdin", "shell", &[("chars", Command)]),
        (CODEX, "apply_patch", "edit write", &[("command", Patch), ("input", Patch)]),
        (CODEX, "view_image", "read", &[("path", Path)]),
        (GEMINI, "replace", "edit", &[("file_path", Path), ("old_string", Old)]),
        (GEMINI, "read_many_files", "read", &[("include", Paths), ("paths", Paths)]),
        (GEMINI, "read_file", "read", &[("absolute_path", Path)]),
        (GEMINI, "list_directory", "list", &[("dir_path", Path)]),
        (GEMINI, "web_fetch", "fetch", &[("url", Url)]),
        (COPILOT, "create", "write", &[("path", Path), ("file_text", Content)]),
        (COPILOT, "edit", "write", &[("path", Path), ("new_str", New)]),
        (COPILOT, "apply_patch", "edit write", &[("patch", Patch)]),
        (CURSOR, "Delete", "write", &[("path", Path)]),
        (CURSOR, "StrReplace", "edit", &[("path", Path)]),
        (DROID, "ApplyPatch", "edit write", &[("input", Patch)]),
        (DROID, "Execute", "shell", &[("command", Command)]),
        (WINDSURF, "write_code", "write edit", &[("file_path", Path)]),
        (KIRO, "fs_write", "write edit", &[("path", Path), ("newStr", New)]),
        (KIRO, "fs_read", "read list grep", &[("operations", Paths), ("pattern", Pattern)]),
        (OPENCODE, "background_process", "shell", &[("command", Command)]),
        (KIMI, "Bash", "shell", &[("command", Command)]),
        (VIBE, "process.start", "shell", &[("command", Command)]),
        (VIBE, "file_system.write_file", "write", &[("file_path", Path), ("content", Content)]),
        (PI, "edit", "", &[("path", Path), ("oldText", Old)]),
        (OPENCODE, "patch", "edit write", &[("patchText", Patch)]),
        (OPENCODE, "edit", "edit", &[("filePath", Path), ("newString", New)]),
        (OPENCLAW, "exec", "shell", &[("command", Command)]),
        (OPENCLAW, "find", "glob", &[("pattern", Pattern)]),
    ] {
        let found = find(tools, name).unwrap();
        if name != "edit" {
            let toolset = Toolset { agent: "", tools, mcp: Mcp::Plain };
            assert_eq!(toolset.kinds(name, &JsonObject::new()).join(" "), kinds);
        }
        let roles = Roles::of(name, found.kinds);
        for (key, role) in arguments {
            assert_eq!(roles.get(key).map(|(role, _)| role), Some(*role), "{name} {key}");
        }
    }
}

#[test]
fn a_listed_tool_has_known_kinds_and_stands_once_in_its_agents_list() {
    for tools in table::all() {
        let mut seen = std::collections::HashSet::new();
        for (name, kinds) in
            tools.iter().flat_map(|tool| tool.names.iter().map(|name| (*name, tool.kinds)))
        {
            assert!(seen.insert(name), "{name}");
            for kind in kinds {
                assert!(TOOL_KINDS.iter().any(|(known, _)| known == kind), "{name} {kind}");
                assert!(table::arguments(kind).is_some(), "{kind}");
            }
        }
    }
}

#[test]
fn old_and_new_names_of_a_tool_are_names_of_its_calls() {
    for (agent, name, expected) in [
        ("claude-code", "Agent", "subagent Task"),
        ("claude-code", "Task", "subagent Agent"),
        ("claude-code", "TaskStop", "KillShell KillBash"),
        ("claude-code", "KillBash", "TaskStop KillShell"),
        ("claude-code", "ListPeers", "ListAgents"),
        ("gemini", "grep_search", "grep search_file_content"),
        ("qwen", "agent", "subagent task"),
    ] {
        assert_eq!(kinds_of(Some(agent), name).join(" "), expected, "{agent} {name}");
        for other in other_names(name) {
            assert!(!of_agent(agent).certainly_lacks(other), "{agent} {other}");
        }
    }
}

#[test]
fn a_tool_is_found_by_its_exact_name() {
    for name in ["dispatch", "mcp__patchwork__apply_patch", "Apply_Patch", "apply_patch2"] {
        let roles = Roles::of(name, &kinds_anywhere(name));
        assert_eq!(roles.get("input"), None, "{name}");
    }
}

#[test]
fn a_call_is_about_its_command_file_or_address() {
    for (tool, arguments, expected) in [
        ("Bash", serde_json::json!({"description": "x", "command": "ls"}), Some("ls")),
        ("write_file", serde_json::json!({"content": "x", "file_path": "/a"}), Some("/a")),
        ("WebFetch", serde_json::json!({"prompt": "x", "url": "https://x"}), Some("https://x")),
        ("grep", serde_json::json!({"pattern": "x"}), Some("x")),
        ("get_weather", serde_json::json!({"city": "x"}), None),
    ] {
        assert_eq!(subject(tool, arguments.as_object().unwrap()), expected, "{tool}");
    }
}
