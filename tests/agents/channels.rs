//! Hooks of `approval`: what lets a call run that a hook asks about, and what does not.

use serde_json::{Value, json};

use crate::agents::run::{callers, run, says_no};
use crate::support::{Done, Sandbox};

/// A channel: answers as its first argument says, about the question on stdin.
const CHANNEL: &str = r#"
import json, os, signal, sys, time
event = json.load(sys.stdin)
with open("asked", "a") as file:
    print(json.dumps(event), file=file)
mode, digest = sys.argv[1], event["approval"]["digest"]
answer = {
    "allow": {"decision": "allow", "digest": digest, "by": "ann", "reason": "fine"},
    "deny": {"decision": "deny", "reason": "not today", "by": "ben"},
    "bare": {"decision": "allow"},
    "other": {"decision": "allow", "digest": "sha256:" + "0" * 64},
    "upper": {"decision": "allow", "digest": digest.upper()},
    "nearly": {"decisions": "allow", "digest": digest},
    "alone": {"digest": digest, "by": "ann"},
    "silent": None,
    "exit1": {"decision": "allow", "digest": digest},
    "crash": {"decision": "allow", "digest": digest},
    "hang": None,
}
if mode == "file":
    answer["file"] = {"decision": "allow", "digest": open("digest").read()}
if answer[mode]:
    print(json.dumps(answer[mode]), flush=True)
if mode == "exit1":
    sys.exit("broken")
if mode == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "hang":
    signal.pause()
"#;

const ASK: &str = r#"
pre_tool_use:
  - matcher: shell
    hooks:
      - { type: command, name: asker, command: "echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'" }
"#;

fn channel(mode: &str, keys: &str) -> String {
    let command = format!("python3 channel.py {mode}");
    format!("      - {{ type: command, name: {mode}, command: {command}, {keys} }}\n")
}

fn approval(channels: &[String]) -> String {
    format!("approval:\n  - matcher: shell\n    hooks:\n{}", channels.concat())
}

/// Returns a sandbox with these hooks and the channel's program.
fn sandbox(hooks: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", hooks);
    sandbox.write("channel.py", CHANNEL);
    sandbox
}

fn call(command: &str) -> String {
    json!({ "tool_name": "shell", "tool_input": { "cmd": command } }).to_string()
}

fn run_own(sandbox: &Sandbox, event: &str, command: &str) -> Done {
    sandbox.hookexec(["run", event, "--config", "hooks.yaml"]).stdin(call(command)).run()
}

fn asked(sandbox: &Sandbox) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.project().join("asked")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What each channel leads to: the decision and its reason.
const ANSWERS: [(&str, &str, &str); 11] = [
    ("allow", "allow", "fine"),
    ("deny", "deny", "not today"),
    ("bare", "deny", "allowed without a `digest`"),
    ("other", "deny", "allowed another call"),
    ("upper", "deny", "allowed another call"),
    ("nearly", "deny", "did you mean `decision`"),
    ("alone", "deny", "it gave no answer"),
    ("silent", "deny", "it gave no answer"),
    ("exit1", "deny", "exit code 1: broken"),
    ("crash", "deny", "signal"),
    ("hang", "deny", "without an answer"),
];

#[test]
fn only_an_allow_with_the_digest_lets_the_call_run() {
    for (mode, decision, reason) in ANSWERS {
        let timeout = if mode == "hang" { "timeout: 1s" } else { "timeout: 60s" };
        let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel(mode, timeout)])));
        let verdict = run_own(&sandbox, "pre_tool_use", "ls").json_line();
        assert_eq!(verdict["decision"], decision, "{mode}: {verdict:#}");
        assert_eq!(verdict["allowed"], decision == "allow", "{mode}");
        let message = verdict["message"].as_str().unwrap();
        assert!(message.contains(reason), "{mode}: {message}");
        let report = &verdict["approval"];
        let answered = ["allow", "deny"].contains(&mode);
        assert_eq!(report["channel"] == mode, answered, "{mode}: {report:#}");
        assert_eq!(report["answered"].is_string(), answered, "{mode}: {report:#}");
        if mode != "hang" {
            let question = &asked(&sandbox)[0]["approval"];
            assert_eq!(question["digest"], report["digest"]);
            assert_eq!(question["id"], report["id"]);
            let reason = json!({ "hook": "asker", "event": "pre_tool_use", "reason": "sure?" });
            assert_eq!(question["reasons"], json!([reason]));
        }
    }
}

