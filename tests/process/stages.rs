//! What is told before and instead of a tool call, and what every answer to it becomes.

use hookexec::wire::{StopScope, ToolResult};
use hookexec::{Decision, Event};
use serde_json::{Value, json};

use super::harness::{Project, dispatch, error, shutdown, tool};
use super::stage::{Stage, call, input};

#[tokio::test]
async fn before_tool_is_told_as_picoclaw_does() {
    let stage = Stage::new(Event::PreToolUse, call());
    assert_eq!(
        stage.told().await,
        json!({
            "jsonrpc": "2.0", "id": 2, "method": "hook.before_tool",
            "params": {
                "meta": {
                    "AgentID": "main", "TurnID": "main-turn-1", "ParentTurnID": "", "SessionKey": "s",
                    "Iteration": 2, "TracePath": "turn.tool.before", "Source": "runTurn",
                },
                "context": { "inbound": { "channel": "cli" } },
                "tool": "weather",
                "arguments": { "city": "Rome", "id": 12_345_678_901_234_567_890_u64 },
                "channel": "cli", "chat_id": "chat-1",
                "tool_call_id": "t1", "cwd": "/project",
            },
        })
    );
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn arguments_are_left_out_when_there_are_none() {
    let stage = Stage::new(Event::PreToolUse, tool("weather", json!({})));
    assert_eq!(stage.told().await["params"].get("arguments"), None);
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn before_tool_may_deny_rewrite_and_stop() {
    let stage = Stage::new(Event::PreToolUse, call());
    stage
        .nothing([
            json!(null),
            json!({}),
            json!({ "action": "continue" }),
            json!({ "action": "" }),
            json!({ "action": null }),
            json!({ "action": "continue", "reason": "fine", "call": null }),
            json!({ "action": "modify", "call": {} }),
            // An echo, also by a language that has floats only.
            json!({ "action": "modify", "call": { "tool": "weather", "arguments": { "city": "Rome", "id": 1.234_567_890_123_456_8e19 } } }),
            json!({ "action": "modify", "call": { "tool": "weather", "arguments": null, "meta": {}, "channel": "x", "chat_id": "y" } }),
        ])
        .await;

    let verdict = stage.answer(json!({ "action": "deny_tool", "reason": "no" })).await;
    assert_eq!((verdict.decision, verdict.message.as_deref()), (Some(Decision::Deny), Some("no")));
    let verdict = stage.answer(json!({ "action": "deny_tool", "reason": 5, "resaon": "x" })).await;
    assert_eq!(verdict.decision, Some(Decision::Deny), "a denial is heard whatever else is wrong");
    assert_eq!(verdict.hooks[0].warnings, ["unknown key `resaon`; did you mean `reason`?"]);

    for action in ["modify", "continue", ""] {
        let rewrite = json!({ "action": action, "call": { "arguments": { "city": "Oslo", "id": 1.234_567_890_123_456_8e19 } } });
        let verdict = stage.answer(rewrite).await;
        // Given arguments replace all; what means the same keeps its digits.
        let updated = Value::Object(verdict.updated_input.unwrap());
        assert_eq!(updated, json!({ "city": "Oslo", "id": 12_345_678_901_234_567_890_u64 }));
        assert_eq!(verdict.updated_tool_name, None);
    }
    let verdict = stage
        .answer(json!({ "action": "modify", "call": { "tool": "forecast", "arguments": {} } }))
        .await;
    assert_eq!(verdict.updated_tool_name.as_deref(), Some("forecast"));
    assert_eq!(verdict.updated_input, Some(serde_json::Map::new()));
    stage.stops().await;
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn before_tool_may_answer_in_the_place_of_a_tool_it_provides() {
    let stage = Stage::new(Event::PreToolUse, call());
    let mut expected = ToolResult::text("sunny");
    expected.media = vec!["media://1".into()];
    for answer in [
        json!({ "action": "respond", "result": { "for_llm": "sunny", "for_user": "", "silent": false, "media": ["media://1"], "artifact_tags": null } }),
        json!({ "action": "respond", "call": { "tool": "weather", "hook_result": { "for_llm": "sunny", "media": ["media://1"] } } }),
        json!({ "action": "respond", "result": { "for_llm": "sunny", "media": ["media://1"] }, "call": { "hook_result": { "for_llm": "not this" } } }),
    ] {
        let verdict = stage.answer(answer.clone()).await;
        assert_eq!(verdict.respond.as_ref(), Some(&expected), "{answer} {:?}", verdict.hooks);
        assert!(verdict.allowed);
    }
    stage
        .failures([
            (json!({ "action": "respond" }), "`respond` needs `result`"),
            (json!({ "action": "respond", "result": "sunny" }), "`result` must be an object"),
            (json!({ "action": "respond", "result": {} }), "`result.for_llm` is missing"),
            (
                json!({ "action": "respond", "result": { "for_lm": "x" } }),
                "unknown key `result.for_lm`; did you mean `for_llm`?",
            ),
            (
                json!({ "action": "respond", "result": { "for_llm": 5 } }),
                "`result.for_llm` must be a string",
            ),
            (
                json!({ "action": "respond", "result": { "for_llm": "x", "silent": "no" } }),
                "not of the documented shape",
            ),
            (
                json!({ "action": "continue", "result": { "for_llm": "x" } }),
                "needs the action `respond`",
            ),
            (
                json!({ "action": "modify", "call": { "hook_result": { "for_llm": "x" } } }),
                "needs the action `respond`",
            ),
        ])
        .await;
    shutdown(&stage.executor).await;

    for (options, tool_name, allowed) in [
        ("", "weather", false),
        (", provides: [weather]", "shell", false),
        (", provides: [\"*\"]", "shell", true),
    ] {
        let stage = Stage::with(Event::PreToolUse, tool(tool_name, json!({})), options);
        let verdict =
            stage.answer(json!({ "action": "respond", "result": { "for_llm": "x" } })).await;
        assert_eq!(verdict.respond.is_some(), allowed, "{options} {tool_name}");
        assert_eq!(verdict.allowed, allowed);
        if !allowed {
            assert!(error(&verdict).contains("list the tool in its `provides:`"), "{verdict:#?}");
        }
        shutdown(&stage.executor).await;
    }
}

#[tokio::test]
async fn before_tool_takes_no_mistake_for_silence() {
    let stage = Stage::new(Event::PreToolUse, call());
    stage
        .failures([
            (json!({ "actoin": "deny_tool" }), "unknown key `actoin`; did you mean `action`?"),
            (json!({ "actoin": "deny_tool", "reason": "x" }), "unknown key `actoin`; did you mean `action`?"),
            (json!({ "ACTION": "deny_tool" }), "unknown key `ACTION`; did you mean `action`?"),
            (json!({ "action": "deny_tol" }), "`deny_tol` is not an action of `hook.before_tool`; did you mean `deny_tool`?"),
            (json!({ "action": "block" }), "`block` is not an action of `hook.before_tool`; use one of continue, modify"),
            (json!({ "action": 5 }), "`action` must be a string"),
            (json!({ "reason": "dangerous" }), "a reason without an action; add `action`: `continue`, `modify`, `respond`, `deny_tool`"),
            (json!({ "action": "modify" }), "`modify` needs `call`"),
            (json!({ "action": "modify", "cal": {} }), "unknown key `cal`; did you mean `call`?"),
            (json!({ "action": "modify", "call": { "argumnts": {} } }), "unknown key `call.argumnts`; did you mean `arguments`?"),
            (json!({ "action": "modify", "call": { "tool": "" } }), "`call.tool` is empty"),
            (json!({ "action": "modify", "call": { "tool": 1 } }), "`call.tool` must be a string"),
            (json!({ "action": "modify", "call": { "arguments": "x" } }), "`call.arguments` must be an object"),
            (json!({ "action": "modify", "call": [] }), "`call` must be an object"),
            (json!({ "action": "continue", "approved": false }), "unknown key `approved`"),
            (json!({ "action": "continue", "reason": 5 }), "`reason` must be a string"),
            (json!([]), "it is not an object"),
            (json!(true), "it is not an object"),
        ])
        .await;
    // Each of them denied the call, because this event fails closed.
    let verdict = stage.answer(json!({ "actoin": "deny_tool" })).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn our_own_words_are_understood_everywhere() {
    let stage = Stage::new(Event::PreToolUse, call());
    let verdict = stage.answer(json!({ "decision": "ask", "reason": "sure?" })).await;
    assert_eq!(
        (verdict.decision, verdict.message.as_deref()),
        (Some(Decision::Ask), Some("sure?"))
    );
    let verdict =
        stage.answer(json!({ "hook_specific_output": { "additional_context": "note" } })).await;
    assert_eq!(verdict.additional_context.as_deref(), Some("note"));
    stage
        .failures([
            (
                json!({ "decision": "bloc" }),
                "`decision` can't be `bloc`: use `allow`, `approve`, `deny`, `block` or `ask`",
            ),
            (
                json!({ "decision": "allow", "resaon": "x" }),
                "unknown key `resaon`; did you mean `reason`?",
            ),
            (json!({ "decision": "allow", "action": "continue" }), "unknown key `decision`"),
            (json!({ "decision": "maybe", "action": "continue" }), "`decision` can't be `maybe`"),
        ])
        .await;
    shutdown(&stage.executor).await;

    let stage = Stage::new(Event::PermissionRequest, call());
    let verdict = stage.answer(json!({ "decision": "allow" })).await;
    assert_eq!(verdict.decision, Some(Decision::Allow));
    stage.failures([(json!({ "system_message": "x" }), "`approved` is missing")]).await;
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn the_stricter_of_two_languages_in_one_answer_counts() {
    // This event fails open, so a denial in an answer that failed would be lost.
    let stage = Stage::new(Event::BeforeLlmCall, input(json!({ "session_id": "s" })));
    for answer in [
        json!({ "decision": "deny", "action": "continue", "reason": "no" }),
        json!({ "decision": "block", "action": "modify", "reason": "no", "oops": 1 }),
        json!({ "decision": "deny", "action": "oops", "reason": "no" }),
    ] {
        let verdict = stage.answer(answer.clone()).await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{answer}");
        assert_eq!(verdict.message.as_deref(), Some("no"), "{answer}");
    }
    let both = json!({ "decision": "ask", "action": "hard_abort", "reason": "no" });
    let verdict = stage.answer(both).await;
    assert_eq!(verdict.stop.map(|stop| stop.scope), Some(StopScope::Session));
    shutdown(&stage.executor).await;

    let stage = Stage::new(Event::PreToolUse, call());
    for answer in [
        json!({ "decision": "ask", "action": "deny_tool" }),
        json!({ "decision": "allow", "action": "deny_tool" }),
        json!({ "decision": "deny", "action": "respond", "result": { "for_llm": "x" } }),
    ] {
        let verdict = stage.answer(answer.clone()).await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{answer}");
        assert_eq!(verdict.hooks[0].error, None, "{answer}");
    }
    let verdict = stage.answer(json!({ "decision": "ask", "action": "continue" })).await;
    assert_eq!(verdict.decision, Some(Decision::Ask));
    shutdown(&stage.executor).await;

    let stage = Stage::new(Event::PermissionRequest, call());
    let verdict = stage.answer(json!({ "decision": "deny", "approved": true })).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn approve_tool_says_true_or_false() {
    let stage = Stage::new(Event::PermissionRequest, call());
    let told = stage.told().await;
    assert_eq!(told["method"], "hook.approve_tool");
    assert_eq!(told["params"]["meta"]["TracePath"], "turn.tool.approve");
    assert_eq!(told["params"]["tool"], "weather");
    let verdict = stage.answer(json!({ "approved": true })).await;
    assert_eq!(verdict.decision, Some(Decision::Allow));
    let verdict = stage.answer(json!({ "approved": false, "reason": "no", "x": 1 })).await;
    assert_eq!((verdict.decision, verdict.message.as_deref()), (Some(Decision::Deny), Some("no")));
    stage
        .failures([
            (json!(null), "`approved` is missing"),
            (json!({}), "`approved` is missing"),
            (json!({ "approved": null }), "`approved` is missing"),
            (json!({ "approved": "true" }), "`approved` must be true or false"),
            (
                json!({ "approved": true, "resaon": "x" }),
                "unknown key `resaon`; did you mean `reason`?",
            ),
            (json!({ "aproved": true }), "unknown key `aproved`; did you mean `approved`?"),
            (json!({ "action": "continue" }), "unknown key `action`"),
        ])
        .await;
    let verdict = stage.answer(json!({})).await;
    assert_eq!(verdict.decision, Some(Decision::Ask), "a broken approver never approves");
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn other_events_take_an_output_and_no_mistake() {
    let stage =
        Stage::new(Event::UserPromptSubmit, input(json!({ "session_id": "s", "prompt": "hi" })));
    let told = stage.told().await;
    assert_eq!(told["method"], "hook.user_prompt_submit");
    assert_eq!(told["params"]["hook_event_name"], "user_prompt_submit");
    assert_eq!(told["params"]["prompt"], "hi");
    stage.nothing([json!(null), json!({})]).await;
    let verdict = stage.answer(json!({ "decision": "block", "reason": "no", "oops": 1 })).await;
    assert_eq!((verdict.decision, verdict.message.as_deref()), (Some(Decision::Deny), Some("no")));
    stage
        .failures([
            (json!({ "desicion": "block" }), "unknown key `desicion`; did you mean `decision`?"),
            (json!({ "action": "abort_turn" }), "unknown key `action`"),
            (json!({ "decision": "" }), "`decision` can't be ``"),
            (json!({ "decision": "maybe" }), "`decision` can't be `maybe`"),
            (json!("block"), "it is not an object"),
        ])
        .await;
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn an_answer_with_a_key_twice_is_a_failure() {
    let stage = Stage::new(Event::PermissionRequest, call());
    let verdict = stage.answer_text(r#"{"approved":false,"approved":true}"#).await;
    assert!(error(&verdict).contains("key `approved` appears twice"), "{verdict:#?}");
    assert!(!verdict.allowed);
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn a_broken_denial_is_a_failure_and_no_denial() {
    let stage = Stage::new(Event::BeforeLlmCall, input(json!({ "messages": [] })));
    for answer in
        [r#"{"decision":"deny","reason":5}"#, r#"{"action":"abort_turn","action":"abort_turn"}"#]
    {
        let verdict = stage.answer_text(answer).await;
        assert!(verdict.allowed && !verdict.failed_open.is_empty(), "{answer}: {verdict:#?}");
        assert!(!error(&verdict).is_empty());
    }
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn the_shorthand_is_a_chain_by_priority() {
    let project = Project::new();
    for name in ["a", "b"] {
        project.script(
            &format!("{name}.py"),
            &format!(
                "
def answer(method, params):
    return {{'action': 'modify', 'call': {{'arguments': {{'seen': params['arguments']['seen'] + '{name}'}}}}}}
serve(answer)
"
            ),
        );
    }
    // PicoClaw's own file is JSON.
    let config = json!({ "hooks": { "enabled": true, "processes": {
        "a": { "enabled": true, "priority": 200, "transport": "stdio", "command": ["python3", "a.py"], "intercept": ["before_tool"] },
        "b": { "enabled": true, "priority": 100, "command": ["python3", "b.py"], "intercept": ["before_tool"] },
    } } });
    let executor = project.executor(&config.to_string());
    let verdict = dispatch(&executor, Event::PreToolUse, &tool("x", json!({ "seen": "" }))).await;
    assert_eq!(Value::Object(verdict.updated_input.unwrap()), json!({ "seen": "ba" }));
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_broken_approver_of_picoclaw_denies() {
    let config = r#"{"hooks": {"enabled": true, "processes": {"gate": {
        "enabled": true, "command": ["python3", "p.py"], "intercept": ["approve_tool"]}}}}"#;
    for answer in
        ["{}", "{'approved': 'true'}", "{'approved': None}", "sys.exit(3)", "time.sleep(9)"]
    {
        let project = Project::with(&format!("serve(lambda method, params: {answer})\n"));
        let hasty = r#""defaults": {"approval_timeout_ms": 2000}, "processes""#;
        let executor = project.executor(&config.replace(r#""processes""#, hasty));
        executor.check_processes().await;
        let verdict = dispatch(&executor, Event::PermissionRequest, &call()).await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{answer}: {verdict:#?}");
        assert!(!error(&verdict).is_empty());
        shutdown(&executor).await;
    }
}

#[tokio::test]
async fn an_observer_of_picoclaws_guide_hears_dotted_kinds() {
    // As in PicoClaw's guide: the names are dotted, and no key says which notification is wanted.
    let project = Project::with(
        "
hello()
for message in messages():
    if 'id' in message:
        reply(message, {'action': 'continue'})
    elif message['method'] == 'hook.runtime_event':
        note('heard', message['params']['kind'])
",
    );
    let executor = project.executor(
        r#"{"hooks": {"enabled": true, "processes": {"py_review_gate": {
            "enabled": true, "priority": 100, "transport": "stdio", "command": ["python3", "p.py"],
            "observe": ["agent.tool.exec_start", "agent.tool.exec_end", "agent.tool.exec_skipped"],
            "intercept": ["before_tool"]}}}}"#,
    );
    let _ = dispatch(&executor, Event::PreToolUse, &call()).await;
    assert_eq!(project.noted("heard").await.trim(), "agent.tool.exec_start");
    shutdown(&executor).await;
}
