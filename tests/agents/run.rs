//! `hookexec run --from AGENT`, from outside: real hooks, real processes.

use std::io::Write;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::state::lives;
use crate::support::{Done, Sandbox, signal, until, wait};

/// Each agent with the event before a command runs, a payload of it, and what the command is.
pub(crate) fn callers(command: &str) -> Vec<(&'static str, &'static str, Value)> {
    let call = |event: &str, tool: &str| {
        json!({"hook_event_name": event, "session_id": "s", "tool_name": tool,
            "tool_input": {"command": command}})
    };
    vec![
        ("claude-code", "PreToolUse", call("PreToolUse", "Bash")),
        ("codex", "PreToolUse", call("PreToolUse", "Bash")),
        ("gemini", "BeforeTool", call("BeforeTool", "run_shell_command")),
        ("qwen", "PreToolUse", call("PreToolUse", "run_shell_command")),
        ("copilot", "PreToolUse", call("PreToolUse", "Bash")),
        (
            "copilot",
            "preToolUse",
            json!({"sessionId": "s", "toolName": "bash",
                "toolArgs": json!({"command": command}).to_string()}),
        ),
        ("cursor", "preToolUse", call("preToolUse", "Shell")),
        ("droid", "PreToolUse", call("PreToolUse", "Execute")),
        (
            "windsurf",
            "pre_run_command",
            json!({"agent_action_name": "pre_run_command", "tool_info": {"command_line": command}}),
        ),
        ("kiro", "preToolUse", call("preToolUse", "execute_bash")),
        ("kimi", "PreToolUse", call("PreToolUse", "Bash")),
        ("vibe", "pre_tool", call("pre_tool", "file_system.bash")),
    ]
}

/// Denies every command with `rm` in it, in plain sh.
pub(crate) const GUARD: &str = r#"
pre_tool_use:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *'"command":"rm '*) echo 'no rm here' >&2; exit 2;; esac
"#;

pub(crate) fn says_no(done: &Done, reason: &str) -> bool {
    let text = format!("{}{}", done.stdout, done.stderr);
    let form = ["\"deny\"", "\"block\""].iter().any(|word| done.stdout.contains(word));
    let refused = done.code() == Some(2) && done.stdout.is_empty();
    text.contains(reason) && (refused || (form && done.code() == Some(0)))
}

pub(crate) fn run(
    sandbox: &Sandbox,
    agent: &str,
    event: &str,
    payload: &Value,
    more: &[&str],
) -> Done {
    let args = ["run", "--from", agent, "--event", event, "--config", "hooks.yaml"];
    sandbox.hookexec(args.iter().chain(more)).stdin(payload.to_string()).run()
}

#[test]
fn one_guard_denies_a_command_under_every_agent_and_lets_others_pass() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    for (agent, event, payload) in callers("rm -rf x") {
        let done = run(&sandbox, agent, event, &payload, &[]);
        assert!(says_no(&done, "no rm here"), "{agent}: {done:#?}");
    }
    for (agent, event, payload) in callers("date") {
        let done = run(&sandbox, agent, event, &payload, &[]);
        assert_eq!(done.whole(), "exit 0\n-- stdout\n-- stderr\n", "{agent}");
    }
}

#[test]
fn whatever_goes_wrong_before_a_tool_is_a_denial_in_the_dialect() {
    let sandbox = Sandbox::new();
    for (config, more, reason) in [
        ("pre_tool_usee: []", &[][..], "pre_tool_use"),
        (GUARD, &["--nonsense"][..], "--nonsense"),
        (GUARD, &["--config", "none.yaml"][..], "none.yaml"),
        (GUARD, &["--within", "0"][..], "more than none"),
    ] {
        sandbox.write("hooks.yaml", config);
        for (agent, event, payload) in callers("date") {
            let done = run(&sandbox, agent, event, &payload, more);
            assert!(says_no(&done, reason), "{agent} {reason}: {done:#?}");
        }
    }
    sandbox.write("hooks.yaml", GUARD);
    for (agent, event, _) in callers("date") {
        let done = run(&sandbox, agent, event, &json!([]), &[]);
        assert!(says_no(&done, "not an object"), "{agent}: {done:#?}");
    }
}