#[test]
fn without_a_channel_for_the_call_an_ask_stays_an_ask_and_has_its_digest() {
    let other = approval(&[channel("allow", "")]).replace("shell", "other");
    let unwanted = approval(&[channel("allow", "when: { field: tool_input.cmd, equals: rm }")]);
    for channels in ["", &other, &unwanted] {
        let hooks = format!("{ASK}{channels}");
        let sandbox = sandbox(&hooks);
        let verdict = run_own(&sandbox, "pre_tool_use", "ls").exits(3).json_line();
        let digest = verdict["approval"]["digest"].as_str().unwrap();
        assert!(digest.starts_with("sha256:"), "{verdict:#}");
        assert_eq!(verdict["approval"].as_object().unwrap().len(), 1);
        let again = run_own(&sandbox, "pre_tool_use", "ls").json_line();
        assert_eq!(again["approval"]["digest"], digest);
        let other = run_own(&sandbox, "pre_tool_use", "ls -l").json_line();
        assert_ne!(other["approval"]["digest"], digest);
    }
}

#[test]
fn a_changed_call_needs_an_approval_of_its_own() {
    let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel("file", "timeout: 60s")])));
    sandbox.write("digest", "");
    let verdict = run_own(&sandbox, "pre_tool_use", "ls").exits(2).json_line();
    sandbox.write("digest", verdict["approval"]["digest"].as_str().unwrap());
    assert_eq!(run_own(&sandbox, "pre_tool_use", "ls").exits(0).json_line()["decision"], "allow");
    let _ = run_own(&sandbox, "pre_tool_use", "ls /").exits(2);
    let ids: Vec<_> = asked(&sandbox).iter().map(|it| it["approval"]["id"].clone()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn the_first_answer_counts_and_ends_the_wait_for_the_others() {
    for (modes, code) in [(["hang", "allow"], 0), (["hang", "deny"], 2), (["silent", "allow"], 0)] {
        let channels = modes.map(|mode| channel(mode, "timeout: 10m"));
        let sandbox = sandbox(&format!("{ASK}{}", approval(&channels)));
        let verdict = run_own(&sandbox, "pre_tool_use", "ls").exits(code).json_line();
        assert_eq!(verdict["approval"]["channel"], modes[1], "{verdict:#}");
        if modes[0] == "hang" {
            let hooks = verdict["hooks"].as_array().unwrap();
            let hang = hooks.iter().find(|hook| hook["name"] == "hang").unwrap();
            assert_eq!(hang["status"], "skipped", "{verdict:#}");
        }
    }
    // A channel that may be absent.
    let channels =
        [channel("exit1", "timeout: 60s, on_error: warn"), channel("allow", "timeout: 60s")];
    let sandbox = sandbox(&format!("{ASK}{}", approval(&channels)));
    let _ = run_own(&sandbox, "pre_tool_use", "ls").exits(0);
}

#[test]
fn on_error_ask_leaves_the_ask_and_an_answer_still_counts() {
    for (mode, code) in [("exit1", 3), ("bare", 3), ("other", 3), ("deny", 2), ("allow", 0)] {
        let channel = channel(mode, "timeout: 60s, on_error: ask");
        let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel])));
        let _ = run_own(&sandbox, "pre_tool_use", "ls").exits(code);
    }
}

#[test]
fn a_person_is_asked_about_the_call_in_its_final_form_and_once() {
    let rewrite = r#"
tool_input_transform:
  - hooks:
      - { type: command, command: "echo '{\"updated_input\":{\"cmd\":\"ls --safe\"}}'" }
"#;
    let channels = approval(&[channel("allow", "timeout: 60s")]);
    let sandbox = sandbox(&format!("{rewrite}{ASK}{channels}"));
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "ls", "cmd": "ls"}, "cwd": "/work place"});
    let done = run(&sandbox, "claude-code", "PreToolUse", &payload, &[]);
    assert!(done.stdout.contains("ls --safe") && done.stdout.contains("allow"), "{done:#?}");
    let [question] = &asked(&sandbox)[..] else { panic!("asked once: {:?}", asked(&sandbox)) };
    assert_eq!(question["tool_input"]["cmd"], "ls --safe");
    assert_eq!(question["approval"]["original_input"]["cmd"], "ls");
    let call = json!({ "cwd": "/work place", "tool_input": question["tool_input"],
        "tool_name": question["tool_name"] });
    let python = "import hashlib, json, sys
text = json.dumps(json.load(sys.stdin), sort_keys=True, separators=(',', ':'), ensure_ascii=False)
print('sha256:' + hashlib.sha256(text.encode()).hexdigest(), end='')";
    let digest = duct::cmd!("python3", "-c", python).stdin_bytes(call.to_string()).read().unwrap();
    assert_eq!(question["approval"]["digest"], digest.as_str());
}

