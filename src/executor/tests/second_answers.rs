//! What a hook said first stays when its second answer does not come, or corrects a lower layer.

use super::layered::{in_layer, mutates, with, with_rewriters};
use super::*;
use crate::executor::time::{Terms, on_terms};

/// Adds builtins that succeed once, and one that boxes whatever it gets.
fn with_first_answers() -> Registry {
    let mut registry = with_rewriters();
    let once = |answer: fn(&Input) -> Output| {
        let calls = AtomicUsize::new(0);
        Builtin::inline(move |input: &Input, _: &[String]| {
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(Some(answer(input))),
                _ => Err("the lock exists".to_owned()),
            }
        })
    };
    registry.register_builtin("deny_once", once(|_| Output::deny("no")));
    registry.register_builtin("ask_once", once(|_| Output::ask("sure?")));
    registry.register_builtin("box_once", once(boxed));
    registry
}

fn boxed(input: &Input) -> Output {
    let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
    let command = command.as_str().unwrap_or_default();
    let command = format!("box {}", command.trim_start_matches("box "));
    Output::patch_input(object(json!({ "cmd": command })))
}

async fn verdict(hooks: Vec<Hook>, event: Event) -> Verdict {
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(with_first_answers()).build().unwrap();
    let mut input = call("ls");
    input.tool_response = Some(json!("fine"));
    executor.dispatch(event, &input).await
}

#[tokio::test]
async fn a_failure_takes_back_no_denial_and_no_ask() {
    let response = json!({"hook_specific_output": {"updated_tool_response": "other"}});
    // A late rewrite of the guard's own layer makes it answer again.
    for (event, late) in [
        (PreToolUse, hook(PreToolUse, "set_cmd", &["rm"])),
        (PostToolUse, say(PostToolUse, &response)),
    ] {
        for (name, decision) in [("deny_once", Decision::Deny), ("ask_once", Decision::Ask)] {
            if event == PostToolUse && decision == Decision::Ask {
                continue;
            }
            let on_error = Some(OnError::Warn);
            let guard = in_layer(Layer::User, Hook { on_error, ..hook(event, name, &[]) });
            let verdict = verdict(vec![guard, in_layer(Layer::User, late.clone())], event).await;
            assert_eq!(verdict.decision, Some(decision), "{event}: {verdict:#?}");
            assert_eq!(verdict.failed_open.len(), 1, "the failure is told: {verdict:#?}");
        }
    }
}

#[tokio::test]
async fn a_rewriter_that_fails_when_it_runs_again_is_not_undone() {
    let late = |on_error| {
        let late = hook(PreToolUse, "set_cmd", &["rm"]);
        in_layer(Layer::Project, Hook { on_error: Some(on_error), ..late })
    };
    let on_error = Some(OnError::Warn);
    let rewriter = mutates(Hook { on_error, ..hook(PreToolUse, "box_once", &[]) });
    let rewriter = in_layer(Layer::User, rewriter);
    let verdict = verdict(vec![rewriter, late(OnError::Ignore)], PreToolUse).await;
    assert_eq!(verdict.updated_input.as_ref().unwrap()["cmd"], "box ls", "{verdict:#?}");
    assert!(verdict.hooks[1].error.as_ref().unwrap().contains("is dropped"), "{verdict:#?}");
}

#[tokio::test]
async fn a_late_rewrite_that_a_higher_layer_would_rewrite_is_dropped() {
    let secret = json!({"hook_specific_output": {"updated_tool_response": "a secret"}});
    let redactor = in_layer(Layer::User, hook(PostToolUse, "redact", &[]));
    let project = in_layer(Layer::Project, say(PostToolUse, &secret));
    let verdict = verdict(vec![redactor, project], PostToolUse).await;
    assert_eq!(verdict.updated_tool_response, None, "{verdict:#?}");
    assert!(verdict.hooks[1].error.as_ref().unwrap().contains("is dropped"), "{verdict:#?}");
}

