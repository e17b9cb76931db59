//! Sessions, turns, model calls, compactions: what fires around them.

use std::convert::Infallible;
use std::sync::Arc;

use hookexec::lifecycle::{
    CompactionSource, Finished, ModelRequest, Session, SessionSource, Turn, TurnEnd,
};
use hookexec::wire::{RequestChange, Stop, StopScope};
use hookexec::{Event, Input, Output};
use serde_json::{Value, json};

use super::support::{Act, at, executor, nothing, session, shell, silent};

fn request() -> ModelRequest {
    let mut request = ModelRequest::new(vec![json!({"role": "user", "content": "hi"})]);
    request.model = Some("small".to_owned());
    request
}

#[tokio::test]
async fn a_session_begins_and_ends_once() {
    let (executor, log) =
        executor(Event::all(), at(Event::SessionStart, Output::context("be brief")));
    let session = Session::builder("s-1")
        .cwd("/project")
        .agent_name("coder")
        .model("small")
        .start(executor, SessionSource::Startup)
        .await;
    assert_eq!(session.opening().additional_context().as_deref(), Some("be brief"));
    let input = log.of(Event::SessionStart);
    assert_eq!(input.source.as_deref(), Some("startup"));
    assert_eq!((input.session_id.as_str(), input.cwd.as_str()), ("s-1", "/project"));
    assert_eq!(input.agent_name.as_deref(), Some("coder"));
    assert_eq!(input.model_id.as_deref(), Some("small"));
    session.end("prompt_exit").await;
    assert_eq!(log.of(Event::SessionEnd).reason.as_deref(), Some("prompt_exit"));
    assert_eq!(log.take(), ["session_start", "session_end"]);
}

