//! Hooks written for Claude Code, under other agents: real scripts in sh, jq and python.

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

/// A guard as people write them: it looks at the event, the tool and the command.
const SHELL_GUARD: &str = r#"#!/bin/sh
input=$(cat)
[ "$(echo "$input" | jq -r .hook_event_name)" = PreToolUse ] || exit 0
[ "$(echo "$input" | jq -r .tool_name)" = Bash ] || exit 0
case $(echo "$input" | jq -r .tool_input.command) in
  "rm "*) echo "no rm in $(basename "$CLAUDE_PROJECT_DIR")" >&2; exit 2 ;;
esac
"#;

/// A guard of files, answering in JSON; it dies of a key that is missing.
const FILE_GUARD: &str = r#"
import json, sys
data = json.load(sys.stdin)
assert data["hook_event_name"] == "PreToolUse" and data["transcript_path"] is not None and data["permission_mode"]
if data["tool_name"] in ("Edit", "Write"):
    path = data["tool_input"]["file_path"]
    assert path.startswith("/"), path
    if path.endswith(".env"):
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": data["tool_name"] + " of a secret"}}))
"#;

fn hooks(event: &str, matcher: &str, command: &str) -> String {
    let hook = json!({"type": "command", "dialect": "claude-code", "command": command});
    let entry = match matcher {
        "" => json!({ event: [hook] }),
        _ => json!({ event: [{"matcher": matcher, "hooks": [hook]}] }),
    };
    entry.to_string()
}

/// Runs one event as `agent` sends it; `""` is a host that calls hookexec itself.
fn run(sandbox: &Sandbox, agent: &str, event: &str, payload: &Value) -> Done {
    let mut args = vec!["run", "--config", "hooks.yaml"];
    if agent.is_empty() {
        args.push(event);
    } else {
        args.extend(["--from", agent, "--event", event]);
    }
    sandbox.hookexec(args).stdin(payload.to_string()).run()
}

/// Calls of a tool about a command, as each agent writes them.
fn commands(command: &str) -> Vec<(&'static str, &'static str, Value)> {
    let call = |event: &str, tool: &str, key: &str| json!({"hook_event_name": event, "session_id": "s", "tool_name": tool, "tool_input": { key: command }});
    vec![
        ("claude-code", "PreToolUse", call("PreToolUse", "Bash", "command")),
        ("codex", "PreToolUse", call("PreToolUse", "Bash", "command")),
        ("gemini", "BeforeTool", call("BeforeTool", "run_shell_command", "command")),
        ("qwen", "PreToolUse", call("PreToolUse", "run_shell_command", "command")),
        (
            "copilot",
            "preToolUse",
            json!({"toolName": "bash", "toolArgs": json!({"command": command}).to_string()}),
        ),
        ("cursor", "beforeShellExecution", json!({"command": command})),
        ("droid", "PreToolUse", call("PreToolUse", "Execute", "command")),
        ("windsurf", "pre_run_command", json!({"tool_info": {"command_line": command}})),
        ("kiro", "PreToolUse", call("PreToolUse", "execute_bash", "command")),
        ("kimi", "PreToolUse", call("PreToolUse", "Bash", "command")),
        ("vibe", "pre_tool", call("pre_tool", "file_system.bash", "command")),
        ("", "pre_tool_use", json!({"tool_name": "shell", "tool_input": {"cmd": command}})),
        ("", "pre_tool_use", json!({"tool_name": "Bash", "tool_input": {"command": command}})),
    ]
}

