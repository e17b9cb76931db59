//! What was measured on the real clients, held against every answer of the golden files.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Calls `check` with each golden answer: its agent, event and kind.
fn answers(check: impl Fn(&str, &str, &str, &Value)) {
    let root = Path::new(crate::support::ROOT).join("tests/agents/golden");
    for directory in fs::read_dir(root).unwrap() {
        let directory = directory.unwrap().path();
        let agent = directory.file_name().unwrap().to_str().unwrap().to_owned();
        for file in fs::read_dir(&directory).unwrap() {
            let file = file.unwrap().path();
            let event = crate::agents::golden::event_of(&file);
            let golden: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            let Some(kinds) = golden["answers"].as_object() else { continue };
            for (kind, answer) in kinds {
                check(&agent, event, kind, answer);
            }
            check(&agent, event, "failure", &golden["failure"]);
        }
    }
}

fn is_tool_call(event: &str) -> bool {
    const BEFORE: [&str; 14] = [
        "PreToolUse", "preToolUse", "BeforeTool", "beforeShellExecution", "beforeMCPExecution",
        "beforeReadFile", "pre_run_command", "pre_tool", "tool_call", "pre_write_code",
        "pre_read_code", "pre_mcp_tool_use", "tool_execute_before", "before_tool_call",
    ];
    BEFORE.contains(&event)
}

/// Whether the answer is of a form that stopped the tool in that client.
fn stops_the_tool(agent: &str, answer: &Value) -> bool {
    let said = &answer["stdout"];
    let specific = &said["hookSpecificOutput"];
    let reason = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match agent {
        "claude-code" | "codex" | "qwen" => {
            said["decision"] == "block"
                && reason(&said["reason"])
                && specific["hookEventName"] == "PreToolUse"
                && specific["permissionDecision"] == "deny"
                && reason(&specific["permissionDecisionReason"])
        }
        "gemini" | "vibe" => said["decision"] == "deny" && reason(&said["reason"]),
        "copilot" => {
            said["permissionDecision"] == "deny" && reason(&said["permissionDecisionReason"])
        }
        "cursor" => said["permission"] == "deny" && reason(&said["agent_message"]),
        "opencode" | "openclaw" | "kilo" | "pi" => reason(&said["deny"]),
        _ => answer["exit_code"] == 2 && reason(&answer["stderr"]) && said.is_null(),
    }
}

#[test]
fn a_denial_and_a_failure_have_the_form_that_stopped_the_tool() {
    answers(|agent, event, kind, answer| {
        let denial = matches!(
            kind,
            "deny" | "deny_stop" | "deny_rewrite_context" | "failure" | "rename" | "respond"
        );
        if is_tool_call(event) && denial {
            assert!(stops_the_tool(agent, answer), "{agent} {event} {kind}: {answer}");
        }
    });
}

#[test]
fn an_ask_asks_or_stops_the_tool() {
    answers(|agent, event, kind, answer| {
        if !is_tool_call(event) || kind != "ask" {
            return;
        }
        let said = &answer["stdout"];
        let asks = match (agent, event) {
            ("claude-code" | "qwen", _) => {
                said["hookSpecificOutput"]["permissionDecision"] == "ask"
            }
            ("copilot", _) => said["permissionDecision"] == "ask",
            ("openclaw" | "pi", _) => said["ask"] == "is this meant?",
            ("cursor", "beforeShellExecution" | "beforeMCPExecution") => {
                said["permission"] == "ask"
            }
            _ => false,
        };
        assert!(asks || stops_the_tool(agent, answer), "{agent} {event}: {answer}");
    });
}

#[test]
fn changed_arguments_are_passed_on_or_the_call_is_stopped() {
    answers(|agent, event, kind, answer| {
        if !is_tool_call(event) || !kind.ends_with("rewrite") {
            return;
        }
        let said = &answer["stdout"];
        let specific = &said["hookSpecificOutput"];
        let passed = match agent {
            "claude-code" | "droid" => specific["updatedInput"]["command"] == "echo safe",
            "opencode" | "openclaw" | "kilo" | "pi" => said["arguments"]["command"] == "echo safe",
            "codex" => {
                specific["updatedInput"]["command"] == "echo safe"
                    && specific["permissionDecision"] == "allow"
            }
            "gemini" => specific["tool_input"]["command"] == "echo safe",
            "vibe" => said["hook_specific_output"]["tool_input"]["command"] == "echo safe",
            "copilot" => said["modifiedArgs"]["command"] == "echo safe",
            "cursor" => said["updated_input"]["command"] == "echo safe",
            _ => false,
        };
        assert!(passed || stops_the_tool(agent, answer), "{agent} {event} {kind}: {answer}");
    });
}

/// The keys that Codex takes at each event; any other voids the whole answer.
fn codex_keys(event: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match event {
        "PreToolUse" => (
            &["decision", "reason", "systemMessage", "hookSpecificOutput"],
            &[
                "hookEventName",
                "permissionDecision",
                "permissionDecisionReason",
                "updatedInput",
                "additionalContext",
            ],
        ),
        "PermissionRequest" => (&["hookSpecificOutput"], &["hookEventName", "decision"]),
        "PostToolUse" => (
            &["decision", "reason", "systemMessage", "hookSpecificOutput"],
            &["hookEventName", "additionalContext"],
        ),
        "UserPromptSubmit" => (
            &[
                "decision", "reason", "continue", "stopReason", "systemMessage",
                "hookSpecificOutput",
            ],
            &["hookEventName", "additionalContext"],
        ),
        "SessionStart" | "SubagentStart" => {
            (&["systemMessage", "hookSpecificOutput"], &["hookEventName", "additionalContext"])
        }
        "PreCompact" => (&["continue", "stopReason"], &[]),
        "Stop" => (&["decision", "reason", "systemMessage"], &[]),
        "SubagentStop" => (&["decision", "reason"], &[]),
        _ => (&[], &[]),
    }
}

#[test]
fn codex_is_told_nothing_it_does_not_know() {
    answers(|agent, event, kind, answer| {
        if agent != "codex" {
            return;
        }
        let (top, specific) = codex_keys(event);
        let known = |value: &Value, keys: &[&str]| {
            let mut found = value.as_object().into_iter().flat_map(|object| object.keys());
            found.all(|key| keys.contains(&key.as_str()))
        };
        let said = &answer["stdout"];
        assert!(known(said, top), "{event} {kind}: {said}");
        assert!(known(&said["hookSpecificOutput"], specific), "{event} {kind}: {said}");
        // A bare allow makes the run fail.
        let allow = said["hookSpecificOutput"]["permissionDecision"] == "allow";
        assert!(!allow || said["hookSpecificOutput"]["updatedInput"].is_object());
    });
}

#[test]
fn nobody_is_told_allow_where_it_could_undo_the_denial_of_another_hook() {
    answers(|agent, event, kind, answer| {
        let said = &answer["stdout"];
        let specific = &said["hookSpecificOutput"];
        if matches!(agent, "qwen" | "droid") && is_tool_call(event) {
            assert!(specific["permissionDecision"] != "allow", "{agent} {event} {kind}: {answer}");
        }
        if matches!(agent, "qwen" | "copilot") && event.eq_ignore_ascii_case("PermissionRequest") {
            assert!(specific["decision"]["behavior"] != "allow", "{agent} {kind}: {answer}");
            assert!(said["behavior"] != "allow", "{agent} {kind}: {answer}");
        }
    });
}