#[tokio::test]
async fn a_session_that_is_resumed_says_so() {
    let (executor, log) = executor(Event::all(), silent());
    let session = Session::builder("s-1").start(executor, SessionSource::Resume).await;
    assert_eq!(log.of(Event::SessionStart).source.as_deref(), Some("resume"));
    assert_eq!(log.take(), ["session_start", "on_session_resume"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_session_that_began_elsewhere_fires_nothing() {
    let (executor, log) = executor(Event::all(), silent());
    let session = Session::builder("s-1").attach(executor);
    assert!(session.opening().verdicts().is_empty());
    drop(session);
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn every_event_of_a_turn_has_the_common_fields() {
    let (session, log) = session(silent()).await;
    let turn = session.turn("what is here?").await.unwrap();
    assert_eq!(turn.id(), "turn-1");
    let answered = turn
        .model_call(request())
        .run(async |_| Ok::<_, Infallible>(json!({"content": "let me look"})));
    assert_eq!(answered.await.end.unwrap()["content"], "let me look");
    let outcome = turn.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert!(!outcome.is_error());
    turn.end(Ok(turn.finish("there are files").await.unwrap())).await;

    assert_eq!(log.of(Event::UserPromptSubmit).prompt.as_deref(), Some("what is here?"));
    assert_eq!(log.of(Event::AfterLlmCall).stop_response.as_deref(), Some("let me look"));
    assert_eq!(log.of(Event::Stop).stop_response.as_deref(), Some("there are files"));
    assert_eq!(log.of(Event::TurnEnd).reason.as_deref(), Some("normal"));
    for input in log.inputs() {
        assert_eq!(input.session_id, "s-1");
        assert!(!input.cwd.is_empty());
        assert_eq!(input.turn_id.as_deref(), Some("turn-1"));
        assert_eq!(input.last_user_message.as_deref(), Some("what is here?"));
    }
    assert_eq!(log.of(Event::TurnStart).iteration, None);
    assert_eq!(log.of(Event::PreToolUse).iteration, Some(1));
    assert_eq!(
        log.take(),
        [
            "user_prompt_submit",
            "turn_start",
            "before_llm_call",
            "after_llm_call",
            "tool_input_transform",
            "tool_guard",
            "pre_tool_use",
            "on_tool_approval_decision",
            "tool_response_transform",
            "post_tool_use",
            "stop",
            "turn_end",
        ]
    );
    let next = session.begin_turn("turn-2", None).await.unwrap();
    assert_eq!(next.id(), "turn-2");
    next.end(Err(TurnEnd::Cancelled)).await;
    assert_eq!(log.take(), ["turn_start", "turn_end"]);
    session.end("exit").await;
}

#[tokio::test]
async fn guidance_at_the_start_of_a_turn() {
    let script = |event, _: &Input| match event {
        Event::UserPromptSubmit => Output::context("the user is new here").into(),
        Event::TurnStart => Output::context("it is Monday").into(),
        _ => nothing(),
    };
    let (session, _) = session(script).await;
    let turn = session.turn("hi").await.unwrap();
    let guidance = turn.opening().additional_context();
    assert_eq!(guidance.as_deref(), Some("the user is new here\nit is Monday"));
    turn.end(Ok(turn.finish("").await.unwrap())).await;
    session.end("exit").await;
}

#[tokio::test]
async fn a_prompt_that_is_blocked_begins_no_turn() {
    let (session, log) = session(at(Event::UserPromptSubmit, Output::deny("no secrets"))).await;
    let refused = session.turn("my key is ...").await.unwrap_err();
    assert_eq!(refused.by, Event::UserPromptSubmit);
    assert_eq!(refused.to_string(), "refused by a `user_prompt_submit` hook: no secrets");
    assert_eq!(log.take(), ["user_prompt_submit"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_turn_ends_in_each_of_its_ways() {
    let ends: [(TurnEnd, &[&str], &str); 5] = [
        (TurnEnd::failed("no network"), &["notification", "on_error"], "error"),
        (
            TurnEnd::MaxIterations { limit: 20 },
            &["notification", "on_max_iterations"],
            "max_iterations",
        ),
        (TurnEnd::Cancelled, &[], "canceled"),
        (TurnEnd::Steered, &[], "steered"),
        (TurnEnd::Other("budget_exceeded".into()), &[], "budget_exceeded"),
    ];
    let (session, log) = session(silent()).await;
    for (end, before, reason) in ends {
        let turn = session.begin_turn("turn-2", None).await.unwrap();
        log.take();
        turn.end(Err(end)).await;
        assert_eq!(log.of(Event::TurnEnd).reason.as_deref(), Some(reason));
        assert_eq!(log.take(), [before, &["turn_end"]].concat());
    }
    session.end("exit").await;
}

#[tokio::test]
async fn a_turn_that_is_run_ends_on_every_way_out() {
    let (session, log) = session(at(Event::Stop, Output::context("one more thing"))).await;
    let work = async |turn: Arc<Turn>| Ok(turn.finish("done").await.unwrap());
    let outcome = session.run_turn("hi", work).await;
    assert_eq!(outcome.end.unwrap(), "done");
    assert_eq!(outcome.trail.additional_context().as_deref(), Some("one more thing"));
    assert_eq!(log.take(), ["user_prompt_submit", "turn_start", "stop", "turn_end"]);

    let session = Arc::new(session);
    let theirs = Arc::clone(&session);
    let panicked = tokio::spawn(async move {
        let work = async |_| -> Result<Finished, TurnEnd> { panic!("a bug of the host") };
        theirs.run_turn("hi", work).await.end
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(log.of(Event::TurnEnd).reason.as_deref(), Some("error"));
    let error = log.of(Event::OnError).notification_message;
    assert_eq!(error.as_deref(), Some("the turn panicked: a bug of the host"));
    let fired = ["user_prompt_submit", "turn_start", "notification", "on_error", "turn_end"];
    assert_eq!(log.take(), fired);
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_request_and_its_response_are_rewritten() {
    let script = |event, _: &Input| {
        let mut output = Output::default();
        match event {
            Event::BeforeLlmCall => {
                output.updated_messages = Some(vec![json!("redacted")]);
                let mut change = RequestChange::default();
                change.model = Some("large".to_owned());
                output.updated_request = Some(change);
            }
            Event::AfterLlmCall => output.updated_response = Some("polished".into()),
            _ => {}
        }
        Act::from(output)
    };
    let (session, log) = session(script).await;
    let tools = vec![json!({"name": "shell"})];
    let mut with_tools = request();
    with_tools.tools.clone_from(&tools);
    let outcome = session
        .model_call(with_tools)
        .run(async |request| {
            assert_eq!(request.messages, [json!("redacted")]);
            assert_eq!(request.model.as_deref(), Some("large"));
            assert_eq!(request.tools, tools);
            Ok::<_, Infallible>("rough".into())
        })
        .await;
    assert_eq!(outcome.end.unwrap(), "polished");
    assert_eq!(log.of(Event::BeforeLlmCall).model_id.as_deref(), Some("small"));
    assert_eq!(log.of(Event::AfterLlmCall).model_id.as_deref(), Some("large"));
    assert_eq!(log.take(), ["before_llm_call", "after_llm_call"]);
    session.end("exit").await;
}

#[tokio::test]
async fn hooks_read_the_text_of_a_response_in_the_forms_of_models() {
    let (session, log) = session(silent()).await;
    let thinking = json!({ "type": "thinking", "thinking": "hm" });
    let text = |text: &str| json!({ "type": "text", "text": text });
    for (response, read) in [
        (json!("hello"), Some("hello")),
        (json!({ "role": "assistant", "content": "hello" }), Some("hello")),
        (json!({ "content": [thinking, text("hello"), text("there")] }), Some("hello\nthere")),
        (json!({ "content": [thinking] }), None),
        (json!({ "content": null, "tool_calls": [] }), None),
        (json!({ "output": "hello" }), None),
    ] {
        let call = session.model_call(request());
        let outcome = call.run(async |_| Ok::<_, Infallible>(response.clone())).await;
        assert_eq!(outcome.end.unwrap(), response);
        assert_eq!(log.of(Event::AfterLlmCall).stop_response.as_deref(), read, "{response}");
    }
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_request_without_a_model_is_for_that_of_the_session() {
    let (executor, _) = executor([], silent());
    let session = Session::builder("s-1").model("small").attach(executor);
    let outcome = session
        .model_call(ModelRequest::new(Vec::new()))
        .run(async |request| Ok::<_, Infallible>(request.model.into()))
        .await;
    assert_eq!(outcome.end.unwrap(), "small");
}

#[tokio::test]
async fn a_model_request_that_is_refused_is_not_made() {
    let (session, log) = session(at(Event::BeforeLlmCall, Output::deny("too many"))).await;
    let call = async |_| -> Result<Value, Infallible> { panic!("the model was called") };
    let outcome = session.model_call(request()).run(call).await;
    let Err(TurnEnd::Refused(refused)) = outcome.end else { panic!("{outcome:?}") };
    assert_eq!(outcome.trail, refused.trail);
    assert_eq!((refused.by, refused.message.as_str()), (Event::BeforeLlmCall, "too many"));
    assert_eq!(log.take(), ["before_llm_call"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_response_that_makes_a_hook_stop_is_not_handed_out() {
    let mut output = Output::deny("a canary leaked");
    output.stop = Some(Stop::new(StopScope::Session, "a canary leaked"));
    let (session, _) = session(at(Event::AfterLlmCall, output)).await;
    let call = async |_| Ok::<_, Infallible>("canary".into());
    let outcome = session.model_call(request()).run(call).await;
    let Err(TurnEnd::Refused(refused)) = outcome.end else { panic!("{outcome:?}") };
    assert_eq!(refused.stop.unwrap().scope, StopScope::Session);
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_call_that_fails_is_told_once() {
    let (session, log) = session(silent()).await;
    let turn = session.begin_turn("turn-2", None).await.unwrap();
    let outcome =
        turn.model_call(request()).run(async |_| Err::<Value, _>("connection refused")).await;
    assert_eq!(outcome.end.unwrap_err().to_string(), "connection refused");
    turn.end(Err(TurnEnd::failed("connection refused"))).await;
    let error = log.of(Event::OnError);
    assert_eq!(error.notification_message.as_deref(), Some("connection refused"));
    assert_eq!(error.notification_level.as_deref(), Some("error"));
    let fired = ["turn_start", "before_llm_call", "notification", "on_error", "turn_end"];
    assert_eq!(log.take(), fired);

    // An error of its own, after a model call that went well, is told.
    let turn = session.begin_turn("turn-2", None).await.unwrap();
    let outcome =
        turn.model_call(request()).run(async |_| Err::<Value, _>("connection refused")).await;
    assert!(matches!(outcome.end, Err(TurnEnd::Failed { .. })));
    let outcome =
        turn.model_call(request()).run(async |_| Ok::<_, Infallible>("hello".into())).await;
    assert_eq!(outcome.end.unwrap(), "hello");
    log.take();
    turn.end(Err(TurnEnd::failed("disk full"))).await;
    assert_eq!(log.take(), ["notification", "on_error", "turn_end"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_model_call_that_is_cancelled() {
    let (session, log) = session(silent()).await;
    let outcome = session
        .model_call(request())
        .cancelled_by(log.fired(Event::BeforeLlmCall))
        .run(async |_| std::future::pending::<Result<Value, Infallible>>().await)
        .await;
    assert!(matches!(outcome.end, Err(TurnEnd::Cancelled)));
    assert_eq!(log.take(), ["before_llm_call"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_compaction_takes_context_and_a_summary_from_hooks() {
    let (first, log) = session(at(Event::PreCompact, Output::context("keep the plan"))).await;
    let outcome = first
        .compaction(CompactionSource::Auto)
        .with("input_tokens", 190_000)
        .run(async |context| {
            assert_eq!(context.as_deref(), Some("keep the plan"));
            Ok::<_, Infallible>("what we did".to_owned())
        })
        .await;
    assert_eq!(outcome.end.unwrap(), "what we did");
    let input = log.of(Event::BeforeCompaction);
    assert_eq!(input.source.as_deref(), Some("auto"));
    assert_eq!(input.extra["input_tokens"], 190_000);
    assert_eq!(log.of(Event::AfterCompaction).summary.as_deref(), Some("what we did"));
    assert_eq!(log.take(), ["pre_compact", "before_compaction", "after_compaction"]);
    first.end("exit").await;

    let mut output = Output::default();
    output.summary = Some("theirs".to_owned());
    let (second, _) = session(at(Event::BeforeCompaction, output)).await;
    let summarise =
        async |_| -> Result<String, Infallible> { panic!("the summary was there already") };
    let outcome = second.compaction(CompactionSource::Manual).run(summarise).await;
    assert_eq!(outcome.end.unwrap(), "theirs");
    second.end("exit").await;
}

#[tokio::test]
async fn a_compaction_may_be_refused_or_fail() {
    for event in [Event::PreCompact, Event::BeforeCompaction] {
        let (session, log) = session(at(event, Output::deny("not now"))).await;
        let summarise = async |_| -> Result<String, Infallible> { panic!("it was compacted") };
        let outcome = session.compaction(CompactionSource::Overflow).run(summarise).await;
        assert!(matches!(outcome.end, Err(TurnEnd::Refused(refused)) if refused.by == event));
        assert!(!log.take().contains(&"after_compaction"));
        session.end("exit").await;
    }
    let (session, log) = session(silent()).await;
    let outcome = session
        .compaction(CompactionSource::Auto)
        .run(async |_| Err::<String, _>("model unavailable"))
        .await;
    assert_eq!(outcome.end.unwrap_err().to_string(), "model unavailable");
    assert_eq!(log.take(), ["pre_compact", "before_compaction", "notification", "on_error"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_subagent_gets_context_and_is_seen_to_stop_however_it_ends() {
    let hint = || Output::context("write short sentences");
    let (session, log) = session(at(Event::SubagentStart, hint())).await;
    let context = session.subagent("reviewer", async |context| context).await;
    assert_eq!(context.as_deref(), Some("write short sentences"));
    assert_eq!(log.of(Event::SubagentStart).agent_name.as_deref(), Some("reviewer"));
    let input = log.of(Event::SubagentStop);
    assert_eq!(input.agent_name.as_deref(), Some("reviewer"));
    assert_eq!(input.reason.as_deref(), Some("normal"));

    let session = Arc::new(session);
    let theirs = Arc::clone(&session);
    let panicked = tokio::spawn(async move {
        theirs.subagent("reviewer", |_| async { panic!("a bug") }).await;
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(log.of(Event::SubagentStop).reason.as_deref(), Some("error"));
    let once = ["subagent_start", "subagent_stop"];
    assert_eq!(log.take(), [once, once].concat());
    session.end("exit").await;
}

#[tokio::test]
async fn simple_events_get_the_common_fields_too() {
    let (session, log) = session(at(Event::UserFollowupSubmit, Output::deny("closed"))).await;
    let mut input = Input::default();
    input.prompt = Some("and then?".to_owned());
    let verdict = session.fire(Event::UserFollowupSubmit, input).await;
    assert!(!verdict.allowed);
    assert_eq!(log.of(Event::UserFollowupSubmit).session_id, "s-1");
    let _ = session.notify("warning", "the disk is nearly full").await;
    let input = log.of(Event::Notification);
    assert_eq!(input.notification_level.as_deref(), Some("warning"));
    assert_eq!(log.take(), ["user_followup_submit", "notification"]);
    session.end("exit").await;
}

#[tokio::test]
async fn a_stop_hook_keeps_the_model_at_work_and_is_told_that_it_did() {
    let (session, log) = session(|event, input: &Input| {
        let again = input.extra.get("stop_hook_active") == Some(&json!(true));
        match event {
            Event::Stop if again => nothing(),
            Event::Stop => Output::deny("finish the tests").into(),
            _ => nothing(),
        }
    })
    .await;
    let turn = session.turn("hi").await.unwrap();
    assert_eq!(turn.finish("done").await.unwrap_err(), "finish the tests");
    let finished = turn.finish("now really").await.unwrap();
    log.take();
    turn.end(Ok(finished)).await;
    assert_eq!(log.take(), ["turn_end"], "`stop` fired already");
    session.end("exit").await;
}

#[tokio::test]
async fn a_stop_hook_that_always_blocks_is_heard_eight_times() {
    let (session, log) = session(at(Event::Stop, Output::deny("more"))).await;
    let turn = session.turn("hi").await.unwrap();
    for time in 0..hookexec::MAX_CONTINUES {
        assert_eq!(turn.finish("done").await.unwrap_err(), "more", "{time}");
    }
    let finished = turn.finish("done").await.unwrap();
    log.take();
    let trail = turn.end(Ok(finished)).await;
    assert_eq!(log.take(), ["turn_end"]);
    assert_eq!(trail.verdicts()[0].event, Event::Stop, "what the last hooks said is kept");
    session.end("exit").await;
}

#[tokio::test]
async fn a_limit_holds_for_all_turns_of_a_session_and_for_each_of_its_sessions() {
    let text = "
stop: { type: builtin, command: again, limit: 3 }
pre_tool_use: [ { hooks: { type: builtin, command: limit_calls, args: ['2'] } } ]
";
    let directory = tempfile::tempdir().unwrap();
    let executor = || {
        let mut registry = hookexec::Registry::new();
        hookexec_builtins::register(&mut registry);
        let again = |_: &Input, _: &[String]| Ok::<_, String>(Some(Output::deny("more")));
        registry.register_builtin("again", hookexec::Builtin::inline(again));
        let config = hookexec::Config::from_yaml(text, "hooks.yaml").unwrap();
        let builder = hookexec::Executor::builder(config).registry(registry);
        builder.counts_in(directory.path().join("counts")).build().unwrap()
    };
    // An executor of its own stands for another process of the same session.
    let (mut blocked, mut allowed) = (0, 0);
    for executor in [executor(), executor()] {
        let session = Session::builder("s-1").attach(executor);
        let turn = session.turn("hi").await.unwrap();
        for _ in 0..2 {
            blocked += u32::from(turn.finish("done").await.is_err());
            let call = turn.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
            allowed += u32::from(!call.is_error());
        }
        turn.end(Err(TurnEnd::Cancelled)).await;
    }
    assert_eq!((blocked, allowed), (3, 2));
    let session = Session::builder("s-2").attach(executor());
    let turn = session.turn("hi").await.unwrap();
    assert!(turn.finish("done").await.is_err(), "another session has its own count");
    turn.end(Err(TurnEnd::Cancelled)).await;
}
