//! A loop of one's own.

use std::sync::Arc;

use hookexec::lifecycle::{
    AuthorizedCall, ModelRequest, Session, SessionSource, ToolError, TurnEnd,
};
use hookexec_embedding::openai_loop::prompt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    HOOKS, Hanging, MISTAKES, a_hundred_subagents, approve, check, check_mistakes, executor,
    replace_hooks, says, script, scripted_model, wants,
};

async fn post(url: &str, request: ModelRequest) -> Result<Value, reqwest::Error> {
    let url = format!("{url}/chat/completions");
    let answer = reqwest::Client::new().post(url).json(&request);
    let mut answer: Value = answer.send().await?.error_for_status()?.json().await?;
    Ok(answer["choices"][0]["message"].take())
}

async fn tool(call: AuthorizedCall) -> Result<Value, ToolError> {
    match call.name() {
        "echo" => Ok(call.text("text")?.into()),
        "pay" => Ok(format!("paid {}", call.text("text")?).into()),
        unknown => Err(ToolError::new(format!("there is no tool `{unknown}`"))),
    }
}

#[tokio::test]
async fn a_loop_works_under_its_hooks() {
    let (url, serving) = scripted_model(script()).await;
    let session = Session::builder("s-1").model("scripted");
    let session = session.start(executor(HOOKS).unwrap(), SessionSource::Startup).await;
    let context = session.opening().additional_context().unwrap();
    let mut messages = vec![json!({ "role": "system", "content": context })];
    let model = async |request| post(&url, request).await;
    let cancel = CancellationToken::new();
    let outcome = prompt(&session, &mut messages, "Go.", model, tool, approve, &cancel).await;
    assert_eq!(outcome.end.unwrap(), "The *** is done, again.");
    session.end("exit").await;
    check(&serving.await.unwrap());
}

#[tokio::test]
async fn a_running_agent_goes_on_with_other_hooks_and_one_that_a_hook_stopped_does_not() {
    let executor = Arc::new(executor("hooks: {}").unwrap());
    let session =
        Session::builder("s-1").start(Arc::clone(&executor), SessionSource::Startup).await;
    let say = async |_| Ok::<_, String>(says("Done."));
    let mut messages = Vec::new();
    let cancel = CancellationToken::new();
    let first = prompt(&session, &mut messages, "Go.", say, tool, approve, &cancel).await;
    assert_eq!(first.end.unwrap(), "Done.");

    check_mistakes(replace_hooks(&session, &executor, MISTAKES));
    let closes = "user_prompt_submit: { type: builtin, command: close }";
    replace_hooks(&session, &executor, closes).unwrap();
    for _ in 0..2 {
        let said = prompt(&session, &mut messages, "Go.", say, tool, approve, &cancel).await;
        let end = said.end.unwrap_err().to_string();
        assert_eq!(end, "refused by a `user_prompt_submit` hook: closed");
    }
    assert!(session.stopped().is_some());
    session.end("exit").await;
}

#[tokio::test]
async fn a_hook_and_a_tool_are_cancelled() {
    for name in ["echo", "wait"] {
        let hanging = Hanging::default();
        let session = Session::builder("s-1");
        let session = session.start(hanging.executor(), SessionSource::Startup).await;
        let model = async |_| Ok::<_, String>(wants(&[("1", name, "x")]));
        let tool = async |call: AuthorizedCall| {
            assert_eq!(call.name(), "wait");
            hanging.clone().run().await
        };
        let (mut messages, cancel) = (Vec::new(), &hanging.cancel);
        let turn = prompt(&session, &mut messages, "Go.", model, tool, approve, cancel);
        let ended = turn.await.end.unwrap_err();
        assert!(matches!(ended, TurnEnd::Cancelled), "{ended}");
        assert_eq!(messages.last().unwrap()["content"], "Tool call cancelled");
        assert!(hanging.dropped.is_cancelled());
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_hundred_sessions_and_their_subagents_share_one_executor() {
    let run = |session: Arc<Session>, context| async move {
        let mut messages = vec![json!({ "role": "system", "content": context })];
        let model = async |request: ModelRequest| {
            assert_eq!(request.messages[0]["content"], "Be kind.");
            assert_eq!(request.messages[1]["content"], "It is Monday.");
            Ok::<_, String>(says("Done."))
        };
        let cancel = CancellationToken::new();
        let said = prompt(&session, &mut messages, "Go.", model, tool, approve, &cancel).await;
        said.end.unwrap()
    };
    a_hundred_subagents(run).await;
}

#[tokio::test]
async fn a_hook_offers_a_tool_and_answers_its_calls() {
    let hooks = "before_llm_call: { type: builtin, command: offer, with: { tool: clock } }\n\
                 pre_tool_use:\n  - matcher: clock\n    hooks: [{ type: builtin, command: tell_time }]";
    let session = Session::builder("s-1");
    let session = session.start(executor(hooks).unwrap(), SessionSource::Startup).await;
    let model = async |request: ModelRequest| {
        assert_eq!(request.tools[0]["name"], "clock");
        let is_answered = request.messages.last().unwrap()["role"] == "tool";
        Ok::<_, String>(if is_answered { says("Noon.") } else { wants(&[("1", "clock", "")]) })
    };
    let (mut messages, cancel) = (Vec::new(), CancellationToken::new());
    let said = prompt(&session, &mut messages, "Go.", model, tool, approve, &cancel).await;
    assert_eq!(said.end.unwrap(), "Noon.");
    assert_eq!(messages[2]["content"], "noon");
    session.end("exit").await;
}

#[test]
fn all_mistakes_of_a_file_come_at_once() {
    check_mistakes(executor(MISTAKES));
}
