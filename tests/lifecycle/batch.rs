//! The tool calls of one answer: at once or in turn, and what a stop does to the others.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hookexec::lifecycle::{AuthorizedCall, ToolEnd, ToolOutcome};
use hookexec::wire::{Stop, StopScope};
use hookexec::{Event, Input, Output};
use tokio::sync::{Notify, oneshot};

use super::support::{Act, nothing, session, shell, silent};

/// Ends the turn after the tool call whose `cmd` is `stop`.
fn stops(event: Event, input: &Input) -> Act {
    let asked = input.tool_input.as_ref().is_some_and(|arguments| arguments["cmd"] == "stop");
    if event == Event::PostToolUse && asked {
        let mut output = Output::deny("enough");
        output.stop = Some(Stop::new(StopScope::Turn, "enough"));
        return output.into();
    }
    nothing()
}

#[tokio::test]
async fn outcomes_come_in_the_order_of_the_calls() {
    let (session, _) = session(silent()).await;
    let second_done = Notify::new();
    let execute = async |call: AuthorizedCall| {
        let name = call.text("cmd")?.to_owned();
        // The first can only end after the second: they do run at once.
        if name == "first" {
            second_done.notified().await;
        } else {
            second_done.notify_one();
        }
        Ok(name.into())
    };
    let outcomes = session.batch(vec![shell("first"), shell("second")]).run(execute).await;
    let said: Vec<String> = outcomes.iter().map(ToolOutcome::for_model).collect();
    assert_eq!(said, ["first", "second"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_stop_cancels_the_others_and_their_post_hooks_still_fire() {
    let (session, log) = session(stops).await;
    let outcomes = session
        .batch(vec![shell("hangs"), shell("stop")])
        .run(async |call| match call.text("cmd")? {
            "stop" => Ok("done".into()),
            _ => std::future::pending().await,
        })
        .await;
    assert!(matches!(outcomes[0].end, ToolEnd::Cancelled));
    assert!(matches!(&outcomes[1].end, ToolEnd::Aborted { response: Some(_), .. }));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in log.take() {
        *counts.entry(event).or_default() += 1;
    }
    assert_eq!(counts["post_tool_use"], 2);
    assert_eq!(counts["on_tool_approval_decision"], 2);
    session.end("exit").await;
}

#[tokio::test]
async fn a_denial_of_one_call_leaves_the_others_alone() {
    let deny = |event, input: &Input| match event {
        Event::ToolGuard if input.tool_input.as_ref().unwrap()["cmd"] == "rm" => {
            Output::deny("no").into()
        }
        _ => nothing(),
    };
    let (session, _) = session(deny).await;
    let outcomes = session
        .batch(vec![shell("rm"), shell("ls")])
        .run(async |call| Ok(call.text("cmd")?.into()))
        .await;
    assert!(matches!(outcomes[0].end, ToolEnd::Denied { .. }));
    assert!(matches!(outcomes[1].end, ToolEnd::Ran { .. }));
    session.end("exit").await;
}

#[tokio::test]
async fn a_batch_that_is_cancelled() {
    let (session, log) = session(silent()).await;
    let (running, wish) = oneshot::channel();
    let running = Mutex::new(Some(running));
    let outcomes = session
        .batch(vec![shell("a"), shell("b")])
        .cancelled_by(async { wish.await.unwrap() })
        .run(async |call| {
            if call.text("cmd")? == "b" {
                running.lock().unwrap().take().unwrap().send(()).unwrap();
            }
            std::future::pending().await
        })
        .await;
    for outcome in &outcomes {
        assert!(matches!(outcome.end, ToolEnd::Cancelled));
    }
    let fired = log.take();
    assert_eq!(fired.iter().filter(|event| **event == "post_tool_use").count(), 2);
    session.end("exit").await;
}

#[tokio::test]
async fn a_batch_of_nothing() {
    let (session, log) = session(silent()).await;
    let outcomes = session.batch(Vec::new()).run(async |_| panic!("a tool ran")).await;
    assert!(outcomes.is_empty());
    assert_eq!(log.take(), [""; 0]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_batch_can_be_driven_on_another_task() {
    let (session, _) = session(silent()).await;
    let run = session
        .batch(vec![shell("a"), shell("b")])
        .approve_with(async |request| request.grant())
        .run(async |_| Ok("ok".into()));
    assert_eq!(tokio::spawn(run).await.unwrap().len(), 2);
    session.end("exit").await;
}
