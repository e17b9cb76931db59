//! Children whose replies come in odd ways.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hookexec::{Decision, Event, Executor};

use super::harness::{HANG, Project, ask, error, one, shutdown, statistics};
use crate::state::until;

fn guard(project: &Project) -> Executor {
    project.one(&[Event::PreToolUse], "")
}

/// A guard with a short timeout.
fn hasty(project: &Project, timeout: &str) -> Executor {
    project.executor(
        &one(&[Event::PreToolUse], "").replace("timeout: 60", &format!("timeout: {timeout}")),
    )
}

#[tokio::test]
async fn replies_in_any_order_find_their_calls() {
    let project = Project::with(
        "
hello()
calls = [json.loads(sys.stdin.readline()) for _ in range(64)]
for call in reversed(calls):
    reply(call, {'action': 'deny_tool', 'reason': call['params']['arguments']['cmd']})
sys.stdin.read()
",
    );
    let executor = guard(&project);
    let commands: Vec<String> = (0..64).map(|number| format!("command {number}")).collect();
    let verdicts = join_all(commands.iter().map(|command| ask(&executor, command))).await;
    for (command, verdict) in commands.iter().zip(&verdicts) {
        assert_eq!(verdict.message.as_ref(), Some(command), "{verdict:#?}");
    }
    shutdown(&executor).await;
}

#[tokio::test]
async fn late_and_repeated_and_foreign_replies_are_dropped_and_counted() {
    let project = Project::with(
        "
hello()
first = json.loads(sys.stdin.readline())
second = json.loads(sys.stdin.readline())
reply(first, {'action': 'deny_tool'})
reply({'id': 999}, {'action': 'deny_tool'})
reply(second, {'action': 'continue'})
reply(second, {'action': 'deny_tool'})
sys.stdin.read()
",
    );
    let executor = hasty(&project, "1s");
    executor.check_processes().await;
    let late = ask(&executor, "one").await;
    assert!(error(&late).contains("did not answer `hook.before_tool`"), "{late:#?}");
    let verdict = ask(&executor, "two").await;
    assert_eq!(verdict.hooks[0].error, None, "{verdict:#?}");
    assert_eq!(verdict.decision, None);
    until("the replies", || statistics(&executor).replies_dropped == 3).await;
    assert_eq!(statistics(&executor).crashes, 0);
    shutdown(&executor).await;
}

#[tokio::test]
async fn noise_and_notifications_and_calls_between_replies_disturb_nothing() {
    let project = Project::with(
        "
hello()
for message in messages():
    if 'error' in message:
        note('refused', json.dumps(message))
        continue
    out('thinking...\\n\\r\\n')
    out('[1, 2\\n')
    say({'level': 'info', 'id': message['id'], 'text': 'a log line'})
    say({'jsonrpc': '2.0', 'method': 'log', 'params': {}})
    say({'jsonrpc': '2.0', 'id': message['id'], 'method': 'host.tools', 'params': {}})
    out('\\ufeff' + json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {'action': 'deny_tool'}}) + '\\r\\n')
",
    );
    let executor = guard(&project);
    assert_eq!(ask(&executor, "ls").await.decision, Some(Decision::Deny));
    let refused: serde_json::Value = serde_json::from_str(&project.noted("refused").await).unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&2.into(), &(-32601).into()));
    let statistics = statistics(&executor);
    assert_eq!(statistics.lines_unparsable, 3);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_line_over_the_cap_fails_its_call_and_the_next_is_read() {
    let project = Project::with(
        "
def answer(method, params):
    reason = 'x' * (3000000 if params['arguments']['cmd'] == 'long' else 10)
    return {'action': 'deny_tool', 'reason': reason}
serve(answer)
",
    );
    let executor = project.one(&[Event::PreToolUse], ", max_line: 1000000");
    for _ in 0..2 {
        let verdict = ask(&executor, "long").await;
        assert!(error(&verdict).contains("longer than 1000000 bytes (`max_line`)"), "{verdict:#?}");
        assert_eq!(ask(&executor, "short").await.message.as_deref(), Some("xxxxxxxxxx"));
    }
    let statistics = statistics(&executor);
    assert_eq!((statistics.lines_unparsable, statistics.starts), (2, 1));
    shutdown(&executor).await;
}

#[tokio::test]
async fn megabytes_go_both_ways() {
    let project = Project::with(
        "
def answer(method, params):
    return {'action': 'deny_tool', 'reason': params['arguments']['cmd']}
serve(answer)
",
    );
    let executor = guard(&project);
    let text = "0123456789abcdef".repeat(1 << 18);
    let verdict = ask(&executor, &text).await;
    assert_eq!(
        verdict.message.as_ref().map(String::len),
        Some(text.len()),
        "{:?}",
        verdict.hooks[0].error
    );
    assert_eq!(verdict.message.as_deref(), Some(text.as_str()));
    shutdown(&executor).await;
}

