//! How an event gets its verdict, with builtins as hooks; no process is started here.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::explain::Selection;
use super::{DispatchOptions, Executor};
use crate::config::{
    Command, Config, Hook, InLayer as _, Layer, Limits, Location, OnError, Phase, SourceFile,
};
use crate::describe::{CallDescription, DescribeCall};
use crate::event::Event;
use crate::handlers::builtin::Builtin;
use crate::matcher::Matcher;
use crate::registry::{HandlerFactory, Registry};
use crate::wire::{Decision, HookStatus, Input, JsonObject, Mode, Output, ToolResult, Verdict};

mod cases;
mod crowded;
mod decision_keys;
mod failed_files;
mod laws;
mod layered;
mod limited;
mod reference;
mod requests;
mod rewriting;
mod second_answers;
mod settling;
mod world;

fn by(deadline: Instant) -> DispatchOptions<'static> {
    DispatchOptions { until: Some(deadline), ..DispatchOptions::default() }
}

/// Knows the kinds of a few tools.
#[derive(Debug)]
struct Kinds;

impl DescribeCall for Kinds {
    fn describe(&self, _: &Input) -> CallDescription {
        CallDescription::default()
    }

    fn kinds(&self, _: Option<&str>, tool: &str) -> Vec<String> {
        let kind = match tool {
            "Bash" | "PowerShell" => "shell",
            tool if tool.starts_with("mcp__") => "mcp",
            _ => return Vec::new(),
        };
        vec![kind.to_owned()]
    }
}

/// Returns builtins that answer with the JSON they are given, and more.
fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.describe_calls_by(&Kinds);
    registry.register_builtin(
        "say",
        Builtin::inline(|_: &Input, args: &[String]| Output::parse(&args[0]).map(Some)),
    );
    registry.register_builtin(
        "fail",
        Builtin::inline(|_: &Input, args: &[String]| {
            Err::<Option<Output>, String>(args.first().cloned().unwrap_or_else(|| "broke".into()))
        }),
    );
    registry.register_builtin(
        "panic",
        Builtin::inline(|_: &Input, _: &[String]| -> Result<_, String> { panic!("on purpose") }),
    );
    // Denies every command that holds the word.
    registry.register_builtin(
        "deny_word",
        Builtin::inline(|input: &Input, args: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).map(|found| found.to_string());
            let found = command.unwrap_or_default().contains(args[0].as_str());
            Ok::<_, String>(found.then(|| Output::deny(format!("no {}", args[0]))))
        }),
    );
    // Sets `cmd`; gives the same answer to the same input.
    registry.register_builtin(
        "set_cmd",
        Builtin::inline(|_: &Input, args: &[String]| {
            Ok::<_, String>(Some(Output::patch_input(object(json!({ "cmd": args[0] })))))
        }),
    );
    // Never settles.
    registry.register_builtin(
        "append",
        Builtin::inline(|input: &Input, _: &[String]| {
            let before = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let longer = format!("{}x", before.as_str().unwrap_or_default());
            Ok::<_, String>(Some(Output::patch_input(object(json!({ "cmd": longer })))))
        }),
    );
    registry.register_builtin(
        "deny_tool",
        Builtin::inline(|input: &Input, args: &[String]| {
            Ok::<_, String>((input.tool() == args[0]).then(|| Output::deny("not this tool")))
        }),
    );
    registry.register_builtin(
        "respond",
        Builtin::inline(|_: &Input, _: &[String]| {
            Ok::<_, String>(Some(Output::respond(ToolResult::text("done"))))
        }),
    );
    // Changes `rm`, asks about it and tells of it; once.
    registry.register_builtin(
        "trash",
        Builtin::inline(|input: &Input, _: &[String]| {
            let command = input.lookup(&["tool_input", "cmd"]).unwrap_or_default().into_owned();
            let Some(rest) = command.as_str().and_then(|text| text.strip_prefix("rm")) else {
                return Ok::<_, String>(None);
            };
            let mut output = Output::patch_input(object(json!({ "cmd": format!("trash{rest}") })));
            output.decision = Some(Decision::Ask);
            output.reason = Some("changed".into());
            output.additional_context = Some("moved to the trash".into());
            Ok(Some(output.with_system_message("look")))
        }),
    );
    registry
}

