//! Each payload an agent sends, the input it becomes, and the answer to each kind of verdict.
//!
//! `golden/<agent>/<Event>.json` holds a payload with both; `UPDATE=1` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookexec::matcher::Matcher;
use hookexec::registry::Dialect as _;
use hookexec::wire::{Stop, StopScope, ToolResult};
use hookexec::{ContextMode, Decision, Permission, Rewrite, Verdict};
use hookexec_agents::ClaudeCode;
use hookexec_agents::{Agent, Answer, Deny, NativeCall};
use serde_json::{Value, json};

#[test]
fn each_payload_becomes_its_input_and_each_verdict_its_answer() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (agent, path) in files() {
        seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        let now = played(agent, &golden);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
        } else if now != golden {
            wrong.push(format!("{}\n{}", path.display(), difference(&golden, &now)));
        }
    }
    assert!(seen > 100, "only {seen} payloads found");
    let repair = "if this is meant: UPDATE=1 cargo test --test cli golden";
    assert!(wrong.is_empty(), "{}\n{repair}", wrong.join("\n"));
}

#[test]
fn every_event_that_decides_has_a_payload() {
    let payloads: Vec<_> = files().collect();
    for agent in Agent::all() {
        for native in agent.events().iter().filter(|native| native.is_deciding()) {
            // A dot in a file's name ends the event's.
            let name = native.name.replace('.', "_");
            let has = payloads.iter().any(|(of, path)| *of == agent && event_of(path) == name);
            // Tab completion sends what the agent's reading sends.
            assert!(has || native.name == "beforeTabFileRead", "{agent} {}", native.name);
        }
    }
}

/// Returns the golden file as it should stand.
fn played(agent: Agent, golden: &Value) -> Value {
    let hint = golden.get("hint").and_then(Value::as_str);
    let payload = serde_json::to_vec(&golden["payload"]).unwrap();
    let call = hookexec_agents::read(agent, hint, &payload, |_| None).unwrap();
    let mut now = json!({ "payload": golden["payload"] });
    if let Some(hint) = hint {
        now["hint"] = json!(hint);
    }
    now["failure"] =
        shown(&hookexec_agents::failure(agent, Some(call.native.name), None, None, "out of time"));
    let Some(event) = call.event else {
        now["input"] = Value::Null;
        return now;
    };
    let mut input = serde_json::to_value(&call.input).unwrap();
    assert_eq!(input["native"], golden["payload"], "the native payload stays whole");
    assert_eq!(input["hook_event_name"], event.name());
    input.as_object_mut().unwrap().remove("native");
    now["input"] = input;
    let everything = Matcher::everything();
    if let Ok(told) = ClaudeCode.payloads(&everything, &call.input)
        && agent != Agent::ClaudeCode
    {
        now["in_claude_code"] = json!(told.collect::<Vec<_>>());
    }
    let answers: BTreeMap<&str, Value> = verdicts(&call)
        .into_iter()
        .map(|(name, verdict)| (name, shown(&hookexec_agents::answer(&call, &verdict))))
        .collect();
    assert_eq!(answers["none"], json!("silence"), "no opinion is said by saying nothing");
    now["answers"] = json!(answers);
    now
}

