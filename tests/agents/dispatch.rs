//! Which of our events fire at one event of an agent, and what becomes of their verdicts.

use std::sync::{Arc, Mutex};

use hookexec::config::{Command, Hook};
use hookexec::wire::{Stop, StopScope};
use hookexec::{Builtin, Config, Decision, Event, Executor, Input, Output, Registry, Verdict};
use hookexec_agents::{Agent, NativeCall, Subject};
use serde_json::json;

/// What a hook makes of an input.
type Act = fn(&Input) -> Output;

/// An executor with one hook for each of `script`'s events, and what fired, in order.
struct Host {
    executor: Executor,
    seen: Arc<Mutex<Vec<(Event, Input)>>>,
}

impl Host {
    fn new(script: &[(Event, Act)]) -> Self {
        let seen: Arc<Mutex<Vec<(Event, Input)>>> = Arc::default();
        let mut registry = Registry::new();
        let mut hooks = Vec::new();
        for (event, act) in script {
            let (event, act, log) = (*event, *act, Arc::clone(&seen));
            registry.register_builtin(
                event.name(),
                // In place, so that the order of the calls is that of the events.
                Builtin::inline(move |input: &Input, _: &[String]| {
                    log.lock().unwrap().push((event, input.clone()));
                    Ok::<_, String>(Some(act(input)))
                }),
            );
            hooks.push(Hook::new(event, "builtin", Command::Text(event.name().to_owned())));
        }
        let mut config = Config::default();
        config.hooks = hooks;
        Self { executor: Executor::builder(config).registry(registry).build().unwrap(), seen }
    }

    /// Runs the hooks of a call.
    async fn judge(&self, call: &NativeCall) -> Verdict {
        Subject::Native(Box::new(call.clone())).try_out(&self.executor, false).await.0
    }

    /// Runs the hooks of a call, and returns the verdict and what fired.
    async fn run(&self, agent: Agent, payload: serde_json::Value) -> (Verdict, Vec<&'static str>) {
        let call = call(agent, &payload);
        let verdict = self.judge(&call).await;
        let fired = self.seen.lock().unwrap().drain(..).map(|(event, _)| event.name()).collect();
        (verdict, fired)
    }
}

fn call(agent: Agent, payload: &serde_json::Value) -> NativeCall {
    hookexec_agents::read(agent, None, payload.to_string().as_bytes(), |_| None).unwrap()
}

fn shell(command: &str) -> serde_json::Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}})
}

fn nothing(_: &Input) -> Output {
    Output::default()
}

fn allow(_: &Input) -> Output {
    Output::allow()
}

fn ask(_: &Input) -> Output {
    Output::ask("is this meant?")
}

/// Makes every command `safe`.
fn tame(_: &Input) -> Output {
    Output::patch_input(json!({"command": "safe"}).as_object().cloned().unwrap())
}

/// Denies what is not `safe`.
fn only_safe(input: &Input) -> Output {
    match &input.tool_input.as_ref().unwrap()["command"] {
        command if command == "safe" => Output::default(),
        other => Output::deny(format!("{other} is not safe")),
    }
}

#[tokio::test]
async fn the_events_of_one_moment_fire_in_the_order_of_the_drivers() {
    let all: Vec<(Event, Act)> = Event::all().map(|event| (event, nothing as Act)).collect();
    let host = Host::new(&all);
    let tool = json!({"tool_name": "Bash", "tool_input": {}});
    for (event, payload, expected) in [
        ("PreToolUse", tool.clone(), vec!["tool_input_transform", "tool_guard", "pre_tool_use"]),
        ("PostToolUse", tool, vec!["tool_response_transform", "post_tool_use"]),
        ("SessionStart", json!({"source": "startup"}), vec!["session_start"]),
        ("SessionStart", json!({"source": "resume"}), vec!["session_start", "on_session_resume"]),
        ("UserPromptSubmit", json!({"prompt": "x"}), vec!["user_prompt_submit", "turn_start"]),
        ("Stop", json!({}), vec!["stop", "turn_end"]),
        ("PreCompact", json!({}), vec!["pre_compact", "before_compaction"]),
        ("SessionEnd", json!({}), vec!["session_end"]),
        ("PostToolBatch", json!({}), vec![]),
    ] {
        let mut payload = payload;
        payload["hook_event_name"] = json!(event);
        let (verdict, fired) = host.run(Agent::ClaudeCode, payload).await;
        assert_eq!(fired, expected, "{event}");
        assert!(verdict.allowed);
        let native = Agent::ClaudeCode.native_event(event).unwrap();
        let promised: Vec<_> =
            native.fires(Agent::ClaudeCode).into_iter().map(Event::name).collect();
        assert!(expected.iter().all(|event| promised.contains(event)), "{event}: {promised:?}");
    }
}