fn object(value: impl Into<Value>) -> JsonObject {
    value.into().as_object().cloned().expect("an object")
}

fn hook(event: Event, name: &str, args: &[&str]) -> Hook {
    let mut hook = Hook::new(event, "builtin", Command::Text(name.into()));
    hook.args = args.iter().map(ToString::to_string).collect();
    hook
}

fn say(event: Event, answer: &Value) -> Hook {
    hook(event, "say", &[&answer.to_string()])
}

fn executor(hooks: Vec<Hook>) -> Executor {
    let config = Config { hooks, ..Config::default() };
    Executor::builder(config).registry(registry()).working_dir("/project").build().expect("builds")
}

fn call(command: &str) -> Input {
    Input::for_tool("shell", object(json!({ "cmd": command, "cwd": "/tmp" })))
}

async fn verdict(hooks: Vec<Hook>, event: Event, input: &Input) -> Verdict {
    executor(hooks).dispatch(event, input).await
}

use Event::{
    AfterLlmCall, BeforeLlmCall, Notification, PermissionRequest, PostToolUse, PreToolUse,
    SessionStart, Stop, UserPromptSubmit,
};

#[tokio::test]
async fn nothing_configured_is_no_opinion() {
    let verdict = verdict(vec![], PreToolUse, &call("ls")).await;
    assert_eq!(verdict, Verdict::no_opinion(PreToolUse));
}

#[tokio::test]
async fn deny_outranks_ask_outranks_allow_and_reasons_come_in_config_order() {
    let answers = [
        json!({"decision": "allow", "reason": "fine"}),
        json!({"hook_specific_output": {"permission_decision": "deny", "permission_decision_reason": "first"}}),
        json!({"decision": "ask", "reason": "sure?"}),
        json!({"decision": "block", "reason": "second"}),
    ];
    let hooks = answers.iter().map(|answer| say(PreToolUse, answer)).collect();
    let denied = verdict(hooks, PreToolUse, &call("ls")).await;
    assert_eq!(denied.decision, Some(Decision::Deny));
    assert!(!denied.allowed);
    assert_eq!(denied.message.as_deref(), Some("first\nsecond"));

    let hooks = vec![say(PreToolUse, &answers[0]), say(PreToolUse, &answers[2])];
    let asked = verdict(hooks, PreToolUse, &call("ls")).await;
    assert_eq!((asked.decision, asked.allowed), (Some(Decision::Ask), false));

    let allowed = verdict(vec![say(PreToolUse, &answers[0])], PreToolUse, &call("ls")).await;
    assert_eq!((allowed.decision, allowed.allowed), (Some(Decision::Allow), true));
}

