//! The end of the executor, and of the host.

use std::process::{Command, Stdio};
use std::time::Instant;

use hookexec::Event;

use super::harness::{HANG, Project, ask, error, lives, one, shutdown, statistics};
use crate::state::until;

#[tokio::test]
async fn a_shutdown_is_the_end_of_input_first() {
    let project = Project::with("serve(lambda m, p: None)\nnote('left', 'in peace')");
    let executor = project.one(&[Event::PreToolUse], "");
    assert!(ask(&executor, "ls").await.allowed);
    let started = Instant::now();
    shutdown(&executor).await;
    assert_eq!(project.noted("left").await, "in peace");
    assert!(started.elapsed() < HANG);
    assert_eq!(statistics(&executor).crashes, 0);
    let verdict = ask(&executor, "ls").await;
    assert_eq!(error(&verdict), "process `p` was shut down with its executor");
    // Once more is no harm.
    shutdown(&executor).await;
}

#[tokio::test]
async fn then_it_is_term_and_then_it_is_kill_for_the_whole_group() {
    let project = Project::with(
        "
import signal, subprocess
def term(*_):
    note('term', 1)
signal.signal(signal.SIGTERM, term)
child = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 1000'])
note('pids', f'{os.getpid()} {child.pid}')
hello()
while True:
    time.sleep(1)
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    executor.check_processes().await;
    let pids = project.noted("pids").await;
    shutdown(&executor).await;
    assert!(project.path("term").exists());
    for pid in pids.split(' ') {
        let pid = pid.parse().unwrap();
        until("the end of the group", || !lives(pid)).await;
    }
}

#[tokio::test]
async fn a_child_that_hangs_gets_term_at_once() {
    let project = Project::with(
        "
hello()
sys.stdin.read()
time.sleep(1.5)
note('left', 1)
",
    );
    let yaml = one(&[Event::PreToolUse], "").replace("timeout: 60", "timeout: 200ms");
    let executor = project.executor(&yaml);
    executor.check_processes().await;
    assert!(!ask(&executor, "ls").await.allowed);
    shutdown(&executor).await;
    assert!(!project.path("left").exists(), "it was waited for");
}

#[tokio::test]
async fn answers_count_until_the_end() {
    let project = Project::with(
        "
hello()
message = json.loads(sys.stdin.readline())
note('asked', 1)
sys.stdin.read()
reply(message, {'action': 'deny_tool', 'reason': 'at last'})
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    let (verdict, ()) = tokio::join!(ask(&executor, "ls"), async {
        project.noted("asked").await;
        shutdown(&executor).await;
    });
    assert_eq!(verdict.message.as_deref(), Some("at last"), "{verdict:#?}");
}

#[tokio::test]
async fn a_call_that_the_shutdown_cuts_off_fails_with_the_cause() {
    let project =
        Project::with("hello()\nsys.stdin.readline()\nnote('asked', 1)\nsys.stdin.read()");
    let executor = project.one(&[Event::PreToolUse], "");
    let (verdict, ()) = tokio::join!(ask(&executor, "ls"), async {
        project.noted("asked").await;
        shutdown(&executor).await;
    });
    assert!(
        error(&verdict).contains("ended before it answered `hook.before_tool`: it was stopped"),
        "{verdict:#?}"
    );
    assert!(!verdict.allowed);
}

#[tokio::test]
async fn a_dropped_executor_leaves_nobody() {
    let project = Project::with(
        "
import subprocess
child = subprocess.Popen(['sleep', '1000'])
note('pids', f'{os.getpid()} {child.pid}')
hello()
time.sleep(1000)
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    executor.check_processes().await;
    let pids = project.noted("pids").await;
    drop(executor);
    for pid in pids.split(' ') {
        let pid = pid.parse().unwrap();
        until("the end of the group", || !lives(pid)).await;
    }
}

#[tokio::test]
async fn an_executor_dropped_during_a_start_leaves_nobody() {
    let project = Project::with("note('pid', os.getpid())\ntime.sleep(1000)");
    let executor = project.one(&[Event::PreToolUse], ", start: eager");
    executor.start_processes();
    let pid = project.noted("pid").await.parse().unwrap();
    drop(executor);
    until("its end", || !lives(pid)).await;
}

/// Not a test of its own: the host that the next test kills.
#[tokio::test]
#[ignore = "run by the_children_of_a_killed_host_see_the_end_of_their_input"]
async fn host() {
    let project = Project::new();
    let directory = std::env::var("HOOKEXEC_TEST_PROJECT").unwrap();
    let yaml =
        super::harness::one(&[Event::PreToolUse], "").replace("p.py", &format!("{directory}/p.py"));
    let executor = project.executor(&yaml);
    assert!(ask(&executor, "ls").await.allowed);
    std::fs::write(format!("{directory}/ready"), "").unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_children_of_a_killed_host_see_the_end_of_their_input() {
    let project = Project::new();
    let directory = project.path("").display().to_string();
    project.script(
        "p.py",
        &format!("os.chdir({directory:?})\nnote('pid', os.getpid())\nserve(lambda m, p: None)\nnote('end', 1)"),
    );
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process::stopping::host", "--ignored", "--nocapture"])
        .env("HOOKEXEC_TEST_PROJECT", &directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    project.noted("ready").await;
    host.kill().unwrap();
    host.wait().unwrap();
    project.noted("end").await;
    let pid = project.noted("pid").await.parse().unwrap();
    until("its end", || !lives(pid)).await;
}
