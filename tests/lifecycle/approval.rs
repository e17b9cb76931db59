//! Who may approve what: hooks, the host's own question, and an approval's bond to one call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hookexec::lifecycle::{
    Approval, ApprovalRequest, DeniedBy, Session, ToolCall, ToolEnd, ToolOutcome,
};
use hookexec::wire::ToolResult;
use hookexec::{Decision, Event, Output};
use serde_json::json;

use super::support::{Act, at, nothing, object, session, shell, silent, weather};

/// Answers several events, each in its own way.
fn by_event(
    answers: impl IntoIterator<Item = (Event, Output)>,
) -> impl Fn(Event, &hookexec::Input) -> Act + Send + Sync + 'static {
    let answers: Vec<_> = answers.into_iter().collect();
    move |fired, _| {
        let found = answers.iter().find(|(event, _)| *event == fired);
        found.map_or_else(nothing, |(_, output)| output.clone().into())
    }
}

fn denied_by(outcome: &ToolOutcome) -> Option<DeniedBy> {
    match outcome.end {
        ToolEnd::Denied { by, .. } => Some(by),
        _ => None,
    }
}

async fn unasked(request: ApprovalRequest) -> Approval {
    panic!("somebody was asked: {request:?}")
}

#[tokio::test]
async fn a_hook_may_answer_in_the_users_place() {
    let script = by_event([
        (Event::PreToolUse, Output::ask("sure?")),
        (Event::PermissionRequest, Output::allow()),
    ]);
    let (session, log) = session(script).await;
    let outcome =
        session.tool_call(shell("ls")).approve_with(unasked).run(async |_| Ok("ok".into())).await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
    let source = log.of(Event::OnToolApprovalDecision).approval_source;
    assert_eq!(source.as_deref(), Some("permission_request"));
    session.end("exit").await;
}

#[tokio::test]
async fn the_arguments_with_which_a_hook_approves_are_judged() {
    for (new, denied) in [("ls -l", None), ("rm", Some(DeniedBy::Hooks(Event::PreToolUse)))] {
        let script = move |event, input: &hookexec::Input| match event {
            Event::PreToolUse if input.tool_input.as_ref().unwrap()["cmd"] == "rm" => {
                Output::deny("no rm").into()
            }
            Event::PreToolUse => Output::ask("sure?").into(),
            Event::PermissionRequest => {
                let mut output = Output::patch_input(object(json!({ "cmd": new })));
                output.decision = Some(Decision::Allow);
                output.into()
            }
            _ => nothing(),
        };
        let (session, _) = session(script).await;
        let running = session.tool_call(shell("ls")).approve_with(unasked).run(async |call| {
            assert_eq!(call.arguments()["cmd"], "ls -l");
            Ok("ok".into())
        });
        let outcome = running.await;
        assert_eq!(denied_by(&outcome), denied, "{outcome:?}");
        assert_eq!(outcome.call.arguments["cmd"], new);
        session.end("exit").await;
    }
}

#[tokio::test]
async fn no_hook_answers_a_question_of_the_mandatory_guard() {
    let script = by_event([
        (Event::ToolGuard, Output::ask("the guard asks")),
        (Event::PreToolUse, Output::allow()),
        (Event::PermissionRequest, Output::allow()),
    ]);
    let (session, _) = session(script).await;
    let alone = session.tool_call(shell("ls")).run(async |_| panic!("the tool ran")).await;
    assert_eq!(denied_by(&alone), Some(DeniedBy::NobodyToAsk));
    let asked = session
        .tool_call(shell("ls"))
        .approve_with(async |request| {
            assert_eq!(request.reasons(), [(Some(Event::ToolGuard), "the guard asks".to_owned())]);
            request.grant()
        })
        .run(async |_| Ok("ok".into()))
        .await;
    assert!(matches!(asked.end, ToolEnd::Ran { .. }));
    session.end("exit").await;
}

