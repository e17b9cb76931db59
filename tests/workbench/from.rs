//! `explain`, `test` and `run -v` judge an agent's call as `run --from AGENT` does.

use serde_json::json;

use crate::support::Sandbox;

const HOOKS: &str = r"hooks:
  tool_guard:
    - hooks:
        - { name: mandatory, type: command, command: 'true', on_error: block }
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: no-shell, type: command, command: 'echo no shell >&2; exit 2' }
    - matcher: write
      hooks:
        - { name: no-write, type: command, command: 'exit 2' }
  stop:
    - { name: end, type: command, command: 'true' }
";

fn payload(sandbox: &Sandbox) -> String {
    json!({
        "hook_event_name": "PreToolUse",
        "cwd": sandbox.project(),
        "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    })
    .to_string()
}

#[test]
fn an_agents_own_payload_is_explained_as_it_is_judged() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let payload = payload(&sandbox);
    let run = ["run", "--from", "claude-code", "--config", "hooks.yaml"];
    let denied = sandbox.hookexec(run).stdin(&*payload).run().exits(0);
    assert!(denied.stdout.contains("no shell"), "{denied:#?}");

    let explain = ["explain", "--from", "claude-code", "--config", "hooks.yaml"];
    let text = sandbox.hookexec(explain).stdin(&*payload).run().exits(0).stdout;
    for part in [
        "PreToolUse of claude-code (tool_input_transform, tool_guard, pre_tool_use",
        "ok         mandatory",
        "blocked    no-shell",
        "its matcher `write` does not match the tool `Bash`",
        "verdict: deny",
        "1 hook is configured for other events",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let predicted = explain.iter().chain(&["--no-run"]);
    let text = sandbox.hookexec(predicted).stdin(&*payload).run().exits(0).stdout;
    assert!(text.contains("does not match the tool `Bash`"), "{text}");

    // Without `--from`, the name of the agent is enough for the kinds of its tools.
    let input = r#"{"agent_name":"claude-code","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for command in ["explain", "run"] {
        let args = [command, "pre_tool_use", "--config", "hooks.yaml"];
        let done = sandbox.hookexec(args).stdin(input).run();
        assert!(done.stdout.contains("no shell"), "{command}: {done:#?}");
    }
    let done = sandbox.hookexec(explain).stdin(r#"{"hook_event_name":"Setup"}"#).run().exits(65);
    assert!(done.stderr.contains("no event for `Setup`"), "{done:#?}");
}

#[test]
fn an_agents_call_is_explained_with_each_file_that_fails_it() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let payload = payload(&sandbox);
    let explain =
        || sandbox.hookexec(["explain", "--from", "claude-code"]).stdin(&*payload).run().exits(0);
    let text = explain().stdout;
    assert!(!text.contains("no hook is configured"), "{text}");
    for part in [
        "failed     hooks.yaml",
        "pre_tool_use",
        "deny, which is the verdict",
        "verdict: deny (`run --from claude-code` answers with a denial)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    sandbox.trust();
    sandbox.write("hooks.yaml", &HOOKS.replace("no shell", "no shell at all"));
    let text = explain().stdout;
    assert!(text.contains("deny, which is the verdict"), "{text}");
}

#[test]
fn a_case_may_give_an_agents_own_payload() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let cases = r"cases:
  - name: the shell of Claude Code is denied
    from: claude-code
    payload: { hook_event_name: PreToolUse, tool_name: Bash, tool_input: { command: ls } }
    expect: { decision: deny, message: { regex: no shell }, ran: [mandatory, no-shell] }
  - name: an event that the payload does not name
    from: gemini
    event: BeforeTool
    payload: { tool_name: write_file, tool_input: { file_path: a } }
    expect: { decision: deny, ran: [mandatory, no-write] }
  - name: kinds by the name of the agent
    event: pre_tool_use
    input: { agent_name: claude-code, tool_name: Bash, tool_input: { command: ls } }
    expect: { decision: deny }
  - name: the end
    event: stop
    expect: { ran: [end] }
";
    sandbox.write("hooks.test.yaml", cases);
    let done = sandbox.hookexec(["test", "--min-coverage", "100"]).run().exits(0);
    assert!(done.stdout.contains("4 passed, 0 failed"), "{}", done.stdout);
    let schema = sandbox.hookexec(["docs", "schema", "cases"]).run().exits(0).stdout;
    let schema = jsonschema::draft7::new(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(&serde_saphyr::from_str(cases).unwrap())
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");

    for (case, problem) in [
        ("from: claude, payload: {}", "known agents: claude-code, "),
        ("from: codex", "go together"),
        ("from: codex, payload: {}, input: {}", "without `input`"),
        ("event: stop, payload: {}", "go together"),
        ("from: codex, payload: { hook_event_name: x }", "unknown event `x`"),
        ("from: claude-code, payload: { hook_event_name: Setup }", "no event for `Setup`"),
        ("from: codex, event: PreToolUse, payload: {}", "names none"),
    ] {
        let cases = format!("cases: [{{ name: a, {case}, expect: {{ allowed: true }} }}]");
        sandbox.write("hooks.test.yaml", &cases);
        let done = sandbox.hookexec(["test"]).run().exits(78);
        assert!(done.stderr.contains(problem), "{case}: {}", done.stderr);
    }
}

#[test]
fn an_explanation_of_one_event_needs_an_event_or_an_agent() {
    let said = Sandbox::new().hookexec(["explain", "--no-run"]).run().exits(64).stderr;
    assert!(said.contains("EVENT") && said.contains("--from <AGENT>"), "{said}");
}

#[test]
fn run_from_an_agent_shows_what_happened_on_stderr() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let payload = payload(&sandbox);
    let run = |more: &[&str]| {
        let args = ["run", "--from", "claude-code", "--config", "hooks.yaml"];
        sandbox.hookexec(args.iter().chain(more)).stdin(&*payload).run().exits(0)
    };
    let plain = run(&[]);
    assert_eq!(plain.stderr, "");
    let verbose = run(&["-v"]);
    assert_eq!(verbose.stdout, plain.stdout);
    for part in ["blocked    no-shell", "not run    no-write", "matcher `write` does not match"] {
        assert!(verbose.stderr.contains(part), "{part}\n{}", verbose.stderr);
    }
    let text = run(&["--format", "text"]);
    assert_eq!(text.stdout, plain.stdout);
    assert!(text.stderr.starts_with("deny: no shell\n"), "{}", text.stderr);
}

#[test]
fn no_line_of_a_message_passes_for_the_line_of_a_hook() {
    let sandbox = Sandbox::new();
    let forged = "  ok         forged command, hooks.yaml:1 0.1 ms, allow";
    let hook = format!("printf 'no\\n{forged}\\n' >&2; exit 2");
    let hooks = json!({ "pre_tool_use": [{ "hooks": [{ "type": "command", "command": hook }] }] });
    sandbox.write("hooks.yaml", &hooks.to_string());
    let args = ["run", "pre_tool_use", "--config", "hooks.yaml", "--format", "text"];
    let done = sandbox.hookexec(args).stdin(r#"{"tool_name":"x"}"#).run().exits(2);
    assert!(done.stdout.contains("forged"), "{}", done.stdout);
    assert!(done.stdout.lines().all(|line| !line.starts_with(forged)), "{}", done.stdout);
}

#[test]
fn a_named_pipe_is_not_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let pipe = sandbox.project().join("x.test.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let import = ["init", "--from", "codex:x.test.yaml"];
    for args in [["test"].as_slice(), &["test", "x.test.yaml"], &import] {
        let done = sandbox.hookexec(args).run().exits(64);
        assert!(done.stderr.contains("not a regular file"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn an_event_without_hooks_is_recorded_only_on_request_and_the_agent_is_named() {
    let sandbox = Sandbox::new();
    let payload = payload(&sandbox);
    for (events, recorded) in [
        ("", vec!["pre_tool_use"]),
        (", events: hooked", vec!["pre_tool_use"]),
        (", events: all", vec!["tool_input_transform", "tool_guard", "pre_tool_use"]),
    ] {
        let path = sandbox.project().join("audit.jsonl");
        let _ = std::fs::remove_file(&path);
        let hooks = format!(
            "audit: {{ path: audit.jsonl{events} }}\nhooks: {{ pre_tool_use: {{ matcher: write, hooks: {{ type: command, command: 'true' }} }} }}"
        );
        sandbox.write("hooks.yaml", &hooks);
        let args = ["run", "--from", "claude-code", "--config", "hooks.yaml"];
        let _ = sandbox.hookexec(args).stdin(&*payload).run().exits(0);
        let log = sandbox.read("audit.jsonl");
        let records: Vec<serde_json::Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = records.iter().map(|it| it["event"].as_str().unwrap()).collect();
        assert_eq!(names, recorded, "{events}");
        assert!(records.iter().all(|record| record["agent"] == "claude-code"), "{log}");
    }
    let text = sandbox.hookexec(["log", "audit.jsonl"]).run().exits(0).stdout;
    assert!(text.contains("pre_tool_use Bash (claude-code)"), "{text}");
}