/// Returns a verdict of each kind that the event knows.
pub(crate) fn verdicts(call: &NativeCall) -> Vec<(&'static str, Verdict)> {
    let event = call.event.unwrap();
    let contract = event.contract();
    let mut verdicts = vec![("none", Verdict::no_opinion(event))];
    let mut add = |name, wanted: bool, change: &dyn Fn(&mut Verdict)| {
        if wanted {
            let mut verdict = Verdict::no_opinion(event);
            change(&mut verdict);
            verdicts.push((name, verdict));
        }
    };
    let decide = |verdict: &mut Verdict, decision, message: &str| {
        verdict.decision = Some(decision);
        verdict.allowed = decision == Decision::Allow;
        verdict.message = Some(message.to_owned());
    };
    let permits = contract.permission != Permission::None;
    add("allow", permits, &|verdict| decide(verdict, Decision::Allow, "looks safe"));
    add("ask", permits, &|verdict| decide(verdict, Decision::Ask, "is this meant?"));
    let blocks = contract.may_block || call.native.deny == Deny::GoesOn;
    add("deny", blocks, &|verdict| decide(verdict, Decision::Deny, "not here"));
    add("deny_stop", contract.may_block, &|verdict| {
        decide(verdict, Decision::Deny, "not here");
        verdict.stop = Some(Stop::new(StopScope::Turn, "enough"));
    });
    add("context", contract.context != ContextMode::None, &|verdict| {
        verdict.additional_context = Some("the tests are in tests/".to_owned());
    });
    add("message", true, &|verdict| {
        verdict.system_message = Some("hook `audit` failed".to_owned());
    });
    let before = contract.rewrite == Rewrite::ToolInput;
    let arguments = || json!({"command": "echo safe"}).as_object().cloned();
    add("rewrite", before, &|verdict| verdict.updated_input = arguments());
    add("allow_rewrite", before, &|verdict| {
        decide(verdict, Decision::Allow, "looks safe");
        verdict.updated_input = arguments();
    });
    add("deny_rewrite_context", before, &|verdict| {
        decide(verdict, Decision::Deny, "not here");
        verdict.updated_input = arguments();
        verdict.additional_context = Some("use the trash".to_owned());
    });
    add("rename", before, &|verdict| verdict.updated_tool_name = Some("other".to_owned()));
    add("respond", before, &|verdict| {
        verdict.respond = Some(ToolResult::text("21 degrees"));
    });
    add("response", contract.rewrite == Rewrite::ToolResponse, &|verdict| {
        verdict.updated_tool_response = Some(json!("[redacted]"));
    });
    add("deny_response_context", contract.rewrite == Rewrite::ToolResponse, &|verdict| {
        decide(verdict, Decision::Deny, "not here");
        verdict.updated_tool_response = Some(json!("[redacted]"));
        verdict.additional_context = Some("use the trash".to_owned());
    });
    verdicts
}

fn shown(answer: &Answer) -> Value {
    if answer.stdout.is_empty() && answer.stderr.is_empty() && answer.exit_code == 0 {
        return json!("silence");
    }
    let mut shown = json!({});
    if answer.exit_code != 0 {
        shown["exit_code"] = json!(answer.exit_code);
        assert!(answer.stdout.is_empty(), "a refusal by exit code leaves stdout empty");
        assert!(!answer.stderr.trim().is_empty(), "a refusal by exit code needs its reason");
    }
    if !answer.stdout.is_empty() {
        let document = serde_json::from_str::<Value>(&answer.stdout);
        shown["stdout"] = document.unwrap_or_else(|_| json!(answer.stdout));
    }
    if !answer.stderr.is_empty() {
        shown["stderr"] = json!(answer.stderr);
    }
    shown
}

/// Returns the golden files with their agents, in order.
pub(crate) fn files() -> impl Iterator<Item = (Agent, PathBuf)> {
    let root = Path::new(crate::support::ROOT).join("tests/agents/golden");
    Agent::all().flat_map(move |agent| {
        let directory = root.join(agent.name());
        let mut paths: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(move |path| (agent, path))
    })
}

/// Returns the event that a golden file is about; Copilot's two spellings differ in case alone,
/// which is too little for some file systems.
pub(crate) fn event_of(path: &Path) -> &str {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.split('.').next().unwrap().trim_start_matches("camel-")
}

fn difference(golden: &Value, now: &Value) -> String {
    let pretty = |value| serde_json::to_string_pretty(value).unwrap();
    let (golden, now) = (pretty(golden), pretty(now));
    let only = |from: &str, other: &str, sign| -> Vec<String> {
        from.lines()
            .filter(|line| !other.lines().any(|known| known == *line))
            .map(|line| format!("{sign}{line}"))
            .collect()
    };
    [only(&golden, &now, '-'), only(&now, &golden, '+')].concat().join("\n")
}
