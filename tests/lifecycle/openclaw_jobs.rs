//! The four jobs that OpenClaw's tool hooks are used for, done by the examples.

use std::path::Path;
use std::sync::Arc;

use hookexec::lifecycle::{Session, SessionSource, ToolEnd};
use hookexec::{Config, Executor};

use super::support::shell;

async fn session(example: &str) -> (Session, Arc<Executor>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/openclaw-jobs");
    let config = Config::load_file(directory.join(example)).unwrap();
    let executor = Arc::new(Executor::builder(config).build().unwrap());
    let session =
        Session::builder("s-1").start(Arc::clone(&executor), SessionSource::Startup).await;
    assert_eq!(session.unfired(), []);
    (session, executor)
}

#[tokio::test]
async fn a_call_is_blocked() {
    let (session, _) = session("block.yaml").await;
    for cmd in ["rm -rf build", "cd /; rm -f -R .", "sudo rm -r x"] {
        let outcome = session.tool_call(shell(cmd)).run(async |_| panic!("`{cmd}` ran")).await;
        assert!(matches!(outcome.end, ToolEnd::Denied { .. }), "{cmd}");
        assert_eq!(
            outcome.for_model(),
            "Tool call denied: recursive deletion is refused; delete single files by name"
        );
    }
    let outcome = session.tool_call(shell("rm notes.txt")).run(async |_| Ok("".into())).await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
    session.end("exit").await;
}

#[tokio::test]
async fn the_parameters_of_a_call_are_merged() {
    let (session, _) = session("rewrite-parameters.yaml").await;
    let mut call = shell("make");
    call.arguments.insert("cwd".to_owned(), "/src".into());
    let outcome = session
        .tool_call(call)
        .run(async |call| Ok(serde_json::Value::Object(call.arguments().clone())))
        .await;
    assert_eq!(outcome.for_model(), r#"{"cmd":"nice make","cwd":"/src","timeout":30}"#);
    session.end("exit").await;
}

#[tokio::test]
async fn a_result_is_rewritten_before_it_is_persisted() {
    let (session, _) = session("rewrite-result.yaml").await;
    let key = "sk-ABCDEFGHIJKLMNOPQRSTUVWX";
    let outcome = session
        .tool_call(shell("env"))
        .run(async |_| Ok(serde_json::json!({ "env": [format!("KEY={key}"), "HOME=/root"] })))
        .await;
    assert_eq!(outcome.for_model(), r#"{"env":["KEY=[key removed]","HOME=/root"]}"#);
    session.end("exit").await;
}

#[tokio::test]
async fn guidance_at_the_start_of_a_turn_and_along_with_an_allowed_call() {
    let (session, _) = session("guidance.yaml").await;
    let turn = session.turn("Commit this.").await.unwrap();
    assert_eq!(
        turn.opening().additional_context().as_deref(),
        Some("Run the tests before you say that something works.")
    );
    let outcome = turn
        .tool_call(shell("git commit -m x"))
        .ask_unless_allowed("the hook allows it, so nobody is asked")
        .run(async |_| Ok("[main 1a2b3c] x".into()))
        .await;
    assert_eq!(
        outcome.for_model(),
        "[main 1a2b3c] x\n\nCommit messages here begin with an imperative verb."
    );
    let other = turn.tool_call(shell("git status")).run(async |_| Ok("clean".into())).await;
    assert_eq!(other.for_model(), "clean");
    turn.end(Ok(turn.finish("Committed.").await.unwrap())).await;
    session.end("exit").await;
}
