//! Whole events with real programs: many hooks, two executors, callers that go away.

use hookexec::wire::HookStatus;
use hookexec::{Decision, Event, Executor};
use serde_json::{Value, json};

use super::harness::{HANG, Project, input};
use crate::state::{state, until};

fn hook(command: &str) -> Value {
    json!({ "command": command })
}

#[tokio::test]
async fn two_hundred_hooks_of_one_event_are_folded_in_their_order() {
    let project = Project::new();
    // The later in the file, the sooner done; one of them denies.
    let hooks: Vec<Value> = (0..200)
        .map(|number| {
            let wait = f64::from((200 - number) % 10) / 100.0;
            let end = if number == 100 { "echo no >&2; exit 2" } else { "" };
            hook(&format!("cat >/dev/null; sleep {wait}; echo {number}; {end}"))
        })
        .collect();
    let verdict = project.verdict(Event::UserPromptSubmit, &hooks).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert_eq!(verdict.message.as_deref(), Some("no"));
    let numbers: Vec<String> =
        (0..200).filter(|number| *number != 100).map(|number| number.to_string()).collect();
    assert_eq!(verdict.additional_context, Some(numbers.join("\n")));
    assert_eq!(verdict.hooks.len(), 200);
    assert_eq!(verdict.failed_open, Vec::<String>::new());
}

#[test]
fn two_executors_in_one_process_do_not_meet() {
    let projects = [Project::new(), Project::new()];
    let executors: Vec<Executor> = projects
        .iter()
        .map(|project| {
            project.executor(Event::SessionStart, &[hook("cat >/dev/null; sleep 0.01; pwd -P")])
        })
        .collect();
    let expected: Vec<String> =
        projects.iter().map(|project| project.path().to_str().unwrap().to_owned()).collect();
    let ask = async |executor: &Executor, expected: &str| {
        for _ in 0..10 {
            let verdict = executor.dispatch(Event::SessionStart, &input()).await;
            assert_eq!(verdict.additional_context.as_deref(), Some(expected));
        }
    };

    // In one runtime at the same time, and in two runtimes of two threads.
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        tokio::join!(ask(&executors[0], &expected[0]), ask(&executors[1], &expected[1]));
    });
    std::thread::scope(|threads| {
        for (executor, expected) in executors.iter().zip(&expected) {
            threads.spawn(move || runtime().block_on(ask(executor, expected)));
        }
    });
}

#[tokio::test]
async fn dropping_a_dispatch_stops_all_of_its_hooks() {
    let project = Project::new();
    let text = |number: usize| {
        format!("trap '' TERM; sleep 1000 & echo $! >job{number}; echo $$ >leader{number}; wait")
    };
    let hooks: Vec<Value> = (0..5).map(|number| hook(&text(number))).collect();
    let executor = project.executor(Event::PreToolUse, &hooks);
    let names = (0..5).flat_map(|number| [format!("job{number}"), format!("leader{number}")]);
    let files: Vec<_> = names.map(|name| project.path().join(name)).collect();
    let input = input();
    let ready = || files.iter().all(|file| file.metadata().is_ok_and(|data| data.len() > 0));
    tokio::select! {
        verdict = executor.dispatch(Event::PreToolUse, &input) => panic!("{verdict:?}"),
        () = until("ten pids", ready) => {}
    }
    for file in files {
        let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        // A job is its parent's to reap; a leader is ours, and no zombie of it may stay.
        let is_job = file.file_name().unwrap().to_str().unwrap().starts_with("job");
        until("the end of all processes", || match state(&pid) {
            Some('Z') => is_job,
            state => state.is_none(),
        })
        .await;
    }
}

#[tokio::test]
async fn a_caller_may_go_away_and_come_back() {
    let project = Project::new();
    let text = "[ -e second ] && exit 0; touch first; sleep 1000";
    let executor = project.executor(Event::PreToolUse, &[hook(text)]);
    let first = project.path().join("first");
    let input = input();
    tokio::select! {
        verdict = executor.dispatch(Event::PreToolUse, &input) => panic!("{verdict:?}"),
        () = until("the first call", || first.exists()) => {}
    }
    std::fs::write(project.path().join("second"), "").unwrap();
    assert!(executor.dispatch(Event::PreToolUse, &input).await.allowed);
}

/// A hook that asks for the background, says so in a file, and waits for another.
const ASYNC: &str = "cat >told; echo '{\"async\": true}'; touch asked; \
                     while [ ! -e go ]; do sleep 0.01; done; echo '{\"decision\": \"deny\"}'; touch done";

#[tokio::test]
async fn a_hook_that_asks_for_it_goes_on_in_the_background() {
    let project = Project::new();
    let executor = project.executor(Event::SessionStart, &[hook(ASYNC)]);
    // It would wait for the file until its timeout.
    let verdict = executor.dispatch(Event::SessionStart, &input()).await;
    assert_eq!(verdict.hooks[0].status, HookStatus::Background, "{verdict:#?}");
    assert_eq!((verdict.decision, verdict.system_message), (None, None));
    let told = std::fs::read_to_string(project.path().join("told")).unwrap();
    assert!(told.ends_with('}'), "it gets all of its input: {told}");
    assert!(!project.path().join("done").exists());
    project.file("go", "", 0o644);
    executor.shutdown(HANG).await;
    assert!(project.path().join("done").exists(), "a shutdown waits for it");
}

#[tokio::test]
async fn a_hook_in_the_background_ends_at_its_timeout() {
    let project = Project::new();
    let text =
        "trap 'touch stopped; exit' TERM; echo '{\"async\": true}'; while :; do sleep 0.01; done";
    let mut hook = hook(text);
    hook["timeout"] = json!("1s");
    let executor = project.executor(Event::Notification, &[hook]);
    let verdict = executor.dispatch(Event::Notification, &input()).await;
    assert_eq!(verdict.hooks[0].status, HookStatus::Background, "{verdict:#?}");
    executor.shutdown(HANG).await;
    assert!(project.path().join("stopped").exists());
}

#[tokio::test]
async fn an_event_that_waits_for_answers_says_that_no_hook_may_leave() {
    for (event, decision) in [(Event::PreToolUse, Some(Decision::Deny)), (Event::PostToolUse, None)]
    {
        let project = Project::new();
        project.file("go", "", 0o644);
        let verdict = project.verdict(event, &[hook(ASYNC)]).await;
        assert_eq!(verdict.decision, decision, "{verdict:#?}");
        let error = verdict.hooks[0].error.as_deref().unwrap();
        assert!(error.contains(&format!("`{event}` waits for its answer")), "{error}");
    }
}
