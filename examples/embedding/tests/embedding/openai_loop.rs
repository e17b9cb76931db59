//! A loop of one's own.

use std::sync::Arc;

use hookexec::Config;
use hookexec::lifecycle::{AuthorizedCall, ModelRequest, Session, SessionSource, ToolError};
use hookexec_embedding::openai_loop::prompt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{HOOKS, approve, check, executor, says, script, scripted_model, wants};

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
        "wait" => std::future::pending().await,
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

    let closes = "user_prompt_submit: { type: builtin, command: close }";
    let next = Config::from_yaml(closes, "hooks.yaml").unwrap();
    session.replace_executor(executor.successor(next).unwrap());
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
    let hooks = "pre_tool_use: [{ matcher: echo, hooks: [{ type: command, command: sleep 60 }] }]";
    for name in ["echo", "wait"] {
        let session = Session::builder("s-1");
        let session = session.start(executor(hooks).unwrap(), SessionSource::Startup).await;
        let cancel = CancellationToken::new();
        let model = async |_| {
            let cancel = cancel.clone();
            tokio::spawn(async move { cancel.cancel() });
            Ok::<_, String>(wants(&[("1", name, "x")]))
        };
        let mut messages = Vec::new();
        let turn = prompt(&session, &mut messages, "Go.", model, tool, approve, &cancel);
        let ended = turn.await.end.unwrap_err();
        assert_eq!(ended.to_string(), "it was cancelled");
        assert_eq!(messages.last().unwrap()["content"], "Tool call cancelled");
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_hundred_sessions_and_their_subagents_share_one_executor() {
    let hooks = "subagent_start: { type: builtin, command: tell, args: [Be kind.] }\n\
                 turn_start: { type: builtin, command: tell, args: [It is Monday.] }";
    let executor = Arc::new(executor(hooks).unwrap());
    let sessions = (0..100).map(|number| {
        let executor = Arc::clone(&executor);
        tokio::spawn(async move {
            let session = Session::builder(format!("s-{number}"));
            let session = session.start(Arc::clone(&executor), SessionSource::Startup).await;
            let say = async |_| Ok::<_, String>(says("Done."));
            let run = async |context: Option<String>| {
                assert_eq!(context.as_deref(), Some("Be kind."));
                let child = Session::builder(format!("s-{number}-child")).parent(&session);
                let child = child.start(executor, SessionSource::Startup).await;
                let (mut messages, cancel) = (Vec::new(), CancellationToken::new());
                let said = prompt(&child, &mut messages, "Go.", say, tool, approve, &cancel).await;
                child.end("exit").await;
                said.end.unwrap()
            };
            let said = session.subagent("helper", run).await;
            session.end("exit").await;
            said
        })
    });
    for session in sessions.collect::<Vec<_>>() {
        assert_eq!(session.await.unwrap(), "Done.");
    }
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
    let wrong =
        "stop:\n  - { type: builtin, command: tel }\n  - { type: at_most, with: { calls: x } }\n";
    let problems = executor(wrong).err().unwrap().to_string();
    assert!(problems.contains("hooks.yaml:2: unknown builtin `tel`"), "{problems}");
    assert!(problems.contains("hooks.yaml:3: `with`: invalid type: string \"x\""), "{problems}");
}