/// Calls of a tool that changes a file, as each agent writes them.
fn edits(path: &str) -> Vec<(&'static str, &'static str, Value)> {
    let call = |event: &str, tool: &str, input: Value| json!({"hook_event_name": event, "cwd": "/p", "transcript_path": "/t", "permission_mode": "default", "tool_name": tool, "tool_input": input});
    let diff = format!(
        "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n"
    );
    vec![
        (
            "claude-code",
            "PreToolUse",
            call("PreToolUse", "Edit", json!({"file_path": format!("/p/{path}")})),
        ),
        ("codex", "PreToolUse", call("PreToolUse", "apply_patch", json!({ "command": diff }))),
        ("gemini", "BeforeTool", call("BeforeTool", "replace", json!({ "file_path": path }))),
        ("gemini", "BeforeTool", call("BeforeTool", "write_file", json!({ "file_path": path }))),
        (
            "copilot",
            "preToolUse",
            json!({"cwd": "/p", "toolName": "apply_patch", "toolArgs": diff}),
        ),
        (
            "copilot",
            "preToolUse",
            json!({"cwd": "/p", "toolName": "create", "toolArgs": { "path": path }}),
        ),
        ("cursor", "preToolUse", call("preToolUse", "Write", json!({ "file_path": path }))),
        (
            "windsurf",
            "pre_write_code",
            json!({"tool_info": {"cwd": "/p", "file_path": path, "edits": []}}),
        ),
        (
            "kiro",
            "PreToolUse",
            call("PreToolUse", "fs_write", json!({"command": "create", "path": path})),
        ),
        ("kimi", "PreToolUse", call("PreToolUse", "Edit", json!({ "path": path }))),
        (
            "vibe",
            "pre_tool",
            call("pre_tool", "file_system.write_file", json!({"file_path": path})),
        ),
        ("", "pre_tool_use", call("pre_tool_use", "edit_file", json!({"path": path, "edits": []}))),
        ("", "pre_tool_use", call("pre_tool_use", "apply_patch", json!({ "input": diff }))),
    ]
}

fn says_no(done: &Done, reason: &str) -> bool {
    let words = ["\"deny\"", "\"block\""].iter().any(|word| done.stdout.contains(word));
    format!("{}{}", done.stdout, done.stderr).contains(reason) && (words || done.code() == Some(2))
}

#[track_caller]
fn lets_pass(done: &Done, case: &str) {
    assert_eq!(done.code(), Some(0), "{case}: {done:#?}");
    let silent = done.stdout.is_empty() || done.stdout.contains("\"decision\":null");
    assert!(silent && !done.stdout.contains("failed"), "{case}: {done:#?}");
}

#[test]
fn a_shell_guard_denies_a_command_under_every_agent() {
    let sandbox = Sandbox::new();
    sandbox.script("guard.sh", SHELL_GUARD);
    for matcher in ["Bash", "Bash|Edit", ".*Ba.*", "*"] {
        sandbox.write(
            "hooks.yaml",
            &hooks("pre_tool_use", matcher, "\"$CLAUDE_PROJECT_DIR\"/guard.sh"),
        );
        for (agent, event, payload) in commands("rm -rf x") {
            let done = run(&sandbox, agent, event, &payload);
            assert!(says_no(&done, "no rm in project"), "{agent}: {done:#?}");
        }
        for (agent, event, payload) in commands("date") {
            lets_pass(&run(&sandbox, agent, event, &payload), agent);
        }
    }
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Edit", "echo wrong tool >&2; exit 2"));
    for (agent, event, payload) in commands("rm -rf x") {
        lets_pass(&run(&sandbox, agent, event, &payload), agent);
    }
}

#[test]
fn a_python_guard_of_files_sees_each_file_that_any_agent_changes() {
    let sandbox = Sandbox::new();
    sandbox.write("guard.py", FILE_GUARD);
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Edit|Write", "python3 guard.py"));
    for (agent, event, payload) in edits("inner/.env") {
        let done = run(&sandbox, agent, event, &payload);
        assert!(says_no(&done, "of a secret"), "{agent} {payload}: {done:#?}");
    }
    for (agent, event, payload) in edits("inner/a.txt") {
        lets_pass(&run(&sandbox, agent, event, &payload), &format!("{agent} {payload}"));
    }
}

/// A guard of places, as people write them: by the beginning of an absolute path.
#[test]
fn a_guard_of_places_sees_where_a_path_leads() {
    let sandbox = Sandbox::new();
    let guard = r#"case $(jq -r .tool_input.file_path) in /etc/*|"$HOME"/.bashrc|/p/.env) echo caught >&2; exit 2 ;; esac"#;
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Edit|Write", guard));
    for path in ["../../etc/cron.d/x", "/p/../etc/passwd", "~/.bashrc", "src/../.env"] {
        for (agent, event, payload) in edits(path) {
            // Claude Code itself gives absolute and normalised paths.
            if agent != "claude-code" {
                let done = run(&sandbox, agent, event, &payload);
                assert!(says_no(&done, "caught"), "{agent} {path}: {done:#?}");
            }
        }
    }
}

