//! Sessions that run for long: stops, ends, other hooks, fields of the host.

use std::sync::Arc;

use hookexec::lifecycle::{Finished, Session, SessionSource, ToolEnd, Turn, TurnEnd};
use hookexec::wire::{Stop, StopScope};
use hookexec::{Builtin, Config, Event, Executor, Input, Output, Registry};
use serde_json::json;

use super::support::{at, executor, nothing, session, shell, silent};

fn stop(scope: StopScope) -> Output {
    let mut output = Output::deny("the key leaked");
    output.stop = Some(Stop::new(scope, "the key leaked"));
    output
}

#[tokio::test]
async fn the_model_goes_on_when_a_stop_hook_says_so() {
    let (session, log) = session(|event, input: &Input| match event {
        Event::Stop if input.stop_response.as_deref() == Some("done") => {
            Output::deny("run the tests").into()
        }
        _ => nothing(),
    })
    .await;
    let mut told = Vec::new();
    let outcome = session
        .run_turn("fix it", async |turn| {
            told.extend(turn.finish("done").await.err());
            Ok(turn.finish("tests pass").await.unwrap())
        })
        .await;
    assert_eq!(outcome.end.unwrap(), "tests pass");
    assert_eq!(told, ["run the tests"]);
    let fired = ["user_prompt_submit", "turn_start", "stop", "stop", "turn_end"];
    assert_eq!(log.take(), fired);
    session.end("exit").await;
}

#[tokio::test]
async fn a_turn_runs_in_a_task_and_borrows_what_its_host_has() {
    let (session, log) = session(silent()).await;
    let session = Arc::new(session);
    let theirs = Arc::clone(&session);
    let task = tokio::spawn(async move {
        let mut messages = Vec::new();
        let work = async |turn: Arc<Turn>| {
            messages.push("list".to_owned());
            let outcome = turn.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
            outcome.go_on()?;
            messages.push(outcome.for_model());
            Ok(turn.finish(messages.join(": ")).await.unwrap())
        };
        theirs.run_turn("list", work).await.end
    });
    assert_eq!(task.await.unwrap().unwrap(), "list: files");
    assert!(log.take().ends_with(&["stop", "turn_end"]));
    session.end("exit").await;
}

