//! What is dropped fires nothing more, and the log says what was lost.

use hookexec::lifecycle::{Session, SessionSource, TurnEnd};
use hookexec::{Event, Output};
use tokio::sync::oneshot;

use super::support::{at, executor, session, shell, silent};
use crate::warnings::Warnings;

#[tokio::test]
async fn a_tool_call_that_is_dropped_while_the_tool_runs() {
    let (session, log) = session(silent()).await;
    let (warnings, _guard) = Warnings::watch();
    let (running, runs) = oneshot::channel();
    let call = session.tool_call(shell("sleep")).run(async |_| {
        running.send(()).unwrap();
        std::future::pending().await
    });
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        started = runs => started.unwrap(),
    }
    assert_eq!(
        warnings.take(),
        ["a running tool call was dropped; its `post_tool_use` hooks did not fire \
          (cancel it with `cancelled_by` instead)"]
    );
    assert!(!log.take().contains(&"post_tool_use"));
    session.end("exit").await;
    assert_eq!(warnings.take(), [""; 0]);
}

#[tokio::test]
async fn a_tool_call_that_is_not_dropped_leaves_no_warning() {
    let (session, _) = session(silent()).await;
    let (warnings, _guard) = Warnings::watch();
    let ran = session.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    let cancelled = session
        .tool_call(shell("ls"))
        .cancelled_by(tokio::task::yield_now())
        .run(async |_| std::future::pending().await)
        .await;
    assert!(!ran.is_error() && cancelled.is_error());
    assert_eq!(warnings.take(), [""; 0]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_turn_and_a_session_that_are_dropped() {
    let (session, _) = session(silent()).await;
    let (warnings, _guard) = Warnings::watch();
    drop(session.begin_turn("turn-2", None).await.unwrap());
    assert_eq!(
        warnings.take(),
        ["a turn was dropped without `end`; its `turn_end` hooks did not fire"]
    );
    session.begin_turn("turn-2", None).await.unwrap().end(Err(TurnEnd::Cancelled)).await;
    assert_eq!(warnings.take(), [""; 0]);
    drop(session);
    assert_eq!(
        warnings.take(),
        ["a session was dropped without `end`; its `session_end` hooks did not fire"]
    );
}

#[tokio::test]
async fn a_turn_that_never_began_owes_nothing() {
    let (session, _) = session(at(Event::UserPromptSubmit, Output::deny("no"))).await;
    let (warnings, _guard) = Warnings::watch();
    assert!(session.turn("hi").await.is_err());
    session.end("exit").await;
    assert_eq!(warnings.take(), [""; 0]);
}

#[tokio::test]
async fn hooks_that_will_never_run_are_named_at_the_start() {
    let (warnings, _guard) = Warnings::watch();
    let (executor, _) = executor([Event::WorktreeCreate], silent());
    let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
    assert_eq!(
        warnings.take(),
        ["<program>: `scripted` never runs: this agent does not fire `worktree_create`"]
    );
    session.end("exit").await;
}