#[test]
fn a_tool_that_no_agent_has_cannot_be_said_in_the_dialect() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "*", "cat >/dev/null"));
    let call = |tool: &str, kinds: Value| {
        let payload = json!({"tool_name": tool, "tool_kinds": kinds, "tool_input": {"x": 1}});
        run(&sandbox, "", "pre_tool_use", &payload)
    };
    let done = call("get_weather", json!([])).exits(2);
    assert!(done.stdout.contains("no agent in the table of tools has it"), "{done:#?}");
    for (tool, kinds) in [
        ("get_weather", json!(["weather"])),
        ("mcp__kit__say", json!([])),
        ("update_plan", json!([])),
    ] {
        lets_pass(&call(tool, kinds), tool);
    }
}

#[test]
fn a_call_that_cannot_be_said_in_the_dialect_is_denied() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Edit|Write|Bash", "cat >/dev/null"));
    for (tool, missing) in [("apply_patch", "file_path"), ("Bash", "command")] {
        let payload =
            json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"x": 1}});
        let done = run(&sandbox, "codex", "PreToolUse", &payload);
        assert!(says_no(&done, &format!("no `{missing}`")), "{done:#?}");
    }
}

fn check_decoy(
    sandbox: &Sandbox,
    (agent, event, tool): (&str, &str, &str),
    arguments: &Value,
    denied: bool,
) {
    let payload = if agent == "copilot" {
        json!({"sessionId": "s", "cwd": "/p", "toolName": tool, "toolArgs": arguments.to_string()})
    } else {
        json!({"hook_event_name": event, "session_id": "s", "cwd": "/p", "tool_name": tool, "tool_input": arguments})
    };
    let done = run(sandbox, agent, event, &payload);
    if denied {
        let caught = ["caught", "more than once"];
        let no = if agent.is_empty() {
            done.code() == Some(2)
        } else {
            caught.iter().any(|reason| says_no(&done, reason))
        };
        assert!(no, "{agent} {tool} {arguments}: {done:#?}");
    } else if agent.is_empty() {
        assert_eq!(done.code(), Some(0), "{tool} {arguments}: {done:#?}");
    } else {
        lets_pass(&done, &format!("{agent} {tool} {arguments}"));
    }
}

#[test]
fn a_decoy_beside_the_argument_hides_nothing_from_a_guard() {
    let sandbox = Sandbox::new();
    let guard = "! jq -r '.tool_input | .command, .file_path, .url, .content, .new_string' | grep -qE 'rm -rf|[.]env|evil|SECRET' || { echo caught >&2; exit 2; }";
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash|Read|Write|Edit|WebFetch", guard));
    let env = "*** Begin Patch\n*** Update File: .env\n-a\n+b\n*** End Patch";
    for (agent, event, tool, arguments, denied) in [
        ("codex", "PreToolUse", "exec_command", json!({"cmd": "rm -rf /", "command": "ls"}), true),
        ("codex", "PreToolUse", "exec_command", json!({"cmd": "rm -rf /", "command": ""}), true),
        ("codex", "PreToolUse", "write_stdin", json!({"chars": "rm -rf /\n", "cmd": "ls"}), true),
        (
            "codex",
            "PreToolUse",
            "shell",
            json!({"command": "bash", "args": ["-c", "rm -rf /"]}),
            true,
        ),
        ("codex", "PreToolUse", "shell", json!({"command": "bash", "args": ["-c", "date"]}), false),
        (
            "copilot",
            "preToolUse",
            "view",
            json!({"path": "/p/.env", "file_path": "/p/README"}),
            true,
        ),
        (
            "copilot",
            "preToolUse",
            "write_bash",
            json!({"input": "rm -rf /", "command": "ls"}),
            true,
        ),
        (
            "copilot",
            "preToolUse",
            "edit",
            json!({"path": "/p/a", "old_str": "x", "new_str": "SECRET", "new_string": "ok"}),
            true,
        ),
        ("copilot", "preToolUse", "apply_patch", json!({"input": env, "path": "/p/README"}), true),
        (
            "copilot",
            "preToolUse",
            "apply_patch",
            json!({"patch": env, "input": "*** Update File: ok\n"}),
            true,
        ),
        (
            "gemini",
            "BeforeTool",
            "read_many_files",
            json!({"include": [".env"], "path": "/p"}),
            true,
        ),
        (
            "gemini",
            "BeforeTool",
            "read_many_files",
            json!({"include": [".env"], "paths": ["ok"]}),
            true,
        ),
        (
            "gemini",
            "BeforeTool",
            "web_fetch",
            json!({"prompt": "https://evil", "url": "https://ok"}),
            true,
        ),
        (
            "qwen",
            "PreToolUse",
            "web_fetch",
            json!({"prompt": "Sum it up", "url": "https://ok"}),
            false,
        ),
        (
            "kiro",
            "preToolUse",
            "fs_read",
            json!({"operations": [{"path": "/p/.env"}], "path": "ok"}),
            true,
        ),
        // Other programs call the hooks of Claude Code with tools of their own.
        ("claude-code", "PreToolUse", "Shell", json!({"command": "rm -rf /"}), true),
        ("claude-code", "PreToolUse", "bash", json!({"command": "rm -rf /"}), true),
        ("claude-code", "PreToolUse", "run_in_terminal", json!({"command": "rm -rf /"}), true),
        ("claude-code", "PreToolUse", "run_in_terminal", json!({"command": "ls"}), false),
        ("", "pre_tool_use", "Bash", json!({"cmd": "rm -rf /", "command": "ls"}), true),
        ("", "pre_tool_use", "execute_command", json!({"command": "rm -rf /"}), true),
        ("", "pre_tool_use", "terminal", json!({"command": "rm -rf /"}), true),
        ("", "pre_tool_use", "terminal", json!({"command": "ls"}), false),
    ] {
        check_decoy(&sandbox, (agent, event, tool), &arguments, denied);
    }
}

