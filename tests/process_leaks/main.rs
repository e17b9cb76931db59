//! What 10,000 calls of a process leave in the host: nothing. One test, alone in its process,
//! because it counts what the whole process has.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::time::Duration;

use futures_util::future::join_all;
use hookexec::{Config, Event, Executor, Input};
use tokio::runtime::Handle;

const HANG: Duration = Duration::from_mins(5);

/// Answers every call, with text on stderr and noise between the answers now and then.
const CHILD: &str = "
import json, sys
for number, line in enumerate(iter(sys.stdin.readline, '')):
    message = json.loads(line)
    if number % 50 == 0:
        print('noise', number, flush=True)
        print('talk', number, file=sys.stderr, flush=True)
    if 'id' in message:
        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {}}), flush=True)
";

const CONFIG: &str = "
processes:
  p: { command: [python3, child.py] }
  o: { command: [python3, child.py], observe: [tool_exec_start] }
hooks:
  pre_tool_use:
    - hooks: [{ type: process, command: p, timeout: 60 }]
";

/// What the process has, all of which must come back to where it was.
#[derive(Debug, PartialEq, Eq)]
struct Possessions {
    descriptors: usize,
    threads: usize,
    tasks: usize,
    children: usize,
}

#[tokio::test]
async fn ten_thousand_calls_leave_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("child.py"), CHILD).unwrap();
    let executor = || {
        let config = Config::from_yaml(CONFIG, directory.path().join("hooks.yaml")).unwrap();
        Executor::builder(config).working_dir(directory.path()).build().unwrap()
    };

    // The runtime opens what it needs at its first child.
    let first = executor();
    calls(&first, 1).await;
    first.shutdown(HANG).await;
    let before = settled(|_| true).await;

    let executor = executor();
    calls(&executor, 20).await;
    let running = settled(|now| now.tasks == 2 && now.children == 2).await;
    assert_eq!((running.tasks, running.children), (2, 2), "one task a child");
    let memory = resident();
    calls(&executor, 200).await;
    assert_eq!(settled(|now| *now == running).await, running, "after 10,000 calls");
    let grown = resident().saturating_sub(memory);
    assert!(grown < 4 << 20, "10,000 calls cost {grown} bytes");

    // Calls that nobody waits for leave nothing, either.
    for _ in 0..500 {
        let input = input();
        let call = executor.dispatch(Event::PreToolUse, &input);
        let _ = tokio::time::timeout(Duration::from_micros(20), call).await;
    }
    assert_eq!(settled(|now| *now == running).await, running, "after calls that were dropped");
    let [observer, guard] = &executor.process_statistics()[..] else { panic!() };
    assert_eq!((guard.crashes, observer.crashes), (0, 0), "{guard:?}");
    assert_eq!(observer.notifications_dropped, 0, "{observer:?}");

    executor.shutdown(HANG).await;
    assert_eq!(settled(|now| *now == before).await, before, "after the shutdown");
}

/// Dispatches `rounds` times fifty at once.
async fn calls(executor: &Executor, rounds: usize) {
    for _ in 0..rounds {
        let input = input();
        let verdicts = join_all((0..50).map(|_| executor.dispatch(Event::PreToolUse, &input)));
        for verdict in tokio::time::timeout(HANG, verdicts).await.unwrap() {
            assert!(verdict.allowed, "{verdict:#?}");
        }
    }
}

fn input() -> Input {
    serde_json::from_str(r#"{"tool_name":"shell","tool_input":{"cmd":"ls -l"}}"#).unwrap()
}

/// Waits until what the process has is as wished, for a moment that is long on any machine, and
/// returns it.
async fn settled(wished: impl Fn(&Possessions) -> bool) -> Possessions {
    for _ in 0..5000 {
        if wished(&possessions()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    possessions()
}

fn possessions() -> Possessions {
    let entries = |path| std::fs::read_dir(path).unwrap().count();
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let children = threads.filter_map(|thread| {
        // A thread may have ended meanwhile.
        std::fs::read_to_string(thread.ok()?.path().join("children")).ok()
    });
    Possessions {
        descriptors: entries("/proc/self/fd"),
        threads: entries("/proc/self/task"),
        tasks: Handle::current().metrics().num_alive_tasks(),
        children: children.map(|children| children.split_whitespace().count()).sum(),
    }
}

/// Returns how much memory the process has, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}
