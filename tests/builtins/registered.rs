//! The builtins as hooks of a configuration.

use hookexec::config::{Command, Hook, Phase};
use hookexec::{Config, Decision, Event, Executor, Input, Verdict};
use hookexec_builtins::shipped;
use serde_json::json;

use crate::registry::everything;
use crate::support::{args, input};

fn hook(event: Event, name: &str, arguments: &[&str]) -> Hook {
    let mut hook = Hook::new(event, "builtin", Command::Text(name.to_owned()));
    hook.args = args(arguments);
    hook
}

fn executor(hooks: Vec<Hook>) -> Result<Executor, String> {
    let mut config = Config::default();
    config.hooks = hooks;
    Executor::builder(config)
        .registry(everything())
        .build()
        .map_err(|problems| problems.to_string())
}

fn dispatch(hooks: Vec<Hook>, event: Event, input: &Input) -> Verdict {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(executor(hooks).unwrap().dispatch(event, input))
}

#[test]
fn a_builtin_decides_as_any_hook_does() {
    let limit = hook(Event::BeforeLlmCall, "max_iterations", &["3"]);
    let verdict = dispatch(vec![limit], Event::BeforeLlmCall, &input(json!({ "iteration": 4 })));
    assert!(!verdict.allowed);
    assert!(verdict.message.unwrap().contains("3 model calls, which is the limit"));

    let date = hook(Event::TurnStart, "add_date", &[]);
    let user = hook(Event::TurnStart, "add_user_info", &[]);
    let verdict = dispatch(vec![date, user], Event::TurnStart, &Input::default());
    let context = verdict.additional_context.unwrap();
    assert!(context.starts_with("Today's date: ") && context.contains("\nUser: "), "{context}");
}

#[test]
fn a_builtin_that_fails_is_a_failed_hook() {
    let limit = hook(Event::BeforeLlmCall, "max_iterations", &["3"]);
    let verdict = dispatch(vec![limit], Event::BeforeLlmCall, &Input::default());
    assert!(verdict.allowed);
    assert_eq!(verdict.failed_open, ["max_iterations"]);
    assert!(verdict.hooks[0].error.as_ref().unwrap().contains("has no `iteration`"));

    let log = hook(Event::PreToolUse, "audit_log", &["/dev/null"]);
    let call = input(json!({ "tool_name": "shell" }));
    let verdict = dispatch(vec![log], Event::PreToolUse, &call);
    assert_eq!(verdict.decision, Some(Decision::Deny), "unseen is undone where it fails closed");
}

#[test]
fn what_a_redactor_can_not_look_through_is_withheld() {
    let withheld = json!("[withheld: secrets could not be taken out of it]");
    let call = input(json!({
        "tool_name": "shell", "tool_input": {}, "tool_response": "x", "response": "x", "messages": [],
    }));
    for event in shipped().find(|it| it.name == "redact_secrets").unwrap().events() {
        let mut redactor = hook(event, "redact_secrets", &[]);
        redactor.phase = Phase::Mutate;
        redactor.timeout = std::time::Duration::ZERO;
        let verdict = dispatch(vec![redactor], event, &call);
        let replaced = match event {
            Event::PostToolUse | Event::ToolResponseTransform => verdict.updated_tool_response,
            Event::AfterLlmCall => verdict.updated_response,
            _ => (verdict.decision == Some(Decision::Deny)).then(|| withheld.clone()),
        };
        let failed = json!("[withheld by hookexec: hook `redact_secrets` failed]");
        let expected = if event == Event::ToolResponseTransform { &failed } else { &withheld };
        assert_eq!(replaced.as_ref(), Some(expected), "{event}");
        assert!(verdict.failed_open.is_empty(), "{event}");
        assert!(verdict.hooks[0].error.as_ref().unwrap().contains("timed out"), "{event}");
    }
}

#[test]
fn what_can_not_work_is_found_when_the_configuration_is_built() {
    let problems = executor(vec![
        hook(Event::PreToolUse, "limit_calls", &[]),
        hook(Event::SessionEnd, "add_date", &[]),
        hook(Event::BeforeLlmCall, "max_iterations", &["none"]),
    ])
    .unwrap_err();
    for part in [
        "builtin `limit_calls`: it needs a number, `N`",
        "builtin `add_date`: it can do nothing on `session_end`; it is for pre_tool_use, post_tool_use, session_start",
        "builtin `max_iterations`: N must be a whole number of at least 1, found `none`",
    ] {
        assert!(problems.contains(part), "{part}\nnot in\n{problems}");
    }
}

#[test]
fn every_builtin_is_described_and_its_example_can_be_built() {
    for builtin in shipped() {
        assert!(!builtin.about().is_empty() && !builtin.about().ends_with('.'), "{}", builtin.name);
        assert!(builtin.events().next().is_some(), "{}", builtin.name);
        let lines: Vec<&str> = builtin.arguments().lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let goes_on = lines.get(at + 1).is_some_and(|next| next.starts_with(' '));
            let is_whole = if line.starts_with(' ') { line.ends_with('.') } else { false };
            assert!(goes_on || is_whole, "{}: {line}", builtin.name);
        }
        assert!(
            builtin.example().contains(&format!("command: {}", builtin.name)),
            "{}",
            builtin.name
        );
    }
    let can_be_built = |name: &str| name != "http_post" || cfg!(feature = "http");
    for builtin in shipped().filter(|builtin| can_be_built(builtin.name)) {
        let example = builtin.example();
        let config = Config::from_yaml(example, "example.yaml").unwrap();
        assert!(!config.hooks.is_empty(), "{example}");
        let built = executor(config.hooks).err();
        assert_eq!(built, None, "{example}");
    }
    let registry = everything();
    assert_eq!(registry.builtin_names().len(), shipped().len());
    for builtin in shipped() {
        assert!(registry.builtin(builtin.name).is_some(), "{}", builtin.name);
    }
}
