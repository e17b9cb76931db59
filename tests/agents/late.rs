//! `hookexec run --from AGENT` when time runs out: what the hooks say of themselves decides.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::agents::run::{callers, run, says_no};
use crate::support::Sandbox;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Each agent with the event of a prompt, where a failure goes on by itself.
const PROMPTS: [(&str, &str); 9] = [
    ("claude-code", "UserPromptSubmit"),
    ("codex", "UserPromptSubmit"),
    ("gemini", "BeforeAgent"),
    ("qwen", "UserPromptSubmit"),
    ("copilot", "UserPromptSubmit"),
    ("cursor", "beforeSubmitPrompt"),
    ("droid", "UserPromptSubmit"),
    ("windsurf", "pre_user_prompt"),
    ("kiro", "userPromptSubmit"),
];

#[test]
fn a_late_guard_of_prompts_blocks_if_it_says_so() {
    let sandbox = Sandbox::new();
    let hooks = |more: &str| {
        format!("user_prompt_submit: [{{ type: command, command: 'sleep 1000'{more} }}]")
    };
    for (agent, event) in PROMPTS {
        let payload = json!({"hook_event_name": event, "agent_action_name": event, "prompt": "x",
            "tool_info": {"user_prompt": "x"}, "cwd": "/tmp"});
        sandbox.write("hooks.yaml", &hooks(", on_error: block"));
        let done = run(&sandbox, agent, event, &payload, &["--within", "1"]);
        let text = format!("{}{}", done.stdout, done.stderr);
        assert!(text.contains("the time for an answer passed"), "{agent}: {done:#?}");
        let stopped = ["\"block\"", "\"deny\"", "\"continue\":false"];
        let stopped = stopped.iter().any(|word| done.stdout.contains(word));
        assert!(stopped || done.code() == Some(2), "{agent}: {done:#?}");
    }
    sandbox.write("hooks.yaml", &hooks(""));
    let payload = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": "/tmp"});
    let done = run(&sandbox, "claude-code", "UserPromptSubmit", &payload, &["--within", "1"]);
    assert!(!done.exits(0).stdout.contains("\"block\""));
}

#[test]
fn what_was_redacted_or_denied_before_the_time_was_over_counts() {
    let sandbox = Sandbox::new();
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": {"stdout": TOKEN, "stderr": ""}, "cwd": sandbox.project()});
    // The second one does not listen to SIGTERM either.
    for command in ["sleep 1000", "trap '' TERM; while :; do sleep 0.1; done"] {
        sandbox.write(
            "hooks.yaml",
            &format!(
                "tool_response_transform: [{{ hooks: [{{ type: builtin, command: redact_secrets }}] }}]\n\
                 post_tool_use: [{{ hooks: [{{ type: command, command: \"{command}\" }},\
                 {{ type: command, command: \"echo not that >&2; exit 2\" }}] }}]"
            ),
        );
        let done = run(&sandbox, "claude-code", "PostToolUse", &payload, &["--within", "2"]);
        let stdout = done.exits(0).stdout;
        assert!(stdout.contains("[REDACTED:github-token]"), "{stdout}");
        assert!(stdout.contains("not that") && !stdout.contains(TOKEN), "{stdout}");
    }
}

#[test]
fn a_redactor_behind_a_hook_that_hangs_lets_no_secret_through() {
    let sandbox = Sandbox::new();
    // It withholds if no time is left when it is its turn.
    let hooks = "tool_response_transform: [{ hooks: [{ type: command, command: 'sleep 1000' }, \
                 { type: builtin, command: redact_secrets }] }]";
    sandbox.write("hooks.yaml", hooks);
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": TOKEN, "cwd": sandbox.project()});
    let done = run(&sandbox, "claude-code", "PostToolUse", &payload, &["--within", "1"]);
    let stdout = done.exits(0).stdout;
    let redacted = stdout.contains("[REDACTED:") || stdout.contains("[withheld by hookexec: ");
    assert!(redacted && !stdout.contains(TOKEN), "{stdout}");
}

