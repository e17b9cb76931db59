//! `defaults:` makes events stricter and never relaxes them, for every kind of hook of the file.

use hookexec::config::InheritEnv;
use hookexec::{Config, Decision, Event, Executor, Input};
use serde_json::Map;

/// Returns what `event` decides when its only hook does as `command` says.
async fn decision(on_error: &str, event: Event, hook: &str) -> Option<Decision> {
    let tool_matched = event.contract().tool_matched;
    let hook = if tool_matched { format!("[{{ hooks: {hook} }}]") } else { format!("[{hook}]") };
    decide(&format!("defaults: {{ on_error: {on_error} }}\n{event}: {hook}\n"), event).await
}

async fn decide(text: &str, event: Event) -> Option<Decision> {
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    let executor = Executor::builder(config).build().unwrap();
    let verdict = executor.dispatch(event, &Input::for_tool("shell", Map::new())).await;
    verdict.decision
}

#[tokio::test]
async fn a_default_makes_exit_codes_and_failures_stricter_and_relaxes_nothing() {
    use Decision::{Ask, Deny};
    use Event::{PermissionRequest, PreToolUse, SessionStart, ToolGuard, UserPromptSubmit};
    // The exit code 1, and a program that is not there.
    let cases = [
        ("block", PreToolUse, Some(Deny), Some(Deny)),
        ("block", PermissionRequest, Some(Deny), Some(Deny)),
        ("block", UserPromptSubmit, Some(Deny), Some(Deny)),
        ("block", SessionStart, None, None),
        ("ask", PreToolUse, Some(Ask), Some(Deny)),
        ("ask", ToolGuard, Some(Ask), Some(Deny)),
        ("ask", PermissionRequest, Some(Ask), Some(Ask)),
        // Nobody can be asked there.
        ("ask", UserPromptSubmit, Some(Deny), Some(Deny)),
        ("ask", SessionStart, None, None),
    ];
    for (on_error, event, exit, failure) in cases {
        let exits = "{ type: command, command: exit 1 }";
        let fails = "{ type: command, command: [/nowhere/guard] }";
        assert_eq!(decision(on_error, event, exits).await, exit, "{on_error} {event}");
        assert_eq!(decision(on_error, event, fails).await, failure, "{on_error} {event}");
        let own = "{ type: command, command: exit 1, on_error: warn }";
        assert_eq!(decision(on_error, event, own).await, None, "{on_error} {event}");
    }
}

#[tokio::test]
async fn a_process_with_the_shorthand_fails_like_one_with_hooks() {
    let events = [Event::BeforeLlmCall, Event::PostToolUse, Event::PermissionRequest];
    let process = |on_error: &str, more: &str| {
        format!(
            "defaults: {{ on_error: {on_error} }}\nprocesses: {{ p: {{ command: [\"false\"]{more} }} }}\n"
        )
    };
    for (on_error, expected) in [
        ("block", [Some(Decision::Deny); 3]),
        ("ask", [Some(Decision::Deny), Some(Decision::Deny), Some(Decision::Ask)]),
    ] {
        for (event, expected) in events.into_iter().zip(expected) {
            let shorthand =
                process(on_error, ", intercept: [before_llm, after_tool, approve_tool]");
            // An approver that intercepts is PicoClaw's, where a broken one denies.
            let approves = event == Event::PermissionRequest;
            let intercepted = if approves { Some(Decision::Deny) } else { expected };
            assert_eq!(decide(&shorthand, event).await, intercepted, "{on_error} {event}");
            let hook = "{ type: process, command: p }";
            let tool_matched = event.contract().tool_matched;
            let hook = if tool_matched { format!("{{ hooks: {hook} }}") } else { hook.to_owned() };
            let written = format!("{}{event}: [{hook}]\n", process(on_error, ""));
            assert_eq!(decide(&written, event).await, expected, "{on_error} {event}");
        }
    }
}

#[test]
fn the_environment_to_inherit_is_the_same_for_processes() {
    let text = "\
defaults: { inherit_env: [PATH] }
processes:
  takes_it: { command: [a], observe: [\"*\"] }
  has_its_own: { command: [a], inherit_env: true, observe: [\"*\"] }
";
    let processes = Config::from_yaml(text, "hooks.yaml").unwrap().processes;
    assert_eq!(processes["takes_it"].inherit_env, InheritEnv::Only(vec!["PATH".into()]));
    assert_eq!(processes["has_its_own"].inherit_env, InheritEnv::All);
}

#[tokio::test]
async fn the_control_events_of_docker_agent_fail_closed_and_carry_their_input() {
    let input = Input::from_json(
        serde_json::json!({ "task_input": "deploy it", "step_id": 3 }).as_object().unwrap().clone(),
    )
    .unwrap();
    for event in [Event::BeforeAgentRun, Event::AfterAgentComplete] {
        for (command, expected) in [
            // The keys reach the hook as the host sent them.
            ("grep -q '\"step_id\":3' || exit 2", None),
            ("exit 2", Some(Decision::Deny)),
            ("/nowhere/guard", Some(Decision::Deny)),
        ] {
            let text = format!(
                "{event}: {{ type: command, command: {command:?}, when: {{ field: task_input, regex: '^deploy' }} }}\n"
            );
            let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
            assert!(!config.warnings.to_string().contains("no input"), "{}", config.warnings);
            let executor = Executor::builder(config).build().unwrap();
            assert_eq!(
                executor.dispatch(event, &input).await.decision,
                expected,
                "{event} {command}"
            );
        }
    }
}
