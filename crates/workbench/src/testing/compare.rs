//! Compares a result with the expected one.

use serde::Serialize;

use super::keys::{Expectation, ExpectedText, Names};
use crate::records::word;
use hookexec::wire::{HookStatus, JsonObject, Verdict};

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

/// The differences that were found so far.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn compare(&mut self, what: &'static str, expected: String, found: String) {
        if expected != found {
            self.0.push(Difference { what, expected, found });
        }
    }

    fn compare_text(
        &mut self,
        what: &'static str,
        expected: Option<&ExpectedText>,
        found: Option<&str>,
    ) {
        let (holds, expected) = match (expected, found) {
            (None, _) | (Some(ExpectedText::Absent), None) => return,
            (Some(ExpectedText::Absent), Some(_)) => (false, "nothing".to_owned()),
            // Whether a YAML text ends in a newline is a matter of its style.
            (Some(ExpectedText::Is(text)), found) => {
                (found.is_some_and(|found| found.trim_end() == text.trim_end()), text.clone())
            }
            (Some(ExpectedText::Matches(pattern)), found) => {
                let holds = found.is_some_and(|found| pattern.is_match(found));
                (holds, format!("a text in which `{}` is found", pattern.as_str()))
            }
        };
        if !holds {
            let found = found.unwrap_or("nothing").to_owned();
            self.0.push(Difference { what, expected, found });
        }
    }
}

/// Returns everything about `verdict` that is not as expected.
pub(super) fn differences(expect: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut found = Differences::default();
    if let Some(decision) = expect.decision {
        let (expected, decision) = (word(decision.0), word(verdict.decision));
        found.compare("decision", expected.to_owned(), decision.to_owned());
    }
    if let Some(allowed) = expect.allowed {
        found.compare("allowed", allowed.to_string(), verdict.allowed.to_string());
    }
    if let Some(expected) = &expect.updated_input {
        let updated = arguments(verdict.updated_input.as_ref());
        found.compare("updated_input", arguments(expected.0.as_ref()), updated);
    }
    let mut ran = Vec::new();
    for report in &verdict.hooks {
        if report.status != HookStatus::Skipped {
            ran.push(report.name.clone());
        }
    }
    for name in expect.not_run.iter().flat_map(names) {
        if ran.contains(&name) {
            let (expected, seen) = (format!("`{name}` does not run"), format!("`{name}` ran"));
            found.compare("not_run", expected, seen);
        }
    }
    if let Some(expected) = &expect.ran {
        found.compare("ran", listed(names(expected)), listed(ran));
    }
    if let Some(expected) = &expect.failed_open {
        let failed = listed(verdict.failed_open.clone());
        found.compare("failed_open", listed(names(expected)), failed);
    }
    for (what, expected, text) in [
        ("message", &expect.message, &verdict.message),
        ("additional_context", &expect.additional_context, &verdict.additional_context),
        ("system_message", &expect.system_message, &verdict.system_message),
    ] {
        found.compare_text(what, expected.as_ref(), text.as_deref());
    }
    found.0
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
    use super::super::keys::{DecisionWord, ExpectedArguments};
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