#[test]
fn a_person_may_answer_the_mandatory_guard_and_a_hook_may_not() {
    let guard = ASK.replace("pre_tool_use", "tool_guard");
    let rule = "permission_request:\n  - hooks:\n      - { type: command, command: \"echo \
                '{\\\"decision\\\":\\\"allow\\\"}'\" }\n";
    let payload = |agent| callers("ls").into_iter().find(|(name, ..)| *name == agent).unwrap().2;
    let alone = sandbox(&format!("{guard}{rule}"));
    let done = run(&alone, "codex", "PreToolUse", &payload("codex"), &[]);
    assert!(says_no(&done, "sure?"), "{done:#?}");
    let channels = approval(&[channel("allow", "timeout: 60s")]);
    let with_person = sandbox(&format!("{guard}{rule}{channels}"));
    let done = run(&with_person, "codex", "PreToolUse", &payload("codex"), &[]).exits(0);
    assert!(!says_no(&done, ""), "{done:#?}");
    // What a rule has answered, no person is asked.
    let by_rule = sandbox(&format!("{ASK}{rule}{channels}"));
    let _ = run_own(&by_rule, "pre_tool_use", "ls").exits(0);
    assert_eq!(asked(&by_rule), [] as [Value; 0]);
}

#[test]
fn a_person_is_asked_about_the_call_as_a_hook_of_permission_request_rewrote_it() {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow", "updatedInput": {"command": "ls -l"}}}});
    let hooks = json!({
        "tool_guard": [{"hooks": [{"type": "command",
            "command": "echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'"}]}],
        "permission_request": [{"hooks": [{"type": "command", "mutates": true,
            "dialect": "claude-code", "command": format!("echo '{answer}'")}]}],
        "approval": [{"hooks": [{"type": "command", "name": "allow", "timeout": "60s",
            "command": "python3 channel.py allow"}]}],
    });
    let sandbox = sandbox(&hooks.to_string());
    let (agent, event, payload) = callers("ls").swap_remove(0);
    assert_eq!(agent, "claude-code");
    let done = run(&sandbox, agent, event, &payload, &[]).exits(0);
    let question = &asked(&sandbox)[0];
    assert_eq!(question["tool_input"]["command"], "ls -l", "{question}");
    assert_eq!(question["approval"]["original_input"]["command"], "ls", "{question}");
    let answer = &done.json_line()["hookSpecificOutput"];
    assert_eq!(answer["permissionDecision"], "allow");
    assert_eq!(answer["updatedInput"]["command"], "ls -l");
}

#[test]
fn a_projects_channel_does_not_answer_what_the_user_asks() {
    let sandbox = Sandbox::new();
    sandbox.write("channel.py", CHANNEL);
    sandbox.write_users_hooks(ASK);
    sandbox.write(".hookexec/hooks.yaml", &approval(&[channel("allow", "timeout: 60s")]));
    sandbox.trust();
    let run = |sandbox: &Sandbox| {
        sandbox.hookexec(["run", "pre_tool_use"]).stdin(call("ls")).run().exits(3)
    };
    let _ = run(&sandbox);
    // Nor what the agent asks by itself.
    let payload = json!({ "hook_event_name": "PermissionRequest", "session_id": "s",
        "cwd": sandbox.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let args = ["run", "--from", "claude-code", "--event", "PermissionRequest"];
    let done = sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0);
    assert_eq!(done.stdout, "");
    // The user's own does, for a project as well.
    let program = sandbox.project().join("channel.py");
    let own = approval(&[channel("allow", "timeout: 60s")]);
    let own = own.replace("channel.py", program.to_str().unwrap());
    sandbox.write_users_hooks(&own);
    sandbox.write(".hookexec/hooks.yaml", ASK);
    sandbox.trust();
    let done = sandbox.hookexec(["run", "pre_tool_use"]).stdin(call("ls")).run().exits(0);
    assert_eq!(done.json_line()["approval"]["by"], "ann");
}

/// Each agent with its event before a tool, and a payload.
fn agents() -> Vec<(&'static str, &'static str, Value)> {
    let mut agents = callers("ls");
    agents.retain(|(agent, ..)| ["claude-code", "codex"].contains(agent));
    let call = json!({ "hook_event_name": "tool.execute.before", "session_id": "s", "cwd": "/w",
        "tool_name": "bash", "tool_input": { "command": "ls" }, "tool_use_id": "c" });
    agents.push(("opencode", "tool.execute.before", call));
    agents
}

#[test]
fn the_same_holds_under_agents() {
    for (agent, event, payload) in agents() {
        for (mode, decision, reason) in ANSWERS {
            let timeout = if mode == "hang" { "timeout: 1s" } else { "timeout: 60s" };
            let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel(mode, timeout)])));
            let done = run(&sandbox, agent, event, &payload, &["--within", "50"]);
            if decision == "allow" {
                let done = done.exits(0);
                assert!(
                    !says_no(&done, "") && !done.stdout.contains("\"ask\""),
                    "{agent}: {done:#?}"
                );
            } else {
                assert!(says_no(&done, reason), "{agent}, {mode}: {done:#?}");
            }
        }
        let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel("hang", "timeout: 10m")])));
        let done = run(&sandbox, agent, event, &payload, &["--within", "1"]);
        assert!(says_no(&done, "--within"), "{agent}: {done:#?}");
    }
}