#[tokio::test]
async fn what_a_failure_means_is_the_contracts_word_or_the_hooks() {
    use OnError::{Ask, Block, Ignore, Warn};
    let cases: [(Event, Option<OnError>, Option<Decision>); 15] = [
        (PreToolUse, None, Some(Decision::Deny)),
        (PreToolUse, Some(Block), Some(Decision::Deny)),
        (PreToolUse, Some(Ask), Some(Decision::Ask)),
        (PreToolUse, Some(Warn), None),
        (PreToolUse, Some(Ignore), None),
        (PermissionRequest, None, Some(Decision::Ask)),
        (PermissionRequest, Some(Block), Some(Decision::Deny)),
        (UserPromptSubmit, None, None),
        (UserPromptSubmit, Some(Block), Some(Decision::Deny)),
        (UserPromptSubmit, Some(Ask), Some(Decision::Deny)),
        (UserPromptSubmit, Some(Warn), None),
        (Stop, None, None),
        (Stop, Some(Block), None),
        (Stop, Some(Warn), None),
        (Stop, Some(Ignore), None),
    ];
    for (event, on_error, expected) in cases {
        for broken in ["fail", "panic"] {
            let mut hook = hook(event, broken, &[]);
            hook.on_error = on_error;
            let verdict = verdict(vec![hook], event, &call("ls")).await;
            let case = format!("{event} {on_error:?} {broken}: {verdict:?}");
            assert_eq!(verdict.decision, expected, "{case}");
            assert_eq!(verdict.hooks[0].status, HookStatus::Failed, "{case}");
            assert_eq!(verdict.failed_open.is_empty(), expected.is_some(), "{case}");
            let told = verdict.message.clone().or(verdict.system_message.clone());
            if on_error == Some(Ignore) {
                assert_eq!(told, None, "{case}");
            } else {
                let told = told.expect(&case);
                assert!(told.contains(broken) && told.contains("<program>"), "{case}");
            }
            if expected.is_some() {
                assert_eq!(verdict.exit_code, Some(-1), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn an_empty_list_of_messages_is_not_a_rewrite() {
    let messages = vec![json!({"role": "user", "content": "hi"})];
    let input = Input { messages: Some(messages), ..Input::default() };
    for (messages, expected) in [(json!([]), None), (json!(["x"]), Some(vec![json!("x")]))] {
        let hook =
            say(BeforeLlmCall, &json!({"hook_specific_output": {"updated_messages": messages}}));
        let verdict = verdict(vec![hook], BeforeLlmCall, &input).await;
        assert_eq!(verdict.updated_messages, expected, "{messages}");
        assert!(verdict.allowed && verdict.system_message.is_none(), "{verdict:?}");
    }
}

#[tokio::test]
async fn what_an_event_cannot_do_is_said() {
    let cases = [
        (Notification, json!({"decision": "block"}), "can't be blocked"),
        (Notification, json!({"continue": false}), "can't end the turn"),
        (Stop, json!({"hook_specific_output": {"permission_decision": "ask"}}), "can't ask"),
        (
            SessionStart,
            json!({"hook_specific_output": {"updated_input": {}}}),
            "`updated_input` can't be used",
        ),
        (
            BeforeLlmCall,
            json!({"hook_specific_output": {"additional_context": "x"}}),
            "takes no context",
        ),
        (
            PreToolUse,
            json!({"hook_specific_output": {"updated_messages": []}}),
            "`updated_messages` can't be used",
        ),
        (PreToolUse, json!({"hook_specific_output": {"summary": "s"}}), "takes no summary"),
        (
            PostToolUse,
            json!({"hook_specific_output": {"respond": {"for_llm": "x"}}}),
            "in a tool's place",
        ),
        (
            PreToolUse,
            json!({"hook_specific_output": {"hook_event_name": "PostToolUse"}}),
            "is for `PostToolUse`",
        ),
    ];
    for (event, answer, expected) in cases {
        let loose = verdict(vec![say(event, &answer)], event, &call("ls")).await;
        let told = loose.system_message.unwrap_or_default();
        assert!(told.contains(expected) && told.contains("say"), "{event} {answer}: {told}");
        assert_eq!(loose.decision, None, "{event} {answer}");

        let mut strict = say(event, &answer);
        strict.strict_output = true;
        let strict = verdict(vec![strict], event, &call("ls")).await;
        assert_eq!(strict.hooks[0].status, HookStatus::Failed, "{event} {answer}");
    }
}

#[tokio::test]
async fn an_allow_whose_rewrite_is_dropped_allows_nothing() {
    let answer =
        json!({"decision": "allow", "hook_specific_output": {"updated_input": {"cmd": "ls"}}});
    let verdict =
        verdict(vec![say(PermissionRequest, &answer)], PermissionRequest, &call("rm")).await;
    assert_eq!(verdict.decision, None);
    assert!(verdict.system_message.unwrap().contains("updated_input"));
}

#[tokio::test]
async fn a_stop_is_a_denial_where_the_event_may_stop() {
    for event in [PreToolUse, BeforeLlmCall, AfterLlmCall] {
        let answer = json!({"continue": false, "stop_reason": "enough"});
        let verdict = verdict(vec![say(event, &answer)], event, &call("ls")).await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{event}");
        assert_eq!(verdict.message.as_deref(), Some("enough"), "{event}");
        assert_eq!(verdict.stop.map(|stop| stop.reason).as_deref(), Some("enough"), "{event}");
    }
}

#[tokio::test]
async fn matchers_choose_by_name_or_kind_and_identical_hooks_run_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    let counter = Arc::clone(&count);
    registry.register_builtin(
        "count",
        Builtin::inline(move |_: &Input, _: &[String]| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, String>(None)
        }),
    );
    let matched = |pattern: &str| {
        let mut hook = hook(PreToolUse, "count", &[]);
        hook.matcher = Matcher::new(pattern).unwrap();
        hook
    };
    let mut other = matched("Bash|shell");
    other.args = vec!["other".into()];
    let hooks = vec![matched("*"), matched("Bash"), matched("edit"), other];
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();

    let mut input = Input::for_tool("Bash", JsonObject::new());
    assert_eq!(executor.dispatch(PreToolUse, &input).await.hooks.len(), 2);
    assert_eq!(count.load(Ordering::Relaxed), 2);
    input.tool_name = Some("Execute".into());
    assert_eq!(executor.dispatch(PreToolUse, &input).await.hooks.len(), 1);
    input.tool_kinds = vec!["shell".into()];
    assert_eq!(executor.dispatch(PreToolUse, &input).await.hooks.len(), 2);
}

#[tokio::test]
async fn a_tool_event_without_a_tool_is_denied_where_it_may_be_blocked() {
    let hooks = || vec![say(PreToolUse, &json!({})), say(Event::ToolResponseTransform, &json!({}))];
    let denied = verdict(hooks(), PreToolUse, &Input::default()).await;
    assert_eq!(denied.decision, Some(Decision::Deny));
    let withheld = verdict(hooks(), Event::ToolResponseTransform, &Input::default()).await;
    assert_eq!(withheld.decision, Some(Decision::Deny));
    let response = withheld.updated_tool_response.unwrap().to_string();
    assert!(response.contains("[withheld by hookexec: "), "{response}");
}

#[tokio::test]
async fn a_tool_whose_name_has_control_characters_is_denied_where_the_event_may_be_blocked() {
    for name in ["shell\n", "a\nb", "\u{1b}[2J", "shell\0", "x\u{85}"] {
        // A guard of another tool: its absence must not be taken for permission.
        let hooks = |event| {
            let mut guard = say(event, &json!({}));
            guard.matcher = Matcher::new("shell").unwrap();
            vec![guard]
        };
        let input = Input::for_tool(name, JsonObject::new());
        let denied = verdict(hooks(PreToolUse), PreToolUse, &input).await;
        assert_eq!(denied.decision, Some(Decision::Deny), "{name:?}");
        let message = denied.message.unwrap();
        assert!(message.contains(&format!("{name:?}")) && !message.contains(name), "{message}");
        assert!(executor(hooks(PreToolUse)).concerns(PreToolUse, &input));
        let open = Event::OnToolApprovalDecision;
        assert!(verdict(hooks(open), open, &input).await.allowed, "{name:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn async_builtins_are_dropped_at_their_timeout() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async {
            tokio::time::sleep(Duration::from_hours(1)).await;
            Ok::<_, String>(None)
        }),
    );
    let mut slow = hook(PreToolUse, "sleep", &[]);
    slow.timeout = Duration::from_millis(1);
    let config = Config { hooks: vec![slow], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert!(verdict.message.unwrap().contains("timed out after 1ms"));
}

#[tokio::test(start_paused = true)]
async fn a_layers_deadline_counts_for_its_own_hooks_only() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "slow_denial",
        Builtin::future(|_: Arc<Input>, args: Arc<[String]>| async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok::<_, String>(Some(Output::deny(args[0].clone())))
        }),
    );
    let above = hook(UserPromptSubmit, "slow_denial", &["not that"]);
    let mut below = hook(UserPromptSubmit, "slow_denial", &["below"]);
    let deadline = Some(Duration::from_millis(50));
    below.limits = Arc::new(Limits { deadline, ..Limits::default() });
    let config = Config { hooks: vec![above, below], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(UserPromptSubmit, &Input::default()).await;
    assert_eq!(verdict.message.as_deref(), Some("not that"));
    assert_eq!(verdict.failed_open.len(), 1, "{verdict:?}");
}

#[tokio::test(start_paused = true)]
async fn rewriters_of_a_project_leave_time_for_the_guards_of_others() {
    let mut registry = Registry::new();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, args: Arc<[String]>| async move {
            tokio::time::sleep(Duration::from_secs(args[0].parse().unwrap())).await;
            Ok::<_, String>(Some(Output::deny("not that")))
        }),
    );
    let of_the_project = || {
        let mut hook = hook(UserPromptSubmit, "sleep", &["3600"]);
        let file = SourceFile::new(Path::new("hooks.yaml"), "").in_layer(Layer::Project);
        (hook.phase, hook.location) = (Phase::Mutate, Location::new(Arc::new(file), 0..0));
        hook
    };
    let guard = hook(UserPromptSubmit, "sleep", &["8"]);
    let hooks = vec![of_the_project(), of_the_project(), guard];
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let until = tokio::time::Instant::now().into_std() + Duration::from_secs(20);
    let verdict = executor.run(UserPromptSubmit, &Input::default(), by(until)).await;
    assert_eq!(verdict.message.as_deref(), Some("not that"), "{verdict:#?}");
    assert!(
        verdict.hooks[0].error.as_ref().unwrap().contains("its share of the time"),
        "{verdict:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_is_late_for_its_caller_fails_by_its_own_on_error() {
    let mut registry = registry();
    registry.register_builtin(
        "sleep",
        Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async {
            tokio::time::sleep(Duration::from_hours(1)).await;
            Ok::<_, String>(None)
        }),
    );
    let late = |on_error| Hook { on_error, ..hook(UserPromptSubmit, "sleep", &[]) };
    let context = json!({"hook_specific_output": {"additional_context": "kept"}});
    for (on_error, expected) in [(Some(OnError::Block), Some(Decision::Deny)), (None, None)] {
        let hooks = vec![late(on_error), say(UserPromptSubmit, &context)];
        let config = Config { hooks, ..Config::default() };
        let executor = Executor::builder(config).registry(registry.clone()).build().unwrap();
        let until = tokio::time::Instant::now().into_std() + Duration::from_secs(1);
        let verdict = executor.run(UserPromptSubmit, &Input::default(), by(until)).await;
        assert_eq!(verdict.decision, expected);
        assert_eq!(verdict.additional_context.as_deref(), Some("kept"));
        let error = verdict.hooks[0].error.as_ref().unwrap();
        assert!(error.contains("the time for an answer passed"), "{error}");
        // The same of one that could not be asked at all.
        let failed = executor.failed(UserPromptSubmit, None, "busy");
        assert_eq!(failed.decision, expected);
        assert!(failed.message.or(failed.system_message).unwrap().contains("busy"));
    }
}

