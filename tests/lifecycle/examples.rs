//! The example programs do what they say.

use hookexec::{Decision, Event, Input};
use serde_json::json;

#[cfg(feature = "testing")]
use hookexec::testing::ContractKit;

use super::support::object;

#[path = "../../examples/custom_handler.rs"]
#[expect(dead_code, reason = "its `main` is not called")]
mod custom_handler;

#[tokio::test]
async fn builtins_and_a_hook_type_of_ones_own() {
    let hooks = r"
hooks:
  turn_start:
    - { type: builtin, command: house_rules }
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: builtin, command: deny_words, args: [sudo] }
        - { type: rate_limit, with: { calls: 2, hint: rest } }
";
    let executor = custom_handler::executor(hooks).unwrap();
    let rules = executor.dispatch(Event::TurnStart, &Input::default()).await;
    assert!(rules.additional_context.unwrap().starts_with("Run the tests"));
    let call = |cmd: &str| Input::for_tool("shell", object(json!({ "cmd": cmd })));
    let sudo = executor.dispatch(Event::PreToolUse, &call("sudo ls")).await;
    assert_eq!(sudo.message.as_deref(), Some("`sudo` is not allowed here"));
    let second = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert!(second.allowed);
    let third = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    assert_eq!(third.decision, Some(Decision::Deny));
    assert_eq!(third.message.as_deref(), Some("more than 2 calls; rest"));
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn builtins_and_a_hook_type_of_ones_own_keep_the_contract_of_handlers() {
    let kit = ContractKit::new(custom_handler::registry());
    kit.answers(&json!({ "type": "rate_limit", "with": { "calls": 100 } })).await.unwrap();
    kit.answers(&json!({ "type": "builtin", "command": "deny_words", "args": ["dd"] }))
        .await
        .unwrap();
    let without_words = json!({ "type": "builtin", "command": "deny_words" });
    kit.fails(&without_words, "needs the words in `args`").await.unwrap();
}

#[test]
fn parameters_are_checked_at_load() {
    let mistake = |hook: &str| {
        let text = format!("hooks:\n  stop:\n    - {hook}\n");
        custom_handler::executor(&text).map(|_| ()).unwrap_err().to_string()
    };
    for (hook, told) in [
        ("{ type: rate_limit, with: { calls: 0 } }", "`with`: invalid value: integer `0`"),
        ("{ type: rate_limit, with: { cals: 3 } }", "`with`: unknown field `cals`"),
        ("{ type: rate_limit }", "`with`: missing field `calls`"),
        (
            "{ type: builtin, command: ask_once_in_a_while, with: { every: x } }",
            "builtin `ask_once_in_a_while`: `with`: invalid type: string \"x\"",
        ),
        (
            "{ type: builtin, command: ask_once_in_a_while, args: [x] }",
            "builtin `ask_once_in_a_while`: it takes its parameters in `with`",
        ),
        (
            "{ type: builtin, command: deny_words, with: { x: 1 } }",
            "builtin `deny_words`: it takes its parameters in `args`",
        ),
    ] {
        let mistake = mistake(hook);
        assert!(
            mistake.starts_with("hooks.yaml:3:") && mistake.contains(told),
            "{hook}: {mistake}"
        );
    }
}