#[test]
fn an_agent_nobody_knows_is_refused_the_way_all_heed() {
    let sandbox = Sandbox::new();
    let done = sandbox.hookexec(["run", "--from", "codx", "--event", "PreToolUse"]).run().exits(2);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("a similar value exists: 'codex'"), "{}", done.stderr);
}

#[test]
fn a_failure_on_an_event_that_only_observes_stays_out_of_the_way() {
    let sandbox = Sandbox::new();
    sandbox.write("broken.yaml", "pre_tool_usee: []");
    let args = ["run", "--from", "codex", "--event", "Stop", "--config", "broken.yaml"];
    let done = sandbox.hookexec(args).stdin("[]").run().exits(0);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("not an object"), "{}", done.stderr);
    // A broken file is told to the person, and does nothing else.
    let done = sandbox.hookexec(args).stdin(r#"{"hook_event_name":"Stop"}"#).run().exits(0);
    assert!(done.stderr.contains("pre_tool_usee"), "{}", done.stderr);
    let answer: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let [(key, text)] = &answer.as_object().unwrap().iter().collect::<Vec<_>>()[..] else {
        panic!("{answer}");
    };
    assert_eq!(*key, "systemMessage");
    assert!(text.as_str().unwrap().starts_with("broken.yaml:1 can't be loaded: "), "{text}");
}

#[test]
fn a_slow_hook_is_stopped_and_denied_before_the_agent_gives_up() {
    let sandbox = Sandbox::new();
    let command = "pre_tool_use: { hooks: { type: command, command: 'echo $$ > pid.new; mv pid.new pid; sleep 1000' } }";
    sandbox.write("hooks.yaml", command);
    let (agent, event, payload) = callers("date").swap_remove(0);
    let done = run(&sandbox, agent, event, &payload, &["--within", "2"]);
    assert!(says_no(&done, "the time for an answer passed"), "{done:#?}");
    let pid = sandbox.read("pid");
    until("the hook is gone", || !lives(pid.trim()));
}

#[test]
fn an_agent_that_never_closes_stdin_gets_its_denial_all_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    let args = ["run", "--from", "gemini", "--event", "BeforeTool", "--within", "0.5"];
    let mut child = sandbox.hookexec(args).spawn();
    let stdin = child.stdin.take();
    let output = wait(child);
    drop(stdin);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(r#""decision":"deny","reason":"hookexec: no answer"#), "{stdout}");
    assert!(stdout.contains("the agent did not close standard input"), "{stdout}");
}