#[tokio::test]
async fn a_condition_that_takes_too_long_is_a_failure_of_its_hook_alone() {
    let text = r#"
user_prompt_submit:
  - { type: builtin, command: say, args: ["{}"], on_error: block, timeout: 100ms, when: { field: prompt, regex: '(?s)[a-z].{6000}X1' } }
  - { type: builtin, command: fail, when: { all: [ { field: prompt, glob: "nothing" }, { field: prompt, regex: '(?s)[a-z].{6000}X2' } ] } }
  - { type: builtin, command: say, args: ["{\"system_message\":\"a\"}"], when: { not: { field: prompt, regex: '\w+@\w+\.(org|com)\b' } } }
"#;
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    let executor = Executor::builder(config).registry(registry()).build().unwrap();
    let mut input = Input { prompt: Some("a".repeat(20_000)), ..Input::default() };
    let verdict = executor.dispatch(UserPromptSubmit, &input).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert!(verdict.message.unwrap().contains("timed out after 100ms"), "{:?}", verdict.hooks);
    let ran: Vec<_> = verdict.hooks.iter().map(|hook| hook.status).collect();
    assert_eq!(ran, [HookStatus::Failed, HookStatus::Ok], "a usual pattern takes no time");
    input.prompt = Some("short".into());
    assert!(executor.dispatch(UserPromptSubmit, &input).await.allowed);
}

