//! What the layer of a hook means for its turn, its rewrite and its time.

use std::time::Instant;

use super::*;
use crate::executor::{DispatchOptions, Standing};

pub(super) fn in_layer(layer: Layer, hook: Hook) -> Hook {
    let file = SourceFile::new(Path::new("hooks.yaml"), "").in_layer(layer);
    Hook { location: Location::new(Arc::new(file), 0..0), ..hook }
}

/// Adds builtins that see the end of a command and the text of a response.
pub(super) fn with_rewriters() -> Registry {
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
        "box",
        Builtin::inline(|input: &Input, _: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let command = command.as_str().unwrap_or_default();
            let boxed = format!("sandbox {command}");
            let is_bare = !command.starts_with("sandbox ");
            Ok::<_, String>(is_bare.then(|| Output::patch_input(object(json!({ "cmd": boxed })))))
        }),
    );
    registry.register_builtin(
        "unbox",
        Builtin::inline(|input: &Input, _: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let bare = command.as_str().and_then(|command| command.strip_prefix("sandbox "));
            Ok::<_, String>(bare.map(|bare| Output::patch_input(object(json!({ "cmd": bare })))))
        }),
    );
    registry.register_builtin(
        "note",
        Builtin::inline(|input: &Input, _: &[String]| {
            let is_new = input.lookup(&["tool_input", "note"]).is_none();
            Ok::<_, String>(is_new.then(|| Output::patch_input(object(json!({ "note": "n" })))))
        }),
    );
    // Refuses a key once it is there.
    registry.register_builtin(
        "unset_note",
        Builtin::inline(|input: &Input, _: &[String]| {
            let is_there = input.lookup(&["tool_input", "note"]).is_some_and(|it| !it.is_null());
            Ok::<_, String>(is_there.then(|| Output::patch_input(object(json!({ "note": null })))))
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

pub(super) fn mutates(hook: Hook) -> Hook {
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
            // Without `mutates` the project's rewrite does not count where the user has a hook.
            let is_dropped = (event, phase) == (PostToolUse, Phase::Validate);
            let expected = if is_dropped { "a ***" } else { "the ***" };
            assert_eq!(response, Some(json!(expected)), "{event} {phase:?}");
        }
    }
}

#[tokio::test]
async fn a_lower_layer_does_not_undo_a_late_rewrite_of_a_higher_one() {
    for highest in [Layer::Managed, Layer::User] {
        let boxes = in_layer(highest, hook(PreToolUse, "box", &[]));
        let unboxes = in_layer(Layer::User, mutates(hook(PreToolUse, "unbox", &[])));
        let notes = in_layer(Layer::Project, hook(PreToolUse, "note", &[]));
        let alone = verdict(vec![boxes.clone(), unboxes.clone()], PreToolUse).await;
        assert_eq!(alone.updated_input.unwrap()["cmd"], "sandbox ls", "{highest:?}");
        let verdict = verdict(vec![boxes, unboxes, notes], PreToolUse).await;
        let stays = verdict.updated_input.as_ref().is_some_and(|it| it["cmd"] == "sandbox ls");
        assert!(stays || !verdict.allowed, "{highest:?}: {verdict:#?}");
    }
}

#[tokio::test]
async fn only_the_highest_of_several_layers_rewrites_without_mutates() {
    let warn = |hook: Hook| Hook { on_error: Some(OnError::Warn), ..hook };
    let user = |name: &str| warn(in_layer(Layer::User, hook(PreToolUse, name, &[])));
    let notes = || warn(in_layer(Layer::Project, hook(PreToolUse, "note", &[])));
    // Another hook of the user's corrects the project's rewrite, or the same one does.
    for corrects in ["unset_note", "box"] {
        let verdict = verdict(vec![user("box"), user(corrects), notes()], PreToolUse).await;
        let input = verdict.updated_input.as_ref().unwrap();
        assert_eq!(input["cmd"], "sandbox ls", "{corrects}: {verdict:#?}");
        assert!(!input.contains_key("note"), "{corrects}: {input:?}");
        assert_eq!(verdict.failed_open, ["note"], "{corrects}");
        let told = verdict.system_message.unwrap();
        assert!(told.starts_with("hook `note`") && told.contains("set `mutates: true`"), "{told}");
    }
}

#[tokio::test]
async fn without_mutates_a_rewrite_counts_in_the_highest_layer_that_has_hooks_there() {
    let late = |layer| {
        let hook = hook(PreToolUse, "set_cmd", &["rm"]);
        in_layer(layer, Hook { on_error: Some(OnError::Warn), ..hook })
    };
    // A condition that does not hold for this input may hold for the other one.
    let yaml = "pre_tool_use: [{ matcher: TOOL, hooks: [{ type: builtin, command: set_cmd, \
                args: [safe], mutates: true, when: { field: tool_input.cmd, equals: rm } }] }]";
    for (matcher, highest, counts) in [
        ("shell", Layer::Project, false),
        ("other", Layer::Project, true),
        ("shell", Layer::User, true),
    ] {
        let mut config = Config::from_yaml(&yaml.replace("TOOL", matcher), "hooks.yaml").unwrap();
        config.hooks[0] = in_layer(Layer::User, config.hooks[0].clone());
        let verdict = verdict(vec![config.hooks.remove(0), late(highest)], PreToolUse).await;
        let input = verdict.updated_input.as_ref();
        assert_eq!(input.map(|input| &input["cmd"]), counts.then_some(&json!("rm")), "{matcher}");
        let error = verdict.hooks.last().unwrap().error.as_ref();
        assert_eq!(error.is_none_or(|it| !it.contains("set `mutates: true`")), counts, "{error:?}");
    }
    // By another name any hook may be for the call.
    let mut other = Config::from_yaml(&yaml.replace("TOOL", "other"), "hooks.yaml").unwrap();
    let rename = json!({"hook_specific_output": {"updated_tool_name": "other"}});
    let rename = in_layer(Layer::Project, say(PreToolUse, &rename));
    let hooks = vec![in_layer(Layer::User, other.hooks.remove(0)), rename];
    assert_eq!(verdict(hooks, PreToolUse).await.updated_tool_name, None);
}

#[tokio::test]
async fn a_rewriter_that_fails_on_what_a_lower_layer_rewrote_denies() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "wrap_or_fail",
        Builtin::inline(|input: &Input, _: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            match command.as_str() {
                Some("ls") => Ok(Some(Output::patch_input(object(json!({ "cmd": "safe ls" }))))),
                _ => Err("it knows `ls` only".to_owned()),
            }
        }),
    );
    let wraps = mutates(hook(PreToolUse, "wrap_or_fail", &[]));
    let wraps = in_layer(Layer::User, Hook { on_error: Some(OnError::Warn), ..wraps });
    let sets = |command| in_layer(Layer::Project, mutates(hook(PreToolUse, "set_cmd", &[command])));
    for (command, denied) in [("ls", false), ("rm", true)] {
        let executor = with(&registry, vec![wraps.clone(), sets(command)]);
        let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
        assert_eq!(!verdict.allowed, denied, "{verdict:#?}");
        if denied {
            let told = verdict.message.unwrap();
            assert!(told.contains("failed on a rewrite of a lower layer: it knows"), "{told}");
        }
    }
}

