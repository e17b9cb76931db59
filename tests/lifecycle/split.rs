//! Drivers that are split: the host runs the tool or calls the model between two calls.

use hookexec::lifecycle::{ModelRequest, ToolEnd, ToolError, TurnEnd};
use hookexec::{Event, Input, Output};
use serde_json::json;

use super::support::{Act, at, nothing, session, shell, silent, weather};
use crate::warnings::Warnings;

#[tokio::test]
async fn a_tool_runs_between_two_calls_of_the_driver() {
    let (session, log) = session(at(Event::PostToolUse, Output::deny("not tidy"))).await;
    let (call, pending) = session.tool_call(shell("ls")).begin().await.unwrap();
    assert_eq!((call.name(), call.text("cmd").unwrap()), ("shell", "ls"));
    let before =
        ["tool_input_transform", "tool_guard", "pre_tool_use", "on_tool_approval_decision"];
    assert_eq!(log.take(), before);
    let outcome = pending.finish(Ok("files".into())).await;
    assert!(outcome.duration.is_some());
    assert_eq!(outcome.for_model(), "files\n\nnot tidy");
    assert_eq!(log.take(), ["tool_response_transform", "post_tool_use"]);

    let (_, pending) = session.tool_call(shell("ls")).begin().await.unwrap();
    let outcome = pending.finish(Err(ToolError::new("no such directory"))).await;
    assert!(matches!(&outcome.end, ToolEnd::Failed { rewritten: false, .. }));
    assert_eq!(log.of(Event::PostToolUse).tool_error, Some(true));

    let (_, pending) = session.tool_call(shell("ls")).begin().await.unwrap();
    let outcome = pending.cancel().await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    assert_eq!(log.of(Event::PostToolUse).reason.as_deref(), Some("canceled"));
    session.end("exit").await;
}

#[tokio::test]
async fn a_call_that_is_denied_or_answered_by_a_hook_has_ended() {
    let script = |event, input: &Input| match (event, input.tool()) {
        (Event::ToolGuard, "shell") => Output::deny("no").into(),
        (Event::PreToolUse, "weather") => {
            let mut output = Output::default();
            output.respond = Some(hookexec::wire::ToolResult::text("rain"));
            Act::from(output)
        }
        _ => nothing(),
    };
    let (session, log) = session(script).await;
    let denied = session.tool_call(shell("reboot")).begin().await.map(|_| ()).unwrap_err();
    assert_eq!(denied.for_model(), "Tool call denied: no");
    let answered = session.tool_call(weather()).begin().await.map(|_| ()).unwrap_err();
    assert!(matches!(answered.end, ToolEnd::Responded { .. }), "{answered:?}");
    assert_eq!(answered.for_model(), "rain");
    assert!(!log.take().contains(&"post_tool_use"));
    session.end("exit").await;
}

#[tokio::test]
async fn a_pending_tool_that_is_dropped_is_told() {
    let (session, log) = session(silent()).await;
    let (warnings, _guard) = Warnings::watch();
    drop(session.tool_call(shell("ls")).begin().await.unwrap());
    assert_eq!(
        warnings.take(),
        ["a running tool call was dropped; its `post_tool_use` hooks did not fire \
          (cancel it with `cancelled_by` instead)"]
    );
    assert!(!log.take().contains(&"post_tool_use"));
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_is_called_between_two_calls_of_the_driver() {
    let script = |event, _: &Input| {
        let mut output = Output::default();
        match event {
            Event::BeforeLlmCall => output.updated_messages = Some(vec![json!("redacted")]),
            Event::AfterLlmCall => output.updated_response = Some("polished".into()),
            _ => {}
        }
        Act::from(output)
    };
    let (session, log) = session(script).await;
    let turn = session.turn("hi").await.unwrap();
    log.take();
    let (request, pending) = turn.model_call(ModelRequest::default()).begin().await.unwrap();
    assert_eq!(request.messages, [json!("redacted")]);
    let outcome = pending.finish(Ok::<_, String>("rough".into())).await;
    assert_eq!(outcome.end.unwrap(), "polished");
    assert_eq!(turn.state().iteration, 1);
    assert_eq!(log.take(), ["before_llm_call", "after_llm_call"]);

    let (_, pending) = turn.model_call(ModelRequest::default()).begin().await.unwrap();
    let end = pending.finish(Err("connection refused")).await.end.unwrap_err();
    assert_eq!(log.take(), ["before_llm_call", "notification", "on_error"]);
    turn.end(Err(end)).await;
    assert_eq!(log.take(), ["turn_end"], "the error was told");
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_request_that_is_refused_has_ended() {
    let (session, log) = session(at(Event::BeforeLlmCall, Output::deny("too many"))).await;
    let turn = session.turn("hi").await.unwrap();
    let end = turn.model_call(ModelRequest::default()).begin().await.map(|_| ()).unwrap_err();
    assert!(matches!(&end, TurnEnd::Refused(by) if by.by == Event::BeforeLlmCall), "{end:?}");
    turn.end(Err(end)).await;
    assert_eq!(log.of(Event::TurnEnd).reason.as_deref(), Some("hook_blocked"));
    session.end("exit").await;
}
