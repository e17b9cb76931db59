//! The table, and the names of MCP servers' tools.

use super::table::*;
use super::*;

/// Returns an agent with two tools. `form` says how it names those of MCP servers.
fn agent(form: &'static str) -> Toolset {
    let table = format!("agent: {form}\n  shell: Bash\n  edit write: edit");
    toolsets(table.leak()).remove(0)
}

fn named(form: &'static str, name: &str, payload: &str) -> String {
    let payload = serde_json::from_str(payload).unwrap();
    agent(form).kinds(name, &payload).join(" ")
}

const PLAIN: &str = "";
const UNDERSCORE: &str = "mcp_ _";
const COLON: &str = "MCP:";
const SLASH: &str = "@? /";
const SLASH_OR_DASH: &str = "@? / -";
const DOTTED: &str = "mcp_? .";

#[test]
fn a_tool_goes_by_its_kinds_beside_its_own_name() {
    let nine = (1..10).fold("mcp".to_owned(), |all, at| {
        let (server, tool) = "a-b-c-d-e-f-g-h-i-j".split_at(2 * at);
        format!("{all} mcp__{}__{tool}", &server[..server.len() - 1])
    });
    for (form, name, expected) in [
        (PLAIN, "Bash", "shell"),
        (PLAIN, "edit", "write"),
        (PLAIN, "unknown_tool", ""),
        (PLAIN, "run_in_terminal", "shell"),
        (PLAIN, "Shell", "shell"),
        (PLAIN, "mcp__kit__say", "mcp"),
        (PLAIN, "mcp__git__push__all", "mcp"),
        (UNDERSCORE, "mcp__kit__say", "mcp"),
        (UNDERSCORE, "mcp_kit_say", "mcp mcp__kit__say"),
        (UNDERSCORE, "mcp_my_kit_say", "mcp mcp__my__kit_say mcp__my_kit__say"),
        (SLASH, "kit/say", "mcp mcp__kit__say"),
        (SLASH, "@kit/say", "mcp mcp__kit__say"),
        (SLASH_OR_DASH, "kit/say", "mcp mcp__kit__say"),
        (SLASH_OR_DASH, "kit-say", "mcp mcp__kit__say"),
        (SLASH_OR_DASH, "my-kit-say", "mcp mcp__my__kit-say mcp__my-kit__say"),
        (SLASH_OR_DASH, "a-b-c-d-e-f-g-h-i-j", &nine),
        (SLASH_OR_DASH, "-", ""),
        (COLON, "MCP:say", "mcp"),
        ("? _", "kit_say", "mcp mcp__kit__say"),
        ("? _", "my-kit_do_it", "mcp mcp__my-kit__do_it mcp__my-kit_do__it"),
        ("? __", "my_kit__do-it", "mcp mcp__my_kit__do-it"),
        ("? ___", "my-kit___do-it", "mcp mcp__my-kit__do-it"),
        ("? ___", "slack_post_file", ""),
        (DOTTED, "mcp_my_kit.do_it", "mcp mcp__my_kit__do_it"),
        (DOTTED, "connector_drive.search", "mcp mcp__connector_drive__search"),
        ("? _", "edit", "write"),
        ("? _", "webfetch", "fetch"),
    ] {
        assert_eq!(named(form, name, "{}"), expected, "{form:?} {name}");
    }
}

#[test]
fn a_name_that_another_agent_would_give_the_tool_of_a_server_is_just_a_name() {
    let forms = [PLAIN, UNDERSCORE, COLON, SLASH, SLASH_OR_DASH];
    for (name, form) in
        [("kit-say", SLASH_OR_DASH), ("mcp_kit_say", UNDERSCORE), ("MCP:say", COLON)]
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
    assert_eq!(named(UNDERSCORE, "mcp_my_kit_say", gemini), "mcp mcp__my_kit__say");
    assert_eq!(named(COLON, "MCP:say", r#"{"mcp_server_name":"kit"}"#), "mcp mcp__kit__say");
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
        let toolset = of_agent(agent);
        let found = toolset.find(name).unwrap();
        if name != "edit" {
            assert_eq!(toolset.kinds(name, &JsonObject::new()).join(" "), kinds);
        }
        let roles = Roles::of(name, &found.kinds);
        for (key, role) in arguments {
            assert_eq!(roles.get(key).map(|(role, _)| role), Some(*role), "{name} {key}");
        }
    }
}

#[test]
fn a_listed_tool_has_known_kinds_and_stands_once_in_its_agents_list() {
    for section in sections(TOOLS) {
        assert!(!section.rows.is_empty(), "{:?}", section.head.key);
        for word in section.rows.iter().flat_map(|row| &row.key) {
            let is_kind = TOOL_KINDS.iter().any(|(kind, _)| kind == word);
            assert!(is_kind || *word == "none" || marked(word) != Special::Nothing, "{word}");
            assert!(!is_kind || ROLES.iter().any(|arguments| arguments.are_for(word)), "{word}");
        }
    }
    for toolset in TOOLSETS.iter() {
        let mut seen = std::collections::HashSet::new();
        for (name, _) in toolset.named() {
            assert!(seen.insert(name), "{name}");
        }
    }
}

#[test]
fn an_argument_has_a_known_role() {
    for section in sections(ARGUMENTS) {
        assert!(!section.rows.is_empty(), "{:?}", section.head.key);
        for word in section.rows.iter().flat_map(|row| &row.key) {
            assert!(role(word).is_some(), "{word}");
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
