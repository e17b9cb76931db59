//! Each stage of a tool call fires exactly once, in order, whichever way the call ends.

use hookexec::lifecycle::{DeniedBy, ToolEnd, ToolError};
use hookexec::wire::{Stop, StopScope, ToolResult};
use hookexec::{Event, Output};
use serde_json::json;
use tokio::sync::oneshot;

use super::support::{Act, at, nothing, session, shell, silent, weather};

const BEFORE: [&str; 3] = ["tool_input_transform", "tool_guard", "pre_tool_use"];
const DECIDED: &str = "on_tool_approval_decision";
const AFTER: [&str; 2] = ["tool_response_transform", "post_tool_use"];

fn stages(parts: &[&[&'static str]]) -> Vec<&'static str> {
    parts.concat()
}

#[tokio::test]
async fn a_call_that_succeeds() {
    let (session, log) = session(silent()).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(
        matches!(&outcome.end, ToolEnd::Ran { response, rewritten: false, objection: None } if response == "files")
    );
    assert!(outcome.duration.is_some());
    let decided = log.of(Event::OnToolApprovalDecision);
    assert_eq!(decided.approval_decision.as_deref(), Some("allow"));
    assert_eq!(decided.approval_source.as_deref(), Some("default"));
    let after = log.of(Event::PostToolUse);
    assert_eq!((after.tool_response, after.tool_error), (Some("files".into()), Some(false)));
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_tool_that_fails() {
    let (session, log) = session(silent()).await;
    let outcome = session
        .tool_call(shell("ls"))
        .run(async |_| Err(ToolError::new("no such directory")))
        .await;
    assert!(matches!(&outcome.end, ToolEnd::Failed { response, .. }
        if response == "no such directory"));
    let after = log.of(Event::PostToolUse);
    assert_eq!(after.tool_error, Some(true));
    assert_eq!(after.tool_response, Some("no such directory".into()));
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_tool_that_panics() {
    let (session, log) = session(silent()).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| panic!("index out of range")).await;
    let ToolEnd::Failed { response, .. } = outcome.end else {
        panic!("{:?}", outcome.end);
    };
    assert_eq!(response, "the tool panicked: index out of range");
    assert_eq!(log.of(Event::PostToolUse).reason.as_deref(), Some("panic"));
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_tool_whose_closure_panics_before_it_makes_a_future() {
    let (session, log) = session(silent()).await;
    let run = |_| -> std::future::Ready<_> { panic!("at once") };
    let outcome = session.tool_call(shell("ls")).run(run).await;
    assert_eq!(outcome.for_model(), "the tool panicked: at once");
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_a_stage_denies() {
    for event in [Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse] {
        let (session, log) = session(at(event, Output::deny("not here"))).await;
        let outcome = session
            .tool_call(shell("ls"))
            .approve_with(async |request| request.grant())
            .run(async |_| panic!("a denied tool ran"))
            .await;
        assert!(matches!(&outcome.end, ToolEnd::Denied { by, message }
            if *by == DeniedBy::Hooks(event) && message == "not here"));
        assert_eq!(outcome.for_model(), "Tool call denied: not here");
        let decided = log.of(Event::OnToolApprovalDecision);
        assert_eq!(decided.approval_decision.as_deref(), Some("deny"));
        assert_eq!(decided.approval_source.as_deref(), Some(event.name()));
        assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED]]));
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_hook_that_answers_in_the_tools_place() {
    let result = ToolResult::text("sunny");
    let (session, log) = session(at(Event::PreToolUse, Output::respond(result))).await;
    let outcome = session.tool_call(weather()).run(async |_| panic!("the tool ran")).await;
    assert!(matches!(&outcome.end, ToolEnd::Responded { result } if result.for_llm == "sunny"));
    assert_eq!(outcome.for_model(), "sunny");
    assert_eq!(log.take(), stages(&[&BEFORE]));
    session.end("exit").await;
}

#[tokio::test]
async fn an_approval_that_is_given() {
    for event in [Event::ToolGuard, Event::PreToolUse] {
        let (session, log) = session(at(event, Output::ask("sure?"))).await;
        let outcome = session
            .tool_call(shell("ls"))
            .approve_with(async |request| {
                assert_eq!(request.tool_name(), "shell");
                assert_eq!(request.reasons().len(), 1);
                assert_eq!(request.reasons()[0].1, "sure?");
                request.grant()
            })
            .run(async |_| Ok("files".into()))
            .await;
        assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
        assert_eq!(log.of(Event::OnToolApprovalDecision).approval_source.as_deref(), Some("user"));
        assert_eq!(log.take(), stages(&[&BEFORE, &["permission_request", DECIDED], &AFTER]));
        session.end("exit").await;
    }
}

#[tokio::test]
async fn an_approval_that_is_refused() {
    let (session, log) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |request| request.refuse("not today"))
        .run(async |_| panic!("a refused tool ran"))
        .await;
    assert!(matches!(&outcome.end, ToolEnd::Denied { by: DeniedBy::Approver, message }
        if message == "not today"));
    assert_eq!(log.take(), stages(&[&BEFORE, &["permission_request", DECIDED]]));
    session.end("exit").await;
}

#[tokio::test]
async fn an_approval_that_nobody_can_give() {
    let (session, log) = session(at(Event::ToolGuard, Output::ask("sure?"))).await;
    let outcome =
        session.tool_call(shell("ls")).run(async |_| panic!("an unapproved tool ran")).await;
    assert!(matches!(&outcome.end, ToolEnd::Denied { by: DeniedBy::NobodyToAsk, message }
        if message == "approval is needed and no one can be asked: sure?"));
    let decided = log.of(Event::OnToolApprovalDecision);
    assert_eq!(decided.approval_decision.as_deref(), Some("deny"));
    assert_eq!(decided.approval_source.as_deref(), Some("nobody_to_ask"));
    assert_eq!(log.take(), stages(&[&BEFORE, &["permission_request", DECIDED]]));
    session.end("exit").await;
}

#[tokio::test]
async fn arguments_that_are_rewritten_are_guarded_again() {
    let patch = Output::patch_input(super::support::object(json!({ "cmd": "ls -l" })));
    let (session, log) = session(at(Event::PreToolUse, patch)).await;
    let outcome =
        session.tool_call(shell("ls")).run(async |call| Ok(call.text("cmd")?.into())).await;
    assert_eq!(outcome.for_model(), "ls -l");
    assert_eq!(log.of(Event::ToolGuard).tool_input.unwrap()["cmd"], "ls -l");
    assert_eq!(log.of(Event::PostToolUse).tool_input.unwrap()["cmd"], "ls -l");
    // Each once for each form of the call.
    let again = ["tool_input_transform", "tool_guard", DECIDED];
    assert_eq!(log.take(), stages(&[&BEFORE, &again, &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_hook_that_ends_the_turn_before_the_tool() {
    for event in [Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse] {
        let mut output = Output::deny("enough");
        output.stop = Some(Stop::new(StopScope::Session, "enough"));
        let (session, log) = session(at(event, output)).await;
        let outcome =
            session.tool_call(shell("ls")).run(async |_| panic!("a stopped tool ran")).await;
        assert!(matches!(&outcome.end, ToolEnd::Aborted { by, stop, response: None, .. }
            if *by == event && stop.scope == StopScope::Session));
        assert_eq!(outcome.stop().unwrap().reason, "enough");
        assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED]]));
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_hook_that_ends_the_turn_after_the_tool() {
    let mut output = Output::deny("enough");
    output.stop = Some(Stop::new(StopScope::Turn, "enough"));
    let (first, log) = session(at(Event::PostToolUse, output)).await;
    let outcome = first.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(matches!(&outcome.end,
        ToolEnd::Aborted { by: Event::PostToolUse, response: Some(response), .. }
        if response == "files"));
    assert_eq!(outcome.for_model(), "files\n\nStopped by a hook: enough");
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    first.end("exit").await;

    let mut output = Output::deny("the linter fails");
    output.stop = Some(Stop::new(StopScope::Turn, "enough"));
    let (other, _) = session(at(Event::PostToolUse, output)).await;
    let outcome = other.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    let wanted = "files\n\nthe linter fails\n\nStopped by a hook: enough";
    assert_eq!(outcome.for_model(), wanted);
    other.end("exit").await;
}

#[tokio::test]
async fn a_redactor_can_end_the_turn() {
    let mut output = Output::default();
    output.stop = Some(Stop::new(StopScope::Turn, "enough"));
    let (session, _) = session(at(Event::ToolResponseTransform, output)).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(matches!(&outcome.end,
        ToolEnd::Aborted { by: Event::ToolResponseTransform, response: Some(response), .. }
        if response != "files"));
    session.end("exit").await;
}

#[tokio::test]
async fn an_objection_after_the_tool_is_told_to_the_model() {
    let (session, log) = session(at(Event::PostToolUse, Output::deny("the linter fails"))).await;
    let outcome = session.tool_call(shell("edit")).run(async |_| Ok("written".into())).await;
    assert!(matches!(&outcome.end, ToolEnd::Ran { objection: Some(text), .. }
        if text == "the linter fails"));
    assert_eq!(outcome.for_model(), "written\n\nthe linter fails");
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_a_hook_runs() {
    // Those that rewrite run before the others, and these at once.
    for (event, started) in
        [(Event::ToolInputTransform, 1), (Event::ToolGuard, 3), (Event::PreToolUse, 3)]
    {
        let hang = move |fired, _: &_| if fired == event { Act::Hang } else { nothing() };
        let (session, log) = session(hang).await;
        let outcome = session
            .tool_call(shell("ls"))
            .cancelled_by(log.fired(event))
            .run(async |_| panic!("a cancelled tool ran"))
            .await;
        assert!(matches!(outcome.end, ToolEnd::Cancelled));
        let decided = log.of(Event::OnToolApprovalDecision);
        assert_eq!(decided.approval_decision.as_deref(), Some("canceled"));
        assert_eq!(log.take(), stages(&[&BEFORE[..started], &[DECIDED]]));
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_approval_is_asked_for() {
    let (session, log) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let (asked, wish) = oneshot::channel();
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |_| {
            asked.send(()).unwrap();
            std::future::pending().await
        })
        .cancelled_by(async { wish.await.unwrap() })
        .run(async |_| panic!("a cancelled tool ran"))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    assert_eq!(log.take(), stages(&[&BEFORE, &["permission_request", DECIDED]]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_the_tool_runs() {
    let (session, log) = session(silent()).await;
    let (running, wish) = oneshot::channel();
    let outcome = session
        .tool_call(shell("sleep"))
        .cancelled_by(async { wish.await.unwrap() })
        .run(async |_| {
            running.send(()).unwrap();
            std::future::pending().await
        })
        .await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    assert!(outcome.duration.is_some());
    let after = log.of(Event::PostToolUse);
    assert_eq!((after.tool_error, after.reason.as_deref()), (Some(true), Some("canceled")));
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED, "post_tool_use"]]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_after_it_was_allowed_never_reaches_the_tool() {
    let (session, log) = session(silent()).await;
    let outcome = session
        .tool_call(shell("ls"))
        .cancelled_by(log.fired(Event::OnToolApprovalDecision))
        .run(async |_| panic!("a cancelled tool ran"))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    assert_eq!(outcome.duration, None);
    // It was said to be allowed, so it is said to have ended.
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED, "post_tool_use"]]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_from_the_start_never_reaches_the_tool() {
    let (executor, log) = super::support::executor([Event::PostToolUse], silent());
    let session = hookexec::lifecycle::Session::builder("s-1").attach(executor);
    let outcome = session
        .tool_call(shell("ls"))
        .cancelled_by(async {})
        .run(async |_| panic!("a cancelled tool ran"))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn a_call_can_be_driven_on_another_task() {
    let (session, log) = session(silent()).await;
    let run = session
        .tool_call(shell("ls"))
        .approve_with(async |request| request.grant())
        .cancelled_by(std::future::pending())
        .run(async |_| Ok("files".into()));
    let outcome = tokio::spawn(run).await.unwrap();
    assert_eq!(outcome.for_model(), "files");
    assert_eq!(log.take(), stages(&[&BEFORE, &[DECIDED], &AFTER]));
    session.end("exit").await;
}