#[test]
fn an_agent_that_gives_up_gets_a_denial_at_once() {
    let sandbox = Sandbox::new();
    let command = "pre_tool_use: { hooks: { type: command, command: 'echo $$ > pid.new; mv pid.new pid; sleep 1000' } }";
    sandbox.write("hooks.yaml", command);
    let (agent, event, payload) = callers("date").swap_remove(0);
    let args = ["run", "--from", agent, "--event", event, "--config", "hooks.yaml"];
    let mut child = sandbox.hookexec(args.iter().chain(&["--within", "1000"])).spawn();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    until("the hook starts", || sandbox.project().join("pid").exists());
    signal(&child, "-TERM");
    let output = wait(child);
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
    let pid = sandbox.read("pid");
    until("the hook is gone", || !lives(pid.trim()));
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_gives_up_before_it_has_written_gets_a_denial_at_once() {
    let sandbox = Sandbox::new();
    let args = ["run", "--from", "claude-code", "--event", "PreToolUse", "--within", "1000"];
    let mut child = sandbox.hookexec(args).spawn();
    let stdin = child.stdin.take();
    let status = format!("/proc/{}/status", child.id());
    until("SIGTERM is taken over", || {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
        u64::from_str_radix(caught, 16).unwrap() >> 14 & 1 == 1
    });
    signal(&child, "-TERM");
    let output = wait(child);
    drop(stdin);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
    assert!(stdout.contains("SIGTERM"), "{stdout}");
}

#[test]
fn a_signal_stops_the_processes_of_hooks() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "guard.py",
        "import json, os, sys\n\
         for line in sys.stdin:\n    \
             call = json.loads(line)\n    \
             if call.get('method') == 'hook.hello':\n        \
                 print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': {'ok': True}}), flush=True)\n    \
             elif 'id' in call:\n        \
                 open('pid.new', 'w').write(str(os.getpid()))\n        \
                 os.rename('pid.new', 'pid')\n",
    );
    sandbox.write(
        "hooks.yaml",
        "processes: { guard: { command: [python3, guard.py] } }\n\
         hooks: { pre_tool_use: [{ hooks: [{ type: process, command: guard }] }] }\n",
    );
    let (agent, event, payload) = callers("date").swap_remove(0);
    let args = ["run", "--from", agent, "--event", event, "--config", "hooks.yaml"];
    let mut child = sandbox.hookexec(args.iter().chain(&["--within", "1000"])).spawn();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    until("the process is asked", || sandbox.project().join("pid").exists());
    signal(&child, "-TERM");
    let stdout = String::from_utf8(wait(child).stdout).unwrap();
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
    let pid = sandbox.read("pid");
    until("the process is gone", || !lives(pid.trim()));
}

/// Writes what it was told, once it may; in the background nobody waits for that.
const BACKGROUND: &str = r#"
post_tool_use:
  - hooks:
      - type: command
        background: true
        mode: shadow
        timeout: 1000
        command: 'cat > told.new; until [ -e go ]; do sleep 0.05; done; mv told.new told'
tool_response_transform:
  - hooks:
      - type: command
        command: |
          echo '{"hook_specific_output": {"updated_tool_response": "[redacted]"}}'
"#;

#[test]
fn hooks_in_the_background_do_not_hold_the_agent() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", BACKGROUND);
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "x".repeat(1 << 20)}, "tool_response": "secret"});
    // Comes to its end, and all of its pipes too, while the hook waits for what is written below.
    let done = run(&sandbox, "claude-code", "PostToolUse", &payload, &["--within", "100"]);
    assert!(done.exits(0).stdout.contains("[redacted]"));
    sandbox.write("go", "");
    let told = sandbox.project().join("told");
    until("the hook in the background is done", || told.exists());
    let told: Value = serde_json::from_str(&sandbox.read("told")).unwrap();
    assert_eq!(told["tool_response"], "[redacted]");
    assert_eq!(told["tool_input"], payload["tool_input"]);
}

#[test]
fn a_hook_in_the_background_ends_at_its_own_timeout() {
    let sandbox = Sandbox::new();
    let hook = "stop: { type: command, background: true, timeout: 1, command: 'sleep 1000 & echo $! > pid.new; mv pid.new pid; wait' }";
    sandbox.write("hooks.yaml", hook);
    let payload = json!({"hook_event_name": "Stop"});
    let done = run(&sandbox, "claude-code", "Stop", &payload, &[]).exits(0);
    assert_eq!(done.stdout, "");
    let pid = sandbox.project().join("pid");
    until("the hook starts", || pid.exists());
    until("the hook is gone", || !lives(sandbox.read("pid").trim()));
}

#[test]
fn what_is_decided_for_an_agent_is_recorded() {
    let sandbox = Sandbox::new();
    let hooks = GUARD.replace('\n', "\n  ");
    sandbox.write("hooks.yaml", &format!("audit: {{ path: ./audit.jsonl }}\nhooks:\n{hooks}"));
    let (agent, event, payload) = callers("rm -rf x").swap_remove(1);
    let _ = run(&sandbox, agent, event, &payload, &[]).exits(0);
    let records = sandbox.read("audit.jsonl");
    let last: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["decision"]), (&json!("pre_tool_use"), &json!("deny")));
}

