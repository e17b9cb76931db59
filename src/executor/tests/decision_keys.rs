//! Keys that belong to a decision, and metadata: what a lower layer adds to a higher one's answer.

use super::layered::in_layer;
use super::*;

fn defers() -> Value {
    json!({"hookSpecificOutput": {"permissionDecision": "defer"}})
}

fn approves(mode: &str) -> Value {
    let permissions = json!([{"type": "setMode", "mode": mode}]);
    let decision = json!({"behavior": "allow", "updatedPermissions": permissions});
    json!({"hookSpecificOutput": {"decision": decision}})
}

fn mode(verdict: &Verdict) -> Option<&Value> {
    verdict.claude_code.get("updatedPermissions").map(|list| &list[0]["mode"])
}

async fn said(event: Event, hooks: &[(Layer, Value)]) -> Verdict {
    let hooks = hooks.iter().map(|(layer, answer)| in_layer(*layer, say(event, answer)));
    let config = Config { hooks: hooks.collect(), ..Config::default() };
    let executor = Executor::builder(config).registry(registry()).build().unwrap();
    executor.dispatch(event, &call("ls")).await
}

#[tokio::test]
async fn a_call_is_deferred_if_every_hook_that_asks_defers_it() {
    let asks = || json!({"decision": "ask", "reason": "sure?"});
    for other in [Layer::Managed, Layer::User, Layer::Project] {
        for hooks in [
            [(other, asks()), (Layer::Project, defers())],
            [(Layer::Project, defers()), (other, asks())],
        ] {
            let verdict = said(PreToolUse, &hooks).await;
            assert_eq!(verdict.decision, Some(Decision::Ask));
            assert_eq!(verdict.claude_code.get("permissionDecision"), None, "{verdict:#?}");
            let told = verdict.system_message.unwrap();
            assert!(told.contains("`permissionDecision` is ignored"), "{told}");
        }
        let hooks = [(other, defers()), (Layer::Project, defers())];
        let verdict = said(PreToolUse, &hooks).await;
        assert_eq!(verdict.claude_code["permissionDecision"], "defer", "{verdict:#?}");
        assert_eq!(verdict.system_message, None);
    }
    let allows = json!({"decision": "allow"});
    let verdict = said(PreToolUse, &[(Layer::User, allows), (Layer::Project, defers())]).await;
    assert_eq!(verdict.claude_code["permissionDecision"], "defer");
    let denies = json!({"decision": "deny"});
    let verdict = said(PreToolUse, &[(Layer::User, denies), (Layer::Project, defers())]).await;
    assert_eq!((verdict.claude_code.len(), verdict.system_message), (0, None));
}

#[tokio::test]
async fn permissions_come_with_the_approval_of_the_highest_layer_that_approves() {
    let allows = || json!({"decision": "allow"});
    let event = Event::PermissionRequest;
    for (hooks, expected) in [
        (vec![(Layer::Project, approves("low"))], Some("low")),
        (vec![(Layer::User, allows()), (Layer::Project, approves("low"))], None),
        (vec![(Layer::User, approves("high")), (Layer::Project, approves("low"))], Some("high")),
        (vec![(Layer::User, json!({})), (Layer::Project, approves("low"))], Some("low")),
        (vec![(Layer::User, allows()), (Layer::User, approves("high"))], Some("high")),
        (vec![(Layer::User, json!({"decision": "deny"})), (Layer::User, approves("x"))], None),
        (vec![(Layer::User, json!({"decision": "ask"})), (Layer::User, approves("x"))], None),
    ] {
        let verdict = said(event, &hooks).await;
        let expected = expected.map(Value::from);
        assert_eq!(mode(&verdict), expected.as_ref(), "{hooks:?}");
    }
}

#[tokio::test]
async fn metadata_of_a_higher_layer_count() {
    let risk = |risk: &str| json!({"metadata": {"risk": risk, risk: 1}});
    let hooks = [
        (Layer::Managed, risk("managed")),
        (Layer::User, risk("user")),
        (Layer::Project, risk("project")),
    ];
    for count in 1..=3 {
        let hooks = &hooks[3 - count..];
        let verdict = said(PreToolUse, hooks).await;
        assert_eq!(verdict.metadata["risk"], hooks[0].1["metadata"]["risk"]);
        assert_eq!(verdict.metadata.len(), count + 1, "{verdict:#?}");
    }
    let same = [(Layer::User, risk("first")), (Layer::User, risk("later"))];
    assert_eq!(said(PreToolUse, &same).await.metadata["risk"], "later");

    // The same of two verdicts on one moment.
    let [_, user, project] = hooks;
    for (first, next) in [([user.clone()], [project.clone()]), ([project], [user])] {
        let mut verdict = said(PreToolUse, &first).await;
        verdict.absorb(said(Event::PermissionRequest, &next).await);
        assert_eq!(verdict.metadata["risk"], "user");
    }
}

#[tokio::test]
async fn a_user_is_shown_the_metadata_of_the_highest_layer_whatever_its_event() {
    let asks = json!({"decision": "ask", "reason": "sure?", "metadata": {"risk": "user"}});
    let hooks = [
        in_layer(Layer::User, say(PreToolUse, &asks)),
        in_layer(Layer::Project, say(Event::ToolGuard, &json!({"metadata": {"risk": "project"}}))),
    ];
    let config = Config { hooks: hooks.into(), ..Config::default() };
    let executor = Executor::builder(config).registry(registry()).build().unwrap();
    let session = crate::lifecycle::Session::builder("s").attach(executor);
    let outcome = session
        .tool_call(crate::lifecycle::ToolCall::new("shell", object(json!({ "cmd": "ls" }))))
        .approve_with(async |request| {
            assert_eq!(request.metadata()["risk"], "user");
            request.grant()
        })
        .run(async |_| Ok("ran".into()))
        .await;
    assert_eq!(outcome.for_model(), "ran");
}

#[tokio::test]
async fn of_two_verdicts_the_keys_of_a_decision_stay_with_it() {
    let decides = |word: &str| json!({"decision": word});
    for (first, next, deferred) in [
        (defers(), json!({}), true),
        (json!({}), defers(), true),
        (defers(), defers(), true),
        (defers(), decides("ask"), false),
        (decides("ask"), defers(), false),
        (defers(), decides("deny"), false),
        (decides("deny"), defers(), false),
        (defers(), decides("allow"), true),
    ] {
        let mut verdict = said(PreToolUse, &[(Layer::User, first.clone())]).await;
        verdict.absorb(said(PreToolUse, &[(Layer::User, next.clone())]).await);
        let found = verdict.claude_code.contains_key("permissionDecision");
        assert_eq!(found, deferred, "{first} {next}");
    }
}