#[tokio::test]
async fn a_late_hook_denies_where_a_lower_layer_may_have_used_its_time() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "hang",
        Builtin::future(|_, _| std::future::pending::<Result<Option<Output>, String>>()),
    );
    let hangs = |layer| Hook {
        on_error: Some(OnError::Warn),
        ..in_layer(layer, hook(PreToolUse, "hang", &[]))
    };
    let says = |layer, event| in_layer(layer, say(event, &json!({})));
    for (other, is_denied) in [
        (mutates(hangs(Layer::Project)), true),
        (hangs(Layer::Project), true),
        (says(Layer::Project, PreToolUse), true),
        // Its file has to be read at every event.
        (says(Layer::Project, Stop), true),
        (mutates(hangs(Layer::User)), false),
        (says(Layer::Managed, PreToolUse), false),
    ] {
        let executor = with(&registry, vec![other, hangs(Layer::User)]);
        let until = Instant::now() + Duration::from_millis(200);
        let verdict = executor.dispatch_until(PreToolUse, &call("ls"), until).await;
        assert_eq!(!verdict.allowed, is_denied, "{verdict:#?}");
        let told = verdict.message.unwrap_or_default();
        assert_eq!(told.contains("a lower layer may have used its time"), is_denied, "{told}");
    }
    // Its own `timeout` is its own affair.
    let impatient = Hook { timeout: Duration::from_millis(1), ..hangs(Layer::User) };
    let executor = with(&registry, vec![says(Layer::Project, PreToolUse), impatient]);
    assert!(executor.dispatch(PreToolUse, &call("ls")).await.allowed);
}

