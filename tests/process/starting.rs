//! Children that do not start as they should.

use std::time::{Duration, Instant};

use hookexec::{Decision, Event};

use super::harness::{Project, ask, ask_until, error, shutdown, statistics};
use crate::state::until;

/// Runs `script` as a guard, asks it once, and returns the error and the stderr of the report.
async fn failure(script: &str, options: &str) -> (String, String) {
    let project = Project::with(script);
    let executor = project.one(&[Event::PreToolUse], options);
    let verdict = ask(&executor, "ls").await;
    assert_eq!(verdict.decision, Some(Decision::Deny), "{verdict:#?}");
    let error = error(&verdict).to_owned();
    let stderr = verdict.hooks[0].stderr.clone().unwrap_or_default();
    shutdown(&executor).await;
    (error, stderr)
}

#[tokio::test]
async fn a_child_that_never_greets_is_given_up_at_its_start_timeout() {
    let (error, _) = failure("time.sleep(1000)", ", start_timeout: 300ms").await;
    assert!(error.contains("did not answer `hook.hello` within 300ms"), "{error}");
    assert!(error.contains("flush"), "{error}");
}

#[tokio::test]
async fn a_start_that_takes_too_long_makes_no_hook_late() {
    let project = Project::with("time.sleep(1000)");
    let executor = project.one(&[Event::PreToolUse], ", start_timeout: 50ms");
    let until = Instant::now() + Duration::from_secs(50);
    let verdict = ask_until(&executor, until).await;
    assert!(error(&verdict).contains("did not answer `hook.hello` within 50ms"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_that_exits_before_it_greets_says_why() {
    let (error, stderr) = failure("sys.exit('no key found')", "").await;
    assert_eq!(stderr, "no key found");
    assert!(error.contains("ended before it answered `hook.hello`"), "{error}");
    assert!(error.ends_with("exited with code 1"), "{error}");
    let (error, _) = failure("pass", "").await;
    assert!(error.contains("exited with code 0"), "{error}");
    let (error, _) = failure("os.kill(os.getpid(), 9)", "").await;
    assert!(error.contains("signal: 9 (SIGKILL)"), "{error}");
}

#[tokio::test]
async fn a_refusal_is_a_failed_start() {
    let project = Project::with(
        "
m = json.loads(sys.stdin.readline())
if not os.path.exists('key'):
    reply(m, {'ok': False, 'reason': 'no key'})
    sys.stdin.read()
reply(m, {})
for message in messages(): reply(message, {})
",
    );
    let executor = project.one(&[Event::PreToolUse], "");
    for _ in 0..2 {
        let verdict = ask(&executor, "ls").await;
        assert_eq!(
            error(&verdict),
            "process `p` could not be started: it refused to serve: no key"
        );
        assert!(!verdict.allowed);
    }
    project.write("key", "");
    assert!(ask(&executor, "ls").await.allowed);
    assert_eq!(statistics(&executor).starts, 3);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_greeting_that_is_none_is_a_failure() {
    for (greeting, expected) in [
        ("reply(m, [1])", "can't be used: it is not an object"),
        ("reply(m, 'hi')", "can't be used: it is not an object"),
        ("reply(m, {'ok': 'yes'})", "expected a boolean"),
        ("fail(m, -32601, 'what?')", "error -32601: what?"),
        ("say(m)", "error -32601"),
    ] {
        let script = format!(
            "m = json.loads(sys.stdin.readline())\n{greeting}\nfor m in messages(): say(m)"
        );
        let (error, _) = failure(&script, "").await;
        assert!(error.contains(expected), "{greeting}: {error}");
    }
}

#[tokio::test]
async fn noise_before_the_greeting_is_skipped_and_counted() {
    let project = Project::with("out('starting\\n\\nloading...\\n')\nserve(lambda m, p: None)");
    let executor = project.one(&[Event::PreToolUse], "");
    assert!(ask(&executor, "ls").await.allowed);
    assert_eq!(statistics(&executor).lines_unparsable, 2);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_child_is_told_its_name_modes_and_events() {
    let project = Project::with("note('told', json.dumps(hello()))\nsys.stdin.read()");
    let executor = project.one(&[Event::PreToolUse, Event::PermissionRequest, Event::Stop], "");
    executor.check_processes().await;
    let told: serde_json::Value = serde_json::from_str(&project.noted("told").await).unwrap();
    assert_eq!(
        told,
        serde_json::json!({
            "name": "p", "version": 1, "modes": ["tool", "approve"],
            "events": ["pre_tool_use", "stop", "permission_request"],
        })
    );
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_missing_program_is_a_failure_of_every_call() {
    let project = Project::new();
    let executor = project.executor(
        "processes: { p: { command: [no-such-program] } }\nhooks:\n  pre_tool_use:\n    - hooks: [{ type: process, command: p }]\n",
    );
    let verdict = ask(&executor, "ls").await;
    assert!(error(&verdict).contains("`no-such-program` was not found in PATH"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn calls_share_one_start() {
    let project = Project::with("time.sleep(0.2)\nserve(lambda m, p: None)");
    let executor = project.one(&[Event::PreToolUse], "");
    let verdicts = futures_util::future::join_all((0..20).map(|_| ask(&executor, "ls"))).await;
    assert!(verdicts.iter().all(|verdict| verdict.allowed), "{verdicts:#?}");
    assert_eq!(statistics(&executor).starts, 1);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_start_that_its_caller_gave_up_serves_the_next() {
    let project = Project::with("time.sleep(0.5)\nserve(lambda m, p: None)");
    let executor = project.executor(
        &super::harness::one(&[Event::PreToolUse], "").replace("timeout: 60", "timeout: 100ms"),
    );
    let verdict = ask(&executor, "ls").await;
    assert!(error(&verdict).contains("was still starting"), "{verdict:#?}");
    until("a start", || statistics(&executor).pid.is_some()).await;
    assert!(ask(&executor, "ls").await.allowed);
    assert_eq!(statistics(&executor).starts, 1);
    shutdown(&executor).await;
}