#[test]
fn a_denial_of_a_command_of_ours_is_recorded() {
    let sandbox = Sandbox::new();
    let rewrites = "command: 'case $(cat) in *again*) ;; *) echo \"{\\\"updated_input\\\": {\\\"command\\\": \\\"hookexec install codex\\\"}}\" ;; esac'";
    for (hooks, command) in [("{}", "hookexec trust add"), ("rewriter", "ls")] {
        let hooks = match hooks {
            "{}" => "hooks: {}".to_owned(),
            _ => format!(
                "hooks: {{ pre_tool_use: [{{ hooks: [{{ mutates: true, {rewrites} }}] }}] }}"
            ),
        };
        sandbox.write("hooks.yaml", &format!("audit: {{ path: ./audit.jsonl }}\n{hooks}\n"));
        let payload = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
        });
        let done = run(&sandbox, "claude-code", "PreToolUse", &payload, &[]).exits(0);
        assert!(done.stdout.contains("\"deny\""), "{done:?}");
        let records = sandbox.read("audit.jsonl");
        let last: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
        assert_eq!((&last["event"], &last["decision"]), (&json!("pre_tool_use"), &json!("deny")));
        assert!(last["message"].as_str().unwrap().contains("for a person in a terminal"), "{last}");
    }
}

#[test]
fn a_hook_runs_in_the_project_that_the_agent_names() {
    let sandbox = Sandbox::new();
    let hook = "session_start: { type: command, command: 'pwd' }";
    sandbox.write("hooks.yaml", hook);
    std::fs::create_dir(sandbox.project().join("inner")).unwrap();
    let config = sandbox.project().join("hooks.yaml");
    let inner = sandbox.project().join("inner");
    let payload = json!({"hook_event_name": "SessionStart", "cwd": inner});
    let args = ["run", "--from", "claude-code", "--config", config.to_str().unwrap()];
    let there = |dir: &Path| {
        sandbox
            .hookexec(args)
            .env("CLAUDE_PROJECT_DIR", dir)
            .stdin(payload.to_string())
            .run()
            .exits(0)
            .json_line()["hookSpecificOutput"]["additionalContext"]
            .clone()
    };
    assert_eq!(there(&sandbox.project()), "[SANDBOX]/project");
    // One that is not there is no project.
    assert_eq!(there(Path::new("/nowhere")), "[SANDBOX]/project");
}

#[test]
fn many_calls_at_once_each_get_their_own_answer() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", GUARD);
    thread::scope(|scope| {
        for index in 0..12 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let command = if index % 2 == 0 { "rm -rf x" } else { "date" };
                let (agent, event, payload) = callers(command).swap_remove(index % 5);
                let done = run(sandbox, agent, event, &payload, &[]);
                assert_eq!(says_no(&done, "no rm here"), index % 2 == 0, "{agent}: {done:#?}");
            });
        }
    });
}

#[test]
fn a_large_payload_with_a_lone_surrogate_reaches_the_hook_whole() {
    let sandbox = Sandbox::new();
    let hook = r#"
pre_tool_use:
  - matcher: write
    hooks:
      - type: command
        command: |
          python3 -c "import json,sys; sys.exit(0 if len(json.load(sys.stdin)['tool_input']['content']) == 3000001 else 2)"
"#;
    sandbox.write("hooks.yaml", hook);
    let text = "x".repeat(3_000_000);
    let payload = format!(
        r#"{{"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{{"content":"{text}\ud800"}}}}"#
    );
    let args = ["run", "--from", "gemini", "--config", "hooks.yaml"];
    let done = sandbox.hookexec(args).stdin(payload).run().exits(0);
    assert_eq!(done.stdout, "");
}