#[tokio::test]
async fn plain_builtins_may_block_and_panic() {
    let mut registry = Registry::new();
    let state = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&state);
    registry.register_builtin(
        "note",
        Builtin::blocking(move |input: &Input, args: &[String]| {
            seen.lock().unwrap().push((input.tool().to_owned(), args.to_vec()));
            Ok::<_, String>(Some(Output::context("noted")))
        }),
    );
    registry.register_builtin(
        "panic",
        Builtin::blocking(|_: &Input, _: &[String]| -> Result<_, String> {
            panic!("kept off the reactor")
        }),
    );
    let hooks = vec![hook(PreToolUse, "note", &["a"]), hook(PreToolUse, "panic", &[])];
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
    assert_eq!(state.lock().unwrap()[..], [("shell".to_owned(), vec!["a".to_owned()])]);
    assert_eq!(verdict.additional_context.as_deref(), Some("noted"));
    assert!(verdict.message.unwrap().contains("panicked: kept off the reactor"));
}

#[tokio::test]
async fn the_callers_input_is_completed_but_never_changed() {
    let seen = Arc::new(Mutex::new(None));
    let mut registry = Registry::new();
    let slot = Arc::clone(&seen);
    registry.register_builtin(
        "see",
        Builtin::inline(move |input: &Input, _: &[String]| {
            *slot.lock().unwrap() = Some(input.clone());
            Ok::<_, String>(None)
        }),
    );
    let config = Config { hooks: vec![hook(PreToolUse, "see", &[])], ..Config::default() };
    let executor =
        Executor::builder(config).registry(registry).working_dir("/project").build().unwrap();
    let input = call("ls");
    let before = input.clone();
    let _ = executor.dispatch(PreToolUse, &input).await;
    assert_eq!(input, before);
    let seen = seen.lock().unwrap().clone().unwrap();
    assert_eq!((seen.cwd.as_str(), seen.hook_event_name), ("/project", Some(PreToolUse)));
}

