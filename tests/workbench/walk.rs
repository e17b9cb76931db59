//! The first ten minutes: write a hook and its test, see what is not covered, break the policy, be
//! told by `test` with its cases and with the log, ask why a second hook did not run. And `hookexec init`.

use crate::support::Sandbox;

const HOOKS: &str = r#"audit: { path: audit.jsonl, input: redacted }
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - name: no-rm
          type: command
          when: { any: commands, field: program, in: [rm] }
          command: echo "files are removed by people" >&2; exit 2
          on_error: block
          side_effects: none
    - matcher: edit_file
      hooks:
        - { name: no-env, type: command, on_error: block, side_effects: none, command: exit 2 }
"#;

const CASES: &str = "cases:
  - name: rm is denied
    from: claude-code
    payload: { hook_event_name: PreToolUse, tool_name: Bash, tool_input: { command: rm notes } }
    expect: { decision: deny }
";

const RM: &str = r#"{"tool_name": "shell", "tool_input": {"command": "rm notes"}}"#;

#[test]
fn a_newcomer_finds_the_way() {
    let sandbox = Sandbox::new();
    let hookexec = |arguments: &[&str]| sandbox.hookexec(arguments);

    // A hook, and a test of it.
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write("hooks.test.yaml", CASES);
    let done = hookexec(&["test"]).run().exits(0);
    assert!(done.stdout.contains("1 passed, 0 failed"), "{}", done.stdout);

    // What the test does not reach.
    for gap in ["never ran: no-env (matcher `edit_file`)", "never false: "] {
        assert!(done.stdout.contains(gap), "{gap}\n{}", done.stdout);
    }
    let _ = hookexec(&["test", "--min-coverage", "100"]).run().exits(1);

    // Life goes on, and is recorded.
    let run = ["run", "pre_tool_use", "--config", "hooks.yaml"];
    let _ = hookexec(&run).stdin(RM).run().exits(2);

    // The policy breaks: the test and the replay both catch it.
    sandbox.write("hooks.yaml", &HOOKS.replace("[rm]", "[rmm]"));
    let done = hookexec(&["test"]).run().exits(1);
    assert!(done.stdout.contains("FAILED  rm is denied"), "{}", done.stdout);
    let replay = ["test", "--log", "audit.jsonl", "--config", "hooks.yaml"];
    let done = hookexec(&replay).run().exits(1);
    assert!(done.stdout.contains("deny -> none: 1"), "{}", done.stdout);

    // Mended, both are content.
    sandbox.write("hooks.yaml", HOOKS);
    let _ = hookexec(&["test"]).run().exits(0);
    let _ = hookexec(&replay).run().exits(0);

    // Why did the second hook not run?
    let why = ["explain", "pre_tool_use", "--config", "hooks.yaml", "--no-run"];
    let done = hookexec(&why).stdin(RM).run().exits(0);
    let answer = "its matcher `edit_file` does not match the tool `shell`";
    assert!(done.stdout.contains(answer), "{}", done.stdout);
}

#[test]
fn what_init_writes_passes_its_own_tests_and_reaches_everything_it_can() {
    let sandbox = Sandbox::new();
    let _ = sandbox.hookexec(["init"]).run().exits(0);
    let done = sandbox.hookexec(["check", "--config", "hooks.yaml"]).run().exits(0);
    assert!(done.stdout.contains("0 errors, 0 warnings"), "{done:?}");
    let done = sandbox.hookexec(["test", "--min-coverage", "100"]).run().exits(0);
    assert!(done.stdout.contains(", 0 failed"), "{}", done.stdout);
}

#[test]
fn init_writes_over_nothing() {
    let sandbox = Sandbox::new();
    for (mine, other) in [("hooks.test.yaml", "hooks.yaml"), ("hooks.yaml", "hooks.test.yaml")] {
        sandbox.write(mine, "mine");
        let done = sandbox.hookexec(["init"]).run().exits(64);
        assert!(done.stderr.contains("nothing was written"), "{}", done.stderr);
        assert_eq!(sandbox.read(mine), "mine");
        assert!(!sandbox.project().join(other).exists());
        std::fs::remove_file(sandbox.project().join(mine)).unwrap();
    }
}

#[test]
fn the_files_of_the_first_ten_minutes_have_nothing_to_warn_of() {
    let page = include_str!("../../docs/testing.md");
    let block = |index: usize| {
        let block = page.split("   ```yaml\n").nth(index).unwrap().split("   ```").next().unwrap();
        block
            .lines()
            .map(|line| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n")
            .collect::<String>()
    };
    assert_eq!((block(1).as_str(), block(2).as_str()), (HOOKS, CASES));
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let done = sandbox.hookexec(["check", "--config", "hooks.yaml"]).run().exits(0);
    assert!(done.stdout.contains("0 errors, 0 warnings"), "{done:?}");
}

#[test]
fn the_policy_in_the_page_on_commands_passes_its_own_cases() {
    let page = std::fs::read_to_string(format!("{}/docs/commands.md", crate::support::ROOT));
    let page = page.unwrap();
    let sandbox = Sandbox::new();
    for name in ["hooks.yaml", "hooks.test.yaml"] {
        let block = page.split(&format!("\n```yaml\n# {name}\n")).nth(1).expect(name);
        sandbox.write(name, block.split("\n```").next().unwrap());
    }
    let done = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(0);
    assert!(done.stdout.contains("0 errors, 0 warnings"), "{}{}", done.stdout, done.stderr);
    let done = sandbox.hookexec(["test", "--min-coverage", "100"]).run().exits(0);
    assert!(done.stdout.contains(" passed, 0 failed"), "{}", done.stdout);
}