#[test]
fn a_hook_that_asks_for_the_background_does_not_hold_up_the_agent() {
    let sandbox = Sandbox::new();
    let command =
        "cat >told; echo '{\"async\":true}'; while [ ! -e go ]; do sleep 0.01; done; touch done";
    let hook = json!({"session_start": [{"type": "command", "command": command}]});
    sandbox.write("hooks.yaml", &hook.to_string());
    let payload =
        json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"});
    // It would wait for the file until its timeout.
    let done = run(&sandbox, "claude-code", "SessionStart", &payload, &[]).exits(0);
    assert!(!done.stdout.contains("async"), "{done:#?}");
    let file = sandbox.write("go", "").with_file_name("done");
    until("the end of the hook", || file.exists());
}

#[test]
fn a_payload_of_too_many_values_is_a_denial() {
    let sandbox = Sandbox::new();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "ls", "list": vec![0; 500_000]}});
    let done = run(&sandbox, "claude-code", "PreToolUse", &payload, &[]);
    assert!(says_no(&done, "more than 500000 values and keys"), "{done:#?}");
}

/// Keeps the model at work whatever it did.
const NEVER_DONE: &str = r#"
stop: { type: command, command: "echo '{\"decision\": \"block\", \"reason\": \"finish the tests\"}'" }
"#;

#[test]
fn a_stop_hook_in_our_own_dialect_keeps_the_model_at_work_where_the_agent_can() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", NEVER_DONE);
    for (agent, event) in [
        ("claude-code", "Stop"),
        ("codex", "Stop"),
        ("gemini", "AfterAgent"),
        ("qwen", "Stop"),
        ("copilot", "agentStop"),
        ("cursor", "stop"),
        ("droid", "Stop"),
        ("kimi", "Stop"),
        ("vibe", "post_agent"),
    ] {
        let done = run(&sandbox, agent, event, &json!({"session_id": "s"}), &[]);
        let said = format!("{}{}", done.stdout, done.stderr);
        let goes_on = ["\"block\"", "\"deny\"", "followup_message"]
            .iter()
            .any(|word| done.stdout.contains(word));
        assert!(goes_on || done.code() == Some(2), "{agent}: {done:#?}");
        assert!(said.contains("finish the tests"), "{agent}: {done:#?}");
    }
    // The session ends all the same: the user is told.
    let done = run(&sandbox, "opencode", "session.idle", &json!({"session_id": "s"}), &[]).exits(0);
    assert!(done.stdout.contains("cannot keep the model at work"), "{}", done.stdout);
}

#[test]
fn exit_code_2_at_stop_has_no_effect_and_says_what_has() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "stop: { type: command, command: 'echo more >&2; exit 2' }");
    let done = run(&sandbox, "claude-code", "Stop", &json!({"session_id": "s"}), &[]).exits(0);
    let said = done.json_line();
    assert!(said["decision"].is_null(), "{said}");
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("exit code 2 has no effect at `stop`"), "{message}");
    // A hook written for Claude Code means it as there.
    let hook = "stop: { type: command, dialect: claude-code, command: 'echo more >&2; exit 2' }";
    sandbox.write("hooks.yaml", hook);
    let done = run(&sandbox, "codex", "Stop", &json!({"session_id": "s"}), &[]).exits(0);
    assert_eq!(done.json_line()["decision"], "block");
}

#[test]
fn a_hook_that_ends_the_turn_outranks_one_that_keeps_the_model_at_work() {
    let sandbox = Sandbox::new();
    let ends = "  - { type: command, command: \"echo '{\\\"continue\\\": false, \\\"stopReason\\\": \\\"enough\\\"}'\" }";
    sandbox.write(
        "hooks.yaml",
        &format!("{}\n{ends}\n", NEVER_DONE.replace("stop: {", "stop:\n  - {").trim_end()),
    );
    let done = run(&sandbox, "claude-code", "Stop", &json!({"session_id": "s"}), &[]).exits(0);
    let said = done.json_line();
    assert_eq!(
        (&said["continue"], &said["stopReason"]),
        (&json!(false), &json!("enough")),
        "{said}"
    );
    assert!(said["decision"].is_null(), "{said}");
}