#[test]
fn what_an_agent_asks_by_itself_goes_to_the_same_channel() {
    let payload = json!({"hook_event_name": "PermissionRequest", "session_id": "s",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/w"});
    for (mode, behavior) in [("allow", "allow"), ("deny", "deny"), ("other", "deny")] {
        let sandbox = sandbox(&approval(&[channel(mode, "timeout: 60s")]));
        let done = run(&sandbox, "claude-code", "PermissionRequest", &payload, &[]).exits(0);
        let decision = &done.json_line()["hookSpecificOutput"]["decision"];
        assert_eq!(decision["behavior"], behavior, "{mode}: {done:#?}");
    }
    // Of another tool nobody is asked.
    let sandbox = sandbox(&approval(&[channel("allow", "timeout: 60s")]).replace("shell", "edit"));
    let done = run(&sandbox, "claude-code", "PermissionRequest", &payload, &[]).exits(0);
    assert_eq!(done.stdout, "", "{done:#?}");
}

#[test]
fn the_log_of_decisions_has_who_answered_and_over_what() {
    let sandbox = sandbox("");
    let log = "audit: { path: log.jsonl }\n";
    for mode in ["allow", "silent"] {
        sandbox.write("hooks.yaml", &format!("{log}hooks:\n{}", indented(mode)));
        let _ = run_own(&sandbox, "pre_tool_use", "ls");
    }
    let text = sandbox.hookexec(["log", "log.jsonl", "--event", "approval"]).run().exits(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("allow approval shell  answered by ann over allow"), "{text}");
    assert!(lines[1].contains("deny") && lines[1].contains("none was given"), "{text}");
    let first = sandbox.read("log.jsonl").lines().nth(1).unwrap().to_owned();
    let record: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(record["approval"]["by"], "ann", "{record:#}");
    assert!(record["approval"]["answered"].is_string());
}

fn indented(mode: &str) -> String {
    let hooks = format!("{ASK}{}", approval(&[channel(mode, "timeout: 60s")]));
    format!("\n{hooks}").replace('\n', "\n  ")
}

#[test]
fn install_gives_a_person_the_time_that_the_hook_says() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(&format!("{ASK}{}", approval(&[channel("allow", "timeout: 10m")])));
    let install = |more: &[&str]| {
        let args = ["install", "claude-code"].iter().chain(more);
        let _ = sandbox.hookexec(args).run().exits(0);
        let settings = std::fs::read_to_string(sandbox.home().join(".claude/settings.json"));
        settings.unwrap()
    };
    let settings = install(&[]);
    assert!(settings.contains("\"timeout\": 677"), "{settings}");
    assert!(settings.contains("--within 610"), "{settings}");
    let settings = install(&["--timeout", "60"]);
    assert!(settings.contains("--within 54"), "{settings}");
    let done = sandbox.hookexec(["check", "--host", "claude-code"]).run();
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(
        said.contains("`approval`") && said.contains("install claude-code --timeout"),
        "{said}"
    );
    assert!(!said.contains("never runs"), "{said}");
    let done = sandbox.hookexec(["doctor", "claude-code"]).run();
    assert!(done.stdout.contains("stopped before its `timeout` is over"), "{done:#?}");
}

#[test]
fn a_mode_has_no_place_where_a_person_answers() {
    for mode in ["shadow", "warn"] {
        let sandbox = sandbox(&approval(&[channel("allow", &format!("mode: {mode}"))]));
        let done = sandbox.hookexec(["check", "hooks.yaml"]).run();
        assert!(done.stderr.contains("`mode` on `approval`, where a person answers"), "{done:#?}");
    }
}

#[test]
fn who_tries_a_policy_out_asks_nobody() {
    let sandbox = sandbox(&format!("{ASK}{}", approval(&[channel("allow", "timeout: 60s")])));
    for input in [call("ls"), callers("ls").remove(0).2.to_string()] {
        let is_native = input.contains("hook_event_name");
        let about = if is_native { &["--from", "claude-code"][..] } else { &["pre_tool_use"] };
        let args = ["explain", "--config", "hooks.yaml"].iter().chain(about);
        let done = sandbox.hookexec(args).stdin(input).run();
        assert!(done.stdout.contains("verdict: ask"), "{done:#?}");
    }
    assert_eq!(asked(&sandbox), [] as [Value; 0]);
}