#[tokio::test]
async fn what_the_guard_asks_about_the_rewritten_call_counts() {
    let asks_about = |word: &'static str| {
        move |event, input: &hookexec::Input| match event {
            Event::PreToolUse => Output::patch_input(object(json!({ "cmd": "new" }))).into(),
            Event::ToolGuard if input.tool_input.as_ref().unwrap()["cmd"] == word => {
                Output::ask("sure?").into()
            }
            _ => nothing(),
        }
    };
    let (about_new, _) = session(asks_about("new")).await;
    let outcome = about_new.tool_call(shell("old")).run(async |_| panic!("the tool ran")).await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::NobodyToAsk));
    about_new.end("exit").await;

    // Nothing takes back what it asked about the old arguments.
    let (about_old, _) = session(asks_about("old")).await;
    let outcome = about_old.tool_call(shell("old")).run(async |_| panic!("the tool ran")).await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::NobodyToAsk));
    about_old.end("exit").await;
}

#[tokio::test]
async fn no_opinion_on_a_permission_request_is_no_approval() {
    let (session, _) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| panic!("the tool ran")).await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::NobodyToAsk));
    session.end("exit").await;
}

#[tokio::test]
async fn a_hook_may_refuse_in_the_users_place() {
    let script = by_event([
        (Event::PreToolUse, Output::ask("sure?")),
        (Event::PermissionRequest, Output::deny("never at night")),
    ]);
    let (session, _) = session(script).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(unasked)
        .run(async |_| panic!("the tool ran"))
        .await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::Hooks(Event::PermissionRequest)));
    assert_eq!(outcome.for_model(), "Tool call denied: never at night");
    session.end("exit").await;
}

#[tokio::test]
async fn the_host_asks_unless_a_hook_allows() {
    let (quiet, _) = session(silent()).await;
    let outcome = quiet
        .tool_call(shell("ls"))
        .ask_unless_allowed("every shell command is asked about")
        .approve_with(async |request| {
            let reason = "every shell command is asked about".to_owned();
            assert_eq!(request.reasons(), [(None, reason)]);
            request.refuse("no")
        })
        .run(async |_| panic!("the tool ran"))
        .await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::Approver));
    quiet.end("exit").await;

    let (allowing, log) = session(at(Event::PreToolUse, Output::allow())).await;
    let outcome = allowing
        .tool_call(shell("ls"))
        .ask_unless_allowed("every shell command is asked about")
        .approve_with(unasked)
        .run(async |_| Ok("ok".into()))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
    let source = log.of(Event::OnToolApprovalDecision).approval_source;
    assert_eq!(source.as_deref(), Some("pre_tool_use"));
    allowing.end("exit").await;

    // What the guard allows, the host still asks about: its allow is advice.
    let (guarded, _) = session(at(Event::ToolGuard, Output::allow())).await;
    let outcome = guarded
        .tool_call(shell("ls"))
        .ask_unless_allowed("asked")
        .run(async |_| panic!("the tool ran"))
        .await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::NobodyToAsk));
    guarded.end("exit").await;
}

/// Returns an approval of `call`, which then waits for ever.
async fn granted(session: &Session, call: ToolCall) -> Approval {
    let mut approval = None;
    let asked = session.tool_call(call).approve_with(async |request| {
        approval = Some(request.grant());
        std::future::pending().await
    });
    let waited = Duration::from_millis(50);
    let run = asked.run(async |_| panic!("the tool ran"));
    tokio::time::timeout(waited, run).await.unwrap_err();
    approval.unwrap()
}

#[tokio::test]
async fn an_approval_of_one_call_is_void_for_another() {
    let (mine, _) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let other_call = granted(&mine, shell("ls")).await;
    let (asking, _) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let session = hookexec::lifecycle::Session::builder("s-2").attach(asking.executor());
    let other_session = granted(&session, shell("pwd")).await;
    let other_id = granted(&mine, shell("pwd").with_id("another")).await;
    for approval in [other_call, other_session, other_id] {
        let outcome = mine
            .tool_call(shell("pwd"))
            .approve_with(async |_| approval)
            .run(async |_| panic!("the tool ran"))
            .await;
        assert_eq!(denied_by(&outcome), Some(DeniedBy::VoidApproval));
    }
    mine.end("exit").await;
    session.end("exit").await;
    asking.end("exit").await;
}

