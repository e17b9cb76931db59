//! The table, and the names of MCP servers' tools.

use super::*;

/// The tools of the agent in these tests.
const TOOLS: &[Tool] = &[
    Tool { kinds: &["shell"], names: &["Bash"], special: Special::Nothing },
    Tool { kinds: &["edit", "write"], names: &["edit"], special: Special::Nothing },
];

fn named(forms: &'static str, name: &str, payload: &str) -> String {
    let payload = serde_json::from_str(payload).unwrap();
    Toolset { agents: &[], forms, tools: TOOLS }.kinds(name, &payload).join(" ")
}

#[test]
fn a_tool_goes_by_its_kinds_beside_its_own_name() {
    let nine = (1..10).fold("mcp".to_owned(), |all, at| {
        let (server, tool) = "a-b-c-d-e-f-g-h-i-j".split_at(2 * at);
        format!("{all} mcp__{}__{tool}", &server[..server.len() - 1])
    });
    for (form, name, expected) in [
        ("", "Bash", "shell"),
        ("", "edit", "write"),
        ("", "unknown_tool", ""),
        ("", "run_in_terminal", "shell"),
        ("", "Shell", "shell"),
        ("", "mcp__kit__say", "mcp"),
        ("", "mcp__git__push__all", "mcp"),
        ("mcp_server_tool", "mcp__kit__say", "mcp"),
        ("mcp_server_tool", "mcp_kit_say", "mcp mcp__kit__say"),
        ("mcp_server_tool", "mcp_my_kit_say", "mcp mcp__my__kit_say mcp__my_kit__say"),
        ("server/tool", "kit/say", "mcp mcp__kit__say"),
        ("server/tool", "@kit/say", "mcp mcp__kit__say"),
        ("server/tool server-tool", "kit/say", "mcp mcp__kit__say"),
        ("server/tool server-tool", "kit-say", "mcp mcp__kit__say"),
        ("server/tool server-tool", "my-kit-say", "mcp mcp__my__kit-say mcp__my-kit__say"),
        ("server/tool server-tool", "a-b-c-d-e-f-g-h-i-j", &nine),
        ("server/tool server-tool", "-", ""),
        ("MCP:tool", "MCP:say", "mcp"),
        ("server_tool", "kit_say", "mcp mcp__kit__say"),
        ("server_tool", "my-kit_do_it", "mcp mcp__my-kit__do_it mcp__my-kit_do__it"),
        ("server__tool", "my_kit__do-it", "mcp mcp__my_kit__do-it"),
        ("server___tool", "my-kit___do-it", "mcp mcp__my-kit__do-it"),
        ("server___tool", "slack_post_file", ""),
        ("mcp_server.tool server.tool", "mcp_my_kit.do_it", "mcp mcp__my_kit__do_it"),
        (
            "mcp_server.tool server.tool",
            "connector_drive.search",
            "mcp mcp__connector_drive__search",
        ),
        ("server_tool", "edit", "write"),
        ("server_tool", "webfetch", "fetch"),
    ] {
        assert_eq!(named(form, name, "{}"), expected, "{form:?} {name}");
    }
}

