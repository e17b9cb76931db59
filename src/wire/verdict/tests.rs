//! Tests of this module.

use super::*;
use crate::wire::StopScope;

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
fn the_widest_of_merged_stops_counts() {
    let stopped = |scope: StopScope, reason: &str| {
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        verdict.stop = Some(Stop::new(scope, reason));
        verdict
    };
    let mut verdict = stopped(StopScope::Turn, "one");
    for (scope, reason, counts) in [
        (StopScope::Turn, "two", "one"),
        (StopScope::Session, "three", "three"),
        (StopScope::Turn, "four", "three"),
    ] {
        verdict.absorb(stopped(scope, reason));
        assert_eq!(verdict.stop.as_ref().unwrap().reason, counts);
    }
}

#[test]
fn nothing_answers_in_the_tools_place_beside_a_denial() {
    let mut answered = Verdict::no_opinion(Event::PreToolUse);
    answered.respond = Some(ToolResult::text("done"));
    let denied = Verdict::denied(Event::PreToolUse, "no");
    for (first, next) in [(&answered, &denied), (&denied, &answered)] {
        let mut verdict = first.clone();
        verdict.absorb(next.clone());
        assert_eq!((verdict.decision, &verdict.respond), (Some(Decision::Deny), &None));
    }
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