#[tokio::test]
async fn a_guard_sees_the_arguments_that_are_executed() {
    let host = Host::new(&[
        (Event::ToolInputTransform, tame),
        (Event::ToolGuard, only_safe),
        (Event::PreToolUse, only_safe),
    ]);
    let (verdict, _) = host.run(Agent::ClaudeCode, shell("rm -rf /")).await;
    assert!(verdict.allowed, "{:?}", verdict.message);
    assert_eq!(verdict.updated_input.unwrap()["command"], "safe");

    // What pre_tool_use makes of them, the mandatory guard sees as well.
    let host = Host::new(&[(Event::ToolGuard, nothing), (Event::PreToolUse, tame)]);
    let (_, fired) = host.run(Agent::ClaudeCode, shell("rm -rf /")).await;
    assert_eq!(fired, ["tool_guard", "pre_tool_use", "tool_guard"]);
}

#[tokio::test]
async fn a_denial_keeps_no_other_hook_from_running() {
    let host = Host::new(&[(Event::ToolGuard, only_safe), (Event::PreToolUse, allow)]);
    let (verdict, fired) = host.run(Agent::ClaudeCode, shell("rm")).await;
    assert_eq!(fired, ["tool_guard", "pre_tool_use"]);
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert_eq!(verdict.message.as_deref(), Some("\"rm\" is not safe"));
}

#[tokio::test]
async fn an_approver_answers_an_ask_where_the_agent_would_not_come_to_it() {
    let host = Host::new(&[(Event::PreToolUse, ask), (Event::PermissionRequest, allow)]);
    // Claude Code asks its user, and its PermissionRequest comes to the approver by itself.
    let (verdict, fired) = host.run(Agent::ClaudeCode, shell("date")).await;
    assert_eq!((verdict.decision, fired), (Some(Decision::Ask), vec!["pre_tool_use"]));
    // Codex would run the tool.
    let (verdict, fired) = host.run(Agent::Codex, shell("date")).await;
    assert_eq!(fired, ["pre_tool_use", "permission_request"]);
    assert_eq!((verdict.decision, verdict.allowed), (Some(Decision::Allow), true));
}

#[tokio::test]
async fn nobody_answers_the_mandatory_guard_in_the_users_place() {
    let host = Host::new(&[(Event::ToolGuard, ask), (Event::PermissionRequest, allow)]);
    let (verdict, fired) = host.run(Agent::Codex, shell("date")).await;
    assert_eq!(fired, ["tool_guard", "permission_request"]);
    assert_eq!((verdict.decision, verdict.allowed), (Some(Decision::Ask), false));
    let answer = hookexec_agents::answer(&call(Agent::Codex, &shell("date")), &verdict);
    assert!(answer.stdout.contains("\"permissionDecision\":\"deny\""), "{}", answer.stdout);
    assert!(answer.stdout.contains("is this meant?"), "{}", answer.stdout);
}