#[tokio::test]
async fn an_approver_that_panics_has_not_approved() {
    let (session, log) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |_| panic!("the terminal is gone"))
        .run(async |_| panic!("the tool ran"))
        .await;
    assert_eq!(denied_by(&outcome), Some(DeniedBy::NobodyToAsk));
    let decided = log.of(Event::OnToolApprovalDecision);
    assert_eq!(decided.approval_decision.as_deref(), Some("deny"));
    session.end("exit").await;
}

#[tokio::test]
async fn a_question_that_is_called_off_cancels_the_call() {
    let (session, log) = session(at(Event::PreToolUse, Output::ask("sure?"))).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |request| request.cancel())
        .run(async |_| panic!("the tool ran"))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Cancelled));
    let decided = log.of(Event::OnToolApprovalDecision);
    assert_eq!(decided.approval_decision.as_deref(), Some("canceled"));
    session.end("exit").await;
}

#[tokio::test]
async fn an_answer_in_the_tools_place_waits_for_approval_when_the_guard_asks() {
    let answer = Output::respond(ToolResult::text("sunny"));
    let script = by_event([(Event::ToolGuard, Output::ask("sure?")), (Event::PreToolUse, answer)]);
    let (session, _) = session(script).await;
    let refused = session
        .tool_call(weather())
        .approve_with(async |request| request.refuse("no"))
        .run(async |_| panic!("the tool ran"))
        .await;
    assert_eq!(denied_by(&refused), Some(DeniedBy::Approver));
    let granted = session
        .tool_call(weather())
        .approve_with(async |request| request.grant())
        .run(async |_| panic!("the tool ran"))
        .await;
    assert!(matches!(granted.end, ToolEnd::Responded { .. }));
    session.end("exit").await;
}

#[tokio::test]
async fn the_guard_has_the_last_word_on_what_is_shown() {
    let with = |mut output: Output, text: &str| {
        output.metadata.insert("risk".into(), text.into());
        output.metadata.insert(text.into(), true.into());
        output
    };
    let script = by_event([
        (Event::PreToolUse, with(Output::ask("sure?"), "medium")),
        (Event::ToolGuard, with(Output::default(), "high")),
        (Event::PermissionRequest, with(Output::default(), "low")),
    ]);
    let (session, _) = session(script).await;
    let outcome = session
        .tool_call(shell("ls"))
        .approve_with(async |request| {
            assert_eq!(request.metadata()["risk"], "high");
            assert_eq!(request.metadata().len(), 4);
            request.grant()
        })
        .run(async |_| Ok("ok".into()))
        .await;
    assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
    session.end("exit").await;
}

#[tokio::test]
async fn a_batch_asks_about_one_call_at_a_time_in_the_order_of_the_calls() {
    // The later a call stands, the sooner its hook has answered.
    let script = |event, input: &hookexec::Input| match event {
        Event::PreToolUse => {
            let place: u64 =
                input.tool_input.as_ref().unwrap()["cmd"].as_str().unwrap().parse().unwrap();
            Act::After(Duration::from_millis(60 - 20 * place), Box::new(Output::ask("sure?")))
        }
        _ => nothing(),
    };
    let (session, _) = session(script).await;
    let open = AtomicUsize::new(0);
    let asked = Mutex::new(Vec::new());
    let outcomes = session
        .batch(vec![shell("0"), shell("1"), shell("2")])
        .approve_with(async |request| {
            assert_eq!(open.fetch_add(1, Ordering::SeqCst), 0, "two questions at once");
            asked.lock().unwrap().push(request.arguments()["cmd"].clone());
            tokio::task::yield_now().await;
            open.fetch_sub(1, Ordering::SeqCst);
            request.grant()
        })
        .run(async |_| Ok("ok".into()))
        .await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome.end, ToolEnd::Ran { .. })));
    assert_eq!(asked.into_inner().unwrap(), ["0", "1", "2"]);
    session.end("exit").await;
}