#[tokio::test]
async fn what_cannot_work_is_refused_when_the_executor_is_built() {
    let mut unknown_type = hook(PreToolUse, "say", &[]);
    unknown_type.kind = "comand".into();
    let hooks = vec![unknown_type, hook(PreToolUse, "sya", &[])];
    let config = Config { hooks, ..Config::default() };
    let problems = Executor::builder(config).registry(registry()).build().unwrap_err();
    let told: Vec<_> = problems
        .iter()
        .map(|problem| (problem.message.as_str(), problem.hint.as_deref()))
        .collect();
    assert_eq!(told[0].0, "unknown hook type `comand`");
    assert_eq!(told[1], ("unknown builtin `sya`", Some("did you mean `say`?")));
}

#[tokio::test]
async fn a_builtin_may_answer_in_the_tools_place_unless_the_call_is_denied() {
    let respond =
        || say(PreToolUse, &json!({"hook_specific_output": {"respond": {"for_llm": "cached"}}}));
    let answered = verdict(vec![respond()], PreToolUse, &call("ls")).await;
    assert_eq!(answered.respond, Some(ToolResult::text("cached")));
    let deny = say(PreToolUse, &json!({"decision": "deny"}));
    let denied = verdict(vec![respond(), deny], PreToolUse, &call("ls")).await;
    assert_eq!(denied.respond, None);
}