#[test]
fn a_name_that_another_agent_would_give_the_tool_of_a_server_is_just_a_name() {
    let forms = ["", "mcp_server_tool", "MCP:tool", "server/tool", "server/tool server-tool"];
    for (name, form) in [
        ("kit-say", "server/tool server-tool"),
        ("mcp_kit_say", "mcp_server_tool"),
        ("MCP:say", "MCP:tool"),
    ] {
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
    assert_eq!(named("mcp_server_tool", "mcp_my_kit_say", gemini), "mcp mcp__my_kit__say");
    assert_eq!(named("MCP:tool", "MCP:say", r#"{"mcp_server_name":"kit"}"#), "mcp mcp__kit__say");
}

/// Every agent's tools with the kinds and the roles that its calls have, as the agents document them.
#[test]
fn every_agents_tools_have_kinds_and_their_arguments_roles() {
    use Role::{Command, Content, New, Old, Patch, Path, Paths, Pattern, Query, Url};
    for (agent, name, kinds, arguments) in [
        ("claude-code", "Bash", "shell", &[("command", Command)][..]),
        ("claude-code", "Write", "write", &[("file_path", Path), ("content", Content)]),
        (
            "claude-code",
            "Edit",
            "edit",
            &[("file_path", Path), ("old_string", Old), ("new_string", New)],
        ),
        ("claude-code", "NotebookEdit", "edit write", &[("notebook_path", Path)]),
        ("claude-code", "Grep", "grep", &[("pattern", Pattern), ("path", Path)]),
        ("claude-code", "WebFetch", "fetch", &[("url", Url)]),
        ("claude-code", "WebSearch", "search", &[("query", Query)]),
        ("claude-code", "Workflow", "subagent", &[]),
        ("codex", "exec_command", "shell", &[("cmd", Command)]),
        ("codex", "write_stdin", "shell", &[("chars", Command)]),
        ("codex", "apply_patch", "edit write", &[("command", Patch), ("input", Patch)]),
        ("codex", "view_image", "read", &[("path", Path)]),
        ("gemini", "replace", "edit", &[("file_path", Path), ("old_string", Old)]),
        ("gemini", "read_many_files", "read", &[("include", Paths), ("paths", Paths)]),
        ("gemini", "read_file", "read", &[("absolute_path", Path)]),
        ("gemini", "list_directory", "list", &[("dir_path", Path)]),
        ("gemini", "web_fetch", "fetch", &[("url", Url)]),
        ("copilot", "create", "write", &[("path", Path), ("file_text", Content)]),
        ("copilot", "edit", "write", &[("path", Path), ("new_str", New)]),
        ("copilot", "apply_patch", "edit write", &[("patch", Patch)]),
        ("cursor", "Delete", "write", &[("path", Path)]),
        ("cursor", "StrReplace", "edit", &[("path", Path)]),
        ("droid", "ApplyPatch", "edit write", &[("input", Patch)]),
        ("droid", "Execute", "shell", &[("command", Command)]),
        ("windsurf", "write_code", "write edit", &[("file_path", Path)]),
        ("kiro", "fs_write", "write edit", &[("path", Path), ("newStr", New)]),
        ("kiro", "fs_read", "read list grep", &[("operations", Paths), ("pattern", Pattern)]),
        ("opencode", "background_process", "shell", &[("command", Command)]),
        ("kimi", "Bash", "shell", &[("command", Command)]),
        ("vibe", "process.start", "shell", &[("command", Command)]),
        ("vibe", "file_system.write_file", "write", &[("file_path", Path), ("content", Content)]),
        ("pi", "edit", "", &[("path", Path), ("oldText", Old)]),
        ("opencode", "patch", "edit write", &[("patchText", Patch)]),
        ("opencode", "edit", "edit", &[("filePath", Path), ("newString", New)]),
        ("openclaw", "exec", "shell", &[("command", Command)]),
        ("openclaw", "find", "glob", &[("pattern", Pattern)]),
    ] {
        let (_, own) = of_agent(agent).named().find(|(known, _)| *known == name).unwrap();
        if name != "edit" {
            assert_eq!(own.join(" "), kinds);
        }
        let roles = Roles::of(name, &own);
        for (key, role) in arguments {
            assert_eq!(roles.get(key).map(|(role, _)| role), Some(*role), "{name} {key}");
        }
    }
}

#[test]
fn each_row_can_be_read_and_each_name_stands_once_in_its_agents_list() {
    let is_kind = |kind: &str| TOOL_KINDS.iter().any(|(known, _)| *known == kind);
    let rows = include_str!("../../data/arguments.txt").lines().filter(|row| !row.starts_with('#'));
    for row in rows {
        let (kinds, row) = row.split_once(": ").unwrap();
        for kind in kinds.split(' ') {
            assert!(is_kind(kind) || ["any", "patch"].contains(&kind), "{row}");
            let roles = Roles(vec![kind]);
            let mut roles = roles.rows();
            let is_row = |own: &Arguments| format!("{:?} {}", own.role, own.names.join(" ")) == row;
            assert!(roles.any(is_row), "{row}");
        }
    }
    for toolset in TOOLSETS {
        let mut seen = std::collections::HashSet::new();
        for (name, kinds) in toolset.named() {
            assert!(seen.insert(name), "{name}");
            for kind in kinds {
                assert!(is_kind(kind), "{name} {kind}");
                assert!(Roles(vec![kind]).rows().next().is_some(), "{kind}");
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
        let kinds = of_agent(agent).kinds(name, &JsonObject::new());
        assert_eq!(kinds.join(" "), expected, "{agent} {name}");
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
