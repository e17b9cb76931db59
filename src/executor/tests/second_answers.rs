//! What a hook said first stays when its second answer does not come.

use super::layered::{in_layer, with};
use super::*;
use crate::executor::DispatchOptions;

/// Adds builtins that succeed once.
fn with_first_answers() -> Registry {
    let mut registry = registry();
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
    registry
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
    // The guard is a rewriter, so it judges what a later one makes of the input.
    let mutates = |hook: Hook| Hook { phase: Phase::Mutate, ..hook };
    for (event, late) in [
        (PreToolUse, mutates(hook(PreToolUse, "set_cmd", &["rm"]))),
        (PostToolUse, mutates(say(PostToolUse, &response))),
    ] {
        for (name, decision) in [("deny_once", Decision::Deny), ("ask_once", Decision::Ask)] {
            if event == PostToolUse && decision == Decision::Ask {
                continue;
            }
            let on_error = Some(OnError::Warn);
            let guard = mutates(Hook { on_error, ..hook(event, name, &[]) });
            let guard = in_layer(Layer::User, guard);
            let verdict = verdict(vec![guard, in_layer(Layer::User, late.clone())], event).await;
            assert_eq!(verdict.decision, Some(decision), "{event}: {verdict:#?}");
            assert_eq!(verdict.failed_open.len(), 1, "the failure is told: {verdict:#?}");
        }
    }
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
async fn a_hook_after_a_rewrite_finds_no_payload_of_the_agent() {
    let mut registry = registry();
    registry.register_builtin(
        "tell_native",
        Builtin::inline(|input: &Input, _: &[String]| {
            let (native, cmd) = (&input.native, &input.tool_input.as_ref().unwrap()["cmd"]);
            Ok::<_, String>(Some(Output::deny(format!("{native:?} {cmd}"))))
        }),
    );
    let hooks = vec![
        Hook { phase: Phase::Mutate, ..hook(PreToolUse, "set_cmd", &["trash x"]) },
        say(PreToolUse, &json!({"decision": "ask"})),
        hook(Event::Approval, "tell_native", &[]),
    ];
    let executor = with(&registry, hooks);
    let mut input = call("rm x");
    input.native = Some(json!({"command": "rm x", "tool_input": input.tool_input}));
    let asked = executor.dispatch(PreToolUse, &input).await;
    let answered = executor.approve(asked, &input, DispatchOptions::default()).await;
    assert_eq!(answered.message.as_deref(), Some("None \"trash x\""));
}
