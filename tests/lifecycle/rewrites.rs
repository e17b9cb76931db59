//! What hooks change on the way, and who sees the change.

use hookexec::lifecycle::{DeniedBy, Session, ToolEnd, ToolError, ToolFacts};
use hookexec::wire::JsonObject;
use hookexec::{Builtin, Config, Decision, Event, Executor, Input, Output, Registry};
use serde_json::json;

use super::support::{at, nothing, object, session, shell};

fn rename(name: &str) -> Output {
    let mut output = Output::default();
    output.updated_tool_name = Some(name.to_owned());
    output
}

#[tokio::test]
async fn a_transformed_input_is_what_everyone_after_it_sees() {
    let patch = Output::patch_input(object(json!({ "cmd": "ls -a" })));
    let (session, log) = session(at(Event::ToolInputTransform, patch)).await;
    let outcome =
        session.tool_call(shell("ls")).run(async |call| Ok(call.text("cmd")?.into())).await;
    assert_eq!(outcome.for_model(), "ls -a");
    assert_eq!(outcome.call.arguments["cmd"], "ls -a");
    for input in log.inputs().iter().filter(|input| input.tool_name.is_some()).skip(1) {
        assert_eq!(input.tool_input.as_ref().unwrap()["cmd"], "ls -a", "{input:?}");
    }
    session.end("exit").await;
}

#[tokio::test]
async fn the_guards_answer_to_the_rewritten_call_counts() {
    let script = |event, input: &Input| match event {
        Event::PreToolUse => Output::patch_input(object(json!({ "cmd": "rm -r /" }))).into(),
        Event::ToolGuard if input.tool_input.as_ref().unwrap()["cmd"] == "rm -r /" => {
            Output::deny("not the whole disk").into()
        }
        _ => nothing(),
    };
    let (session, log) = session(script).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| panic!("the tool ran")).await;
    assert!(matches!(&outcome.end, ToolEnd::Denied { by: DeniedBy::Hooks(Event::ToolGuard), .. }));
    assert_eq!(outcome.call.arguments["cmd"], "rm -r /");
    let fired = [
        "tool_input_transform",
        "tool_guard",
        "pre_tool_use",
        "tool_input_transform",
        "tool_guard",
        "on_tool_approval_decision",
    ];
    assert_eq!(log.take(), fired);
    session.end("exit").await;
}

#[tokio::test]
async fn the_hooks_of_a_renamed_call_judge_it_under_its_new_name() {
    let script = |event, input: &Input| match (event, input.tool()) {
        (Event::PreToolUse, "bash") => {
            let mut output = rename("shell");
            output.additional_context = Some("use `shell` next time".to_owned());
            output.into()
        }
        _ => nothing(),
    };
    let (session, log) = session(script).await;
    let mut call = shell("ls");
    call.name = "bash".to_owned();
    let outcome = session.tool_call(call).run(async |call| Ok(call.name().into())).await;
    assert_eq!(outcome.for_model(), "shell\n\nuse `shell` next time");
    let tools: Vec<(String, &str)> = log
        .inputs()
        .iter()
        .filter_map(|input| Some((input.tool_name.clone()?, input.hook_event_name?.name())))
        .collect();
    let expected = [
        ("bash", "tool_input_transform"),
        ("bash", "tool_guard"),
        ("bash", "pre_tool_use"),
        ("shell", "tool_input_transform"),
        ("shell", "tool_guard"),
        ("shell", "on_tool_approval_decision"),
        ("shell", "tool_response_transform"),
        ("shell", "post_tool_use"),
    ];
    assert_eq!(tools, expected.map(|(tool, event)| (tool.to_owned(), event)));
    session.end("exit").await;
}

#[tokio::test]
async fn a_guard_of_the_old_name_judges_a_renamed_call() {
    let yaml = "
hooks:
  pre_tool_use:
    - matcher: shell
      hooks: [{ type: builtin, command: guard }]
    - hooks: [{ type: builtin, command: rename }]
";
    for (answer, cmd) in [(Output::deny("no rm"), "ls"), (Output::ask("sure?"), "rm x")] {
        let mut registry = Registry::new();
        registry.register_builtin(
            "guard",
            Builtin::inline(move |input: &Input, _: &[String]| {
                let is_rm = input.tool_input.as_ref().is_some_and(|it| it["cmd"] == "rm x");
                Ok::<_, std::io::Error>(is_rm.then(|| answer.clone()))
            }),
        );
        registry.register_builtin(
            "rename",
            Builtin::inline(|_: &Input, _: &[String]| {
                let mut output = Output::patch_input(object(json!({ "cmd": "rm x" })));
                output.updated_tool_name = Some("bash2".to_owned());
                Ok::<_, std::io::Error>(Some(output))
            }),
        );
        let config = Config::from_yaml(yaml, "hooks.yaml").unwrap();
        let executor = Executor::builder(config).registry(registry).build().unwrap();
        let session = Session::builder("s-1").attach(executor);
        let outcome = session.tool_call(shell(cmd)).run(async |_| panic!("the tool ran")).await;
        assert!(matches!(&outcome.end, ToolEnd::Denied { .. }), "{outcome:?}");
        assert_eq!(outcome.call.name, "bash2");
    }
}