#[tokio::test]
async fn a_rewrite_of_a_response_falls_if_a_higher_rewriter_fails_on_it() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "redact_or_fail",
        Builtin::inline(|input: &Input, _: &[String]| {
            let response = input.tool_response.as_ref().and_then(Value::as_str).unwrap_or_default();
            let clean = response.replace("secret", "***");
            if response.contains("evil") {
                return Err("it has to be parsed".to_owned());
            }
            Ok((clean != response).then(|| Output::tool_response(clean)))
        }),
    );
    let answer = |text: &str| json!({"hook_specific_output": {"updated_tool_response": text}});
    for event in [Event::ToolResponseTransform, PostToolUse] {
        for redactor in [Event::ToolResponseTransform, PostToolUse] {
            for (text, expected) in [("an evil secret", "a ***"), ("the secret", "the ***")] {
                let redacts = mutates(hook(redactor, "redact_or_fail", &[]));
                let answers = mutates(say(event, &answer(text)));
                let hooks = vec![in_layer(Layer::User, redacts), in_layer(Layer::Project, answers)];
                let verdict = after_the_call(&registry, hooks).await;
                let said = format!("{event} {redactor} {text}: {verdict:#?}");
                assert_eq!(verdict.updated_tool_response, Some(json!(expected)), "{said}");
                let dropped = verdict.hooks.iter().any(|hook| {
                    hook.error.as_ref().is_some_and(|it| it.contains("is dropped: hook `redact"))
                });
                assert_eq!(dropped, text.contains("evil"), "{said}");
            }
        }
    }
}

#[tokio::test]
async fn a_denial_of_a_lower_layer_keeps_no_higher_hook_from_ending_the_turn() {
    let denial = json!({"decision": "block", "reason": "no"});
    let stop = json!({"continue": false, "stop_reason": "enough"});
    for (higher, stops) in [(Layer::User, true), (Layer::Project, false)] {
        let denies = in_layer(Layer::Project, mutates(say(PreToolUse, &denial)));
        let ends = in_layer(higher, say(PreToolUse, &stop));
        let verdict = verdict(vec![denies, ends], PreToolUse).await;
        assert_eq!((verdict.allowed, verdict.stop.is_some()), (false, stops), "{higher:?}");
    }
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
    registry.register_builtin("fail", Builtin::inline(fail));
    let refuse = move |_, _| {
        let failed = Arc::clone(&failed);
        async move {
            failed.notified().await;
            let answer = json!({"continue": false, "stop_reason": "enough"});
            Output::from_value(answer).map(Some)
        }
    };
    registry.register_builtin("refuse", Builtin::future(refuse));
    let hooks = ["fail", "refuse"].map(|name| hook(Event::Approval, name, &[])).to_vec();
    let verdict = with(&registry, hooks).dispatch(Event::Approval, &call("ls")).await;
    assert!(!verdict.allowed && verdict.stop.is_some(), "{verdict:#?}");
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
async fn a_decision_stands_until_its_hook_is_asked_again() {
    let yaml = |decision: &str| {
        format!(
            "pre_tool_use: [{{ hooks: [{{ type: builtin, command: say, args: ['{decision}'], \
             when: {{ field: repeated, exists: false }} }}] }}]"
        )
    };
    for (answer, decision) in [
        (r#"{"decision":"deny","reason":"too many"}"#, Some(Decision::Deny)),
        (r#"{"decision":"ask","reason":"too many"}"#, Some(Decision::Ask)),
        (r#"{"decision":"allow"}"#, None),
    ] {
        let mut config = Config::from_yaml(&yaml(answer), "hooks.yaml").unwrap();
        config.hooks.push(hook(PreToolUse, "set_cmd", &["x"]));
        let verdict = verdict(config.hooks, PreToolUse).await;
        assert_eq!(verdict.decision, decision, "{verdict:#?}");
        assert_eq!(verdict.message.is_some(), decision.is_some(), "{verdict:#?}");
    }
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

#[tokio::test]
async fn each_hook_has_its_own_budget_for_its_condition() {
    let mut hooks = Vec::new();
    for length in [3500, 3000, 20] {
        let text = format!(
            "tool_response_transform: [{{ hooks: [{{ type: builtin, command: say, args: ['{{}}'], \
             on_error: ignore, when: {{ field: tool_response, regex: 'a.{{{length}}}b' }} }}] }}]"
        );
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        hooks.extend(config.hooks.into_iter().map(|hook| in_layer(Layer::Project, hook)));
    }
    let text = "tool_response_transform: [{ hooks: [{ type: builtin, command: redact, \
                when: { field: tool_response, regex: secret } }] }]";
    let users = Config::from_yaml(text, "hooks.yaml").unwrap();
    hooks.extend(users.hooks.into_iter().map(|hook| in_layer(Layer::User, hook)));
    let executor = with(&with_rewriters(), hooks);
    let mut input = call("ls");
    input.tool_response = Some(json!(format!("secret {}", "x".repeat(60_000))));
    let verdict = executor.dispatch(Event::ToolResponseTransform, &input).await;
    // The third one's condition does not hold.
    let status = verdict.hooks.iter().map(|hook| hook.status).collect::<Vec<_>>();
    assert_eq!(status, [HookStatus::Failed, HookStatus::Failed, HookStatus::Ok], "{verdict:#?}");
    let response = verdict.updated_tool_response.unwrap_or_default();
    assert!(response.as_str().is_some_and(|it| it.starts_with("*** ")), "{:#?}", verdict.hooks);
}

#[test]
fn a_layer_leaves_half_of_the_time_to_those_above_it() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, args: Arc<[String]>| async move {
            tokio::time::sleep(Duration::from_secs(args[0].parse().unwrap())).await;
            Ok::<_, String>(Some(Output::deny("not that")))
        }),
    );
    let layers = [(Layer::Project, Layer::User), (Layer::User, Layer::Managed)];
    for ((below, above), own) in layers.into_iter().flat_map(|it| [(it, true), (it, false)]) {
        let slow = Hook { on_error: Some(OnError::Ignore), ..hook(PreToolUse, "sleep", &["100"]) };
        let mut guard = hook(PreToolUse, "sleep", &["1"]);
        guard.on_error = Some(OnError::Warn);
        let limit = Duration::from_secs(4);
        if own {
            guard.limits = Arc::new(Limits { deadline: Some(limit), ..Limits::default() });
        }
        let hooks = vec![in_layer(above, guard), in_layer(below, mutates(slow))];
        let executor = with(&registry, hooks);
        // Each in a runtime of its own: its clock goes ahead of the machine's.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        let verdict = runtime.block_on(async {
            if own {
                return executor.dispatch(PreToolUse, &call("ls")).await;
            }
            let until = std::time::Instant::now() + limit;
            executor.dispatch_until(PreToolUse, &call("ls"), until).await
        });
        assert_eq!(verdict.message.as_deref(), Some("not that"), "{below:?} {verdict:#?}");
    }
}

