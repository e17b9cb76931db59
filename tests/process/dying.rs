//! Children that end when nobody expects it.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hookexec::executor::ProcessStatistics;
use hookexec::{Decision, Event, Executor};

use super::harness::{
    Project, ask, ask_until, dispatch, error, lives, one, shell, shutdown, statistics,
};
use crate::state::until;
use crate::warnings::Warnings;

fn guard(project: &Project) -> Executor {
    project.one(&[Event::PreToolUse], "")
}

#[tokio::test]
async fn a_reply_written_just_before_the_end_is_never_lost() {
    let project = Project::new();
    // A shell starts faster than Python does.
    project.write(
        "p.sh",
        r#"read hello; echo '{"id":1,"result":{}}'; read call
printf '{"id":2,"result":{"action":"deny_tool"}}'"#,
    );
    let yaml = one(&[Event::PreToolUse], "").replace("python3, p.py", "sh, p.sh");
    let executor = project.executor(&yaml);
    for _ in 0..1000 {
        let verdict = ask(&executor, "ls").await;
        assert_eq!(verdict.hooks[0].error, None, "{verdict:#?}");
        assert_eq!(verdict.decision, Some(Decision::Deny));
        until("its end", || statistics(&executor).pid.is_none()).await;
    }
    let ProcessStatistics { starts, crashes, .. } = statistics(&executor);
    assert_eq!((starts, crashes), (1000, 0));
    shutdown(&executor).await;
}

