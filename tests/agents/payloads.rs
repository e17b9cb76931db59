//! Payloads as they really come: broken, huge, and about something else than expected.

use hookexec::agents::{Agent, failure, read};
use hookexec::{Event, Verdict};
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
                let answer = failure(agent, error.native, &error.to_string());
                if native.is_deciding() && native.event != Some(Event::PermissionRequest) {
                    let denial = answer.exit_code == 2 || answer.stdout.contains("deny");
                    assert!(denial, "{agent} {} {payload:?}: {answer:?}", native.name);
                }
                if !native.is_deciding() {
                    assert_eq!(answer.exit_code, 0, "{agent} {}", native.name);
                    let blocks = ["deny", "block", "\"continue\":false"];
                    assert!(!blocks.iter().any(|word| answer.stdout.contains(word)));
                }
            }
        }
    }
}

#[test]
fn without_any_event_a_broken_payload_is_refused_by_exit_code() {
    for agent in Agent::all() {
        let error = read(agent, None, b"garbage", nothing).unwrap_err();
        assert_eq!(error.native, None);
        let answer = failure(agent, None, &error.to_string());
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
    assert!(failure(Agent::ClaudeCode, error.native, "x").stdout.contains("deny"));
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
fn a_verdict_that_is_not_allowed_never_passes_whatever_its_decision_says() {
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let call = read(Agent::ClaudeCode, None, payload.to_string().as_bytes(), nothing).unwrap();
    let mut verdict = Verdict::no_opinion(Event::PreToolUse);
    verdict.allowed = false;
    let answer = hookexec::agents::answer(&call, &verdict);
    assert!(answer.stdout.contains(r#""permissionDecision":"deny""#), "{}", answer.stdout);
    assert!(answer.stdout.contains("Denied by a hook."));
}
