//! Compares a result with the expected one.

use serde::Serialize;

use super::keys::{DecisionWord, Expectation, ExpectedArguments, Names};
use crate::records::word;
use hookexec::Verdict;
use hookexec::wire::{HookStatus, JsonObject};

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A key of `expect`.
    pub what: &'static str,
    /// The expected value.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

/// Returns everything about `verdict` that is not as expected.
pub(super) fn differences(expect: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut pairs = Vec::new();
    if let Some(DecisionWord(decision)) = expect.decision {
        pairs.push(("decision", word(decision).to_owned(), word(verdict.decision).to_owned()));
    }
    if let Some(allowed) = expect.allowed {
        pairs.push(("allowed", allowed.to_string(), verdict.allowed.to_string()));
    }
    if let Some(ExpectedArguments(expected)) = &expect.updated_input {
        let updated = arguments(verdict.updated_input.as_ref());
        pairs.push(("updated_input", arguments(expected.as_ref()), updated));
    }
    let mut ran = Vec::new();
    for report in &verdict.hooks {
        if report.status != HookStatus::Skipped {
            ran.push(report.name.clone());
        }
    }
    for name in expect.not_run.iter().flat_map(names) {
        if ran.contains(&name) {
            pairs.push(("not_run", format!("`{name}` does not run"), format!("`{name}` ran")));
        }
    }
    if let Some(expected) = &expect.ran {
        pairs.push(("ran", listed(names(expected)), listed(ran)));
    }
    if let Some(expected) = &expect.failed_open {
        let failed = listed(verdict.failed_open.clone());
        pairs.push(("failed_open", listed(names(expected)), failed));
    }
    let mut differences = Vec::new();
    for (what, expected, found) in pairs {
        if expected != found {
            differences.push(Difference { what, expected, found });
        }
    }
    for (what, expected, found) in [
        ("message", &expect.message, &verdict.message),
        ("additional_context", &expect.additional_context, &verdict.additional_context),
        ("system_message", &expect.system_message, &verdict.system_message),
    ] {
        if let Some(expected) = expected
            && !expected.holds(found.as_deref())
        {
            let found = found.as_deref().unwrap_or("nothing").to_owned();
            differences.push(Difference { what, expected: expected.to_string(), found });
        }
    }
    differences
}

fn arguments(value: Option<&JsonObject>) -> String {
    match value {
        None => "not changed".to_owned(),
        Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

fn names(names: &Names) -> Vec<String> {
    names.0.iter().map(|(name, _)| name.clone()).collect()
}

fn listed(mut names: Vec<String>) -> String {
    names.sort_unstable();
    if names.is_empty() { "no hook".to_owned() } else { names.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::super::keys::ExpectedText;
    use super::*;
    use hookexec::{Decision, Event};

    #[test]
    fn what_is_as_expected_is_not_named() {
        let mut verdict = Verdict::denied(Event::PreToolUse, "one\ntwo");
        verdict.additional_context = Some("context\n".into());
        let expect = Expectation {
            decision: Some(DecisionWord(Some(Decision::Deny))),
            allowed: Some(true),
            message: Some(ExpectedText::Is("one\nthree\n".into())),
            additional_context: Some(ExpectedText::Is("context".into())),
            system_message: Some(ExpectedText::Absent),
            ..Expectation::default()
        };
        let found = differences(&expect, &verdict);
        let what: Vec<&str> = found.iter().map(|difference| difference.what).collect();
        assert_eq!(what, ["allowed", "message"]);
        assert_eq!((&*found[1].expected, &*found[1].found), ("one\nthree\n", "one\ntwo"));
    }

    #[test]
    fn the_order_of_keys_is_no_difference_and_a_missing_rewrite_is_one() {
        let object = |text: &str| serde_json::from_str::<JsonObject>(text).unwrap();
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        let expect = Expectation {
            updated_input: Some(ExpectedArguments(Some(object(
                r#"{"b": {"y": 1, "x": 2}, "a": 1}"#,
            )))),
            ..Expectation::default()
        };
        assert_eq!(differences(&expect, &verdict)[0].found, "not changed");
        verdict.updated_input = Some(object(r#"{"a": 1, "b": {"x": 2, "y": 1}}"#));
        assert_eq!(differences(&expect, &verdict), []);
    }
}
