//! The scenarios of `tests/cases/evaluation.yaml`: what hooks decide together.

use super::*;
use crate::wire::HookReport;

mod format;
mod play;
mod rules;

use format::{Expected, ExpectedVerdict, Report, Scenario};
use play::{Record, Seen, play};

fn scenarios() -> Vec<Scenario> {
    serde_saphyr::from_str(include_str!("../../../tests/cases/evaluation.yaml")).unwrap()
}

#[test]
fn the_scenarios_are_complete() {
    let scenarios = scenarios();
    let ids: Vec<&str> = scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    let expected: Vec<String> = (1..=30).map(|number| format!("S{number:02}")).collect();
    assert_eq!(ids, expected);
    let cases = scenarios.iter().map(|scenario| scenario.cases.len());
    assert_eq!(cases.sum::<usize>(), 59);
    // Each call is of a hook that the case has.
    for scenario in &scenarios {
        for case in &scenario.cases {
            let hooks = scenario.hooks_of(case);
            let calls = case.expect.calls.iter().flat_map(|step| &step.0);
            for (hook, _) in calls {
                let is_known = hooks.iter().any(|(known, _)| known == hook);
                assert!(is_known, "{} {}: no `{hook}`", scenario.id, case.title);
            }
        }
    }
}

#[test]
fn every_case_of_the_evaluation_holds() {
    let mut wrong = Vec::new();
    for scenario in &scenarios() {
        for case in &scenario.cases {
            let name = format!("{}: {}, {}", scenario.id, scenario.title, case.title);
            for seen in with_clock(play(scenario, case)) {
                let problems = differences(scenario, &case.expect, &seen);
                if !problems.is_empty() {
                    wrong.push(format!("{name}\n    {}", problems.join("\n    ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Runs `work` on a clock of its own, which goes on when all wait.
fn with_clock<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(work)
}

/// Returns what is not as expected, in one line each.
fn differences(scenario: &Scenario, expected: &Expected, seen: &Seen) -> Vec<String> {
    let mut problems = Vec::new();
    let mut compare = |what: &str, expected: String, found: String| {
        if expected != found {
            problems.push(format!("{what}: expected {expected}, found {found}"));
        }
    };
    let verdict = &seen.verdict;
    let decided = match verdict.decision {
        Some(Decision::Deny) => ExpectedVerdict::Deny,
        Some(Decision::Ask) => ExpectedVerdict::Ask,
        Some(Decision::Allow) => ExpectedVerdict::Allow,
        None => ExpectedVerdict::None,
    };
    compare("verdict", format!("{:?}", expected.verdict), format!("{decided:?}"));
    if let Some(last) = &expected.last {
        compare("final", last.clone(), seen.last.clone());
    }
    if decided != ExpectedVerdict::Deny {
        let (renamed, found) = (&expected.tool, &verdict.updated_tool_name);
        compare("tool", format!("{renamed:?}"), format!("{found:?}"));
    }
    let answer = verdict.respond.as_ref().map(|result| &result.for_llm);
    compare("answer", format!("{:?}", expected.answer.as_ref()), format!("{answer:?}"));
    compare("stops", format!("{:?}", expected.stops), format!("{:?}", seen.stops));
    if let Some(waited) = expected.waited {
        compare("waited", in_seconds(waited), in_seconds(seen.waited.as_secs_f64()));
    }
    for (hook, limit) in &expected.limits {
        let call = seen.calls.iter().find(|call| call.hook == *hook);
        let found = call.map(|call| in_seconds(call.limit.as_secs_f64()));
        compare(&format!("limit of {hook}"), in_seconds(*limit), found.unwrap_or_default());
    }
    problems.extend(untold(expected, verdict));
    problems.extend(other_calls(scenario, expected, &seen.calls));
    problems
}

fn in_seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

/// Returns what the verdict does not say.
fn untold(expected: &Expected, verdict: &Verdict) -> Vec<String> {
    let mut problems = Vec::new();
    let message = verdict.message.as_deref().unwrap_or_default();
    let mut rest = message;
    for reason in &expected.reasons {
        match rest.split_once(reason.as_str()) {
            Some((_, after)) => rest = after,
            None => problems.push(format!("no reason `{reason}`, in this order, in {message:?}")),
        }
    }
    let shown = verdict.system_message.as_deref().unwrap_or_default();
    for part in expected.messages.iter().filter(|part| !shown.contains(part.as_str())) {
        problems.push(format!("no message `{part}` in {shown:?}"));
    }
    for (hook, report) in &expected.reported {
        let lines: Vec<_> = verdict.hooks.iter().filter(|line| is_of(line, hook)).collect();
        if lines.len() != 1 {
            problems.push(format!("{} lines of {hook} in the verdict", lines.len()));
        }
        if !lines.iter().any(|line| says(line, *report)) {
            let lines: Vec<_> = lines.iter().map(|line| (&line.error, &line.warnings)).collect();
            problems.push(format!("{hook} is not reported as {report:?}: {lines:?}"));
        }
    }
    problems
}

/// Returns whether a line of a verdict is about `hook`. A hook without a name of its own is known by
/// its file.
fn is_of(line: &HookReport, hook: &str) -> bool {
    let layer = hook.split('/').next().unwrap_or_default();
    line.name == hook || !line.name.contains('/') && line.source.starts_with(layer)
}

fn says(line: &HookReport, report: Report) -> bool {
    let text = format!("{} {}", line.error.as_deref().unwrap_or_default(), line.warnings.join(" "));
    match report {
        Report::SetMutates => text.contains("mutates"),
        Report::RewriteIgnored => text.contains("rewr") || text.contains("ignored"),
        Report::Failed => line.status == HookStatus::Failed,
        Report::Denied => line.decision == Some(Decision::Deny),
    }
}

/// Returns how the calls differ from the expected steps.
fn other_calls(scenario: &Scenario, expected: &Expected, calls: &[Record]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut before: &[Record] = &[];
    let mut rest = calls;
    for step in &expected.calls {
        let (now, after) = rest.split_at(step.0.len().min(rest.len()));
        let tool = scenario.tool();
        let mut wanted: Vec<String> =
            step.0.iter().map(|(hook, call)| call.line(hook, tool)).collect();
        let mut found: Vec<String> = now.iter().map(|call| call.line.clone()).collect();
        wanted.sort_unstable();
        found.sort_unstable();
        if wanted != found {
            let all: Vec<&str> = calls.iter().map(|call| call.line.as_str()).collect();
            problems.push(format!("calls: expected {wanted:#?}, found {found:#?} in {all:#?}"));
            return problems;
        }
        let starts = now.iter().map(|call| call.began);
        let waits = before.iter().filter(|call| call.is_awaited).map(|call| call.ended).max();
        if starts.clone().min() < waits {
            problems.push(format!("calls: {found:?} began before the calls before them ended"));
        }
        if now.iter().map(|call| call.ended).min() < starts.max() {
            problems.push(format!("calls: {found:?} were not made at once"));
        }
        (before, rest) = (now, after);
    }
    for call in rest {
        problems.push(format!("calls: {} was not expected", call.line));
    }
    problems
}
