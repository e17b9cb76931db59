//! Under Claude Code itself every documented key of an answer reaches it.

use serde_json::{Value, json};

use crate::agents::run::run;
use crate::support::{Done, Sandbox};

fn payload(event: &str) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": "/"});
    if ["PreToolUse", "PostToolUse", "PermissionRequest", "PermissionDenied"].contains(&event) {
        payload["tool_name"] = json!("mcp__kit__say");
        payload["tool_input"] = json!({"text": "a"});
    }
    if event == "PostToolUse" {
        payload["tool_response"] = json!([{"type": "text", "text": "s3cr3t"}]);
    }
    payload
}

fn hooks(event: &str, answers: &[&Value]) -> String {
    let hook = |answer: &&Value| {
        json!({"type": "command", "dialect": "claude-code",
            "command": ["printf", "%s", answer.to_string()]})
    };
    let hooks: Vec<Value> = answers.iter().map(hook).collect();
    let tool = event.contains("tool") || event.contains("permission");
    let entry = if tool && event != "on_tool_approval_decision" {
        json!({ event: [{"hooks": hooks}] })
    } else {
        json!({ event: hooks })
    };
    entry.to_string()
}

fn answered(native: &str, event: &str, answers: &[&Value]) -> Done {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks(event, answers));
    run(&sandbox, "claude-code", native, &payload(native), &[]).exits(0)
}

#[test]
fn what_hookexec_does_not_judge_passes_through() {
    for (native, event, specific) in [
        ("SessionStart", "session_start", json!({"sessionTitle": "t", "watchPaths": ["/a"]})),
        ("SessionStart", "session_start", json!({"initialUserMessage": "m", "reloadSkills": true})),
        ("UserPromptSubmit", "user_prompt_submit", json!({"suppressOriginalPrompt": true})),
        ("PostToolUse", "post_tool_use", json!({"classifierContext": "c"})),
        ("PermissionDenied", "on_tool_approval_decision", json!({"retry": true})),
        ("Stop", "stop", json!({"additionalContext": "look again"})),
    ] {
        let mut specific = specific;
        specific["hookEventName"] = json!(native);
        let answer = json!({"terminalSequence": "\u{7}", "hookSpecificOutput": specific});
        let said = answered(native, event, &[&answer]).json_line();
        assert_eq!(said, answer, "{native}");
    }
}

#[test]
fn a_redaction_of_an_mcp_tools_output_counts() {
    let parts = json!([{"type": "text", "text": "[redacted]"}]);
    let specific = json!({"hookEventName": "PostToolUse", "updatedMCPToolOutput": parts});
    let answer = json!({ "hookSpecificOutput": specific });
    let said = answered("PostToolUse", "post_tool_use", &[&answer]).json_line();
    let specific = &said["hookSpecificOutput"];
    assert_eq!(
        (&specific["updatedMCPToolOutput"], &specific["updatedToolOutput"]),
        (&parts, &parts)
    );
}

#[test]
fn an_approval_of_a_plan_gives_its_arguments_back() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "permission_request: [{ hooks: [{ type: rule, allow: true, tools: [ExitPlanMode] }] }]",
    );
    let mut payload = payload("PermissionRequest");
    payload["tool_name"] = json!("ExitPlanMode");
    let said = run(&sandbox, "claude-code", "PermissionRequest", &payload, &[]).json_line();
    let allowed = json!({"behavior": "allow", "updatedInput": {"text": "a"}});
    assert_eq!(said["hookSpecificOutput"]["decision"], allowed, "{said}");
}

#[test]
fn a_deferred_call_is_deferred_and_asked_about_elsewhere() {
    let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": "defer"});
    let answer = json!({ "hookSpecificOutput": specific });
    let said = answered("PreToolUse", "pre_tool_use", &[&answer]).json_line();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "defer", "{said}");

    let denial = json!({"decision": "block", "reason": "no"});
    let said = answered("PreToolUse", "pre_tool_use", &[&answer, &denial]).json_line();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");

    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", &[&answer]));
    let said = run(&sandbox, "codex", "PreToolUse", &payload("PreToolUse"), &[]).json_line();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
}

#[test]
fn an_approval_keeps_its_arguments_and_the_guards_see_them() {
    let decision = json!({"behavior": "allow", "updatedInput": {"text": "b"},
        "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]});
    let specific = json!({"hookEventName": "PermissionRequest", "decision": decision});
    let answer = json!({ "hookSpecificOutput": specific });
    let mut said = answered("PermissionRequest", "permission_request", &[&answer]).json_line();
    let told = said.as_object_mut().unwrap().remove("systemMessage").unwrap();
    assert!(told.as_str().unwrap().ends_with("set `mutates: true`"), "{told}");
    assert_eq!(said, answer);

    // A guard that denies these arguments denies the approval.
    let sandbox = Sandbox::new();
    let guard = r#"case $(cat) in *'"text":"b"'*) echo 'not b' >&2; exit 2;; esac"#;
    let mut both: Value = serde_json::from_str(&hooks("permission_request", &[&answer])).unwrap();
    both["pre_tool_use"] = json!([{"hooks": [{"type": "command", "command": guard}]}]);
    sandbox.write("hooks.yaml", &both.to_string());
    let payload = payload("PermissionRequest");
    let said = run(&sandbox, "claude-code", "PermissionRequest", &payload, &[]).json_line();
    let decision = &said["hookSpecificOutput"]["decision"];
    assert_eq!((&decision["behavior"], &decision["message"]), (&json!("deny"), &json!("not b")));
    assert!(decision["updatedInput"].is_null(), "{said}");
}

#[test]
fn the_first_of_two_different_values_counts_and_the_other_hook_is_named() {
    let titled = |title: &str| json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": title}});
    let said = answered("SessionStart", "session_start", &[&titled("one"), &titled("two")]);
    let said = said.json_line();
    assert_eq!(said["hookSpecificOutput"]["sessionTitle"], "one");
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("an earlier hook gives another `sessionTitle`"), "{message}");
}

#[test]
fn what_only_claude_code_knows_is_reported_elsewhere() {
    let answer =
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "t"}});
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks("session_start", &[&answer]));
    let done = run(&sandbox, "codex", "SessionStart", &payload("SessionStart"), &[]).exits(0);
    let message = done.json_line()["systemMessage"].to_string();
    assert!(message.contains("does not know `sessionTitle`: it is lost"), "{message}");
}