#[tokio::test]
async fn a_call_gets_a_few_names_at_most() {
    let rename = |name: usize| {
        let answer = json!({"hook_specific_output": {"updated_tool_name": format!("t{name}")}});
        in_layer(Layer::Project, mutates(say(PreToolUse, &answer)))
    };
    let known = verdict((0..4).chain(0..4).map(rename).collect(), PreToolUse).await;
    assert_eq!(known.updated_tool_name.as_deref(), Some("t3"), "{known:#?}");
    let verdict = verdict((0..5).map(rename).collect(), PreToolUse).await;
    assert!(verdict.message.as_ref().unwrap().contains("more than 4 times"), "{verdict:#?}");
}

#[tokio::test]
async fn a_layer_runs_a_bounded_number_of_hooks_in_the_background() {
    let background = |number: usize| {
        let name = Some(format!("job {number}"));
        let job = Hook { name, phase: Phase::Background, ..hook(Notification, "sleep", &[]) };
        in_layer(Layer::Project, job)
    };
    let mut registry = registry();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async {
            std::future::pending::<()>().await;
            Ok::<_, String>(None)
        }),
    );
    let user = in_layer(Layer::User, background(40));
    let hooks = (0..40).map(background).chain([user]).collect();
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(Notification, &Input::default()).await;
    let count = |status| verdict.hooks.iter().filter(|hook| hook.status == status).count();
    assert_eq!((count(HookStatus::Background), count(HookStatus::Failed)), (33, 8));
    assert!(verdict.system_message.unwrap().contains("run in the background already"));
    executor.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn a_hook_of_approval_sees_the_final_call_in_the_agents_payload_too() {
    let mut registry = registry();
    registry.register_builtin(
        "tell_native",
        Builtin::inline(|input: &Input, _: &[String]| {
            let native = input.native.as_ref().map(ToString::to_string);
            Ok::<_, String>(Some(Output::deny(native.unwrap_or_default())))
        }),
    );
    let hooks = vec![
        mutates(hook(PreToolUse, "set_cmd", &["trash x"])),
        say(PreToolUse, &json!({"decision": "ask"})),
        hook(Event::Approval, "tell_native", &[]),
    ];
    let executor = with(&registry, hooks);
    let mut input = call("rm x");
    input.native = Some(json!({"command": "rm x", "tool_input": input.tool_input}));
    let asked = executor.dispatch(PreToolUse, &input).await;
    let answered = executor.approve(asked, &input).await;
    let native: Value = serde_json::from_str(&answered.message.unwrap()).unwrap();
    let expected = json!({"cmd": "trash x", "cwd": "/tmp"});
    assert_eq!(native["tool_input"], expected, "{native}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_of_any_event_of_a_moment_leaves_time_to_the_layers_above() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async {
            tokio::time::sleep(Duration::from_hours(1)).await;
            Ok::<_, String>(None)
        }),
    );
    for event in [PermissionRequest, Event::ToolGuard] {
        let slow = in_layer(Layer::Project, hook(event, "sleep", &[]));
        let guard = in_layer(Layer::User, hook(Event::ToolInputTransform, "sleep", &[]));
        let config = Config { hooks: vec![guard, slow], ..Config::default() };
        let executor = Executor::builder(config).registry(registry.clone()).build().unwrap();
        let deadline = Some(std::time::Instant::now() + Duration::from_secs(20));
        let options = crate::executor::DispatchOptions {
            once_rewritten: &[Event::ToolInputTransform],
            ..Default::default()
        };
        let (events, input) = ([Event::ToolInputTransform, event], call("ls"));
        let mut standing = crate::executor::Standing::default();
        let judged = executor.run_moment(&events, &input, options, &mut standing);
        let verdicts = on_terms(Terms::until(deadline), judged).await;
        let slow = verdicts.iter().flat_map(|verdict| &verdict.hooks).next().unwrap();
        assert!(slow.error.as_ref().unwrap().contains("for hooks of higher layers"), "{slow:#?}");
    }
}