#[test]
fn redactors_and_others_that_rewrite_run_in_turn_without_being_told() {
    let sandbox = Sandbox::new();
    let response = "x\n".repeat(30_000) + TOKEN;
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": response, "cwd": sandbox.project()});
    let append = r#"python3 -c "import json,sys; d=json.load(sys.stdin); print(json.dumps({'hook_specific_output': {'updated_tool_response': str(d['tool_response'])[-200:] + ' seen'}}))""#;
    for (event, later) in [
        ("tool_response_transform", "type: builtin, command: limit_large_tool_results".to_owned()),
        ("tool_response_transform", format!("type: command, command: [sh, -c, {}]", json!(append))),
    ] {
        let hooks = format!(
            "{event}: [{{ hooks: [{{ type: builtin, command: redact_secrets }}, {{ {later} }}] }}]"
        );
        sandbox.write("hooks.yaml", &hooks);
        let done = run(&sandbox, "claude-code", "PostToolUse", &payload, &[]);
        let stdout = done.exits(0).stdout;
        assert!(stdout.contains("updatedToolOutput"), "{stdout}");
        assert!(!stdout.contains("ghp_0123"), "{later}: {stdout}");
        assert!(event.is_empty() || stdout.contains("seen") || later.contains("limit"), "{stdout}");
    }
}

