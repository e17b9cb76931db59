//! `hookexec check --host`: hooks that would never be called.

use crate::support::Sandbox;

const HOOKS: &str = "
pre_tool_use:
  - hooks: { type: command, name: guard, command: ./guard.sh, on_error: block, timeout: 5 }
before_llm_call: { type: command, name: redact, command: ./redact.sh }
after_compaction: { type: command, name: note, command: ./note.sh, enabled: false }
";

#[test]
fn a_hook_that_a_host_never_calls_is_warned_about() {
    let sandbox = Sandbox::new();
    sandbox.script("guard.sh", "");
    sandbox.script("redact.sh", "");
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.trust();
    let done = sandbox.hookexec(["check", "--host", "claude-code"]).run().exits(0);
    insta::assert_snapshot!(done.whole(), @r"
    exit 0
    -- stdout
    3 hooks in 1 file: 0 errors, 1 warning
    -- stderr
    warning: `redact` never runs: Claude Code does not fire `before_llm_call`
     --> [SANDBOX]/project/hooks.yaml:4:18
      |
    4 | before_llm_call: { type: command, name: redact, command: ./redact.sh }
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    ");
    let done = sandbox.hookexec(["check", "--host", "docker-agent"]).run().exits(0);
    assert_eq!(
        done.whole(),
        "exit 0\n-- stdout\n3 hooks in 1 file: 0 errors, 0 warnings\n-- stderr\n"
    );
}

#[test]
fn a_host_that_nobody_knows_is_a_mistake_of_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.trust();
    let done = sandbox.hookexec(["check", "--host", "claude"]).run().exits(64);
    insta::assert_snapshot!(done.whole(), @r"
    exit 64
    -- stdout
    -- stderr
    error: invalid value 'claude' for '--host <HOST>': unknown host `claude`; known hosts: docker-agent, docker-agent@1.52.0, picoclaw, claude-code, codex, gemini, qwen, copilot, cursor, droid, windsurf, kiro, opencode, openclaw, kimi, vibe, kilo, pi

    For more information, try '--help'.
    ");
}

#[test]
fn hooks_that_may_take_longer_than_somebody_waits_are_warned_of() {
    let sandbox = Sandbox::new();
    let hook =
        |timeout: &str| format!("{{ type: command, command: 'true', on_error: block, {timeout} }}");
    let file = format!(
        "hooks:\n  pre_tool_use: {{ matcher: shell, hooks: [{}, {}] }}\n  \
         tool_guard: {{ hooks: [{}] }}\n  stop: {{ type: command, command: 'true', timeout: 5 }}\n",
        hook("mutates: true, timeout: 20"),
        hook("timeout: 15"),
        hook("timeout: 30"),
    );
    sandbox.write("hooks.yaml", &file);
    let check = |more: &[&str]| {
        let done =
            sandbox.hookexec([&["check", "--isolated", "--config", "hooks.yaml"], more].concat());
        done.run().exits(0)
    };
    // Nobody waits: nothing to warn of.
    assert_eq!(check(&[]).stderr, "");
    let said = check(&["--within", "10"]).stderr;
    let wanted =
        "together than its caller waits: 35s of 10s (`pre_tool_use`), 30s of 10s (`tool_guard`)";
    assert!(said.contains(wanted), "{said}");
    // All of ours that fire at one event of the agent add up, and `install` says how long it waits.
    let said = check(&["--host", "claude-code"]).stderr;
    let wanted = "together than its caller waits: 65s of 54s at PreToolUse (";
    assert!(said.contains(wanted), "{said}");
    assert!(
        said.contains("or raise the agent's timeout: `hookexec install claude-code --timeout 72`")
    );
    assert_eq!(check(&["--host", "claude-code", "--within", "65"]).stderr, "");
    // A hook without a `timeout` has the time that the agent leaves, and no agent waits for an hour.
    sandbox.write("hooks.yaml", "stop: { type: command, command: 'true' }");
    assert_eq!(check(&["--host", "claude-code"]).stderr, "");
    sandbox.write(
        "hooks.yaml",
        "{ defaults: { timeout: 80 }, stop: { type: command, command: 'true' } }",
    );
    let said = check(&["--host", "claude-code"]).stderr;
    assert!(said.contains("80s of 54s at Stop"), "{said}");
    sandbox.write("hooks.yaml", "stop: { type: command, command: 'true', timeout: 1h }");
    let said = check(&["--host", "claude-code"]).stderr;
    assert!(said.contains("3600s of 54s at Stop") && !said.contains("hookexec install"), "{said}");

    // The file's own deadline cuts them off: that is warned of, and the agent has its answer.
    sandbox.write("hooks.yaml", &format!("defaults: {{ deadline: 20s }}\n{file}"));
    let said = check(&["--host", "claude-code"]).stderr;
    let wanted = "the hooks of `pre_tool_use` may take 35s together, and its `deadline` is 20s";
    assert!(said.contains(wanted) && !said.contains("than its caller waits"), "{said}");
    let done = check(&["--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["worst_cases"][0]["seconds"], 35.0);
    assert_eq!(report["worst_cases"][0]["deadline_seconds"], 20.0);
}
