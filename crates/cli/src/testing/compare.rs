//! What came out against what was expected.

use crate::records::word;
use std::fmt;

use serde::Serialize;

use super::case::TextExpectation;
use super::case_keys::{Expectation, HookNames};
use crate::diff::changed_lines;
use crate::exit::Exit;
use hookexec::wire::{HookStatus, Verdict};

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// What: a key of `expect`.
    pub(crate) what: &'static str,
    /// What was expected.
    pub(crate) expected: String,
    /// What was found.
    pub(crate) found: String,
}

impl fmt::Display for Difference {
    /// Shows the lines expected with `-`, those found with `+`, and common ones with neither.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", self.what)?;
        for (sign, line) in changed_lines(&self.expected, &self.found) {
            write!(formatter, "\n  {sign} {line}")?;
        }
        Ok(())
    }
}

/// Returns everything about `verdict` that is not as expected.
pub(super) fn differences(expect: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut note = |what, expected: String, seen: String| {
        if expected != seen {
            found.push(Difference { what, expected, found: seen });
        }
    };
    if let Some(decision) = &expect.decision {
        let shown = |decision| word(decision).to_owned();
        note("decision", shown(decision.0.value().copied()), shown(verdict.decision));
    }
    if let Some(allowed) = expect.allowed {
        note("allowed", allowed.to_string(), verdict.allowed.to_string());
    }
    if let Some(code) = expect.exit_code {
        note("exit_code", code.0.to_string(), Exit::of(verdict).code().to_string());
    }
    if let Some(expected) = &expect.updated_input {
        note("updated_input", json(expected.value()), json(verdict.updated_input.as_ref()));
    }
    let ran = |report: &&hookexec::wire::HookReport| report.status != HookStatus::Skipped;
    let names: Vec<&str> =
        verdict.hooks.iter().filter(ran).map(|report| report.name.as_str()).collect();
    if let Some(expected) = &expect.ran {
        note("ran", listed(of(expected)), listed(names.iter().copied()));
    }
    let not_run = expect.not_run.iter().flat_map(of);
    for name in not_run.filter(|name| names.contains(name)) {
        note("not_run", format!("`{name}` does not run"), format!("`{name}` ran"));
    }
    if let Some(expected) = &expect.failed_open {
        let seen = verdict.failed_open.iter().map(String::as_str);
        note("failed_open", listed(of(expected)), listed(seen));
    }
    for (what, expected, seen) in [
        ("message", &expect.message, &verdict.message),
        ("additional_context", &expect.additional_context, &verdict.additional_context),
        ("system_message", &expect.system_message, &verdict.system_message),
    ] {
        if let Some(expected) = expected {
            found.extend(text_difference(what, expected, seen.as_deref()));
        }
    }
    found
}

fn text_difference(
    what: &'static str,
    expected: &TextExpectation,
    seen: Option<&str>,
) -> Option<Difference> {
    let (holds, expected) = match expected {
        TextExpectation::Absent => (seen.is_none(), "nothing".to_owned()),
        TextExpectation::Is(text) => {
            // Whether a YAML text ends in a newline is a matter of its style.
            (seen.is_some_and(|seen| seen.trim_end() == text.trim_end()), text.clone())
        }
        TextExpectation::Matches(pattern) => (
            seen.is_some_and(|seen| pattern.is_match(seen)),
            format!("a text in which `{}` is found", pattern.as_str()),
        ),
    };
    let found = seen.unwrap_or("nothing").to_owned();
    (!holds).then_some(Difference { what, expected, found })
}

fn json(value: Option<&hookexec::wire::JsonObject>) -> String {
    match value {
        None => "not changed".to_owned(),
        Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

fn of(names: &HookNames) -> impl Iterator<Item = &str> {
    names.0.iter().map(|(name, _)| name.as_str())
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    if names.is_empty() { "no hook".to_owned() } else { names.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::super::case::Expected;
    use super::super::case_keys::{ExitCode, ExpectedDecision};
    use super::*;
    use hookexec::{Decision, Event};

    #[test]
    fn what_is_as_expected_is_not_named_and_the_rest_is_shown_by_line() {
        let mut verdict = Verdict::denied(Event::PreToolUse, "one\ntwo");
        verdict.additional_context = Some("context\n".into());
        let expect = Expectation {
            decision: Some(ExpectedDecision(Expected::Is(Decision::Deny))),
            allowed: Some(true),
            exit_code: Some(ExitCode(2)),
            message: Some(TextExpectation::Is("one\nthree\n".into())),
            additional_context: Some(TextExpectation::Is("context".into())),
            system_message: Some(TextExpectation::Absent),
            ..Expectation::default()
        };
        let shown: Vec<String> =
            differences(&expect, &verdict).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["allowed:\n  - true\n  + false", "message:\n    one\n  - three\n  + two"]
        );
    }

    #[test]
    fn the_order_of_keys_is_no_difference_and_a_missing_rewrite_is_one() {
        let object = |text: &str| serde_json::from_str::<hookexec::wire::JsonObject>(text).unwrap();
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        let expect = Expectation {
            updated_input: Some(Expected::Is(object(r#"{"b": {"y": 1, "x": 2}, "a": 1}"#))),
            ..Expectation::default()
        };
        assert_eq!(differences(&expect, &verdict)[0].found, "not changed");
        verdict.updated_input = Some(object(r#"{"a": 1, "b": {"x": 2, "y": 1}}"#));
        assert_eq!(differences(&expect, &verdict), []);
    }
}