#[test]
fn hooks_in_the_background_start_although_another_hook_used_up_the_time() {
    let sandbox = Sandbox::new();
    let hooks = "turn_end: { type: command, background: true, command: 'echo $HOOKEXEC_EVENT > told' }\n\
                 stop: [{ type: command, command: 'sleep 1000' }]";
    sandbox.write("hooks.yaml", hooks);
    let payload = json!({"hook_event_name": "Stop"});
    let _ = run(&sandbox, "claude-code", "Stop", &payload, &["--within", "1"]).exits(0);
    let started = Instant::now();
    while !sandbox.project().join("told").exists() {
        assert!(started.elapsed() < Duration::from_mins(1), "it never started");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn conditions_on_a_large_text_never_hang() {
    let sandbox = Sandbox::new();
    let mut hooks = String::new();
    for number in 0..20 {
        let pattern = format!("(?s)[a-z].{{6000}}X{number}");
        let when = format!("{{ field: tool_input.command, regex: '{pattern}' }}");
        let hook = format!("{{ type: command, command: 'true {number}' }}");
        writeln!(hooks, "- {{ when: {when}, hooks: [{hook}] }}").unwrap();
    }
    sandbox.write("hooks.yaml", &format!("pre_tool_use:\n{hooks}"));
    let (agent, event, payload) = callers(&"a".repeat(60_000)).swap_remove(0);
    // To look at all of them takes minutes.
    let done = run(&sandbox, agent, event, &payload, &["--within", "2"]);
    assert!(says_no(&done, "the time for an answer passed"), "{done:#?}");
}

#[test]
fn the_log_of_decisions_costs_no_denial() {
    let sandbox = Sandbox::new();
    let mut hooks = "audit: { path: ~/log/audit.jsonl }\n\
                     pre_tool_use: [{ hooks: [{ type: command, on_error: warn, \
                     command: 'echo no rm >&2; exit 2' }] }]\n\
                     stop:\n"
        .to_owned();
    // To read these scripts took more than 40 ms each.
    sandbox.write("s/large", &"#".repeat(1 << 20));
    for number in 0..100 {
        let script = format!("s/{number}.sh");
        std::fs::hard_link(sandbox.project().join("s/large"), sandbox.project().join(&script))
            .unwrap();
        writeln!(hooks, "- {{ type: command, command: ./{script} }}").unwrap();
    }
    sandbox.write_users_hooks(&hooks);
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let stdout = run_in_project(&sandbox, &payload, "2");
    assert!(stdout.contains("no rm") && stdout.contains("\"deny\""), "{stdout}");
    let log = std::fs::read_to_string(sandbox.home().join("log/audit.jsonl")).unwrap();
    assert!(log.contains("no rm"), "{log}");
}

#[test]
fn large_answers_of_a_project_cost_no_decision_of_the_user() {
    let sandbox = Sandbox::new();
    let redact = json!({"updated_tool_response": "[redacted]"}).to_string();
    sandbox.write_users_hooks(&format!(
        "pre_tool_use: [{{ hooks: [{{ type: command, on_error: warn, \
             command: 'echo no rm >&2; exit 2' }}] }}]\n\
             tool_response_transform: [{{ hooks: [{{ type: command, command: {} }}] }}]\n",
        json!(format!("printf '%s' '{redact}'"))
    ));
    // Slow to read: each two letters are an escape.
    let answer = format!("{{\"reason\":\"{}\"}}", "\\n\\u00e9".repeat(2_000_000));
    assert!(answer.len() <= 16 << 20);
    sandbox.write("big.json", &answer);
    let hook = |number| {
        format!(
            "{{ type: command, name: big{number}, command: cat big.json, on_error: ignore, \
             max_output: 16MiB }}"
        )
    };
    let hooks: Vec<String> = (0..8).map(hook).collect();
    let hooks = hooks.join(", ");
    sandbox.write(
        "hooks.yaml",
        &format!(
            "pre_tool_use: [{{ hooks: [{hooks}] }}]\n\
             tool_response_transform: [{{ hooks: [{hooks}] }}]\n"
        ),
    );
    sandbox.trust();
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let stdout = run_in_project(&sandbox, &payload, "5");
    assert!(stdout.contains("no rm") && stdout.contains("\"deny\""), "{stdout}");
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": TOKEN});
    let stdout = run_in_project(&sandbox, &payload, "5");
    assert!(stdout.contains("[redacted]") && !stdout.contains(TOKEN), "{stdout}");
}

/// Runs hookexec with the hooks of the user and the approved project only.
fn run_in_project(sandbox: &Sandbox, payload: &serde_json::Value, within: &str) -> String {
    let mut payload = payload.clone();
    payload["cwd"] = json!(sandbox.project());
    let event = payload["hook_event_name"].as_str().unwrap().to_owned();
    let args = ["run", "--from", "claude-code", "--event", &event, "--within", within];
    sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0).stdout
}

#[test]
fn an_approved_project_does_not_undo_what_the_user_redacts() {
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": {"stdout": "nothing", "stderr": ""}});
    let answer = json!({"updated_tool_response": {"stdout": TOKEN, "stderr": ""}}).to_string();
    let command = json!(format!("printf '%s' '{answer}'"));
    for (users, projects) in [
        ("tool_response_transform", "tool_response_transform"),
        ("tool_response_transform", "post_tool_use"),
        ("post_tool_use", "post_tool_use"),
    ] {
        for more in ["", ", mutates: true"] {
            let sandbox = Sandbox::new();
            let redactor = "{ type: builtin, command: redact_secrets, mutates: true }";
            sandbox.write_users_hooks(&format!("{users}: [{{ hooks: [{redactor}] }}]"));
            let hooks = format!(
                "{projects}: [{{ hooks: [{{ type: command, command: {command}{more} }}] }}]"
            );
            sandbox.write("hooks.yaml", &hooks);
            sandbox.trust();
            let stdout = run_in_project(&sandbox, &payload, "20");
            let place = format!("{users} {projects}{more}: {stdout}");
            // Without `mutates` the project's rewrite does not count where the user has a hook.
            let is_dropped = more.is_empty() && projects == "post_tool_use";
            let redacted = stdout.contains("[REDACTED:github-token]");
            assert!(redacted || is_dropped && stdout.contains("set `mutates: true`"), "{place}");
            assert!(!stdout.contains(TOKEN), "{place}");
        }
    }
}

#[test]
fn the_hooks_of_a_project_share_half_of_the_time_of_a_moment() {
    let sandbox = Sandbox::new();
    let guard =
        "{ type: command, command: 'sleep 0.5; echo not that >&2; exit 2', on_error: ignore }";
    sandbox.write_users_hooks(&format!("pre_tool_use: [{{ hooks: [{guard}] }}]"));
    let slow =
        "{ type: command, command: \"trap '' TERM; sleep 100\", on_error: ignore, mutates: true }";
    let hooks = ["tool_input_transform", "tool_guard", "pre_tool_use"]
        .map(|event| format!("{event}: [{{ hooks: [{slow}] }}]\n"));
    sandbox.write("hooks.yaml", &hooks.concat());
    sandbox.trust();
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "ls"}});
    let stdout = run_in_project(&sandbox, &payload, "5");
    assert!(stdout.contains("not that"), "{stdout}");
}
