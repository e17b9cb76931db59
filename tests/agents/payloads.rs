//! Payloads as they really come: broken, huge, and about something else than expected.

use hookexec::{Event, Verdict};
use hookexec_agents::{Agent, Response, failure, read};
use serde_json::json;

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn a_broken_payload_on_a_guarded_event_is_a_denial_in_the_dialect() {
    for payload in ["", "{", "[]", "not json", r#"{"tool_name":"a","tool_name":"b"}"#] {
        for agent in Agent::all() {
            for native in agent.events() {
                let error =
                    read(agent, Some(native.name), payload.as_bytes(), nothing).unwrap_err();
                assert_eq!(error.native, Some(native.name), "{agent} {payload}");
                let answer = failure(agent, error.native, None, None, &error.to_string());
                if native.is_deciding() && native.event != Some(Event::PermissionRequest) {
                    let denial = answer.exit_code == 2 || answer.stdout.contains("deny");
                    assert!(denial, "{agent} {} {payload:?}: {answer:?}", native.name);
                }
                if !native.is_deciding() {
                    assert_eq!(answer.exit_code, 0, "{agent} {}", native.name);
                    // Some agents take the place of a response as the reason of a denial.
                    let withholds = answer.stdout.contains("withheld");
                    let blocks = ["deny", "block", "\"continue\":false"];
                    let is_blocked = blocks.iter().any(|word| answer.stdout.contains(word));
                    assert!(withholds || !is_blocked, "{agent} {}: {answer:?}", native.name);
                    let redacts = native.fires(agent).contains(&Event::ToolResponseTransform);
                    let may_withhold = redacts && native.response == Response::Takes;
                    assert!(withholds || !may_withhold, "{agent} {}: {answer:?}", native.name);
                }
            }
        }
    }
}

#[test]
fn an_encoding_is_named_and_marks_of_it_are_dropped() {
    let text = r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    for text in ["\u{feff}".to_owned() + text, "\u{feff}\u{feff}".to_owned() + text] {
        let call = read(Agent::ClaudeCode, Some("PreToolUse"), text.as_bytes(), nothing).unwrap();
        assert_eq!(call.input.tool_name.as_deref(), Some("Bash"));
    }
    let units: Vec<u16> = std::iter::once(0xfeff).chain(text.encode_utf16()).collect();
    for bytes in [
        units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>(),
        units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    ] {
        let error = read(Agent::ClaudeCode, Some("PreToolUse"), &bytes, nothing).unwrap_err();
        assert!(error.to_string().contains("is UTF-16, and must be UTF-8"), "{error}");
    }
}

#[test]
fn without_any_event_a_broken_payload_is_refused_by_exit_code() {
    for agent in Agent::all() {
        let error = read(agent, None, b"garbage", nothing).unwrap_err();
        assert_eq!(error.native, None);
        let answer = failure(agent, None, None, None, &error.to_string());
        assert_eq!((answer.exit_code, answer.stdout.as_str()), (2, ""));
        assert!(answer.stderr.contains("is not JSON"), "{}", answer.stderr);
    }
}

#[test]
fn a_tool_call_without_a_tool_is_no_call_to_let_through() {
    let payload = br#"{"hook_event_name":"PreToolUse","session_id":"s"}"#;
    let error = read(Agent::ClaudeCode, None, payload, nothing).unwrap_err();
    assert_eq!(error.native, Some("PreToolUse"));
    assert!(error.to_string().contains("names none"), "{error}");
    assert!(failure(Agent::ClaudeCode, error.native, None, None, "x").stdout.contains("deny"));
}

#[test]
fn an_event_other_than_the_configured_one_fails_on_the_side_that_decides() {
    let before = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for hint in ["PostToolUse", "Stop", "PostToolBatch"] {
        let error = read(Agent::ClaudeCode, Some(hint), before, nothing).unwrap_err();
        assert_eq!(error.native, Some("PreToolUse"), "{hint}");
    }
    let after = br#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}"#;
    let error = read(Agent::ClaudeCode, Some("PreToolUse"), after, nothing).unwrap_err();
    assert_eq!(error.native, Some("PreToolUse"));
}

