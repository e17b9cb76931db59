//! What the events of one request have together: its time, its place, and which layers ran.

use super::layered::{in_layer, mutates, with};
use super::*;
use crate::executor::approval::lifts_asks;
use crate::executor::time::{Terms, on_terms};
use crate::executor::{DispatchOptions, Standing};
use crate::handler::{BoxFuture, Call, Failure, Handler, HandlerError, HandlerResult};

/// Adds a builtin that sleeps for some seconds and then gives its second argument as its answer.
fn with_sleeper() -> Registry {
    let mut registry = registry();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, args: Arc<[String]>| async move {
            tokio::time::sleep(Duration::from_secs(args[0].parse().unwrap())).await;
            Output::parse(&args[1]).map(Some)
        }),
    );
    registry
}

/// Returns a hook that answers after some seconds, and is allowed to fail.
fn slow(layer: Layer, event: Event, seconds: &str, answer: &str) -> Hook {
    let hook = hook(event, "sleep", &[seconds, answer]);
    in_layer(layer, Hook { on_error: Some(OnError::Warn), ..hook })
}

fn in_seconds(seconds: u64) -> Terms {
    Terms::until(Some(std::time::Instant::now() + Duration::from_secs(seconds)))
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_is_late_denies_if_a_lower_layer_ran_at_an_earlier_event() {
    for (layer, is_denied) in [(Layer::Project, true), (Layer::User, false)] {
        let before = slow(layer, PreToolUse, "1", "{}");
        let guard = slow(Layer::User, PermissionRequest, "100", "{}");
        let executor = with(&with_sleeper(), vec![before, guard]);
        let verdict = on_terms(in_seconds(10), async {
            assert!(executor.dispatch(PreToolUse, &call("ls")).await.allowed);
            executor.dispatch(PermissionRequest, &call("ls")).await
        });
        let verdict = verdict.await;
        assert_eq!(!verdict.allowed, is_denied, "{layer:?}: {verdict:#?}");
    }
}

/// Answers, and then is not done in time.
struct Lingering;

impl Handler for Lingering {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        let late = HandlerError::new(Failure::TimedOut, "too late");
        let stdout = br#"{"decision": "ask", "reason": "really?"}"#.to_vec();
        Box::pin(async move { Err(HandlerError { stdout, ..late }) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_hook_that_only_asked_denies_where_a_lower_layer_may_have_used_its_time() {
    let mut registry = with_sleeper();
    registry.register("lingering", |_: &_, _: &_| Ok(Arc::new(Lingering) as Arc<dyn Handler>));
    for (layer, decision) in [(Layer::Project, Decision::Deny), (Layer::User, Decision::Ask)] {
        let guard = Hook::new(PreToolUse, "lingering", Command::Text("guard".into()));
        let hooks = vec![slow(layer, PreToolUse, "0", "{}"), in_layer(Layer::User, guard)];
        let executor = with(&registry, hooks);
        let verdict = on_terms(in_seconds(10), executor.dispatch(PreToolUse, &call("ls"))).await;
        assert_eq!(verdict.decision, Some(decision), "{layer:?}: {verdict:#?}");
        let is_told = verdict.message.unwrap().contains("may have used its time");
        assert_eq!(is_told, decision == Decision::Deny, "{layer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_of_a_layer_leave_half_of_the_request_to_later_events_of_layers_above() {
    for (layer, is_followed) in [(Layer::Project, true), (Layer::User, false)] {
        let hooks = vec![
            slow(layer, UserPromptSubmit, "100", "{}"),
            slow(Layer::User, Event::TurnStart, "1", "{}"),
        ];
        let executor = with(&with_sleeper(), hooks);
        let prompt = Input::default();
        let terms = in_seconds(10).of_host();
        let verdict = on_terms(terms, executor.dispatch(UserPromptSubmit, &prompt)).await;
        let error = verdict.hooks[0].error.as_deref().unwrap();
        assert_eq!(error.contains("for hooks of higher layers"), is_followed, "{layer:?}: {error}");
    }
}

#[tokio::test]
async fn without_a_place_for_a_project_only_its_hooks_fail() {
    let answer = json!({"system_message": "seen"});
    let says = |layer| in_layer(layer, say(Notification, &answer));
    let executor = with(&registry(), vec![says(Layer::Project), says(Layer::User)]);
    let terms = Terms::until(None).without_project(true);
    let input = Input::default();
    let verdict = on_terms(terms, executor.dispatch(Notification, &input)).await;
    let status: Vec<_> = verdict.hooks.iter().map(|hook| hook.status).collect();
    assert_eq!(status, [HookStatus::Failed, HookStatus::Ok], "{verdict:#?}");
}

#[tokio::test]
async fn without_a_place_a_hook_of_a_project_denies_where_its_failure_would_ask() {
    let asks = |on_error| {
        let hook = in_layer(Layer::Project, say(PreToolUse, &json!({})));
        Hook { on_error: Some(on_error), ..hook }
    };
    for (on_error, decision) in [(OnError::Ask, Some(Decision::Deny)), (OnError::Warn, None)] {
        let executor = executor(vec![asks(on_error)]);
        let terms = Terms::until(None).without_project(true);
        let verdict = on_terms(terms, executor.dispatch(PreToolUse, &call("ls"))).await;
        assert_eq!(verdict.decision, decision, "{on_error:?}: {verdict:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_of_a_host_keeps_time_for_hooks_of_any_event() {
    let hooks = vec![
        slow(Layer::Project, Event::OnToolApprovalDecision, "100", "{}"),
        slow(Layer::User, Event::OnToolApprovalDecision, "100", "{}"),
        slow(Layer::Managed, Event::ToolResponseTransform, "1", "{}"),
    ];
    let executor = with(&with_sleeper(), hooks);
    let started = tokio::time::Instant::now();
    let call = call("ls");
    let decided = executor.dispatch(Event::OnToolApprovalDecision, &call);
    let verdict = on_terms(in_seconds(8).of_host(), decided).await;
    let errors: Vec<_> = verdict.hooks.iter().map(|hook| hook.error.clone().unwrap()).collect();
    assert!(errors.iter().all(|it| it.contains("for hooks of higher layers")), "{errors:?}");
    // The user has three quarters.
    assert_eq!((started.elapsed().as_millis() + 500) / 1000, 6);
}

#[tokio::test]
async fn a_hook_lifts_asks_of_its_layer_and_below_and_none_of_the_guard() {
    let verdict = async |layer: Layer, event: Event, decision: &str| {
        let hook = in_layer(layer, say(event, &json!({ "decision": decision })));
        executor(vec![hook]).dispatch(event, &call("ls")).await
    };
    let (managed, user, project) = (Layer::Managed, Layer::User, Layer::Project);
    let (tool, guard) = (PreToolUse, Event::ToolGuard);
    for (allows, asks, is_lifted) in [
        (project, &[(project, tool)][..], true),
        (project, &[(user, tool)], false),
        (user, &[(user, tool)], true),
        (user, &[(project, tool), (managed, tool)], false),
        (managed, &[(project, tool), (project, guard)], false),
        // Only the host asks.
        (project, &[], true),
    ] {
        let mut asked = Vec::new();
        for (layer, event) in asks {
            asked.push(verdict(*layer, *event, "ask").await);
        }
        let answer = verdict(allows, PermissionRequest, "allow").await;
        assert_eq!(lifts_asks(&answer, &asked), is_lifted, "{allows:?} {asks:?}");
        let silent = verdict(allows, PermissionRequest, "ask").await;
        assert!(!lifts_asks(&silent, &asked));
    }
}

#[tokio::test]
async fn a_late_hook_keeps_no_other_from_running() {
    let moments = [
        ([SessionStart, Event::OnSessionResume], true),
        ([Event::Stop, Event::TurnEnd], true),
        ([Event::PreCompact, Event::BeforeCompaction], false),
        ([Event::ToolGuard, PreToolUse], false),
    ];
    for (events, is_allowed) in moments {
        let hooks = vec![
            slow(Layer::User, events[0], "100", "{}"),
            in_layer(Layer::Managed, say(events[1], &json!({"system_message": "seen"}))),
            in_layer(Layer::Project, say(Notification, &json!({}))),
        ];
        let executor = with(&with_sleeper(), hooks);
        let (input, options) = (call("ls"), DispatchOptions::default());
        let mut standing = Standing::default();
        let judged = executor.run_moment(&events, &input, options, &mut standing);
        let until = std::time::Instant::now() + Duration::from_millis(100);
        let _ = on_terms(Terms::until(Some(until)), judged).await;
        let verdict = standing.verdict.unwrap();
        assert_eq!(verdict.allowed, is_allowed, "{events:?}: {verdict:#?}");
        assert!(verdict.system_message.is_some_and(|it| it.contains("seen")), "{events:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_hook_of_the_layer_sees_what_a_late_rewriter_has_not_rewritten() {
    let seen = json!({"system_message": "seen"});
    let cases = [(true, false, false), (true, true, false), (false, false, true)];
    for (is_rewriter, is_outranked, is_seen) in cases {
        let mut mask = slow(Layer::User, PreToolUse, "100", "{}");
        if is_rewriter {
            mask = mutates(mask);
        }
        let hooks = vec![
            mask,
            in_layer(Layer::User, say(PreToolUse, &seen)),
            in_layer(Layer::Project, say(Notification, &json!({}))),
        ];
        let above = say(PreToolUse, &json!({"system_message": "above"}));
        let above = is_outranked.then(|| in_layer(Layer::Managed, above));
        let executor = with(&with_sleeper(), hooks.into_iter().chain(above).collect());
        let verdict = on_terms(in_seconds(10), executor.dispatch(PreToolUse, &call("ls"))).await;
        assert!(!verdict.allowed, "{verdict:#?}");
        let told = verdict.system_message.as_deref().unwrap_or_default();
        assert_eq!(told.contains("seen"), is_seen, "{verdict:#?}");
        assert_eq!(told.contains("above"), is_outranked, "{verdict:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_observe_have_time_when_all_others_are_done() {
    let limit = Duration::from_secs(10);
    let limits = Arc::new(Limits { deadline: Some(limit), ..Limits::default() });
    for (phase, is_kept) in [(Phase::Observe, true), (Phase::Validate, false)] {
        for terms in [in_seconds(10), Terms::until(None)] {
            let limits = Arc::clone(&limits);
            let observer = Hook { phase, limits, ..say(Notification, &json!({})) };
            let mut slow = slow(Layer::Project, Notification, "100", "{}");
            slow.timeout = limit;
            let executor = with(&with_sleeper(), vec![in_layer(Layer::User, observer), slow]);
            let input = Input::default();
            let verdict = on_terms(terms, executor.dispatch(Notification, &input)).await;
            let error = verdict.hooks.iter().find_map(|hook| hook.error.as_deref()).unwrap();
            assert_eq!(error.contains("for hooks of higher layers"), is_kept, "{error}");
        }
    }
}