#[tokio::test]
async fn a_prompt_that_is_blocked_is_the_outcome_of_its_turn() {
    let (session, log) = session(at(Event::UserPromptSubmit, Output::deny("no secrets"))).await;
    let work = async |_| -> Result<Finished, TurnEnd> { panic!("it was run") };
    let outcome = session.run_turn("my key is ...", work).await;
    let end = outcome.end.unwrap_err().to_string();
    assert_eq!(end, "refused by a `user_prompt_submit` hook: no secrets");
    assert_eq!(outcome.trail.verdicts().len(), 1);
    assert_eq!(log.take(), ["user_prompt_submit"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_tool_whose_hook_stops_the_turn_ends_it() {
    for scope in [StopScope::Turn, StopScope::Session] {
        let (session, log) = session(at(Event::PostToolUse, stop(scope))).await;
        let outcome = session
            .run_turn("hi", async |turn| {
                let outcome = turn.tool_call(shell("ls")).run(async |_| Ok("key".into())).await;
                outcome.go_on()?;
                panic!("the turn went on")
            })
            .await;
        let Err(TurnEnd::Refused(refused)) = outcome.end else { panic!("no refusal") };
        assert_eq!((refused.by, refused.message.as_str()), (Event::PostToolUse, "the key leaked"));
        assert_eq!(log.of(Event::TurnEnd).reason.as_deref(), Some("hook_blocked"));
        assert!(!log.take().contains(&"stop"));

        let stops_session = scope == StopScope::Session;
        assert_eq!(session.stopped().is_some(), stops_session);
        assert_eq!(session.turn("go on").await.is_err(), stops_session);
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_session_that_a_hook_stopped_begins_no_further_turn() {
    let (session, log) = session(at(Event::PreToolUse, stop(StopScope::Session))).await;
    assert!(session.stopped().is_none());
    let outcome = session.tool_call(shell("ls")).run(async |_| panic!("it ran")).await;
    assert!(matches!(outcome.end, ToolEnd::Aborted { .. }));
    assert_eq!(session.stopped().unwrap().reason, "the key leaked");
    log.take();
    let refused = session.turn("go on").await.unwrap_err();
    assert_eq!(refused.by, Event::PreToolUse);
    assert_eq!(refused.stop.unwrap().scope, StopScope::Session);
    assert!(session.begin_turn("turn-2", None).await.is_err());
    assert!(log.take().is_empty());
    session.end("exit").await;
    assert_eq!(log.take(), ["session_end"]);
}

#[tokio::test]
async fn turns_and_sessions_that_are_shared_end_once() {
    let (session, log) = session(silent()).await;
    let session = Arc::new(session);
    let turn = Arc::new(session.turn("hi").await.unwrap());
    log.take();
    let _ = tokio::join!(turn.end(Err(TurnEnd::Cancelled)), turn.end(Err(TurnEnd::Cancelled)));
    let _ = tokio::join!(session.end("exit"), session.end("again"));
    assert_eq!(log.take(), ["turn_end", "session_end"]);
}

fn config(text: &str) -> Config {
    Config::from_yaml(text, "hooks.yaml").unwrap()
}

#[tokio::test]
async fn a_session_goes_on_with_the_hooks_of_a_changed_file() {
    let counted = std::sync::atomic::AtomicU64::new(0);
    let mut registry = Registry::new();
    let count = move |_: &Input, _: &[String]| {
        let so_far = counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok::<_, String>(Some(Output::context(format!("{so_far} before"))))
    };
    registry.register_builtin("count", Builtin::inline(count));
    let first = "hooks: { turn_start: [{ type: builtin, command: count }] }";
    let executor = Executor::builder(config(first)).registry(registry).build().unwrap();
    let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
    let turn = session.turn("hi").await.unwrap();
    assert_eq!(turn.opening().additional_context().as_deref(), Some("0 before"));
    let ls = turn.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(!ls.is_error());

    let broken = config("hooks: { turn_start: [{ type: builtin, command: cuont }] }");
    let problems = session.executor().successor(broken).unwrap_err().to_string();
    assert!(problems.contains("unknown builtin `cuont`"), "{problems}");

    let second = "
hooks:
  turn_start: [{ type: builtin, command: count }]
  pre_tool_use: [{ hooks: [{ type: command, command: echo no >&2; exit 2 }] }]";
    let next = session.executor().successor(config(second)).unwrap();
    session.replace_executor(next);
    let ls = turn.tool_call(shell("ls")).run(async |_| panic!("it ran")).await;
    assert_eq!(ls.for_model(), "Tool call denied: no");
    turn.end(Err(TurnEnd::Cancelled)).await;
    let turn = session.turn("hi").await.unwrap();
    let context = turn.opening().additional_context();
    assert_eq!(context.as_deref(), Some("1 before"), "the builtin keeps its state");
    turn.end(Err(TurnEnd::Cancelled)).await;
    session.end("exit").await;
}

#[tokio::test]
async fn every_input_has_the_fields_of_the_host_and_a_subagent_those_of_its_parent() {
    let (executor, log) = executor(Event::all(), silent());
    let executor = Arc::new(executor);
    let session = Session::builder("s-1")
        .cwd("/project")
        .field("tenant", "acme")
        .attach(Arc::clone(&executor));
    let child = Session::builder("s-2").parent(&session).agent_name("reviewer").attach(executor);
    let outcome = child.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(!outcome.is_error());
    for input in log.inputs() {
        assert_eq!((input.session_id.as_str(), input.cwd.as_str()), ("s-2", "/project"));
        assert_eq!(input.agent_name.as_deref(), Some("reviewer"));
        assert_eq!(input.extra["tenant"], "acme");
        assert_eq!(input.extra["parent_session_id"], "s-1");
    }
    let mut input = Input::default();
    input.extra.insert("tenant".to_owned(), json!("other"));
    let _ = session.fire(Event::OnUserInput, input).await;
    assert_eq!(log.of(Event::OnUserInput).extra["tenant"], "other");
    assert!(!log.of(Event::OnUserInput).extra.contains_key("parent_session_id"));
}

#[tokio::test]
async fn text_is_held_back_while_a_hook_may_change_it() {
    for (event, holds) in [(Event::AfterLlmCall, true), (Event::BeforeLlmCall, false)] {
        let (executor, _) = executor([event], silent());
        let session = Session::builder("s-1").attach(executor);
        assert_eq!(session.holds_text_back(), holds, "{event}");
    }
}