#[tokio::test]
async fn a_lower_layer_does_not_end_the_turn_that_a_higher_one_continues() {
    let block = json!({"decision": "block", "reason": "run the tests"});
    let end = json!({"continue": false, "stop_reason": "enough"});
    for (blocks, ends, goes_on) in [
        (Layer::User, Layer::Project, true),
        (Layer::Managed, Layer::User, true),
        (Layer::User, Layer::User, false),
        (Layer::Project, Layer::User, false),
    ] {
        let hooks = vec![in_layer(blocks, say(Stop, &block)), in_layer(ends, say(Stop, &end))];
        let verdict = verdict(hooks, Stop).await;
        assert_eq!(verdict.decision.is_some(), goes_on, "{blocks:?} {ends:?}: {verdict:#?}");
        assert_eq!(verdict.stop.is_none(), goes_on, "{blocks:?} {ends:?}: {verdict:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_is_withheld_when_time_ends_before_a_higher_layer_has_seen_it() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "slow_on_evil",
        Builtin::future(|input: Arc<Input>, _: Arc<[String]>| async move {
            if input.tool_response == Some(json!("evil")) {
                std::future::pending::<()>().await;
            }
            Ok::<_, String>(None)
        }),
    );
    let answer = |text: &str| json!({"hook_specific_output": {"updated_tool_response": text}});
    let event = Event::ToolResponseTransform;
    for (text, withheld) in [("evil", true), ("good", false)] {
        let slow = in_layer(Layer::User, hook(event, "slow_on_evil", &[]));
        let project = in_layer(Layer::Project, say(event, &answer(text)));
        let executor = with(&registry, vec![slow, project]);
        let mut input = call("ls");
        input.tool_response = Some(json!("a secret"));
        let (options, mut standing) = (DispatchOptions::default(), Standing::default());
        let events = [event];
        let run = executor.run_moment(&events, &input, options, &mut standing);
        let _ = tokio::time::timeout(Duration::from_secs(1), run).await;
        let verdict = executor.give_up(&events, &input, options, &standing, "late");
        let expected = if withheld { "withheld by hookexec: late" } else { text };
        assert_eq!(verdict.updated_tool_response, Some(json!(expected)), "{verdict:#?}");
    }
}

/// Runs the moment after a tool call whose response is `a secret`.
async fn after_the_call(registry: &Registry, hooks: Vec<Hook>) -> Verdict {
    let mut input = call("ls");
    input.tool_response = Some(json!("a secret"));
    whole(registry, hooks, &[Event::ToolResponseTransform, PostToolUse], &input).await
}

/// Returns what the hooks of all `events` of a moment say together.
async fn whole(registry: &Registry, hooks: Vec<Hook>, events: &[Event], input: &Input) -> Verdict {
    let (options, mut standing) = (DispatchOptions::default(), Standing::default());
    let _ = with(registry, hooks).run_moment(events, input, options, &mut standing).await;
    standing.verdict.unwrap()
}

#[tokio::test]
async fn no_guard_of_a_higher_layer_waits_for_what_a_lower_one_makes_of_a_response() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "object",
        Builtin::inline(|input: &Input, _: &[String]| {
            let found = input.tool_response == Some(json!("a secret"));
            let answer = json!({"decision": "block", "reason": "secret", "stop_reason": "s", "continue": false});
            Ok::<_, String>(found.then(|| Output::parse(&answer.to_string()).unwrap()))
        }),
    );
    let clean = json!({"hook_specific_output": {"updated_tool_response": "clean"}});
    for event in [Event::ToolResponseTransform, PostToolUse] {
        let guard = in_layer(Layer::User, hook(PostToolUse, "object", &[]));
        let project = in_layer(Layer::Project, mutates(say(event, &clean)));
        let verdict = after_the_call(&registry, vec![project, guard]).await;
        assert!(!verdict.allowed && verdict.stop.is_some(), "{event}: {verdict:#?}");
        assert_eq!(verdict.updated_tool_response, Some(json!("clean")), "{event}");
    }
}

