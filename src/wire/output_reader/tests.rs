//! Tests of this module.

use serde_json::json;

use super::*;

fn read(value: Value) -> Output {
    Output::from_value(value).unwrap()
}

#[test]
fn an_answer_of_keys_that_nobody_knows_is_none() {
    let of = |count: usize| {
        let keys = (0..count).map(|number| (format!("zz{number}"), json!(1)));
        Output::from_value(Value::Object(keys.collect()))
    };
    assert_eq!(of(MAX_UNKNOWN).unwrap().unknown_keys.len(), MAX_UNKNOWN);
    let error = of(MAX_UNKNOWN + 1).unwrap_err().to_string();
    assert!(error.starts_with("it has more than 256 unknown keys, `zz"), "{error}");
}

#[test]
fn both_spellings_say_the_same() {
    let snake = json!({
        "continue": true, "stop_reason": "s", "suppress_output": true, "system_message": "m",
        "decision": "block", "reason": "r",
        "hook_specific_output": {
            "hook_event_name": "pre_tool_use", "permission_decision": "ask",
            "permission_decision_reason": "p", "additional_context": "c"
        }
    });
    let camel = json!({
        "continue": true, "stopReason": "s", "suppressOutput": true, "systemMessage": "m",
        "decision": "block", "reason": "r",
        "hookSpecificOutput": {
            "hookEventName": "pre_tool_use", "permissionDecision": "ask",
            "permissionDecisionReason": "p", "additionalContext": "c"
        }
    });
    let output = read(snake);
    assert_eq!(output, read(camel));
    assert_eq!(output.decision, Some(Decision::Deny));
    assert_eq!(output.reason.as_deref(), Some("r"));
    assert_eq!(output.unknown_keys, []);
}

#[test]
fn no_rewrite_is_forgotten_where_rewrites_are_dropped() {
    for key in SPECIFIC_KEYS.iter().filter(|key| key.starts_with("updated_")) {
        let value = match *key {
            "updated_messages" => json!(["m"]),
            "updated_input" => json!({ "cmd": "ls" }),
            "updated_request" => json!({ "model": "m" }),
            _ => json!("text"),
        };
        let mut output = read(json!({ "hook_specific_output": { *key: value } }));
        assert!(output.rewrites(), "{key}");
        output.drop_rewrite();
        assert_eq!(output, Output::default(), "{key}");
    }
}

#[test]
fn one_spelling_patches_the_input_and_the_other_replaces_it() {
    let keys = json!({"cmd": "ls"}).as_object().cloned().unwrap();
    let patch = read(json!({"hook_specific_output": {"updated_input": keys}}));
    assert_eq!(patch.updated_input, Some(InputChange::Patch(keys.clone())));
    let replace = read(json!({"hookSpecificOutput": {"updatedInput": keys}}));
    assert_eq!(replace.updated_input, Some(InputChange::Replace(keys)));
}

#[test]
fn the_words_of_a_decision_are_read_and_no_others() {
    for (word, decision) in WORDS {
        assert_eq!(read(json!({ "decision": word })).decision, Some(decision), "{word}");
    }
    let error = Output::parse(r#"{"decision":"denied"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`decision` can't be `denied`: use `allow`, `approve`, `deny`, `block` or `ask`"
    );
    assert!(Output::parse(r#"{"decision":""}"#).is_err());
    assert!(Output::parse(r#"{"decision":"Block"}"#).is_err());
    assert!(Output::parse(r#"{"decision":true}"#).is_err());
}

#[test]
fn the_strictest_of_several_decisions_counts_and_keeps_its_reasons() {
    let output = read(json!({
        "continue": false, "stop_reason": "stop", "decision": "block", "reason": "why",
        "hook_specific_output": {"permission_decision": "allow"}
    }));
    assert_eq!(output.decision, Some(Decision::Deny));
    assert_eq!(output.reason.as_deref(), Some("why\nstop"));
    let same = read(json!({
        "decision": "block", "reason": "R",
        "hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "R"}
    }));
    assert_eq!(same.reason.as_deref(), Some("R"));
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    for text in [
        r#"{"continue":false,"continue":true}"#,
        r#"{"stop_reason":"a","stopReason":"b"}"#,
        r#"{"hook_specific_output":{},"hookSpecificOutput":{}}"#,
        r#"{"permission_decision":"allow","hook_specific_output":{"permission_decision":"deny"}}"#,
        r#"{"decision":"allow"} {"decision":"deny"}"#,
        r#"{"decision":"deny""#,
        r#"{"continue":"false"}"#,
        r#"{"updated_input":{"a":1},"updatedInput":{"a":1}}"#,
        r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":3}},"updatedInput":{"a":2}}}"#,
        "[]",
        "null",
    ] {
        assert!(Output::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_key_nobody_reads_is_named_with_the_one_meant() {
    let output =
        read(json!({"Continue": false, "hook_specific_output": {"permision_decision": "deny"}}));
    assert_eq!(output.decision, None, "what a key resembles decides nothing");
    assert!(!output.says_something());
    assert_eq!(
        output.unknown_keys.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "unknown key `Continue`; did you mean `continue`?",
            "unknown key `permision_decision`; did you mean `permission_decision`?"
        ]
    );
}

#[test]
fn a_key_is_known_in_two_spellings_and_no_others() {
    for key in ["updated_tool_name", "updatedToolName"] {
        assert_eq!(known(key, true), Some("updated_tool_name"));
    }
    for key in ["UpdatedToolName", "updatedTool_name", "updatedToolNam", "updatedToolNames", ""] {
        assert_eq!(known(key, true), None, "{key}");
    }
    assert_eq!(known("decision", true), None);
}

#[test]
fn what_only_claude_code_understands_is_kept_for_it() {
    let output = read(json!({"terminalSequence": "\u{7}", "hookSpecificOutput": {
        "hookEventName": "PermissionRequest", "sessionTitle": "t",
        "decision": {"behavior": "allow", "updatedPermissions": []}}}));
    let keys: Vec<&String> = output.claude_code.keys().collect();
    assert_eq!(keys, ["sessionTitle", "terminalSequence", "updatedPermissions"]);
    assert_eq!(output.unknown_keys, []);
    let mcp = read(json!({"hookSpecificOutput": {"updatedMCPToolOutput": "x"}}));
    assert_eq!(mcp.updated_tool_response, Some(json!("x")));
}

#[test]
fn the_answer_of_a_permission_request_in_claude_codes_form_is_read() {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "no", "interrupt": true}}});
    let output = read(answer);
    assert_eq!(output.decision, Some(Decision::Deny));
    assert_eq!(output.reason.as_deref(), Some("no"));
    assert_eq!(output.stop, Some(Stop::new(StopScope::Turn, "")));
    let both = json!({"hookSpecificOutput": {"decision": {"behavior": "allow", "denied": true}}});
    let both = read(both);
    assert_eq!(both.decision, Some(Decision::Allow));
    assert_eq!(both.unknown_keys[0].key, "decision.denied");
    let other = json!({"hookSpecificOutput": {"decision": {"behavior": "ask"}}});
    assert!(Output::from_value(other).is_err());
    let nothing = json!({"hookSpecificOutput": {"decision": {"message": "x"}}});
    assert!(Output::from_value(nothing).is_err());
}