#[test]
fn changed_arguments_get_back_into_the_agents_own_words() {
    let sandbox = Sandbox::new();
    let rewrite = r#"jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "allow",
        updatedInput: {command: ("echo " + .tool_input.command)}}}'"#;
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", rewrite));
    for (agent, event, payload) in commands("date") {
        let done = run(&sandbox, agent, event, &payload);
        let said = format!("{}{}", done.stdout, done.stderr);
        let key = if payload["tool_input"]["cmd"].is_string() { "cmd" } else { "command" };
        // Who takes no changes is told of them.
        let escaped = said.replace('\\', "");
        assert!(escaped.contains(&format!("\"{key}\":\"echo date\"")), "{agent}: {done:#?}");
    }
    sandbox.write(
        "hooks.yaml",
        &hooks(
            "pre_tool_use",
            "Edit|Write",
            r#"jq -c '{hookSpecificOutput: {updatedInput: (.tool_input + {content: "x"})}}'"#,
        ),
    );
    let (agent, event, payload) = edits("a").swap_remove(1);
    let done = run(&sandbox, agent, event, &payload);
    assert!(says_no(&done, "can't be carried over"), "{done:#?}");
}

#[test]
fn every_form_of_an_answer_counts_as_in_claude_code() {
    let sandbox = Sandbox::new();
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "date"}});
    for (command, reason) in [
        (r#"echo '{"decision":"block","reason":"R"}'"#, "R"),
        (
            r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}'"#,
            "R",
        ),
        (r#"echo '{"continue":false,"stopReason":"R"}'"#, "R"),
        ("echo R >&2; exit 2", "R"),
        // There a timeout and a program that is not found let the tool run.
        ("sleep 1000", "without an answer"),
        ("./none.sh", "none.sh"),
    ] {
        let timeout = if command.starts_with("sleep") { 1 } else { 100 };
        let hook = json!({"type": "command", "dialect": "claude-code", "command": command, "timeout": timeout});
        let hooks = json!({"pre_tool_use": [{"matcher": "Bash", "hooks": [hook]}]});
        sandbox.write("hooks.yaml", &hooks.to_string());
        for (agent, event) in
            [("codex", "PreToolUse"), ("claude-code", "PreToolUse"), ("", "pre_tool_use")]
        {
            let done = run(&sandbox, agent, event, &payload);
            assert!(says_no(&done, reason), "{agent} {command}: {done:#?}");
        }
    }
    for command in ["exit 1", "cat", "echo '{\"suppressOutput\":true}'"] {
        sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", command));
        let done = run(&sandbox, "", "pre_tool_use", &payload).exits(0);
        assert!(done.stdout.contains("\"allowed\":true"), "{command}: {done:#?}");
    }
}