#[tokio::test]
async fn a_hook_that_rewrote_a_response_without_mutates_sees_what_a_lower_layer_makes_of_it() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "redact_text",
        Builtin::inline(|input: &Input, _: &[String]| match &input.tool_response {
            Some(Value::String(text)) => {
                Ok(Some(Output::tool_response(text.replace("secret", "***"))))
            }
            _ => Err("it has to be a text".to_owned()),
        }),
    );
    for (answer, expected, dropped) in [
        (json!("no secret here"), "no *** here", false),
        (json!({"text": "a secret"}), "a ***", true),
    ] {
        let answer = json!({"hook_specific_output": {"updated_tool_response": answer}});
        let user = in_layer(Layer::User, hook(PostToolUse, "redact_text", &[]));
        let project = in_layer(Layer::Project, say(Event::ToolResponseTransform, &answer));
        let verdict = after_the_call(&registry, vec![user, project]).await;
        assert_eq!(verdict.updated_tool_response, Some(json!(expected)), "{verdict:#?}");
        let errors = verdict.hooks.iter().filter_map(|hook| hook.error.as_ref());
        let is_dropped = errors.into_iter().any(|it| it.contains("its rewrite is dropped: hook"));
        assert_eq!(is_dropped, dropped, "{verdict:#?}");
    }
}

#[tokio::test]
async fn a_guard_that_fails_on_what_a_lower_layer_rewrote_denies() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "parse",
        Builtin::inline(|input: &Input, _: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            if command == json!("ls") { Ok(None) } else { Err("no closing quotation".to_owned()) }
        }),
    );
    let suffix = mutates(hook(PreToolUse, "suffix", &["'"]));
    for (layer, denied) in [(Layer::Project, true), (Layer::User, false)] {
        let guard = Hook { on_error: Some(OnError::Warn), ..hook(PreToolUse, "parse", &[]) };
        let hooks = vec![in_layer(Layer::User, guard), in_layer(layer, suffix.clone())];
        let executor = with(&registry, hooks);
        let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
        assert_eq!(!verdict.allowed, denied, "{layer:?}: {verdict:#?}");
    }
}

