//! `hookexec docs builtins`, and builtins as hooks of a file.

use crate::support::Sandbox;

#[test]
fn one_builtin_is_told_in_full() {
    let sandbox = Sandbox::new();
    let page = sandbox.hookexec(["docs", "builtins", "add_recent_commits"]).run().exits(0).stdout;
    assert_eq!(
        page,
        "add_recent_commits\n\nShows the model the last commits, a line each.\n\n\
         * `N` (optional): How many commits; 10 when left out.\n\n\
         Nothing without a repository, without git or without a commit.\n\n\
         Events: `pre_tool_use`, `post_tool_use`, `session_start`, `turn_start`, `stop`, \
         `user_prompt_submit`, `user_steering_messages_submit`, `user_followup_submit`, \
         `pre_compact`, `subagent_start`, `worktree_create`.\n\n\
         ```yaml\nsession_start:\n  \
         - { type: builtin, command: add_recent_commits, args: [\"20\"] }\n```\n"
    );
}

#[test]
fn a_name_that_no_builtin_has_is_a_usage_error_that_names_the_one_meant() {
    let sandbox = Sandbox::new();
    let done = sandbox.hookexec(["docs", "builtins", "redact_secret"]).run().exits(64);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("a similar value exists: 'redact_secrets'"), "{}", done.stderr);
}

#[test]
fn mistakes_in_the_arguments_of_a_builtin_are_shown_with_their_place() {
    let sandbox = Sandbox::new();
    let hook = "{ type: builtin, command: limit_calls, args: [few] }";
    let text = format!("hooks:\n  pre_tool_use:\n    - hooks:\n        - {hook}\n");
    let file = sandbox.write("guard.yaml", &text);
    let args = ["run", "pre_tool_use", "--config", file.to_str().unwrap()];
    let call = r#"{"tool_name": "shell", "tool_input": {"cmd": "ls"}}"#;
    let error = sandbox.hookexec(args).stdin(call).run().exits(78).stderr;
    assert!(error.contains("builtin `limit_calls`: N must be a whole number"), "{error}");
    assert!(error.contains("guard.yaml:4:"), "{error}");
}
