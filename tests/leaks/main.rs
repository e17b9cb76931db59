//! What is left in the host after many hooks: nothing. One test, alone in its process, because it
//! counts what the whole process has open.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::time::{Duration, Instant};

use hookexec::config::{Command, Hook};
use hookexec::{Call, Event, Failure, HandlerEnv, HandlerError, HandlerResult, Input, Registry};
use rustix::process::{Resource, getrlimit, setrlimit};

const HANG: Duration = Duration::from_mins(2);

#[tokio::test]
async fn hooks_leave_neither_descriptors_nor_zombies_behind() {
    // The runtime opens what it needs at its first child.
    run("cat; echo", HANG).await.unwrap();
    let open = descriptors();

    for _ in 0..200 {
        run("cat >/dev/null; echo talk; echo more >&2", HANG).await.unwrap();
    }
    assert_eq!(descriptors(), open, "after 200 hooks");

    for text in ["sleep 5 & exit 0", "exec <&- >&- 2>&-; exit 3"] {
        run(text, HANG).await.unwrap();
    }
    for text in ["yes", "kill -9 $$"] {
        let _ = run(text, HANG).await.unwrap_err();
    }
    let _ = run("sleep 1000 & wait", Duration::from_millis(100)).await.unwrap_err();
    run("true", Duration::ZERO).await.ok();
    assert_eq!(descriptors(), open, "after hooks that end badly");

    for _ in 0..50 {
        let cancelled = tokio::time::timeout(Duration::from_millis(1), run("sleep 1000", HANG));
        assert!(cancelled.await.is_err());
    }
    let all_gone = async {
        while descriptors() != open || has_children() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(HANG, all_gone).await.is_ok(), "cancelled hooks left something");

    a_want_of_descriptors_is_a_failure_that_says_so(open).await;
}

async fn a_want_of_descriptors_is_a_failure_that_says_so(open: usize) {
    let limits = getrlimit(Resource::Nofile);
    for spare in 0..8 {
        let mut few = limits;
        few.current = Some(u64::try_from(open + spare).unwrap());
        setrlimit(Resource::Nofile, few).unwrap();
        let result = run("cat", HANG).await;
        setrlimit(Resource::Nofile, limits).unwrap();
        if let Err(error) = result {
            assert_eq!(error.failure, Failure::Start);
            assert!(error.message.contains("too many files are open"), "{error}");
        } else {
            assert!(spare > 3, "three pipes with {spare} descriptors");
        }
    }
    run("cat", HANG).await.unwrap();
    assert_eq!(descriptors(), open, "after a want of descriptors");
}

async fn run(text: &str, timeout: Duration) -> Result<HandlerResult, HandlerError> {
    let env = HandlerEnv::new(std::env::temp_dir(), std::env::vars_os());
    let hook = Hook::new(Event::Stop, "command", Command::Text(text.to_owned()));
    let handler = Registry::new().factory("command").unwrap().build(&env, &hook).unwrap();
    let input = Input::default();
    let call = Call::new(hook.event, &input, Instant::now() + timeout);
    handler.run(&call).await
}

fn descriptors() -> usize {
    // Reading the directory opens it: one too many, each time.
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn has_children() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let children =
        threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")));
    // A thread may have ended meanwhile.
    children.flatten().any(|children| !children.trim().is_empty())
}
