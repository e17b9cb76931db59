//! Hooks of `approval` under the drivers: in the approver's place, and before the approver.

use hookexec::lifecycle::{DeniedBy, Session, SessionSource, ToolEnd, ToolOutcome};
use hookexec::{Decision, Event, Input, Output};
use serde_json::json;

use super::support::{Act, Log, executor, nothing, object, shell};

/// Returns a session in which every event has a hook; that of `approval` answers with `answer`.
async fn session(
    asks: impl Fn(Event, &Input) -> Act + Send + Sync + 'static,
    answer: impl Fn(&Input) -> Output + Send + Sync + 'static,
) -> (Session, Log) {
    let (executor, log) = executor(Event::all(), move |event, input| match event {
        Event::Approval => answer(input).into(),
        _ => asks(event, input),
    });
    let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
    (session, log)
}

/// Returns an allow of exactly what is asked.
fn allow(input: &Input) -> Output {
    let mut output = Output::allow();
    output.digest = Some(input.approval.as_ref().unwrap().digest.clone());
    output.by = Some("ann".to_owned());
    output
}

fn asks_at(asked: Event) -> impl Fn(Event, &Input) -> Act + Send + Sync + 'static {
    move |event, _| if event == asked { Output::ask("sure?").into() } else { nothing() }
}

async fn run(session: &Session) -> ToolOutcome {
    session.tool_call(shell("ls")).run(async |_| Ok("ok".into())).await
}

#[tokio::test]
async fn a_person_answers_where_the_host_can_ask_nobody() {
    for asked in [Event::PreToolUse, Event::ToolGuard] {
        let (session, log) = session(asks_at(asked), allow).await;
        let outcome = run(&session).await;
        assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
        let source = log.of(Event::OnToolApprovalDecision).approval_source;
        assert_eq!(source.as_deref(), Some("approval"));
        let question = *log.of(Event::Approval).approval.unwrap();
        assert_eq!(question.reasons[0].reason, "sure?");
        let verdict = outcome.trail.verdicts().iter().find(|it| it.event == Event::Approval);
        assert_eq!(verdict.unwrap().approval.as_ref().unwrap().by.as_deref(), Some("ann"));
        session.end("exit").await;
    }
}

#[tokio::test]
async fn whatever_is_no_allow_of_this_call_denies_it() {
    let answers: [fn(&Input) -> Output; 4] = [
        |_| Output::default(),
        |_| Output::allow(),
        |_| Output::deny("no"),
        |input| {
            let mut output = allow(input);
            output.digest = Some("sha256:0".to_owned());
            output
        },
    ];
    for answer in answers {
        let (session, _) = session(asks_at(Event::PreToolUse), answer).await;
        let outcome = session
            .tool_call(shell("ls"))
            .approve_with(async |request| panic!("the host was asked: {request:?}"))
            .run(async |_| panic!("the tool ran"))
            .await;
        let ToolEnd::Denied { by, message } = &outcome.end else { panic!("{outcome:?}") };
        assert_eq!(*by, DeniedBy::Hooks(Event::Approval), "{message}");
        session.end("exit").await;
    }
}

#[tokio::test]
async fn what_the_channel_leaves_goes_to_the_hosts_approver() {
    let (session, _) = session(asks_at(Event::PreToolUse), |_| Output::ask("nobody there")).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |request| {
            let reasons: Vec<_> = request.reasons().iter().map(|(event, _)| *event).collect();
            assert_eq!(reasons, [Some(Event::Approval), Some(Event::PreToolUse)]);
            request.grant()
        })
        .run(async |_| Ok("ok".into()))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
    session.end("exit").await;
}

#[tokio::test]
async fn what_the_host_asks_by_itself_goes_to_the_channel_and_a_rule_goes_first() {
    let by_rule = |event: Event, _: &Input| match event {
        Event::PermissionRequest => Output::allow().into(),
        _ => nothing(),
    };
    let (with_rule, log) = session(by_rule, allow).await;
    let call = with_rule.tool_call(shell("ls")).ask_unless_allowed("the host wants to know");
    let outcome = call.run(async |_| Ok("ok".into())).await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
    let asked = |log: &Log| {
        log.inputs().iter().filter(|it| it.hook_event_name == Some(Event::Approval)).count()
    };
    assert_eq!(asked(&log), 0);
    with_rule.end("exit").await;

    let (session, log) = session(|_, _| nothing(), allow).await;
    let call = session.tool_call(shell("ls")).ask_unless_allowed("the host wants to know");
    let outcome = call.run(async |_| Ok("ok".into())).await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
    let question = *log.of(Event::Approval).approval.unwrap();
    assert_eq!(question.reasons[0].reason, "the host wants to know");
    assert_eq!(question.reasons[0].hook, None);
    session.end("exit").await;
}

#[tokio::test]
async fn a_person_sees_the_final_call_and_what_the_model_wrote() {
    let rewrites = |event: Event, _: &Input| match event {
        Event::ToolInputTransform => Output::patch_input(object(json!({ "cmd": "ls -l" }))).into(),
        Event::PreToolUse => Output::ask("sure?").into(),
        _ => nothing(),
    };
    let (session, log) = session(rewrites, allow).await;
    let outcome = session
        .tool_call(shell("ls"))
        .run(async |call| {
            assert_eq!(call.arguments()["cmd"], "ls -l");
            Ok("ok".into())
        })
        .await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
    let input = log.of(Event::Approval);
    assert_eq!(input.tool_input.unwrap()["cmd"], "ls -l");
    assert_eq!(input.approval.unwrap().original_input.unwrap()["cmd"], "ls");
    session.end("exit").await;
}

#[tokio::test]
async fn an_answer_at_another_event_has_no_digest() {
    let (session, _) = session(
        |event, _| {
            let mut output = Output::allow();
            output.digest = Some("sha256:0".to_owned());
            if event == Event::PreToolUse { output.into() } else { nothing() }
        },
        |_| panic!("a person was asked"),
    )
    .await;
    let outcome = run(&session).await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }), "{outcome:?}");
    let told: Vec<_> = outcome.trail.system_messages().map(|(_, text)| text).collect();
    assert!(told[0].contains("mean nothing at `pre_tool_use`"), "{told:?}");
    let guard = outcome.trail.verdicts().iter().find(|it| it.event == Event::PreToolUse);
    assert_eq!(guard.unwrap().decision, Some(Decision::Allow));
    session.end("exit").await;
}