#[tokio::test]
async fn a_response_is_changed_before_others_see_it() {
    let redact: Act = |_| Output::tool_response("[redacted]");
    let host = Host::new(&[(Event::ToolResponseTransform, redact), (Event::PostToolUse, nothing)]);
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": {"stdout": "secret", "stderr": ""}});
    let call = call(Agent::ClaudeCode, &payload);
    let verdict = host.judge(&call).await;
    assert_eq!(host.seen.lock().unwrap()[1].1.tool_response, Some(json!("[redacted]")));
    let answer = hookexec_agents::answer(&call, &verdict);
    assert!(answer.stdout.contains(r#""stdout":"[redacted]""#), "{}", answer.stdout);
    assert!(!answer.stdout.contains("secret"));
}

#[tokio::test]
async fn a_response_that_post_tool_use_changes_is_transformed_again() {
    let redact: Act = |input| match &input.tool_response {
        Some(response) if *response == "secret" => Output::tool_response("[redacted]"),
        _ => Output::default(),
    };
    let secret: Act = |_| Output::tool_response("secret");
    let objecting: Act = |_| {
        let mut output = Output::deny("no");
        output.updated_tool_response = Some("secret".into());
        output
    };
    let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": "clean"});
    let call = call(Agent::ClaudeCode, &payload);
    for act in [secret, objecting] {
        let host = Host::new(&[(Event::ToolResponseTransform, redact), (Event::PostToolUse, act)]);
        let verdict = host.judge(&call).await;
        assert!(
            !hookexec_agents::answer(&call, &verdict).stdout.contains("secret"),
            "{verdict:#?}"
        );
        let seen = host.seen.lock().unwrap();
        if seen.len() > 2 {
            assert_eq!((seen[2].0, seen[2].1.repeated), (Event::ToolResponseTransform, false));
            assert_eq!((seen[3].0, seen[3].1.repeated), (Event::PostToolUse, true));
            assert_eq!(verdict.updated_tool_response, Some(json!("[redacted]")));
        }
        assert!(verdict.decision.is_some() || seen.len() == 4, "{seen:?}");
    }
    // A response that stays as it is is looked at once.
    let host = Host::new(&[(Event::ToolResponseTransform, redact), (Event::PostToolUse, nothing)]);
    let _ = host.judge(&call).await;
    assert_eq!(host.seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_hook_writes_no_command_of_ours_that_a_model_may_not_run() {
    let script: (Event, Act) = (Event::PreToolUse, |_| {
        let rewritten = json!({"command": "hookexec trust add --yes"});
        Output::patch_input(rewritten.as_object().cloned().unwrap_or_default())
    });
    let (verdict, _) = Host::new(&[script]).run(Agent::ClaudeCode, shell("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny), "{verdict:#?}");
}

#[tokio::test]
async fn a_program_that_is_stuck_denies_and_withholds_whatever_on_error_says() {
    let hooks = |event: Event| {
        let hook = "{ type: command, command: x, on_error: ignore }";
        let text = match event {
            Event::Stop => format!("{event}: {hook}"),
            _ => format!("{event}: [{{ hooks: [{hook}] }}]"),
        };
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        Executor::builder(config).build().unwrap()
    };
    let before = call(Agent::ClaudeCode, &shell("ls"));
    let after = call(
        Agent::ClaudeCode,
        &json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": "secret"}),
    );
    let stuck = |executor: &Executor, call| hookexec_agents::unanswered(executor, call, "stuck");
    assert_eq!(stuck(&hooks(Event::PreToolUse), &before).decision, Some(Decision::Deny));
    assert_eq!(stuck(&hooks(Event::ToolGuard), &before).decision, Some(Decision::Deny));
    assert_eq!(stuck(&hooks(Event::Stop), &before).decision, None, "no hook is for the call");
    for event in [Event::ToolResponseTransform, Event::PostToolUse] {
        let withheld = stuck(&hooks(event), &after).updated_tool_response;
        assert_eq!(withheld, Some(json!("withheld by hookexec: stuck")), "{event}");
    }
    assert_eq!(stuck(&hooks(Event::Stop), &after).updated_tool_response, None);
    // A hook may have ended the turn, and nobody knows.
    for (event, call) in [(Event::PreToolUse, &before), (Event::PostToolUse, &after)] {
        assert_eq!(stuck(&hooks(event), call).stop, Some(Stop::new(StopScope::Turn, "stuck")));
    }
}
