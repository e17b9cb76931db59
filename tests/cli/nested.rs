//! A hook that calls `hookexec` again, which would run the hook again.

use crate::support::Sandbox;

const TOOL: &str = r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;

#[test]
fn a_hook_that_starts_itself_comes_to_an_end_as_a_denial_that_names_the_cause() {
    let sandbox = Sandbox::new();
    let hookexec = env!("CARGO_BIN_EXE_hookexec");
    let hooks = format!(
        "pre_tool_use:\n  - hooks:\n    - {{ type: command, command: 'echo called >> calls; \
         {hookexec} run pre_tool_use --config hooks.yaml --format text >&2' }}\n"
    );
    sandbox.write("hooks.yaml", &hooks);
    let args = ["run", "pre_tool_use", "--config", "hooks.yaml"];
    let done = sandbox.hookexec(args).stdin(TOOL).run().exits(2);
    assert!(done.stdout.contains("HOOKEXEC_DEPTH is `4`"), "{}", done.stdout);
    assert_eq!(sandbox.read("calls"), "called\n".repeat(4));
}

#[test]
fn below_the_deepest_level_an_agent_gets_a_denial_where_the_event_decides() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "session_start: { type: command, command: 'echo hi' }");
    for (event, payload, denied) in [
        ("PreToolUse", TOOL, true),
        ("SessionStart", r#"{"source":"startup"}"#, false),
        ("Stop", "{}", false),
    ] {
        let args = ["run", "--from", "claude-code", "--event", event, "--config", "hooks.yaml"];
        let done = sandbox.hookexec(args).env("HOOKEXEC_DEPTH", "4").stdin(payload).run().exits(0);
        assert_eq!(done.stdout.contains(r#""permissionDecision":"deny""#), denied, "{done:#?}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains("may be nested"), "{done:#?}");
        let done = sandbox.hookexec(args).env("HOOKEXEC_DEPTH", "3").stdin(payload).run().exits(0);
        assert!(!done.stdout.contains("may be nested"), "{done:#?}");
    }
}

#[test]
fn no_other_command_runs_hooks_there_either() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "pre_tool_use: { hooks: { type: command, command: 'exit 2' } }");
    sandbox
        .write("hooks.test.yaml", "cases: [{ name: a, event: stop, expect: { allowed: true } }]");
    for args in [
        ["explain", "pre_tool_use", "--config", "hooks.yaml"].as_slice(),
        &["test"],
        &["serve", "--config", "hooks.yaml"],
        &["mcp", "--name", "kit", "--config", "hooks.yaml", "--", "true"],
    ] {
        let run = sandbox.hookexec(args).env("HOOKEXEC_DEPTH", "4");
        let done = run.stdin(TOOL).run().exits(64);
        assert!(done.stderr.contains("HOOKEXEC_DEPTH"), "{done:#?}");
    }
}