#[tokio::test]
async fn calls_in_flight_fail_at_once_with_the_cause() {
    let project = Project::with(
        "
hello()
for _ in range(100):
    sys.stdin.readline()
print('disk on fire', file=sys.stderr)
os._exit(7)
",
    );
    let executor = guard(&project);
    let verdicts = join_all((0..100).map(|_| ask(&executor, "ls"))).await;
    for verdict in &verdicts {
        assert_eq!(verdict.decision, Some(Decision::Deny));
        let error = error(verdict);
        assert!(
            error.ends_with("ended before it answered `hook.before_tool`: it exited with code 7"),
            "{error}"
        );
        assert_eq!(verdict.hooks[0].stderr.as_deref(), Some("disk on fire"));
    }
    assert_eq!(statistics(&executor).crashes, 1);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_crashed_child_is_started_again() {
    let project = Project::with(
        "
def answer(method, params):
    if params['arguments']['cmd'] == 'crash':
        os._exit(3)
serve(answer)
",
    );
    let executor = guard(&project);
    for round in 1..=4 {
        assert!(ask(&executor, "ls").await.allowed);
        let verdict = ask(&executor, "crash").await;
        assert!(error(&verdict).contains("exited with code 3"), "{verdict:#?}");
        assert_eq!(statistics(&executor).crashes, round);
    }
    // It answered in between, so the circuit stays closed.
    assert!(ask(&executor, "ls").await.allowed);
    assert_eq!(statistics(&executor).starts, 5);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_that_crashes_after_calls_that_were_given_up_is_started_again() {
    // It answers too late, or not at all.
    for answer in ["reply(message, {})", ""] {
        let project = Project::with(&format!(
            "
import time
hello()
message = json.loads(sys.stdin.readline())
open('asked', 'w').close()
while not os.path.exists('late'):
    time.sleep(0.01)
{answer}
sys.exit(1)
"
        ));
        let executor = guard(&project);
        for round in 1..=6 {
            let _ = std::fs::remove_file(project.path("late"));
            while !project.path("asked").exists() {
                let soon = Instant::now() + Duration::from_millis(50);
                let verdict = ask_until(&executor, soon).await;
                let error = error(&verdict);
                assert!(!error.contains("left alone"), "round {round}: {error}");
            }
            std::fs::remove_file(project.path("asked")).unwrap();
            project.write("late", "");
            until("its crash", || statistics(&executor).crashes == round).await;
        }
        shutdown(&executor).await;
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_child_to_end_is_late() {
    let project = Project::with(
        "
import time
hello()
reply(json.loads(sys.stdin.readline()), {})
os.close(0)
open('closed', 'w').close()
time.sleep(100)
",
    );
    let executor = guard(&project);
    assert!(ask(&executor, "ls").await.allowed);
    until("its closed stdin", || project.path("closed").exists()).await;
    let soon = Instant::now() + Duration::from_millis(50);
    let verdict = ask_until(&executor, soon).await;
    assert!(error(&verdict).contains("the time for an answer passed"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_that_crashes_all_the_time_is_left_alone() {
    let project = Project::with("hello()\nsys.stdin.readline()\nsys.exit('again')");
    let executor = guard(&project);
    for _ in 0..5 {
        let verdict = ask(&executor, "ls").await;
        assert!(error(&verdict).ends_with("exited with code 1"), "{verdict:#?}");
    }
    for _ in 0..10 {
        let verdict = ask(&executor, "ls").await;
        let error = error(&verdict);
        assert!(
            error.starts_with("process `p` crashed 5 times in a row without answering a call and is left alone for another"),
            "{error}"
        );
        assert!(error.ends_with(": it exited with code 1") && !verdict.allowed, "{error}");
    }
    assert_eq!(statistics(&executor).starts, 5);
    shutdown(&executor).await;
}

#[tokio::test]
async fn what_a_child_prints_is_only_in_the_reports_of_the_calls_that_were_open() {
    let project = Project::with(
        "
hello()
message = json.loads(sys.stdin.readline())
secret = message['params']['arguments']['cmd']
out(secret + '\\n' + json.dumps(secret) + '\\n')
say({'error': {'code': 1, 'message': secret}})
sys.exit(secret)
",
    );
    let executor = project.one(&[Event::PreToolUse, Event::Stop], "");
    let (warnings, _guard) = Warnings::watch();
    for _ in 0..5 {
        let mut verdict = ask(&executor, "hunter2").await;
        let printed = [verdict.hooks[0].stderr.take(), verdict.stderr.take()];
        assert_eq!(printed, [Some("hunter2".into()), Some("hunter2".into())]);
        assert!(!format!("{verdict:?}").contains("hunter2"), "{verdict:#?}");
    }
    let verdict = dispatch(&executor, Event::Stop, &shell("ls")).await;
    assert!(error(&verdict).contains("left alone"), "{verdict:#?}");
    assert!(!format!("{verdict:?}").contains("hunter2"), "{verdict:#?}");
    let warnings = warnings.take();
    assert!(warnings.iter().any(|text| text.contains("it exited with code 1")), "{warnings:#?}");
    assert!(!warnings.concat().contains("hunter2"), "{warnings:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn what_a_dead_child_leaves_in_its_group_dies_with_it() {
    let project = Project::with(
        "
import subprocess
hello()
child = subprocess.Popen(['sleep', '1000'])
note('pid', child.pid)
sys.stdin.readline()
os._exit(1)
",
    );
    let executor = guard(&project);
    let verdict = ask(&executor, "ls").await;
    assert!(error(&verdict).contains("exited with code 1"), "{verdict:#?}");
    let pid = project.noted("pid").await.parse().unwrap();
    until("the end of the grandchild", || !lives(pid)).await;
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_daemon_that_holds_the_pipes_delays_nothing() {
    let project = Project::with(
        "
hello()
if os.fork() == 0:
    os.setsid()
    note('pid', os.getpid())
    time.sleep(1000)
sys.stdin.readline()
while not os.path.exists('pid'):
    time.sleep(0.01)
os._exit(4)
",
    );
    let executor = guard(&project);
    let verdict = ask(&executor, "ls").await;
    assert!(error(&verdict).contains("exited with code 4"), "{verdict:#?}");
    shutdown(&executor).await;
    let pid: u32 = project.noted("pid").await.parse().unwrap();
    assert!(lives(pid), "who leaves the group is not reached");
    std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
}

#[tokio::test]
async fn a_child_that_closes_its_stdout_is_ended() {
    let project = Project::with(
        "hello()\nnote('pid', os.getpid())\nsys.stdin.readline()\nos.close(1)\ntime.sleep(1000)",
    );
    let executor = guard(&project);
    let verdict = ask(&executor, "ls").await;
    assert!(error(&verdict).contains("it closed its stdout and was killed"), "{verdict:#?}");
    let pid = project.noted("pid").await.parse().unwrap();
    until("its end", || !lives(pid)).await;
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_that_closes_its_stdin_is_ended_and_replaced() {
    let project = Project::with(
        "
hello()
if not os.path.exists('pid'):
    os.close(0)
    note('pid', os.getpid())
    time.sleep(1000)
for message in messages():
    reply(message, {})
",
    );
    let executor = guard(&project);
    executor.check_processes().await;
    let pid = project.noted("pid").await.parse().unwrap();
    // The call can't reach it, so the next child may have it.
    assert!(ask(&executor, "ls").await.allowed);
    assert!(!lives(pid));
    assert_eq!(statistics(&executor).starts, 2);
    shutdown(&executor).await;
}

#[test]
fn a_child_of_a_runtime_that_has_ended_is_replaced() {
    let project = Project::with("note('pid', os.getpid())\nserve(lambda m, p: None)");
    let executor = guard(&project);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(runtime().block_on(ask(&executor, "ls")).allowed);
    let pid = std::fs::read_to_string(project.path("pid")).unwrap().parse().unwrap();
    runtime().block_on(async {
        until("the end of the first child", || !lives(pid)).await;
        assert!(ask(&executor, "ls").await.allowed);
        shutdown(&executor).await;
    });
    let statistics = statistics(&executor);
    assert_eq!((statistics.starts, statistics.crashes), (2, 0));
}
