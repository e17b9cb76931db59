//! `limit:` how often a hook runs.

use super::*;
use crate::config::{Period, RunLimit};
use crate::event::Rewrite;

fn limited(event: Event, limit: &str) -> Config {
    let text = format!("hooks: {{ {event}: [{{ type: builtin, command: n, limit: {limit} }}] }}");
    Config::from_yaml(&text, "hooks.yaml").unwrap()
}

/// Counts its runs, and keeps the model at work.
fn counting() -> (Registry, Arc<AtomicUsize>) {
    let (mut registry, runs) = (Registry::new(), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&runs);
    registry.register_builtin(
        "n",
        Builtin::inline(move |_: &Input, _: &[String]| {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok::<_, String>(Some(Output::deny("go on")))
        }),
    );
    (registry, runs)
}

fn input(session: &str, turn: &str) -> Input {
    let turn_id = Some(turn.to_owned()).filter(|turn| !turn.is_empty());
    Input { session_id: session.into(), turn_id, ..Input::default() }
}

#[tokio::test]
async fn a_hook_runs_as_often_as_its_limit_says_in_every_process_together() {
    let place = tempfile::tempdir().unwrap();
    let (registry, runs) = counting();
    let build = || {
        let builder = Executor::builder(limited(Stop, "{ times: 3, per: turn }"));
        builder.registry(registry.clone()).counts_in(place.path().join("counts")).build().unwrap()
    };
    for (session, turn, times) in [("s", "1", 3), ("s", "2", 3), ("t", "1", 3)] {
        for number in 1..=5 {
            // Each as a process of its own would.
            let verdict = build().dispatch(Stop, &input(session, turn)).await;
            let report = &verdict.hooks[0];
            if number <= times {
                assert_eq!(verdict.decision, Some(Decision::Deny));
            } else {
                assert_eq!((verdict.decision, report.status), (None, HookStatus::Skipped));
                let said = verdict.system_message.unwrap();
                let why = "it ran 3 times in this turn, which is its limit";
                assert!(said.contains(why) && said.contains("hooks.yaml:1"), "{said}");
                assert_eq!(report.error.as_deref(), Some(why));
            }
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 9);
}

#[tokio::test]
async fn a_hook_that_can_not_be_counted_fails_and_does_not_run() {
    let place = tempfile::tempdir().unwrap();
    let (registry, runs) = counting();
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (directory, input, limit, cause) in [
        (place.path().join("counts"), input("", "t"), "3", "no `session_id`"),
        (place.path().join("counts"), input("s", ""), "{ times: 3, per: turn }", "no `turn_id`"),
        (file.join("counts"), input("s", "t"), "3", "can't be used to count"),
    ] {
        let builder = Executor::builder(limited(Stop, limit)).registry(registry.clone());
        let executor = builder.counts_in(directory).build().unwrap();
        let verdict = executor.dispatch(Stop, &input).await;
        assert_eq!(verdict.decision, None);
        assert_eq!(verdict.hooks[0].status, HookStatus::Failed);
        let said = verdict.system_message.unwrap();
        assert!(said.contains("`limit`: ") && said.contains(cause), "{said}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn each_value_of_the_key_is_counted_by_itself() {
    let (registry, runs) = counting();
    let config = limited(Notification, "{ times: 1, per: hour, key: notification_level }");
    let builder = Executor::builder(config).registry(registry).counts_in_memory();
    let executor = builder.build().unwrap();
    for level in [Some("error"), None, Some("warning"), Some("error"), None] {
        let level = level.map(str::to_owned);
        let input = Input { notification_level: level, ..input("s", "") };
        let verdict = executor.dispatch(Notification, &input).await;
        assert!(verdict.system_message.is_none_or(|it| !it.contains("limit")));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_guard_has_no_limit_even_when_a_host_sets_one() {
    let (registry, runs) = counting();
    let limit: RunLimit = limited(Stop, "1").hooks[0].limit.clone().unwrap();
    assert_eq!((limit.times, limit.per), (1, Period::Session));
    for event in Event::all() {
        let text = format!(
            "hooks: {{ {event}: [{}{{ type: builtin, command: n, limit: 1 }}{}] }}",
            if event.contract().tool_matched { "{ hooks: [" } else { "" },
            if event.contract().tool_matched { "] }" } else { "" },
        );
        let is_guard = event.contract().may_block || event.contract().rewrite != Rewrite::None;
        assert_eq!(Config::from_yaml(&text, "hooks.yaml").is_err(), is_guard, "{event}");
    }
    let mut guard = hook(PreToolUse, "n", &[]);
    guard.limit = Some(limit);
    let config = Config { hooks: vec![guard], ..Config::default() };
    let builder = Executor::builder(config).registry(registry).counts_in_memory();
    let executor = builder.build().unwrap();
    for _ in 0..3 {
        let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
        assert_eq!(verdict.decision, Some(Decision::Deny));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_hook_in_the_background_counts_too() {
    let (registry, runs) = counting();
    let text = "hooks: { stop: [{ type: builtin, command: n, limit: 2, background: true }] }";
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    let builder = Executor::builder(config).registry(registry).counts_in_memory();
    let executor = builder.build().unwrap();
    for _ in 0..5 {
        let _ = executor.dispatch(Stop, &input("s", "")).await;
    }
    executor.shutdown(Duration::from_mins(1)).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}
