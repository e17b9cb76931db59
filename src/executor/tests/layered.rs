//! Hooks of several layers.

use super::*;

pub(super) fn in_layer(layer: Layer, hook: Hook) -> Hook {
    let file = SourceFile::new(Path::new("hooks.yaml"), "").in_layer(layer);
    Hook { location: Location::new(Arc::new(file), 0..0), ..hook }
}

/// Adds a builtin that takes a word out of a response.
pub(super) fn with_rewriters() -> Registry {
    let mut registry = registry();
    registry.register_builtin(
        "redact",
        Builtin::inline(|input: &Input, _: &[String]| {
            let response = input.tool_response.as_ref().and_then(Value::as_str).unwrap_or_default();
            let clean = response.replace("secret", "***");
            Ok::<_, String>((clean != response).then(|| Output::tool_response(clean)))
        }),
    );
    registry
}

pub(super) fn with(registry: &Registry, hooks: Vec<Hook>) -> Executor {
    let config = Config { hooks, ..Config::default() };
    Executor::builder(config).registry(registry.clone()).build().unwrap()
}

async fn verdict(hooks: Vec<Hook>, event: Event) -> Verdict {
    let executor = with(&with_rewriters(), hooks);
    let mut input = call("ls");
    input.tool_response = Some(json!("a secret"));
    executor.dispatch(event, &input).await
}

#[tokio::test]
async fn a_failure_at_approval_is_no_answer() {
    let failed = Arc::new(tokio::sync::Notify::new());
    let mut registry = registry();
    let fails = Arc::clone(&failed);
    let fail = move |_: &Input, _: &[String]| {
        fails.notify_one();
        Err::<Option<Output>, String>("broke".into())
    };
    registry.register_builtin("break", Builtin::inline(fail));
    let refuse = move |_, _: Arc<[String]>| {
        let failed = Arc::clone(&failed);
        async move {
            failed.notified().await;
            let answer = json!({"continue": false, "stop_reason": "enough"});
            Output::from_value(answer).map(Some)
        }
    };
    registry.register_builtin("refuse", Builtin::future(refuse));
    let hooks = ["break", "refuse"].map(|name| hook(Event::Approval, name, &[])).to_vec();
    let verdict = with(&registry, hooks).dispatch(Event::Approval, &call("ls")).await;
    assert!(!verdict.allowed && verdict.stop.is_some(), "{verdict:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_twin_in_another_layer_does_not_replace_a_hook() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "slow_denial",
        Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok::<_, String>(Some(Output::deny("not that")))
        }),
    );
    let guard = |layer| in_layer(layer, hook(UserPromptSubmit, "slow_denial", &[]));
    let mut twin = guard(Layer::Project);
    let deadline = Some(Duration::from_millis(50));
    twin.limits = Arc::new(Limits { deadline, ..Limits::default() });
    let named = guard(Layer::CommandLine);
    let executor = with(&registry, vec![twin, named.clone(), named]);
    let verdict = executor.dispatch(UserPromptSubmit, &Input::default()).await;
    assert_eq!(verdict.message.as_deref(), Some("not that"));
    assert_eq!(verdict.hooks.len(), 2, "one of each layer: {verdict:#?}");
}

#[tokio::test]
async fn a_rename_leaves_out_no_hook_that_was_chosen_by_the_old_name() {
    let yaml = "pre_tool_use: [{ matcher: shell, hooks: [{ type: builtin, command: deny_word, \
                args: [ls], when: { field: tool_name, equals: shell } }] }]";
    for phase in [Phase::Mutate, Phase::Validate] {
        let mut config = Config::from_yaml(yaml, "hooks.yaml").unwrap();
        let rename = json!({"hook_specific_output": {"updated_tool_name": "bash"}});
        config.hooks.push(Hook { phase, ..say(PreToolUse, &rename) });
        let verdict = verdict(config.hooks, PreToolUse).await;
        assert_eq!(verdict.message.as_deref(), Some("no ls"), "{phase:?} {verdict:#?}");
    }
}