#[test]
fn what_a_hook_prints_is_context_only_where_it_is_in_claude_code() {
    let sandbox = Sandbox::new();
    let print = "jq -r '.hook_event_name + \" \" + (.prompt // .source // .tool_response.stdout)'";
    for (event, payload, context) in [
        ("user_prompt_submit", json!({"prompt": "hi"}), Some("UserPromptSubmit hi")),
        ("session_start", json!({}), Some("SessionStart startup")),
        (
            "post_tool_use",
            json!({"tool_name": "shell", "tool_input": {"cmd": "x"}, "tool_response": "out"}),
            None,
        ),
    ] {
        let matcher = if event == "post_tool_use" { "*" } else { "" };
        sandbox.write("hooks.yaml", &hooks(event, matcher, print));
        let done = run(&sandbox, "", event, &payload).exits(0);
        let verdict: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(verdict["additional_context"].as_str(), context, "{event}");
    }
}

#[test]
fn the_own_payload_of_claude_code_is_passed_on_whole() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", "cat > seen.json"));
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "tool_input": {"command": "date"}, "effort": {"level": "high"}, "brand_new": 1});
    let _ = run(&sandbox, "claude-code", "PreToolUse", &payload).exits(0);
    assert_eq!(serde_json::from_str::<Value>(&sandbox.read("seen.json")).unwrap(), payload);
}

#[test]
fn a_dialect_stands_only_where_it_can_mean_something() {
    let sandbox = Sandbox::new();
    for (text, problem) in [
        (
            "turn_start: { type: command, dialect: claude-code, command: x }",
            "Claude Code has no event for `turn_start`",
        ),
        (
            "stop: { type: builtin, dialect: claude-code, command: add_date }",
            "no meaning for hooks of type `builtin`",
        ),
        ("stop: { type: command, dialect: claude, command: x }", "known dialects: claude-code"),
    ] {
        sandbox.write("hooks.yaml", text);
        let done = sandbox.hookexec(["check", "--config", "hooks.yaml"]).run();
        assert!(format!("{}{}", done.stdout, done.stderr).contains(problem), "{done:#?}");
        assert_eq!(done.code(), Some(78));
    }
}

#[test]
fn one_script_under_two_matchers_sees_what_either_is_for() {
    let sandbox = Sandbox::new();
    let hook = json!({"type": "command", "dialect": "claude-code",
        "command": "jq -r '.tool_name + \" \" + .tool_input.file_path' >> seen"});
    let entries = ["Edit", "Write"].map(|matcher| json!({"matcher": matcher, "hooks": [hook]}));
    sandbox.write("hooks.yaml", &json!({ "pre_tool_use": entries }).to_string());
    let (agent, event, payload) = edits("b").swap_remove(1);
    lets_pass(&run(&sandbox, agent, event, &payload), agent);
    let seen = sandbox.read("seen");
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    assert_eq!(seen, ["Edit /p/b", "Write /p/a.txt"]);
}