#[tokio::test]
async fn what_can_not_be_read_fails_the_call_at_once() {
    for (reply, expected) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":}", "can't be read: expected value"),
        ("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"result\":{}}", "duplicate field `result`"),
        (
            "{\"id\":2,\"result\":{\"action\":\"continue\",\"action\":\"deny_tool\"}}",
            "key `action` appears twice",
        ),
        (
            "{\"id\":2,\"result\":{\"reason\":\"\\ud800\"}}",
            "can't be used: unexpected end of hex escape",
        ),
        ("{\"id\":2,\"result\":[]}", "can't be used: it is not an object"),
        ("{\"id\":2,\"result\":\"continue\"}", "can't be used: it is not an object"),
        (
            "{\"id\":2,\"error\":{\"code\":-32000,\"message\":\"boom\"},\"result\":{}}",
            "with error -32000: boom",
        ),
        ("{\"id\":2,\"error\":\"boom\"}", "invalid type: string \"boom\""),
    ] {
        let project = Project::with(
            "hello()\nsys.stdin.readline()\nout(open('reply').read() + '\\n')\nsys.stdin.read()",
        );
        project.write("reply", reply);
        let executor = guard(&project);
        let verdict = ask(&executor, "ls").await;
        assert!(error(&verdict).contains(expected), "{reply}: {}", error(&verdict));
        assert_eq!(verdict.decision, Some(Decision::Deny));
        shutdown(&executor).await;
    }
}

#[tokio::test]
async fn a_timeout_tells_what_came_instead_of_an_answer() {
    let project =
        Project::with("hello()\nsys.stdin.readline()\nout('{\"oops\\n')\nsys.stdin.read()");
    let executor = hasty(&project, "500ms");
    executor.check_processes().await;
    let verdict = ask(&executor, "ls").await;
    let error = error(&verdict);
    assert!(error.contains("did not answer `hook.before_tool` within "), "{error}");
    assert!(error.contains("1 lines on its stdout were not messages so far"), "{error}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_that_asked_for_it_hears_of_calls_that_were_given_up() {
    for (greeting, wants) in [("hello(cancel=True)", true), ("hello()", false)] {
        let project = Project::with(&format!(
            "
{greeting}
first = json.loads(sys.stdin.readline())
second = json.loads(sys.stdin.readline())
note('heard', json.dumps([first['id'], second['method'], second['params']]))
sys.stdin.read()
"
        ));
        let executor = hasty(&project, "500ms");
        executor.check_processes().await;
        let _ = ask(&executor, "one").await;
        if !wants {
            let _ = ask(&executor, "two").await;
        }
        let heard: serde_json::Value = serde_json::from_str(&project.noted("heard").await).unwrap();
        if wants {
            assert_eq!(heard, serde_json::json!([2, "hook.cancel", { "id": 2 }]));
        } else {
            assert_eq!(heard[1], "hook.before_tool");
        }
        shutdown(&executor).await;
    }
}

#[tokio::test]
async fn a_dispatch_that_is_dropped_leaves_no_call_open() {
    let project = Project::with(
        "
hello()
held = json.loads(sys.stdin.readline())
note('held', 1)
for message in messages():
    reply(held, {})
    reply(message, {'action': 'deny_tool'})
",
    );
    let executor = guard(&project);
    executor.check_processes().await;
    tokio::select! {
        biased;
        verdict = ask(&executor, "one") => panic!("{verdict:#?}"),
        () = until("the child has the call", || project.path("held").exists()) => {}
    }
    assert_eq!(ask(&executor, "two").await.decision, Some(Decision::Deny));
    assert_eq!(statistics(&executor).replies_dropped, 1);
    shutdown(&executor).await;
}

#[tokio::test]
async fn sixty_four_callers_share_a_child_for_a_while() {
    let project = Project::with(
        "
def answer(method, params):
    return {'action': 'deny_tool', 'reason': params['arguments']['cmd']}
serve(answer)
",
    );
    let executor = guard(&project);
    let caller = async |name: usize| {
        for round in 0..50 {
            let command = format!("{name}/{round}");
            assert_eq!(ask(&executor, &command).await.message, Some(command));
        }
    };
    tokio::time::timeout(2 * HANG, join_all((0..64).map(caller))).await.unwrap();
    assert_eq!(statistics(&executor).starts, 1);
    shutdown(&executor).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_share_a_child() {
    let project = Project::with(
        "
def answer(method, params):
    return {'action': 'deny_tool', 'reason': params['arguments']['cmd']}
serve(answer)
",
    );
    let executor = std::sync::Arc::new(guard(&project));
    let callers = (0..16).map(|name| {
        let executor = std::sync::Arc::clone(&executor);
        tokio::spawn(async move {
            for round in 0..50 {
                // Larger than a pipe, so that writes are cut and finished by another thread.
                let command = format!("{name}/{round}/{}", "x".repeat(round * 2000));
                assert_eq!(ask(&executor, &command).await.message, Some(command));
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    shutdown(&executor).await;
}

#[tokio::test]
async fn an_answer_that_is_there_counts_although_the_thread_was_busy_past_the_deadline() {
    let project = Project::with(
        "
hello()
for message in messages():
    note('asked', 1)
    while not os.path.exists('go'):
        time.sleep(0.001)
    reply(message, {'action': 'deny_tool', 'reason': 'in time'})
    note('answered', 1)
",
    );
    let executor = hasty(&project, "1s");
    executor.check_processes().await;
    let started = Instant::now();
    let busy = async {
        until("the call", || project.path("asked").exists()).await;
        project.write("go", "");
        // From here on no other task of this thread runs.
        while !project.path("answered").exists() || started.elapsed() < Duration::from_millis(1100)
        {
            std::thread::yield_now();
        }
    };
    let (verdict, ()) = tokio::join!(ask(&executor, "ls"), busy);
    assert_eq!(verdict.message.as_deref(), Some("in time"), "{verdict:#?}");
    shutdown(&executor).await;
}