#[test]
fn of_two_events_the_one_whose_failure_denies_counts() {
    for (said, configured) in
        [("PermissionRequest", "PreToolUse"), ("PreToolUse", "PermissionRequest")]
    {
        let payload = json!({"hook_event_name": said, "tool_name": "Bash", "tool_input": {}});
        let payload = payload.to_string();
        let read = read(Agent::ClaudeCode, Some(configured), payload.as_bytes(), nothing);
        let error = read.unwrap_err();
        assert_eq!(error.native, Some("PreToolUse"), "{said}");
        let answer = failure(Agent::ClaudeCode, error.native, None, None, &error.to_string());
        assert!(answer.stdout.contains("deny"), "{answer:?}");
    }
}

#[test]
fn an_unknown_event_fails_as_the_configured_one() {
    let payload = br#"{"hook_event_name":"BrandNew","tool_name":"Bash"}"#;
    let error = read(Agent::Codex, Some("PreToolUse"), payload, nothing).unwrap_err();
    assert_eq!(error.native, Some("PreToolUse"));
    assert!(error.to_string().contains("unknown event `BrandNew`"), "{error}");
    assert_eq!(read(Agent::Codex, None, payload, nothing).unwrap_err().native, None);
}

#[test]
fn an_event_may_be_given_in_our_words() {
    let payload = br#"{"agent_action_name":"pre_read_code","tool_info":{"file_path":"/f"}}"#;
    let call = read(Agent::Windsurf, Some("pre_tool_use"), payload, nothing).unwrap();
    assert_eq!(call.native.name, "pre_read_code");
    assert_eq!(call.event, Some(Event::PreToolUse));
}

#[test]
fn six_megabytes_with_a_lone_surrogate_are_read_whole() {
    let text = "x".repeat(6 << 20);
    let payload = format!(
        r#"{}{{"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{{"content":"{text}\udfff"}}}}"#,
        '\u{feff}'
    );
    let call = read(Agent::Gemini, None, payload.as_bytes(), nothing).unwrap();
    let content = call.input.tool_input.as_ref().unwrap()["content"].as_str().unwrap();
    assert_eq!(content.len(), text.len() + '\u{fffd}'.len_utf8());
    assert!(content.ends_with('\u{fffd}'));
}

#[test]
fn the_project_stands_in_for_a_missing_working_directory() {
    let payload = br#"{"hook_event_name":"SessionStart","session_id":"s"}"#;
    let env = |name: &str| (name == "CLAUDE_PROJECT_DIR").then(|| "/project".to_owned());
    assert_eq!(read(Agent::ClaudeCode, None, payload, env).unwrap().input.cwd, "/project");
}

#[test]
fn the_directory_of_one_command_is_not_the_project() {
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/other",
        "tool_name": "exec_command", "tool_input": {"cmd": "ls", "workdir": "/other"}});
    let env = |name: &str| (name == "PWD").then(|| "/project".to_owned());
    let call = read(Agent::Codex, None, payload.to_string().as_bytes(), env).unwrap();
    assert_eq!((&*call.project, &*call.input.cwd), ("/project", "/other"));
    let call = read(Agent::Codex, None, payload.to_string().as_bytes(), nothing).unwrap();
    assert_eq!(call.project, "/other");
}

