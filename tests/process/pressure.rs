//! Children that do not read, and observers that can't keep up.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hookexec::Event;
use serde_json::json;

use super::harness::{HANG, Project, ask, dispatch, error, shell, shutdown, statistics, tool};

// On a runtime of several threads: the calls keep the first one busy, and the deadlines must not wait
// for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_child_that_stops_reading_holds_nobody_beyond_the_deadline() {
    let project = Project::with(
        "
hello()
note('greeted', 1)
while not os.path.exists('read'):
    time.sleep(0.01)
for message in messages():
    reply(message, {'action': 'deny_tool', 'reason': message['params']['arguments']['cmd'][:5]})
",
    );
    let executor = project.executor(
        "
processes: { p: { command: [python3, p.py] } }
hooks:
  pre_tool_use:
    - { matcher: shell, hooks: [{ type: process, command: p, timeout: 4s }] }
    - { matcher: patient, hooks: [{ type: process, command: p, timeout: 60 }] }
",
    );
    executor.check_processes().await;
    // Ten MiB, and then as much again as may wait at all.
    let megabyte = "x".repeat(1 << 20);
    let started = Instant::now();
    let verdicts = join_all((0..26).map(|_| ask(&executor, &megabyte))).await;
    assert!(started.elapsed() < HANG);
    for verdict in &verdicts {
        let error = error(verdict);
        assert!(error.contains("it does not read its stdin"), "{error}");
        assert!(!verdict.allowed);
    }
    // What nobody waits for any more was taken back, but for the message that had begun.
    project.write("read", "");
    let again = tool("patient", json!({ "cmd": "again" }));
    let verdict = dispatch(&executor, Event::PreToolUse, &again).await;
    assert_eq!(verdict.message.as_deref(), Some("again"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_slow_reader_gets_everything() {
    let project = Project::with(
        "
hello()
time.sleep(0.3)
for message in messages():
    reply(message, {'action': 'deny_tool', 'reason': str(len(message['params']['arguments']['cmd']))})
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    let megabyte = "x".repeat(1 << 20);
    let verdicts = join_all((0..24).map(|_| ask(&executor, &megabyte))).await;
    for verdict in &verdicts {
        assert_eq!(verdict.message.as_deref(), Some("1048576"), "{:?}", verdict.hooks[0].error);
    }
    shutdown(&executor).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_caller_that_leaves_in_the_middle_of_a_line_breaks_no_line() {
    // A line that is not JSON would end the child.
    let project = Project::with(
        "
hello(cancel=True)
for message in messages():
    if 'id' in message:
        time.sleep(0.001)
        reply(message, {'action': 'deny_tool', 'reason': str(len(message['params']['arguments']['cmd']))})
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    executor.check_processes().await;
    let long = "x".repeat(300_000);
    for round in 0..10 {
        let callers = (0..10).map(|caller| {
            let patience = Duration::from_micros(500 * (round + caller));
            tokio::time::timeout(patience, ask(&executor, &long))
        });
        for verdict in join_all(callers).await.into_iter().flatten() {
            assert_eq!(verdict.message.as_deref(), Some("300000"), "{:?}", verdict.hooks[0].error);
        }
    }
    let verdict = ask(&executor, "short").await;
    assert_eq!(verdict.message.as_deref(), Some("5"), "{verdict:#?}");
    let statistics = statistics(&executor);
    assert_eq!((statistics.starts, statistics.crashes), (1, 0));
    shutdown(&executor).await;
}

const OBSERVER: &str = "
processes:
  p: { command: [python3, p.py], observe: [\"*\"] }
  guard: { command: [python3, guard.py] }
hooks:
  pre_tool_use:
    - hooks: [{ type: process, command: guard, timeout: 60 }]
";

#[tokio::test]
async fn an_observer_is_told_and_answers_nothing() {
    let project = Project::with(
        "
hello()
told = [json.loads(sys.stdin.readline()) for _ in range(3)]
note('told', json.dumps(told))
sys.stdin.read()
",
    );
    let executor =
        project.executor("processes: { p: { command: [python3, p.py], observe: [\"*\"] } }\n");
    let _ = dispatch(&executor, Event::SessionStart, &shell("ls")).await;
    let _ = dispatch(&executor, Event::PreToolUse, &shell("ls")).await;
    let verdict = dispatch(&executor, Event::Stop, &shell("ls")).await;
    assert_eq!(verdict.decision, None);
    let told: serde_json::Value = serde_json::from_str(&project.noted("told").await).unwrap();
    let kinds: Vec<_> = (0..3).map(|at| told[at]["params"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["agent.session_start", "agent.tool.exec_start", "agent.stop"]);
    assert_eq!(told[1]["method"], "hook.runtime_event");
    assert!(told[1].get("id").is_none());
    assert_eq!(told[1]["params"]["payload"]["Arguments"]["cmd"], "ls");
    let statistics = statistics(&executor);
    assert_eq!((statistics.notifications, statistics.notifications_dropped), (3, 0));
    shutdown(&executor).await;
}

#[tokio::test]
async fn older_observers_are_told_with_the_older_method() {
    let project = Project::with("hello()\nnote('told', sys.stdin.readline())\nsys.stdin.read()");
    let executor = project.executor(
        "processes: { p: { command: [python3, p.py], event_method: event, observe: [tool_exec_end] } }\n",
    );
    let _ = dispatch(&executor, Event::PostToolUse, &shell("ls")).await;
    let told: serde_json::Value = serde_json::from_str(&project.noted("told").await).unwrap();
    assert_eq!(told["method"], "hook.event");
    assert_eq!(told["params"]["Kind"], "tool_exec_end");
    shutdown(&executor).await;
}

#[tokio::test]
async fn an_observer_that_hangs_delays_no_decision_and_its_losses_are_counted() {
    let project = Project::with("hello()\ntime.sleep(1000)");
    project.script("guard.py", "serve(lambda m, p: {'action': 'deny_tool'})");
    let executor = project.executor(OBSERVER);
    let text = "x".repeat(100_000);
    let mut reported = 0;
    for _ in 0..100 {
        let verdict = ask(&executor, &text).await;
        assert!(!verdict.allowed);
        // The guard denied; the observer said nothing, and never failed.
        assert_eq!(verdict.hooks[1].error, None, "{verdict:#?}");
        reported += usize::from(
            verdict
                .hooks
                .iter()
                .flat_map(|hook| &hook.warnings)
                .any(|text| text.contains("does not keep up")),
        );
    }
    let [_, observer] = &executor.process_statistics()[..] else { panic!() };
    assert!(observer.notifications_dropped > 0, "{observer:?}");
    assert_eq!(observer.notifications + observer.notifications_dropped, 100);
    assert_eq!(reported as u64, observer.notifications_dropped);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_dead_observer_stops_nothing() {
    let project = Project::with("sys.exit('no')");
    project.script("guard.py", "serve(lambda m, p: {})");
    let executor = project.executor(OBSERVER);
    for _ in 0..10 {
        assert!(ask(&executor, "ls").await.allowed);
    }
    shutdown(&executor).await;
    let observer = &executor.process_statistics()[1];
    assert_eq!(observer.notifications_dropped, 10, "{observer:?}");
}

#[tokio::test]
async fn a_shutdown_tells_what_was_to_be_told() {
    let project = Project::with(
        "
time.sleep(0.2)
hello()
count = sum(1 for _ in messages())
note('count', count)
",
    );
    let executor =
        project.executor("processes: { p: { command: [python3, p.py], observe: [turn_end] } }\n");
    for _ in 0..100 {
        let _ = dispatch(&executor, Event::TurnEnd, &shell("ls")).await;
    }
    shutdown(&executor).await;
    assert_eq!(project.noted("count").await, "100");
    assert_eq!(statistics(&executor).notifications_dropped, 0);
}