#[tokio::test]
async fn background_hooks_are_not_waited_for_and_finish_at_shutdown() {
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let done = Arc::new(AtomicUsize::new(0));
    let finished = Arc::clone(&done);
    let mut registry = Registry::new();
    registry.register_builtin(
        "wait",
        Builtin::future(move |_: Arc<Input>, _: Arc<[String]>| {
            let receiver = receiver.lock().unwrap().take();
            let finished = Arc::clone(&finished);
            async move {
                receiver.unwrap().await.unwrap();
                finished.fetch_add(1, Ordering::Relaxed);
                Ok::<_, String>(None)
            }
        }),
    );
    let mut background = hook(Stop, "wait", &[]);
    background.phase = Phase::Background;
    let config = Config { hooks: vec![background], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(Stop, &Input::default()).await;
    assert_eq!(verdict.hooks[0].status, HookStatus::Background);
    assert_eq!(done.load(Ordering::Relaxed), 0);
    sender.send(()).unwrap();
    executor.shutdown(Duration::from_mins(1)).await;
    assert_eq!(done.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_hook_that_is_tried_out_never_changes_the_verdict() {
    let deny = json!({"decision": "deny", "reason": "no", "hook_specific_output": {"updated_input": {"cmd": "x"}}});
    for (mode, told) in [(Mode::Warn, true), (Mode::Shadow, false)] {
        for mut candidate in [say(PreToolUse, &deny), hook(PreToolUse, "fail", &[])] {
            candidate.mode = mode;
            let enforced = say(PreToolUse, &json!({"decision": "allow"}));
            let verdict = verdict(vec![candidate, enforced], PreToolUse, &call("ls")).await;
            assert_eq!(verdict.decision, Some(Decision::Allow), "{mode:?}");
            assert_eq!(verdict.updated_input, None, "{mode:?}");
            assert_eq!(verdict.hooks[0].mode, Some(mode));
            assert_eq!(verdict.hooks[0].decision, Some(Decision::Deny), "{mode:?}");
            let message = verdict.system_message.unwrap_or_default();
            assert_eq!(message.contains("would have denied"), told, "{mode:?}: {message}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn the_verdict_does_not_depend_on_which_hook_finishes_first(delays in proptest::collection::vec(0_u64..50, 5)) {
        let answers = [
            json!({"decision": "deny", "reason": "one"}),
            json!({"decision": "deny", "reason": "two", "system_message": "a"}),
            json!({"decision": "allow"}),
            json!({"system_message": "b", "hook_specific_output": {"additional_context": "x"}}),
            json!({"hook_specific_output": {"additional_context": "y", "metadata": {"k": "last"}}}),
        ];
        let dispatch = |delays: Vec<u64>| {
            let mut registry = Registry::new();
            registry.register_builtin("say_late", Builtin::future(|_: Arc<Input>, args: Arc<[String]>| async move {
                tokio::time::sleep(Duration::from_millis(args[1].parse()?)).await;
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Some(Output::parse(&args[0])?))
            }));
            let hooks = answers.iter().zip(delays).map(|(answer, delay)| {
                let mut late = hook(PreToolUse, "say_late", &[&answer.to_string(), &delay.to_string()]);
                late.name = Some(answer.to_string());
                late
            });
            let config = Config { hooks: hooks.collect(), ..Config::default() };
            let executor = Executor::builder(config).registry(registry).build().unwrap();
            // Time stands still but for the sleeps, so each order of finishing really happens.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()
                .unwrap();
            let mut verdict = runtime.block_on(executor.dispatch(PreToolUse, &call("ls")));
            for hook in &mut verdict.hooks {
                hook.duration_ms = 0.0;
            }
            verdict
        };
        proptest::prop_assert_eq!(dispatch(delays), dispatch(vec![0; 5]));
    }
}

#[tokio::test]
async fn of_every_hook_it_is_said_why_it_would_not_run() {
    let config = Config::from_yaml(
        r#"
pre_tool_use:
  - matcher: shell
    hooks:
      - { type: builtin, command: say, args: ["{}"] }
      - { type: builtin, command: fail, when: { field: tool_input.cmd, equals: rm } }
      - { type: builtin, command: panic, enabled: false }
  - matcher: edit
    hooks: [{ type: builtin, command: fail }]
  - hooks: [{ type: builtin, command: say, args: ["{}"] }]
stop: [{ type: builtin, command: fail }]
"#,
        "hooks.yaml",
    )
    .unwrap();
    let executor = Executor::builder(config).registry(registry()).build().unwrap();
    let explained = executor.explain(PreToolUse, &call("ls"));
    let selections: Vec<_> = explained.iter().map(|found| found.selection.clone()).collect();
    assert_eq!(
        selections,
        [
            Selection::Runs,
            Selection::ConditionFails,
            Selection::Disabled,
            Selection::NotMatched,
            Selection::DuplicateOf("hooks.yaml:5".into()),
            Selection::OtherEvent(Stop),
        ]
    );
    assert_eq!(explained[1].condition.as_ref().unwrap().value, Some(json!("ls")));
    let ran = executor.dispatch(PreToolUse, &call("ls")).await.hooks;
    assert_eq!(ran.len(), 1, "what is explained is what happens: {ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dispatch_can_move_between_threads_and_many_run_at_once() {
    let rewriter = Hook { phase: Phase::Mutate, ..hook(PreToolUse, "set_cmd", &["ls"]) };
    let hooks = vec![hook(PreToolUse, "deny_word", &["rm"]), rewriter];
    let executor = Arc::new(executor(hooks));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let executor = Arc::clone(&executor);
        tasks.spawn(async move { executor.dispatch(PreToolUse, &call("rm")).await });
    }
    while let Some(verdict) = tasks.join_next().await {
        assert!(verdict.unwrap().allowed);
    }
}
