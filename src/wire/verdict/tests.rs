//! Tests of this module.

use super::*;

#[test]
fn a_merged_verdict_says_each_line_and_names_each_hook_once() {
    let failed = |message: &str, told: &str| {
        let mut verdict = Verdict::denied(Event::PreToolUse, message);
        verdict.system_message = Some(told.to_owned());
        verdict.failed_open = vec!["lint".to_owned()];
        verdict
    };
    let mut verdict = failed("hooks.yaml failed", "lint failed");
    verdict.absorb(failed("hooks.yaml failed\nno shell", "lint failed\nslow"));
    verdict.absorb(failed("hooks.yaml failed", "lint failed"));
    assert_eq!(verdict.message.unwrap(), "hooks.yaml failed\nno shell");
    assert_eq!(verdict.system_message.unwrap(), "lint failed\nslow");
    assert_eq!(verdict.failed_open, ["lint"]);
}

#[test]
fn without_hooks_the_contract_decides() {
    for event in Event::all() {
        let verdict = Verdict::failed(event, "busy");
        let expected = match event.contract().failure {
            FailureMode::Closed => Some(Decision::Deny),
            FailureMode::Ask => Some(Decision::Ask),
            FailureMode::Open => None,
        };
        assert_eq!(verdict.decision, expected, "{event}");
        assert_eq!(verdict.allowed, expected.is_none(), "{event}");
        let said = verdict.message.or(verdict.system_message).unwrap();
        assert!(said.contains("busy"), "{said}");
    }
}