#[tokio::test]
async fn a_guard_of_a_kind_of_tools_is_not_gone_round_by_a_new_name() {
    let yaml = "
hooks:
  tool_guard:
    - matcher: shell
      hooks: [{ type: builtin, command: deny }]
  pre_tool_use:
    - hooks: [{ type: builtin, command: rename }]
";
    let mut registry = Registry::new();
    registry.register_builtin(
        "deny",
        Builtin::inline(|_: &Input, _: &[String]| {
            Ok::<_, std::io::Error>(Some(Output::deny("no shells")))
        }),
    );
    registry.register_builtin(
        "rename",
        Builtin::inline(|input: &Input, _: &[String]| {
            Ok::<_, std::io::Error>((input.tool() == "note").then(|| rename("run_terminal_cmd")))
        }),
    );
    let config = Config::from_yaml(yaml, "hooks.yaml").unwrap();
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let session = Session::builder("s-1")
        .tools(|name| match name {
            "run_terminal_cmd" => ToolFacts::kind("shell"),
            _ => ToolFacts::kind("note"),
        })
        .attach(executor);
    let call = hookexec::lifecycle::ToolCall::new("note", JsonObject::new());
    let outcome = session.tool_call(call).run(async |_| panic!("the tool ran")).await;
    assert_eq!(outcome.for_model(), "Tool call denied: no shells");
    assert_eq!(outcome.call.facts, ToolFacts::kind("shell"));
}

#[tokio::test]
async fn a_response_is_transformed_before_anyone_sees_it() {
    let script = |event, input: &Input| match event {
        Event::ToolResponseTransform => {
            let text = input.tool_response.as_ref().unwrap().as_str().unwrap();
            Output::tool_response(text.replace("s3cret", "***")).into()
        }
        Event::PostToolUse => {
            assert_eq!(input.tool_response, Some("key=***".into()));
            nothing()
        }
        _ => nothing(),
    };
    let (session, _) = session(script).await;
    let ran = session.tool_call(shell("env")).run(async |_| Ok("key=s3cret".into())).await;
    assert!(
        matches!(&ran.end, ToolEnd::Ran { response, rewritten: true, .. } if response == "key=***")
    );
    let failed =
        session.tool_call(shell("env")).run(async |_| Err(ToolError::new("key=s3cret"))).await;
    assert!(matches!(&failed.end, ToolEnd::Failed { response, .. } if response == "key=***"));
    let panicked = session.tool_call(shell("env")).run(async |_| panic!("key=s3cret")).await;
    assert!(!panicked.for_model().contains("s3cret"), "{}", panicked.for_model());
    session.end("exit").await;
}

#[tokio::test]
async fn a_response_may_be_rewritten_after_the_tool_as_well() {
    let (session, _) = session(at(Event::PostToolUse, Output::tool_response("shorter"))).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| Ok("long".into())).await;
    assert_eq!(outcome.for_model(), "shorter");
    session.end("exit").await;
}

#[tokio::test]
async fn a_response_that_is_rewritten_after_the_tool_is_transformed_again() {
    let script = |event, input: &Input| match event {
        Event::ToolResponseTransform => {
            let text = input.tool_response.as_ref().unwrap().as_str().unwrap();
            Output::tool_response(text.replace("s3cret", "***")).into()
        }
        Event::PostToolUse => Output::tool_response("key=s3cret").into(),
        _ => nothing(),
    };
    let (session, log) = session(script).await;
    let ran = session.tool_call(shell("env")).run(async |_| Ok("clean".into())).await;
    assert!(matches!(&ran.end, ToolEnd::Ran { response, .. } if response == "key=***"));
    let fired = log.take();
    let after =
        ["tool_response_transform", "post_tool_use", "tool_response_transform", "post_tool_use"];
    assert_eq!(fired[fired.len() - 4..], after);
    let failed = session.tool_call(shell("env")).run(async |_| Err(ToolError::new("no"))).await;
    assert!(matches!(&failed.end, ToolEnd::Failed { response, .. } if response == "key=***"));
    session.end("exit").await;
}

#[tokio::test]
async fn guidance_comes_along_with_an_allowed_call() {
    let script = |event, _: &Input| {
        let mut output = Output::context(format!("from {event}"));
        output.system_message = Some(format!("to the user, from {event}"));
        match event {
            Event::PreToolUse => {
                output.decision = Some(Decision::Allow);
                output.into()
            }
            Event::PostToolUse => output.into(),
            _ => nothing(),
        }
    };
    let (session, _) = session(script).await;
    let outcome = session.tool_call(shell("ls")).run(async |_| Ok("files".into())).await;
    assert_eq!(outcome.for_model(), "files\n\nfrom pre_tool_use\nfrom post_tool_use");
    let messages: Vec<_> = outcome.trail.system_messages().collect();
    assert_eq!(
        messages,
        [
            (Event::PreToolUse, "to the user, from pre_tool_use"),
            (Event::PostToolUse, "to the user, from post_tool_use"),
        ]
    );
    session.end("exit").await;
}

#[tokio::test]
async fn numbers_in_arguments_keep_their_digits() {
    let (session, _) = session(super::support::silent()).await;
    let call =
        hookexec::lifecycle::ToolCall::parse("pay", r#"{"amount":123456789012345678901234567890}"#);
    let outcome = session
        .tool_call(call.unwrap())
        .run(async |call| Ok(call.arguments()["amount"].to_string().into()))
        .await;
    assert_eq!(outcome.for_model(), "123456789012345678901234567890");
    session.end("exit").await;
}
