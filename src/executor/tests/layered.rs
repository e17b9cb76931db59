//! What the layer of a hook means for its turn, its rewrite and its time.

use super::*;

fn in_layer(layer: Layer, hook: Hook) -> Hook {
    let file = SourceFile::new(Path::new("hooks.yaml"), "").in_layer(layer);
    Hook { location: Location::new(Arc::new(file), 0..0), ..hook }
}

/// Adds builtins that see the end of a command and the text of a response.
fn with_rewriters() -> Registry {
    let mut registry = registry();
    registry.register_builtin(
        "suffix",
        Builtin::inline(|input: &Input, args: &[String]| {
            let before = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let longer = format!("{} {}", before.as_str().unwrap_or_default(), args[0]);
            Ok::<_, String>(Some(Output::patch_input(object(json!({ "cmd": longer })))))
        }),
    );
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

async fn verdict(hooks: Vec<Hook>, event: Event) -> Verdict {
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(with_rewriters()).build().unwrap();
    let mut input = call("ls");
    input.tool_response = Some(json!("a secret"));
    executor.dispatch(event, &input).await
}

fn mutates(hook: Hook) -> Hook {
    Hook { phase: Phase::Mutate, ..hook }
}

#[tokio::test]
async fn rewriters_run_from_the_lowest_layer_to_the_highest() {
    let layers = [
        (Layer::Managed, "managed"),
        (Layer::User, "user"),
        (Layer::Project, "project"),
        (Layer::Project, "project2"),
        (Layer::CommandLine, "named"),
        (Layer::Program, "program"),
    ];
    for event in [PreToolUse, Event::ToolInputTransform] {
        let suffix = |(layer, name): &(Layer, &str)| {
            let hook = Hook { name: Some((*name).to_owned()), ..hook(event, "suffix", &[name]) };
            in_layer(*layer, mutates(hook))
        };
        let verdict = verdict(layers.iter().map(suffix).collect(), event).await;
        let command = &verdict.updated_input.as_ref().unwrap()["cmd"];
        assert_eq!(command, "ls project project2 named program user managed", "{event}");
        let reported: Vec<&str> = verdict.hooks.iter().map(|hook| hook.name.as_str()).collect();
        assert_eq!(reported, layers.map(|(_, name)| name), "in config order");
    }
}

#[tokio::test]
async fn a_project_does_not_undo_what_the_user_redacts() {
    let secret = json!({"hook_specific_output": {"updated_tool_response": "the secret"}});
    for event in [Event::ToolResponseTransform, PostToolUse] {
        for phase in [Phase::Mutate, Phase::Validate] {
            let user = in_layer(Layer::User, mutates(hook(event, "redact", &[])));
            let project = Hook { phase, ..say(event, &secret) };
            let verdict = verdict(vec![user, in_layer(Layer::Project, project)], event).await;
            let response = verdict.updated_tool_response;
            assert_eq!(response, Some(json!("the ***")), "{event} {phase:?}");
        }
    }
}

#[tokio::test]
async fn rewriters_of_a_higher_layer_run_again_after_a_hook_without_mutates() {
    let user =
        |name: &str, word: &str| in_layer(Layer::User, mutates(hook(PreToolUse, name, &[word])));
    let project = || in_layer(Layer::Project, hook(PreToolUse, "set_cmd", &["rm"]));
    let guard = in_layer(Layer::User, hook(PreToolUse, "deny_word", &["rm"]));

    let hooks = vec![user("set_cmd", "safe"), guard, project()];
    let rewritten = verdict(hooks, PreToolUse).await;
    assert_eq!(rewritten.decision, None, "{rewritten:#?}");
    assert_eq!(rewritten.updated_input.unwrap()["cmd"], "safe");
    let warnings = &rewritten.hooks[2].warnings;
    assert!(warnings.iter().any(|it| it.contains("its rewrite is ignored")), "{warnings:?}");

    let denied = verdict(vec![user("deny_word", "rm"), project()], PreToolUse).await;
    assert_eq!(denied.message.as_deref(), Some("no rm"));
    assert_eq!(denied.hooks.len(), 2, "{denied:#?}");
    // In a lower layer it had its turn.
    let below = in_layer(Layer::Project, mutates(hook(PreToolUse, "set_cmd", &["safe"])));
    let above = in_layer(Layer::User, hook(PreToolUse, "set_cmd", &["ls -l"]));
    let verdict = verdict(vec![above, below], PreToolUse).await;
    assert_eq!(verdict.updated_input.unwrap()["cmd"], "ls -l");
}

#[tokio::test]
async fn a_denial_after_the_tool_keeps_no_redactor_from_its_turn() {
    let denial = json!({"decision": "block", "reason": "no"});
    for layer in [Layer::Project, Layer::User] {
        let denier = in_layer(layer, mutates(say(PostToolUse, &denial)));
        let redactor = in_layer(Layer::User, mutates(hook(PostToolUse, "redact", &[])));
        let verdict = verdict(vec![denier, redactor], PostToolUse).await;
        assert_eq!(verdict.message.as_deref(), Some("no"));
        assert_eq!(verdict.updated_tool_response, Some(json!("a ***")), "{layer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_twin_in_another_layer_does_not_replace_a_hook() {
    let mut registry = Registry::new();
    registry.register_builtin("slow_denial", |_: Arc<Input>, _: Arc<[String]>| async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok::<_, String>(Some(Output::deny("not that")))
    });
    let guard = |layer| in_layer(layer, hook(UserPromptSubmit, "slow_denial", &[]));
    let mut twin = guard(Layer::Project);
    let deadline = Some(Duration::from_millis(50));
    twin.limits = Arc::new(Limits { deadline, ..Limits::default() });
    let named = guard(Layer::CommandLine);
    let config = Config { hooks: vec![twin, named.clone(), named], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(UserPromptSubmit, &Input::default()).await;
    assert_eq!(verdict.message.as_deref(), Some("not that"));
    assert_eq!(verdict.hooks.len(), 2, "one of each layer: {verdict:#?}");
}