#[test]
fn a_failure_for_one_file_is_not_hidden_by_another() {
    let sandbox = Sandbox::new();
    let patch =
        "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.txt\n+y\n*** End Patch\n";
    let input = json!({"agent_name": "codex", "tool_name": "apply_patch", "tool_input": {"command": patch}});
    for answer in
        ["echo noise", r#"echo "{\"systemMessage\":\"m\",\"permisionDecision\":\"deny\"}""#]
    {
        let command = format!("case \"$(cat)\" in *a.txt*) {answer};; esac");
        let hook = json!({
            "type": "command", "dialect": "claude-code", "strict_output": true,
            "on_error": "block", "command": command,
        });
        let hooks = json!({"pre_tool_use": [{"matcher": "Edit|Write", "hooks": [hook]}]});
        sandbox.write("strict.yaml", &hooks.to_string());
        let args = ["run", "pre_tool_use", "--config", "strict.yaml"];
        let _ = sandbox.hookexec(args).stdin(input.to_string()).run().exits(2);
    }
}

#[test]
fn what_a_hook_says_of_one_file_counts_whatever_it_says_of_the_others() {
    let sandbox = Sandbox::new();
    let read = |event: &str, paths: [&str; 2]| {
        json!({"hook_event_name": event, "agent_name": "gemini", "tool_name": "read_many_files",
            "tool_kinds": ["read"], "cwd": "/p", "tool_input": {"paths": paths}, "tool_response": "KEY"})
    };
    let hooks = |event: &str, more: &str, command: &str| {
        let hook = format!("type: command, dialect: claude-code{more}");
        format!("{event}: [{{ hooks: [{{ {hook}, command: '{command}' }}] }}]\n")
    };
    let run = |event: &str, paths: [&str; 2]| {
        let input = read(event, paths).to_string();
        sandbox.hookexec(["run", event, "--config", "hooks.yaml"]).stdin(input).run()
    };
    let redacts = r#"case "$(cat)" in *.env*file_path*|*file_path*.env*) echo "{\"systemMessage\":\"seen\",\"hookSpecificOutput\":{\"updatedToolOutput\":\"[redacted]\"}}";; esac"#;
    sandbox.write("hooks.yaml", &hooks("post_tool_use", ", mutates: true", redacts));
    for paths in [[".env", "readme"], ["readme", ".env"]] {
        let verdict = run("post_tool_use", paths).exits(0).json_line();
        assert_eq!(verdict["updated_tool_response"], "[redacted]", "{verdict}");
        assert_eq!(verdict["system_message"], "seen", "{verdict}");
    }
    // A crash for one file keeps no other from being judged.
    let guard = r#"case "$(cat)" in *crash*) kill -9 $$;; *.env*) echo no >&2; exit 2;; esac"#;
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", ", on_error: warn", guard));
    for paths in [[".env", "crash"], ["crash", ".env"]] {
        let _ = run("pre_tool_use", paths).exits(2);
    }
    let allows = r#"case "$(cat)" in *.env*) ;; *) echo "{\"decision\":\"approve\"}";; esac"#;
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "", allows));
    for (paths, decision) in [([".env", "readme"], Value::Null), (["a", "b"], json!("allow"))] {
        let verdict = run("pre_tool_use", paths).exits(0).json_line();
        assert_eq!(verdict["decision"], decision, "{verdict}");
    }
}

#[tokio::test]
async fn a_hook_with_a_dialect_is_chosen_by_more_than_the_name_of_a_tool() {
    let hook = "{ type: command, dialect: claude-code, command: [sh, -c, exit 2] }";
    let file = format!("pre_tool_use: [{{ matcher: Edit, hooks: [{hook}] }}]");
    let config = hookexec::Config::from_yaml(&file, "hooks.yaml").unwrap();
    let mut registry = hookexec::Registry::new();
    hookexec_agents::register(&mut registry);
    let executor = hookexec::Executor::builder(config).registry(registry).build().unwrap();
    let plain = hookexec::Input::for_tool("MultiEdit", serde_json::Map::new());
    let mut own = plain.clone();
    (own.agent_name, own.native) = (Some("claude-code".into()), Some(serde_json::json!({})));
    assert!(executor.dispatch(hookexec::Event::PreToolUse, &own).await.allowed);
    assert!(!executor.dispatch(hookexec::Event::PreToolUse, &plain).await.allowed);
}

// Measured with Claude Code 2.1.329: it denies a call of `Agent` by each of the first two matchers.
#[test]
fn a_tool_that_was_renamed_is_matched_by_its_old_and_its_new_name() {
    let sandbox = Sandbox::new();
    let call = |tool: &str| json!({"tool_name": tool, "tool_input": {"prompt": "x"}});
    for (matcher, tool) in [
        ("Task", "Agent"),
        ("^Task$", "Agent"),
        ("Agent", "Task"),
        ("Bash|KillShell", "TaskStop"),
        ("TaskStop", "KillBash"),
        ("Brief", "SendUserMessage"),
    ] {
        for dialect in ["claude-code", ""] {
            let mut hook = json!({"type": "command", "command": "exit 2"});
            if !dialect.is_empty() {
                hook["dialect"] = dialect.into();
            }
            let file = json!({"pre_tool_use": [{"matcher": matcher, "hooks": [hook]}]});
            sandbox.write("hooks.yaml", &file.to_string());
            let done = run(&sandbox, "claude-code", "PreToolUse", &call(tool));
            assert!(says_no(&done, "blocked"), "{matcher} {tool} {dialect}: {done:#?}");
            let done = run(&sandbox, "claude-code", "PreToolUse", &call("TaskCreate"));
            lets_pass(&done, matcher);
        }
        if matcher.chars().all(char::is_alphabetic) {
            let rule = json!({"rule": {"tools": [matcher], "deny": "no"}});
            sandbox.write("hooks.yaml", &json!({ "pre_tool_use": [rule] }).to_string());
            let done = run(&sandbox, "claude-code", "PreToolUse", &call(tool));
            assert!(says_no(&done, "no"), "{matcher} {tool}: {done:#?}");
        }
    }
}

