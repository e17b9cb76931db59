//! `redact_secrets` on each event that can rewrite.

use hookexec::Output;
use hookexec::wire::InputChange;
use hookexec_calls::Surroundings;
use serde_json::{Value, json};

use crate::support::{builtin, input, run_in};

/// A made-up token of a real shape.
fn token() -> String {
    format!("gh{}_16C7e42F292c6912E7710c838347Ae178B4a", 'p')
}

fn redact(json: Value) -> Option<Output> {
    let surroundings = Surroundings::of_process().with_env([("ACME_TOKEN", "correct-horse")]);
    run_in(&surroundings, "redact_secrets", &[], &input(json))
}

#[test]
fn arguments_are_patched_key_by_key() {
    for event in ["pre_tool_use", "tool_input_transform"] {
        let output = redact(json!({
            "hook_event_name": event,
            "tool_input": { "cmd": format!("curl -H 'X: {}' x", token()), "n": 1, "nested": ["correct-horse"] },
        }));
        let Some(InputChange::Patch(patch)) = output.unwrap().updated_input else {
            panic!("{event}")
        };
        assert_eq!(
            Value::Object(patch),
            json!({ "cmd": "curl -H 'X: [REDACTED:github-token]' x", "nested": ["[REDACTED:env:ACME_TOKEN]"] })
        );
    }
}

#[test]
fn a_secret_in_a_key_replaces_the_arguments() {
    let output = redact(json!({
        "hook_event_name": "pre_tool_use",
        "tool_input": { "correct-horse": 1, "b": 2 },
    }));
    let Some(InputChange::Replace(whole)) = output.unwrap().updated_input else { panic!() };
    assert_eq!(Value::Object(whole), json!({ "[REDACTED:env:ACME_TOKEN]": 1, "b": 2 }));
}

#[test]
fn messages_and_responses_are_cleaned() {
    let output = redact(json!({
        "hook_event_name": "before_llm_call",
        "messages": [
            { "role": "user", "content": "hi" },
            { "role": "tool", "content": [{ "text": token() }] },
        ],
    }));
    assert_eq!(
        output.unwrap().updated_messages.unwrap()[1]["content"][0]["text"],
        "[REDACTED:github-token]"
    );
    let output =
        redact(json!({ "hook_event_name": "after_llm_call", "response": { "text": token() } }));
    assert_eq!(output.unwrap().updated_response.unwrap()["text"], "[REDACTED:github-token]");
    for event in ["tool_response_transform", "post_tool_use"] {
        let output =
            redact(json!({ "hook_event_name": event, "tool_response": format!("{}!", token()) }));
        assert_eq!(output.unwrap().updated_tool_response.unwrap(), "[REDACTED:github-token]!");
    }
}

#[test]
fn nothing_to_hide_is_no_opinion() {
    for event in ["pre_tool_use", "before_llm_call", "after_llm_call", "tool_response_transform"] {
        assert_eq!(redact(json!({ "hook_event_name": event })), None);
        assert_eq!(
            redact(json!({
                "hook_event_name": event,
                "tool_input": { "a": "9fceb02d0ae598e95dc970b74767f19372d61af8" },
                "messages": [{ "content": "the password is short" }],
                "response": "sk-learn", "tool_response": { "n": 1 },
            })),
            None
        );
    }
}

#[test]
fn it_is_for_the_events_that_can_rewrite() {
    let events: Vec<_> =
        builtin("redact_secrets").events().map(|event| event.to_string()).collect();
    assert_eq!(
        events,
        [
            "pre_tool_use",
            "post_tool_use",
            "before_llm_call",
            "after_llm_call",
            "tool_response_transform",
            "tool_input_transform"
        ]
    );
}
