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
    let hooks = HOOKS.replace("./guard.sh", "'\"$HOOKEXEC_CONFIG_DIR\"/guard.sh'");
    sandbox.write("hooks.yaml", &hooks);
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
    error: invalid value 'claude' for '--host <HOST>': unknown host `claude`; known hosts: docker-agent, picoclaw, claude-code, codex, gemini, qwen, copilot, cursor, droid, windsurf, kiro, opencode, openclaw, kimi, vibe, kilo, pi

    For more information, try '--help'.
    ");
}

#[test]
fn a_hook_that_may_take_longer_than_the_agent_waits_is_warned_of() {
    let sandbox = Sandbox::new();
    let check = |defaults: &str, timeout: &str| {
        let hook = format!("{{ type: command, command: 'true', {timeout} }}");
        sandbox.write("hooks.yaml", &format!("{{ {defaults} stop: {hook} }}"));
        let check = ["check", "--isolated", "--config", "hooks.yaml", "--host", "claude-code"];
        sandbox.hookexec(check).run().exits(0).stderr
    };
    let said = check("", "name: slow, timeout: 65");
    assert!(said.contains("`slow` may take 65s at `stop`, and Claude Code waits 54s"), "{said}");
    assert!(said.contains("or run `hookexec install claude-code --timeout 72`"), "{said}");
    // A hook without a `timeout` has the time that the agent leaves, and no agent waits for an hour.
    assert_eq!(check("", ""), "");
    assert_eq!(check("", "timeout: 54"), "");
    assert!(
        check("defaults: { timeout: 80 },", "")
            .contains("80s at `stop`, and Claude Code waits 54s")
    );
    let said = check("", "timeout: 1h");
    assert!(said.contains("waits 54s") && !said.contains("hookexec install"), "{said}");
}