// A profile of a shell prints a greeting before the answer.
#[test]
fn a_denial_behind_other_text_is_a_failure_that_is_shown() {
    let sandbox = Sandbox::new();
    for (agent, native, event) in [
        ("claude-code", "Stop", "stop"),
        ("claude-code", "UserPromptSubmit", "user_prompt_submit"),
        ("claude-code", "PostToolUse", "post_tool_use"),
        ("claude-code", "PreCompact", "pre_compact"),
        ("gemini", "BeforeModel", "before_llm_call"),
    ] {
        let payload = json!({"prompt": "x", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_response": "", "trigger": "auto", "llm_request": {"model": "m", "messages": []}});
        for (answer, fails) in [
            (r#"{"decision":"block","reason":"tests fail"}"#, true),
            (r#"{"name":"package"}"#, false),
        ] {
            let command = format!("echo 'Shell ready'; echo '{answer}'");
            let hook = json!({"type": "command", "command": command});
            let entry = if native == "PostToolUse" { json!({"hooks": [hook]}) } else { hook };
            sandbox.write("hooks.yaml", &json!({ event: [entry] }).to_string());
            let done = run(&sandbox, agent, native, &payload);
            let shown = format!("{}{}", done.stdout, done.stderr);
            let failed = shown.contains("its output is text with a line that starts with `{`");
            assert_eq!(failed, fails, "{agent} {native}: {done:#?}");
            assert!(!fails || !shown.contains("tests fail"), "{agent} {native}: {done:#?}");
        }
    }
}

// Measured with Claude Code 2.1.329: `approve` lets the tool run unasked, `allow` changes nothing.
#[test]
fn allow_at_the_top_of_an_answer_is_no_opinion_as_in_claude_code() {
    let sandbox = Sandbox::new();
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "date"}});
    for (answer, allows) in [
        (r#"{"decision":"approve"}"#, true),
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, true),
        (r#"{"decision":"allow"}"#, false),
        (r#"{"decision":"allow","reason":"fine"}"#, false),
    ] {
        sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", &format!("echo '{answer}'")));
        let done = run(&sandbox, "claude-code", "PreToolUse", &payload).exits(0);
        assert_eq!(
            done.stdout.contains("\"permissionDecision\":\"allow\""),
            allows,
            "{answer}: {done:#?}"
        );
    }
    // In the words of hookexec it is an allow.
    let hook = json!({"type": "command", "command": r#"echo '{"decision":"allow"}'"#});
    sandbox.write("hooks.yaml", &json!({"pre_tool_use": [{"hooks": [hook]}]}).to_string());
    let done = run(&sandbox, "claude-code", "PreToolUse", &payload).exits(0);
    assert!(done.stdout.contains("\"permissionDecision\":\"allow\""), "{done:#?}");
}

#[test]
fn the_project_of_a_script_is_the_root_of_its_hooks_file() {
    let command = r#"sh "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh""#;
    for file in ["hooks.yaml", ".hookexec/hooks.yaml"] {
        let sandbox = Sandbox::new();
        sandbox.script(".claude/hooks/guard.sh", "#!/bin/sh\necho seen >&2; exit 2\n");
        let below = sandbox.project().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        sandbox.write(file, &hooks("pre_tool_use", "Bash", command));
        sandbox.trust();
        for agent in ["codex", "copilot", "claude-code"] {
            let payload = json!({"hook_event_name": "PreToolUse", "cwd": below, "tool_name": "Bash",
                "tool_input": {"command": "ls"}});
            let args = ["run", "--from", agent, "--event", "PreToolUse"];
            let done = sandbox.hookexec(args).stdin(payload.to_string()).run();
            assert!(says_no(&done, "seen"), "{agent} {file}: {done:#?}");
        }
    }
}

#[test]
fn the_project_of_a_script_is_the_root_of_a_hooks_file_that_is_named_with_dots() {
    let sandbox = Sandbox::new();
    sandbox.script(".claude/hooks/guard.sh", "#!/bin/sh\necho seen >&2; exit 2\n");
    std::fs::create_dir_all(sandbox.project().join("sub")).unwrap();
    let command = r#"sh "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh""#;
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", command));
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let args = [
        "run", "--isolated", "--config", "../hooks.yaml", "--from", "codex", "--event",
        "PreToolUse",
    ];
    let run = sandbox.hookexec(args).stdin(payload.to_string());
    let done = run.current_dir(sandbox.project().join("sub")).run();
    assert!(says_no(&done, "seen"), "{done:#?}");
}

#[test]
fn a_script_with_the_line_ends_of_windows_is_named() {
    let sandbox = Sandbox::new();
    sandbox.script("guard.sh", "#!/bin/sh\r\nexit 0\r\n");
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    for command in ["./guard.sh", r#"true && "$CLAUDE_PROJECT_DIR"/guard.sh"#] {
        sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", command));
        let done = run(&sandbox, "claude-code", "PreToolUse", &payload);
        assert!(says_no(&done, "guard.sh` has the line ends of Windows"), "{done:#?}");
    }
}

#[test]
fn a_shells_own_exit_code_2_at_the_line_ends_of_windows_is_explained() {
    let sandbox = Sandbox::new();
    sandbox.script("guard.sh", "#!/bin/bash\r\nset -e\r\nexit 0\r\n");
    sandbox.write("hooks.yaml", &hooks("pre_tool_use", "Bash", "bash ./guard.sh"));
    let input = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let run = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]);
    let done = run.stdin(input.to_string()).run().exits(2);
    assert!(done.stdout.contains("guard.sh` has the line ends of Windows"), "{done:#?}");
}

// Python, Perl and dash end with exit code 2 if they can't open the script.
#[test]
fn a_script_that_is_missing_is_a_failure_and_no_block() {
    let sandbox = Sandbox::new();
    let run = |command: &Value, on_error: Option<&str>| {
        let env = json!({"SPACED": "/no where"});
        let mut hook = json!({"type": "command", "command": command, "env": env});
        if let Some(on_error) = on_error {
            hook["on_error"] = on_error.into();
        }
        sandbox.write_users_hooks(&json!({ "user_prompt_submit": hook }).to_string());
        let payload =
            json!({"hook_event_name": "UserPromptSubmit", "cwd": sandbox.project(), "prompt": "x"});
        let args = ["run", "--from", "claude-code", "--event", "UserPromptSubmit"];
        sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0)
    };
    for (command, script) in [
        (json!("python3 ~/gone.py"), "gone.py"),
        (json!("python3 \"$HOME\"/gone.py"), "gone.py"),
        (json!("python3 $SPACED/gone.py"), "`/no"),
        (json!("perl gone.pl"), "gone.pl"),
        (json!("dash ./gone.sh --fast"), "./gone.sh"),
        (json!("cat /dev/null | python3 $HOOKEXEC_CONFIG_DIR/gone.py"), "gone.py"),
        (json!(["python3", "/gone.py"]), "/gone.py"),
        (json!(["perl", "sub/gone.pl"]), "sub/gone.pl"),
    ] {
        let missing = format!("{script}` does not exist");
        let done = run(&command, None);
        assert!(!done.stdout.contains("\"block\""), "{command}: {done:#?}");
        assert!(done.stdout.contains(&missing), "{command}: {done:#?}");
        let done = run(&command, Some("block"));
        assert!(says_no(&done, &missing), "{command}: {done:#?}");
    }
    // A script that is there blocks, whatever it says.
    sandbox.write("guard.py", "import sys; sys.stderr.write(\"can't open guard.py\"); sys.exit(2)");
    for command in ["python3 guard.py", "cd . && python3 guard.py; exit 2"] {
        let done = run(&json!(command), None);
        assert!(says_no(&done, "can't open guard.py"), "{done:#?}");
    }
}