#[test]
fn hooks_keep_the_model_at_work_eight_times_in_a_row_and_no_more() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", NEVER_DONE);
    let stop = |session: &str| {
        let payload = json!({"session_id": session, "stop_hook_active": true});
        run(&sandbox, "droid", "Stop", &payload, &[])
    };
    for _ in 0..8 {
        let _ = stop("s").exits(2);
    }
    let ninth = stop("s").exits(0);
    assert!(ninth.stderr.contains("8 times in a row, it may stop now"), "{}", ninth.stderr);
    assert!(ninth.stderr.contains("finish the tests"), "{}", ninth.stderr);
    // The count is of one session, and begins anew with the user's next prompt.
    let _ = stop("s").exits(2);
    let _ = stop("other").exits(2);
    for _ in 0..6 {
        let _ = stop("other").exits(2);
    }
    let prompt = json!({"session_id": "other", "prompt": "go on"});
    let _ = run(&sandbox, "droid", "UserPromptSubmit", &prompt, &[]).exits(0);
    for _ in 0..8 {
        let _ = stop("other").exits(2);
    }
    let _ = stop("other").exits(0);
}

#[test]
fn a_reason_that_comes_back_as_a_prompt_begins_no_new_count() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", NEVER_DONE);
    let mut blocks = 0;
    for _ in 0..12 {
        let stop = json!({"session_id": "s"});
        let said = run(&sandbox, "gemini", "AfterAgent", &stop, &[]).exits(0).json_line();
        if said["reason"].is_null() {
            break;
        }
        blocks += 1;
        let prompt = json!({"session_id": "s", "prompt": said["reason"]});
        let _ = run(&sandbox, "gemini", "BeforeAgent", &prompt, &[]).exits(0);
    }
    assert_eq!(blocks, 8);
}

#[test]
fn a_stop_hook_that_always_blocks_is_stopped_by_its_limit() {
    let sandbox = Sandbox::new();
    let hook = r#"type: command, command: 'echo "{\"decision\":\"block\",\"reason\":\"more\"}"'"#;
    let payload = |prompt: &str| {
        json!({"hook_event_name": "Stop", "session_id": "../s", "prompt_id": prompt,
            "stop_hook_active": true, "cwd": sandbox.project()})
    };
    let blocks = |prompt: &str| {
        let done = run(&sandbox, "claude-code", "Stop", &payload(prompt), &[]).exits(0);
        let blocks = done.stdout.contains("\"block\"");
        assert_ne!(blocks, done.stdout.contains("which is its limit"), "{done:?}");
        blocks
    };
    sandbox.write("hooks.yaml", &format!("stop: [{{ {hook}, limit: 3 }}]"));
    assert_eq!(["p1", "p1", "p2", "p2", "p3"].map(blocks), [true, true, true, false, false]);
    sandbox.write("hooks.yaml", &format!("stop: [{{ {hook}, limit: {{ times: 2, per: turn }} }}]"));
    assert_eq!(["p1", "p1", "p1", "p2", "p2", "p2"].map(blocks), [true, true, false].repeat(2)[..]);
    // An explanation tells what would happen, and counts nothing.
    for _ in 0..3 {
        let explain = ["explain", "--from", "claude-code", "--config", "hooks.yaml"];
        let done = sandbox.hookexec(explain).stdin(payload("p9").to_string()).run().exits(0);
        assert!(!done.stdout.contains("which is its limit"), "{done:?}");
        let done = sandbox.hookexec(explain).stdin(payload("p2").to_string()).run().exits(0);
        assert!(done.stdout.contains("which is its limit"), "{done:?}");
    }
}
