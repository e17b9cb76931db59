//! What is asked and settled about one call, and how late hooks leave the others alone.

use super::layered::{in_layer, with};
use super::*;
use crate::asks::Asks;
use crate::executor::DispatchOptions;

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

#[tokio::test]
async fn a_hook_settles_asks_of_its_layer_and_below_and_none_of_the_guard() {
    let verdict = async |layer: Layer, event: Event, decision: &str| {
        let hook = in_layer(layer, say(event, &json!({ "decision": decision })));
        executor(vec![hook]).dispatch(event, &call("ls")).await
    };
    let (managed, user, project) = (Layer::Managed, Layer::User, Layer::Project);
    let (tool, guard) = (PreToolUse, Event::ToolGuard);
    for (allows, asks, is_settled) in [
        (project, &[(project, tool)][..], true),
        (project, &[(user, tool)], false),
        (user, &[(user, tool)], true),
        (user, &[(project, tool), (managed, tool)], false),
        (managed, &[(project, tool), (project, guard)], false),
        (project, &[], true),
    ] {
        let mut asked = Vec::new();
        for (layer, event) in asks {
            asked.push(verdict(*layer, *event, "ask").await);
        }
        let answers = |decision| verdict(allows, PermissionRequest, decision);
        let settled = |answer: Verdict| {
            let mut asks = Asks::default();
            asks.add(&asked);
            asks.settle(&[answer]);
            asks.are_settled()
        };
        assert_eq!(settled(answers("allow").await), is_settled, "{allows:?} {asks:?}");
        assert!(!settled(answers("ask").await));
    }
}

#[tokio::test]
async fn a_late_hook_keeps_no_other_from_running() {
    let moments = [
        [SessionStart, Event::OnSessionResume],
        [Event::Stop, Event::TurnEnd],
        [Event::PreCompact, Event::BeforeCompaction],
        [Event::ToolGuard, PreToolUse],
    ];
    for events in moments {
        let hooks = vec![
            slow(Layer::User, events[0], "100", "{}"),
            in_layer(Layer::Managed, say(events[1], &json!({"system_message": "seen"}))),
            in_layer(Layer::Project, say(Notification, &json!({}))),
        ];
        let executor = with(&with_sleeper(), hooks);
        let until = Some(std::time::Instant::now() + Duration::from_millis(100));
        let (input, options) = (call("ls"), DispatchOptions { until, ..Default::default() });
        let verdict = executor.run_moment(&events, &input, options).await.verdict;
        assert!(verdict.allowed, "{events:?}: {verdict:#?}");
        assert!(verdict.system_message.is_some_and(|it| it.contains("seen")), "{events:?}");
    }
}