#[tokio::test]
async fn what_a_hook_says_of_a_response_stays_beside_its_rewrite() {
    let mut registry = with_rewriters();
    registry.register_builtin(
        "redact_and_stop",
        Builtin::inline(|input: &Input, _: &[String]| {
            let found = input.tool_response == Some(json!("a secret"));
            let answer = json!({
                "decision": "block", "reason": "no", "continue": false, "stop_reason": "enough",
                "hook_specific_output": {"updated_tool_response": "a ***"},
            });
            Ok::<_, String>(found.then(|| Output::parse(&answer.to_string()).unwrap()))
        }),
    );
    let longer = json!({"hook_specific_output": {"updated_tool_response": "longer"}});
    let project = in_layer(Layer::Project, mutates(say(PostToolUse, &longer)));
    for phase in [Phase::Mutate, Phase::Validate] {
        let redacts = Hook { phase, ..hook(PostToolUse, "redact_and_stop", &[]) };
        let redacts = in_layer(Layer::User, redacts);
        for (hooks, expected) in
            [(vec![redacts.clone()], "a ***"), (vec![redacts, project.clone()], "longer")]
        {
            let verdict = after_the_call(&registry, hooks).await;
            assert_eq!(verdict.updated_tool_response, Some(json!(expected)), "{verdict:#?}");
            assert!(!verdict.allowed && verdict.stop.is_some(), "{phase:?}: {verdict:#?}");
        }
    }
}

#[tokio::test]
async fn what_a_hook_says_of_a_response_stays_when_a_sibling_redacts_it() {
    let mut registry = with_rewriters();
    let answer = |redacts: bool| {
        let mut answer = json!({
            "decision": "block", "reason": "no", "continue": false, "stop_reason": "enough",
        });
        if redacts {
            answer["hook_specific_output"] = json!({"updated_tool_response": "[a secret]"});
        }
        Output::parse(&answer.to_string()).unwrap()
    };
    for (name, redacts) in [("object", false), ("object_and_redact", true)] {
        registry.register_builtin(
            name,
            Builtin::inline(move |input: &Input, _: &[String]| {
                let response = input.tool_response.as_ref().unwrap().as_str().unwrap();
                let found = redacts || response.contains("secret");
                Ok::<_, String>(found.then(|| answer(redacts)))
            }),
        );
    }
    for name in ["object", "object_and_redact"] {
        let hooks =
            ["redact", name].map(|name| in_layer(Layer::User, hook(PostToolUse, name, &[])));
        let verdict = after_the_call(&registry, hooks.to_vec()).await;
        assert!(!verdict.allowed && verdict.stop.is_some(), "{name}: {verdict:#?}");
        assert_eq!(verdict.updated_tool_response, Some(json!("a ***")), "{name}");
        let lost = verdict.hooks[1].error.as_ref().is_some_and(|it| it.contains("does not settle"));
        assert_eq!(lost, name == "object_and_redact", "{verdict:#?}");
    }
}

#[tokio::test]
async fn a_denial_of_a_project_keeps_no_rewriter_of_the_user_from_being_asked_again() {
    let mut registry = registry();
    registry.register_builtin(
        "stop_at",
        Builtin::inline(|input: &Input, args: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let stops = command.as_str() == Some(args[0].as_str());
            Ok::<_, String>(stops.then(|| Output::parse(r#"{"continue": false}"#).unwrap()))
        }),
    );
    for denies in [false, true] {
        let user = |name: &str| in_layer(Layer::User, mutates(hook(PreToolUse, name, &["final"])));
        let answer = if denies { json!({"decision": "deny"}) } else { json!({}) };
        let project = in_layer(Layer::Project, say(PreToolUse, &answer));
        let executor = with(&registry, vec![user("stop_at"), user("set_cmd"), project]);
        let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
        assert!(verdict.stop.is_some(), "{denies}: {verdict:#?}");
    }
}

#[tokio::test]
async fn a_denial_ends_the_moment_for_its_own_layer_and_those_below() {
    let call_of_tool = [Event::ToolGuard, PreToolUse];
    // No turn starts after a denial, and its hooks can deny nothing.
    let start_of_turn = [UserPromptSubmit, Event::TurnStart];
    for (events, denier, is_seen) in [
        (call_of_tool, Layer::Project, true),
        (call_of_tool, Layer::User, false),
        (call_of_tool, Layer::Managed, false),
        (start_of_turn, Layer::Project, false),
    ] {
        let denied = in_layer(denier, say(events[0], &json!({"decision": "deny"})));
        let seen = in_layer(Layer::User, say(events[1], &json!({"system_message": "seen"})));
        let verdict = whole(&registry(), vec![denied, seen], &events, &call("ls")).await;
        assert!(!verdict.allowed, "{denier:?}: {verdict:#?}");
        assert_eq!(verdict.system_message.is_some(), is_seen, "{denier:?}: {verdict:#?}");
    }
}