#[test]
fn a_verdict_that_is_not_allowed_never_passes_whatever_its_decision_says() {
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let call = read(Agent::ClaudeCode, None, payload.to_string().as_bytes(), nothing).unwrap();
    let mut verdict = Verdict::no_opinion(Event::PreToolUse);
    verdict.allowed = false;
    let answer = hookexec_agents::answer(&call, &verdict);
    assert!(answer.stdout.contains(r#""permissionDecision":"deny""#), "{}", answer.stdout);
    assert!(answer.stdout.contains("Denied by a hook."));
    verdict.hooks = serde_json::from_value(json!([
        {"name": "a", "type": "rule", "source": "h.yaml:1", "status": "ok", "mode": "shadow",
         "decision": "deny", "duration_ms": 0.0},
        {"name": "b", "type": "rule", "source": "h.yaml:2", "status": "ok", "decision": "deny",
         "duration_ms": 0.0},
    ]))
    .unwrap();
    let answer = hookexec_agents::answer(&call, &verdict);
    let said = "denied by hook `b` (h.yaml:2), which gave no reason";
    assert!(answer.stdout.contains(said), "{}", answer.stdout);
}

/// A call with these arguments, as each agent that may send them writes it.
fn calls(arguments: &serde_json::Value) -> Vec<(Agent, &'static str, serde_json::Value)> {
    vec![
        (Agent::ClaudeCode, "PreToolUse", json!({"tool_name": "Bash", "tool_input": arguments})),
        (Agent::Codex, "PreToolUse", json!({"tool_name": "Bash", "tool_input": arguments})),
        (Agent::Copilot, "preToolUse", json!({"toolName": "bash", "toolArgs": arguments})),
        (Agent::Cursor, "beforeMCPExecution", json!({"tool_name": "x", "tool_input": arguments})),
        (
            Agent::Windsurf,
            "pre_mcp_tool_use",
            json!({"tool_info": {"mcp_tool_name": "x", "mcp_tool_arguments": arguments}}),
        ),
    ]
}

#[test]
fn arguments_that_cannot_be_read_are_a_denial_and_not_another_argument() {
    let deep = format!("{{\"command\":\"rm\",\"x\":{}{}}}", "[".repeat(130), "]".repeat(130));
    for arguments in [
        json!("{\"command\":\"ls\",\"command\":\"rm -rf /\"}"),
        json!(deep),
        json!(" {\"command\": rm"),
        json!("\u{feff}{\"command\":\"rm\"}"),
        json!(["rm"]),
        json!(5),
    ] {
        for (agent, event, payload) in calls(&arguments) {
            let read = read(agent, Some(event), payload.to_string().as_bytes(), nothing);
            let error = read.unwrap_err();
            let native = agent.native_event(event).map(|native| native.name);
            assert_eq!(error.native, native, "{agent} {arguments}");
            assert!(error.cause.contains("arguments"), "{agent} {arguments}: {error}");
        }
    }
    for info in [json!("x"), json!(null), json!(["x"])] {
        let payload = json!({"tool_info": info}).to_string();
        let _ = read(Agent::Windsurf, Some("pre_run_command"), payload.as_bytes(), nothing)
            .unwrap_err();
    }
}

#[test]
fn a_command_that_stands_there_twice_and_differently_is_a_denial() {
    let info = |command: &str| {
        let info = json!({"tool_info": {"command_line": "rm -rf /", "command": command}});
        info.to_string().into_bytes()
    };
    let before = |command| read(Agent::Windsurf, Some("pre_run_command"), &info(command), nothing);
    let error = before("ls").unwrap_err();
    assert_eq!(error.native, Some("pre_run_command"));
    assert!(error.cause.contains("`command` and `command_line`, and not the same"), "{error}");
    let same = before("rm -rf /").unwrap().input.tool_input.unwrap();
    assert_eq!(serde_json::Value::Object(same), json!({"command": "rm -rf /"}));
    // Who only hears of it hears both.
    let after = read(Agent::Windsurf, Some("post_run_command"), &info("ls"), nothing).unwrap();
    let heard = serde_json::Value::Object(after.input.tool_input.unwrap());
    assert_eq!(heard, json!({"command_line": "rm -rf /", "command": "ls"}));
}

#[test]
fn arguments_with_half_of_a_letter_are_read_as_they_are_meant() {
    for (agent, event, payload) in calls(&json!("{\"command\":\"rm -rf / # \\ud800\"}")) {
        let call = read(agent, Some(event), payload.to_string().as_bytes(), nothing).unwrap();
        let arguments = call.input.tool_input.unwrap();
        assert_eq!(arguments["command"], "rm -rf / # \u{fffd}", "{agent}");
    }
}

#[test]
fn a_hook_that_only_hears_of_a_call_hears_of_one_with_odd_arguments() {
    let payload = json!({"tool_name": "Bash", "tool_input": "{odd", "tool_response": "done"});
    let call =
        read(Agent::ClaudeCode, Some("PostToolUse"), payload.to_string().as_bytes(), nothing)
            .unwrap();
    assert_eq!(call.event, Some(Event::PostToolUse));
    assert_eq!(call.input.tool_input.unwrap()["input"], "{odd");
}

#[test]
fn a_tool_of_an_endless_name_is_no_tool() {
    let payload = json!({"tool_name": "a-".repeat(1000), "tool_input": {}}).to_string();
    let error = read(Agent::Copilot, Some("PreToolUse"), payload.as_bytes(), nothing).unwrap_err();
    assert_eq!(error.native, Some("PreToolUse"));
}

#[test]
fn qwens_prompt_is_skipped_only_when_it_is_empty_and_nothing_else_is_there() {
    let prompt = |payload: serde_json::Value| {
        let payload = payload.to_string();
        let call =
            read(Agent::Qwen, Some("UserPromptSubmit"), payload.as_bytes(), nothing).unwrap();
        call.event.map(|_| call.input.prompt.unwrap_or_default())
    };
    assert_eq!(prompt(json!({"prompt": ""})), None);
    assert_eq!(prompt(json!({"prompt": "", "submitted_prompt": ""})), None);
    assert_eq!(prompt(json!({"prompt": "evil"})).as_deref(), Some("evil"));
    let beside = prompt(json!({"submitted_prompt": "", "prompt": "evil"}));
    assert_eq!(beside.as_deref(), Some("evil"));
    let parts = prompt(json!({"prompt": [{"text": "evil"}]}));
    assert_eq!(parts.as_deref(), Some(r#"[{"text":"evil"}]"#));
    assert_eq!(prompt(json!({"submitted_prompt": ""})).as_deref(), Some(""));
    assert_eq!(prompt(json!({})).as_deref(), Some(""));
}

/// Cursor, VS Code and Copilot CLI also start what Claude Code's settings name, each with a payload
/// of its own. A guard must not miss its tool there.
#[test]
fn the_entry_of_claude_code_knows_the_tools_of_agents_that_load_it() {
    let cursor = json!({
        "conversation_id": "c", "generation_id": "g", "session_id": "c", "model": "m",
        "hook_event_name": "preToolUse", "cursor_version": "2026.09.18", "user_email": null,
        "workspace_roots": ["/project"], "transcript_path": null, "cwd": "",
        "tool_name": "Shell", "tool_input": { "command": "ls" }, "tool_use_id": "t",
    });
    let vs_code = json!({
        "timestamp": "2026-02-09T10:30:00.000Z", "cwd": "/project", "sessionId": "c",
        "hookEventName": "PreToolUse", "transcript_path": "/x",
        "tool_name": "run_in_terminal", "tool_input": { "command": "ls" }, "tool_use_id": "t",
    });
    // As captured; it has no id of the call.
    let copilot = json!({
        "cwd": "/project", "hook_event_name": "PreToolUse", "session_id": "c",
        "timestamp": "2026-11-22T12:14:42.702Z",
        "tool_input": { "command": "ls", "description": "run it" }, "tool_name": "Bash",
    });
    for payload in [cursor, vs_code, copilot] {
        // Cursor writes a byte order mark on Windows.
        let bytes = [b"\xEF\xBB\xBF", payload.to_string().as_bytes()].concat();
        let call = read(Agent::ClaudeCode, Some("PreToolUse"), &bytes, nothing).unwrap();
        assert_eq!(call.event, Some(Event::PreToolUse), "{payload}");
        assert_eq!(call.input.tool_kinds, ["shell"], "{payload}");
        assert_eq!(call.input.tool_input.as_ref().unwrap()["command"], "ls", "{payload}");
        assert_eq!((call.input.session_id.as_str(), call.project.as_str()), ("c", "/project"));
    }
}
