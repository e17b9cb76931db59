//! What a command hook says: each row of the table in `tests/cases/answers.yaml`, run by real
//! shells, for an event that fails closed, one that may be blocked and one that only observes.

mod dispatch;
mod harness;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookexec::wire::HookStatus;
use hookexec::{Decision, Event, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use harness::Project;

/// The events that every row speaks about, at least.
const EVENTS: [Event; 3] = [Event::PreToolUse, Event::UserPromptSubmit, Event::SessionStart];

/// The shells that every row is run by.
const SHELLS: [&str; 2] = ["/bin/sh", "bash"];

/// One row: a hook, and what comes of it at each event.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "row")]
    name: String,
    /// The hook's keys.
    hook: BTreeMap<String, Value>,
    /// Whether the hook is refused where nothing can be blocked.
    #[serde(default)]
    only_blocking: bool,
    /// What comes of it, by event.
    expect: BTreeMap<String, Expected>,
}

/// What a verdict says. What is left out must be absent from the verdict, too; a text that ends
/// with an ellipsis is the beginning of the one in the verdict, one that starts with it the end.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Expected {
    decision: Option<Decision>,
    message: Option<String>,
    status: Option<HookStatus>,
    /// The code that the hook ended with.
    exit: Option<i32>,
    error: Option<String>,
    context: Option<String>,
    system: Option<String>,
    /// Text that is kept for the trace only.
    text: Option<String>,
    input: Option<Value>,
    failed_open: bool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_of_the_table_holds_in_every_shell() {
    let table = include_str!("../cases/answers.yaml");
    let rows: Vec<Row> = serde_saphyr::from_str(table).unwrap();
    let project = Project::new();
    project.file("no-run-bit.sh", "#!/bin/sh\necho '{\"decision\":\"allow\"}'\n", 0o644);
    project.file("no-interpreter.py", "#!/nowhere/python3\n", 0o755);
    project.file("no-first-line.sh", "exit 0\n", 0o755);

    let mut wrong = String::new();
    for row in rows {
        let mut events: Vec<Event> = Vec::new();
        for (event, expected) in row.expect {
            let event: Event = event.parse().unwrap();
            events.push(event);
            for shell in SHELLS {
                let mut hook = row.hook.clone();
                if hook["command"].is_string() {
                    hook.entry("shell".to_owned()).or_insert_with(|| json!(shell));
                }
                let hook = json!(hook);
                let verdict = project.verdict(event, &[hook]).await;
                let problems = differences(&expected, &verdict);
                if !problems.is_empty() {
                    writeln!(wrong, "\n{} at {event}, {shell}:\n{problems}", row.name).unwrap();
                }
            }
        }
        for event in
            EVENTS.into_iter().filter(|event| !row.only_blocking || event.contract().may_block)
        {
            assert!(events.contains(&event), "`{}` says nothing about {event}", row.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn differences(expected: &Expected, verdict: &Verdict) -> String {
    let mut problems = String::new();
    let mut compare = |what: &str, expected: String, found: String| {
        if expected != found {
            writeln!(problems, "    {what}: expected {expected}, found {found}").unwrap();
        }
    };
    let [report] = verdict.hooks.as_slice() else { panic!("one hook, one report: {verdict:?}") };
    let allowed = expected.decision.is_none_or(|decision| decision == Decision::Allow);
    let status = expected.status.unwrap_or(match expected.decision {
        Some(Decision::Deny) => HookStatus::Blocked,
        _ => HookStatus::Ok,
    });
    compare("decision", debug(&expected.decision), debug(&verdict.decision));
    compare("allowed", debug(&allowed), debug(&verdict.allowed));
    compare("status", debug(&status), debug(&report.status));
    compare("exit", debug(&expected.exit), debug(&report.exit_code));
    compare("failed_open", debug(&expected.failed_open), debug(&!verdict.failed_open.is_empty()));
    let input = verdict.updated_input.clone().map(Value::Object);
    compare("input", debug(&expected.input), debug(&input));
    for (what, expected, found) in [
        ("message", &expected.message, &verdict.message),
        ("error", &expected.error, &report.error),
        ("context", &expected.context, &verdict.additional_context),
        ("system", &expected.system, &verdict.system_message),
        ("text", &expected.text, &report.stdout),
    ] {
        if !matches(expected.as_deref(), found.as_deref()) {
            compare(what, debug(expected), debug(found));
        }
    }
    problems
}

fn matches(expected: Option<&str>, found: Option<&str>) -> bool {
    let (Some(expected), Some(found)) = (expected, found) else { return expected == found };
    match (expected.strip_prefix("..."), expected.strip_suffix("...")) {
        (Some(_), Some(_)) => found.contains(expected.trim_matches('.')),
        (Some(end), None) => found.ends_with(end),
        (None, Some(start)) => found.starts_with(start),
        (None, None) => found == expected,
    }
}

fn debug(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}
