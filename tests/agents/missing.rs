//! An answer that can't be given is judged by the hooks of the user and the administrator, whatever
//! keeps it from being given.

use serde_json::{Value, json};

use crate::support::{Sandbox, wait};

const USER: &str = "
user_prompt_submit: [{ type: command, name: uprompt, on_error: block, command: 'exit 1' }]
tool_response_transform: [{ hooks: [{ type: builtin, command: redact_secrets }] }]
";
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What keeps an answer from being given.
#[derive(Debug, Clone, Copy)]
enum Cause {
    SlowStdin,
    BrokenPayload,
    TooDeep,
    BrokenFile,
}

/// Returns what it says on stdout.
fn run(sandbox: &Sandbox, event: &str, payload: &Value, cause: Cause) -> String {
    let mut args = vec!["run", "--from", "claude-code", "--event", event, "--within"];
    args.push(if matches!(cause, Cause::SlowStdin) { "2" } else { "20" });
    let done = match cause {
        Cause::SlowStdin => {
            let mut child = sandbox.hookexec(args).spawn();
            let stdin = child.stdin.take();
            let output = wait(child);
            drop(stdin);
            return String::from_utf8(output.stdout).unwrap();
        }
        Cause::BrokenPayload => sandbox.hookexec(args).stdin("{").run(),
        Cause::TooDeep => {
            let run = sandbox.hookexec(args).env("HOOKEXEC_DEPTH", "9");
            run.stdin(payload.to_string()).run()
        }
        Cause::BrokenFile => {
            args.extend(["--config", "broken.yaml"]);
            sandbox.hookexec(args).stdin(payload.to_string()).run()
        }
    };
    done.exits(0).stdout
}

#[test]
fn the_hooks_of_the_user_judge_an_answer_that_is_missing() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(USER);
    sandbox.write("broken.yaml", "a: [");
    for cause in [Cause::SlowStdin, Cause::BrokenPayload, Cause::TooDeep, Cause::BrokenFile] {
        let payload = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"});
        let said = run(&sandbox, "UserPromptSubmit", &payload, cause);
        assert!(said.contains("\"block\"") && said.contains("uprompt"), "{cause:?}: {said}");
        let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {}, "tool_response": TOKEN});
        let said = run(&sandbox, "PostToolUse", &payload, cause);
        assert!(said.contains("withheld") && !said.contains(TOKEN), "{cause:?}: {said}");
    }
}

#[test]
fn a_named_file_that_cannot_be_loaded_may_have_had_a_redactor() {
    let sandbox = Sandbox::new();
    for broken in ["a: [", "pre_tool_use: [{ hooks: [{ type: builtin, command: nonsense }] }]"] {
        sandbox.write("broken.yaml", broken);
        let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": {}, "tool_response": TOKEN});
        let said = run(&sandbox, "PostToolUse", &payload, Cause::BrokenFile);
        assert!(said.contains("withheld") && !said.contains(TOKEN), "{broken}: {said}");
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "date"}});
        let said = run(&sandbox, "PreToolUse", &payload, Cause::BrokenFile);
        assert!(said.contains("deny") && said.contains("broken.yaml"), "{broken}: {said}");
    }
}

#[test]
fn too_many_nested_calls_fail_the_hooks_of_a_plain_run() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", USER);
    let run = sandbox.hookexec(["run", "user_prompt_submit", "--config", "hooks.yaml"]);
    let done = run.env("HOOKEXEC_DEPTH", "9").stdin("{}").run().exits(2);
    assert!(done.stdout.contains("uprompt"), "{done:#?}");
}
