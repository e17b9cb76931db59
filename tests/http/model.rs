//! Hooks of type `model` against a server that plays the model.

use hookexec::wire::{HookStatus, Usage};
use serde_json::{Value, json};

use super::*;
use crate::registry;
use crate::server::{Server, answer};

/// The formats of requests.
const APIS: [&str; 2] = ["anthropic-messages", "openai-chat"];

/// Returns what a provider replies whose model answers with `answer`.
fn reply(api: &str, said: &Value) -> Value {
    if api == "openai-chat" {
        return json!({
            "choices": [{
                "index": 0,
                "finish_reason": "stop",
                "message": { "role": "assistant", "content": said.to_string(), "refusal": null },
            }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 20 },
        });
    }
    json!({
        "type": "message",
        "stop_reason": "tool_use",
        "content": [
            { "type": "text", "text": "I looked at it." },
            { "type": "tool_use", "id": "toolu_1", "name": "answer", "input": said },
        ],
        "usage": { "input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 20 },
    })
}

fn decided(decision: &str) -> Value {
    json!({ "decision": decision, "reason": "because" })
}

async fn server(reply: &Value) -> Server {
    Server::new(answer("200 OK", &reply.to_string())).await
}

fn with(api: &str, server: &Server) -> Value {
    json!({
        "api": api, "url": server.url, "model": "judge-1", "prompt": "Deny what deletes.",
        "api_key": "${env.TOKEN}", "allow_private": true,
    })
}

fn hook(with: &Value, more: &str) -> String {
    format!("pre_tool_use: [{{ hooks: [{{ type: model, name: guard, with: {with}, {more} }}] }}]")
}

fn call_in(session: &str) -> Input {
    let mut input = call("ls \"x\"");
    session.clone_into(&mut input.session_id);
    input
}

async fn judged(with: &Value, more: &str) -> Verdict {
    let executor = load(&hook(with, more)).unwrap();
    executor.dispatch(Event::PreToolUse, &call_in("s1")).await
}

#[tokio::test]
async fn a_model_decides_in_the_words_that_it_may_use() {
    for api in APIS {
        for (word, decision, message) in [
            ("deny", Some(Decision::Deny), Some("because")),
            ("ask", Some(Decision::Ask), Some("because")),
            ("allow", Some(Decision::Allow), Some("because")),
            ("none", None, None),
        ] {
            let server = server(&reply(api, &decided(word))).await;
            let mut with = with(api, &server);
            with["decisions"] = json!(["allow", "deny", "ask", "none"]);
            let verdict = judged(&with, "").await;
            assert_eq!((verdict.decision, verdict.message.as_deref()), (decision, message));
            let report = &verdict.hooks[0];
            assert_eq!((report.status == HookStatus::Failed, &report.error), (false, &None));
        }
        let server = server(&reply(api, &decided("allow"))).await;
        let verdict = judged(&with(api, &server), "").await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "it may not allow unless it is said");
        let said = verdict.message.unwrap();
        assert!(said.contains("is not one `decision` of deny, ask, none"), "{said}");
    }
}

#[tokio::test]
async fn the_input_is_quoted_and_the_answer_is_forced_into_a_schema() {
    for api in APIS {
        let server = server(&reply(api, &decided("none"))).await;
        let _ = judged(&with(api, &server), "").await;
        let request = server.requests().pop().unwrap();
        let head = request.head.to_lowercase();
        let key = if api == "openai-chat" {
            "authorization: bearer correct-horse"
        } else {
            "x-api-key: correct-horse"
        };
        assert!(head.contains(key), "{head}");
        let body: Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body["model"], "judge-1");
        let messages = body["messages"].as_array().unwrap();
        let (system, user) = if api == "openai-chat" {
            assert_eq!(body["response_format"]["json_schema"]["strict"], true);
            (&messages[0]["content"], &messages[1])
        } else {
            assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
            assert_eq!(body["tool_choice"]["name"], body["tools"][0]["name"]);
            (&body["system"], &messages[0])
        };
        let system = system.as_str().unwrap();
        assert!(system.contains("`pre_tool_use`") && system.ends_with("Deny what deletes."));
        assert!(!system.contains("`allow`"), "{system}");
        assert!(!system.contains("ls "), "the input is no instruction: {system}");
        assert_eq!(user["role"], "user");
        let quoted: String = serde_json::from_str(user["content"].as_str().unwrap()).unwrap();
        let input: Value = serde_json::from_str(&quoted).unwrap();
        assert_eq!(input["tool_input"], json!({ "cmd": "ls \"x\"" }));
        assert!(!user["content"].to_string().contains('<'), "{user}");
    }
}

#[tokio::test]
async fn whatever_is_not_the_schema_has_failed() {
    let deny = decided("deny");
    for api in APIS {
        for (said, cause) in [
            (json!({ "decision": "allow", "reason": "" }), "is not one `decision`"),
            (json!({ "decision": "Deny", "reason": "" }), "is not one `decision`"),
            (json!({ "decision": "deny" }), "is not one `decision`"),
            (json!({ "decision": ["none"], "reason": "" }), "is not one `decision`"),
            (json!({ "decision": "none", "reason": "", "sure": true }), "is not one `decision`"),
            (json!("none"), "is not one `decision`"),
        ] {
            let server = server(&reply(api, &said)).await;
            failed(&judged(&with(api, &server), "").await, cause, &said);
        }
        let mut cut = reply(api, &decided("none"));
        let mut twice = reply(api, &decided("none"));
        if api == "openai-chat" {
            cut["choices"][0]["finish_reason"] = json!("length");
            let choices = twice["choices"].as_array_mut().unwrap();
            choices.push(choices[0].clone());
        } else {
            cut["stop_reason"] = json!("max_tokens");
            let content = twice["content"].as_array_mut().unwrap();
            content.push(content[1].clone());
        }
        for (reply, cause) in [
            (cut, "did not finish"),
            (twice, "did not give one answer"),
            (json!({}), "did not finish"),
            (deny.clone(), "did not finish"),
        ] {
            let server = server(&reply).await;
            failed(&judged(&with(api, &server), "").await, cause, &reply);
        }
    }
    let mut words = reply("openai-chat", &json!(null));
    for (content, cause) in [
        (r#"Sure: {"decision": "none", "reason": ""}"#, "can't be read"),
        (r#"{"decision": "deny", "decision": "none", "reason": ""}"#, "can't be read"),
        (r#"{"decision": "none", "reason": ""} {}"#, "can't be read"),
    ] {
        words["choices"][0]["message"]["content"] = json!(content);
        let server = server(&words).await;
        failed(&judged(&with("openai-chat", &server), "").await, cause, &words);
    }
    words["choices"][0]["message"]["refusal"] = json!("I can't help with that.");
    let server = server(&words).await;
    failed(&judged(&with("openai-chat", &server), "").await, "refused to answer", &words);
}

#[track_caller]
fn failed(verdict: &Verdict, cause: &str, said: &Value) {
    assert_eq!(verdict.decision, Some(Decision::Deny), "{said}: {verdict:#?}");
    assert_eq!(verdict.hooks[0].status, HookStatus::Failed, "{said}: {verdict:#?}");
    let message = verdict.message.as_deref().unwrap();
    assert!(message.contains(cause), "{said}: {message}");
    assert!(!message.contains("correct-horse"), "{message}");
}

#[tokio::test]
async fn the_cause_of_a_refused_request_is_shown() {
    let error = r#"{"error": {"type": "authentication_error", "message": "invalid x-api-key"}}"#;
    let server = Server::new(answer("401 Unauthorized", error)).await;
    let verdict = judged(&with("anthropic-messages", &server), "").await;
    failed(&verdict, "127.0.0.1 answered 401 Unauthorized: invalid x-api-key", &Value::Null);
    let hanging = Server::hanging("").await;
    let verdict = judged(&with("openai-chat", &hanging), "timeout: 200ms").await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
}

#[tokio::test]
async fn the_report_has_the_tokens() {
    for api in APIS {
        let server = server(&reply(api, &decided("none"))).await;
        let with = with(api, &server);
        let tokens = |usage: Option<Usage>| usage.map(|it| (it.input_tokens, it.output_tokens));
        let usage = judged(&with, "").await.hooks[0].usage;
        assert_eq!(tokens(usage), Some((100, 20)));
    }
    // Also of an answer that does not count.
    let server = server(&reply("openai-chat", &json!("what?"))).await;
    let report = &judged(&with("openai-chat", &server), "").await.hooks[0];
    assert_eq!((report.status, report.usage.unwrap().output_tokens), (HookStatus::Failed, 20));
}

#[tokio::test]
async fn a_session_that_has_used_its_budget_gets_no_more_answers() {
    let server = server(&reply("openai-chat", &decided("none"))).await;
    let mut with = with("openai-chat", &server);
    (with["budget"], with["max_tokens"]) = (json!(240), json!(50));
    let config = Config::from_yaml(&hook(&with, ""), "hooks.yaml").unwrap();
    let env = [("TOKEN".into(), "correct-horse".into())];
    let executor = Executor::builder(config)
        .registry(registry::everything())
        .env(env)
        .counts_in_memory()
        .build()
        .unwrap();
    for (session, fits) in [("s1", true), ("s1", true), ("s1", false), ("s2", true), ("s1", false)]
    {
        let verdict = executor.dispatch(Event::PreToolUse, &call_in(session)).await;
        if fits {
            assert_eq!(verdict.decision, None, "{verdict:#?}");
        } else {
            failed(&verdict, "has used its `budget` of 240 tokens", &Value::Null);
        }
    }
    assert_eq!(server.requests().len(), 3);
    let verdict = executor.dispatch(Event::PreToolUse, &call("ls")).await;
    failed(&verdict, "the input has no `session_id`", &Value::Null);
}

#[tokio::test]
async fn calls_at_once_and_without_an_answer_use_the_budget() {
    let hanging = Server::hanging("").await;
    let mut with = with("openai-chat", &hanging);
    (with["budget"], with["max_tokens"]) = (json!(100), json!(50));
    let text = hook(&with, "timeout: 300ms");
    let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
    let env = [("TOKEN".into(), "correct-horse".into())];
    let executor = Executor::builder(config)
        .registry(registry::everything())
        .env(env)
        .counts_in_memory()
        .build()
        .unwrap();
    let input = call_in("s1");
    let dispatch = || executor.dispatch(Event::PreToolUse, &input);
    let verdicts = vec![dispatch(), dispatch(), dispatch()];
    let refused = futures_util::future::join_all(verdicts).await.into_iter();
    let refused = refused.filter(|it| it.message.as_ref().unwrap().contains("`budget`"));
    assert_eq!((refused.count(), hanging.requests().len()), (1, 2));
}

#[tokio::test]
async fn a_call_that_was_not_sent_does_not_use_the_budget() {
    let server = server(&reply("openai-chat", &decided("none"))).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (key, value, told) in [
        ("api_key", "${env.MISSING}".to_owned(), "`MISSING`, which is not set"),
        ("url", format!("http://{closed}/"), "refused"),
    ] {
        let mut with = with("openai-chat", &server);
        (with["budget"], with["max_tokens"]) = (json!(50), json!(50));
        with[key] = json!(value);
        let config = Config::from_yaml(&hook(&with, ""), "hooks.yaml").unwrap();
        let env = [("TOKEN".into(), "correct-horse".into())];
        let executor = Executor::builder(config)
            .registry(registry::everything())
            .env(env)
            .counts_in_memory()
            .build()
            .unwrap();
        for _ in 0..3 {
            let verdict = executor.dispatch(Event::PreToolUse, &call_in("s1")).await;
            failed(&verdict, told, &with);
        }
    }
}

#[tokio::test]
async fn a_budget_needs_the_usage() {
    let mut silent = reply("openai-chat", &decided("none"));
    silent.as_object_mut().unwrap().remove("usage");
    let server = server(&silent).await;
    let mut with = with("openai-chat", &server);
    assert_eq!(judged(&with, "").await.hooks[0].usage, None);
    with["budget"] = json!(1000);
    let config = Config::from_yaml(&hook(&with, ""), "hooks.yaml").unwrap();
    let env = [("TOKEN".into(), "correct-horse".into())];
    let executor = Executor::builder(config)
        .registry(registry::everything())
        .env(env)
        .counts_in_memory()
        .build()
        .unwrap();
    let verdict = executor.dispatch(Event::PreToolUse, &call_in("s1")).await;
    failed(&verdict, "has no `usage`", &silent);
}

#[tokio::test]
async fn a_model_is_asked_at_public_addresses_only_unless_said() {
    let server = server(&reply("openai-chat", &decided("none"))).await;
    let mut with = with("openai-chat", &server);
    (with["url"], with["allow_private"]) =
        (json!(server.url.replace("http:", "https:")), json!(false));
    failed(&judged(&with, "").await, "is not public", &with);
    (with["url"], with["api_key"]) = (json!(server.url), json!("${env.MISSING}"));
    with["allow_private"] = json!(true);
    failed(&judged(&with, "").await, "`MISSING`, which is not set", &with);
    assert_eq!(server.connections(), 0);
}

#[test]
fn mistakes_are_found_when_the_file_is_loaded() {
    let sound = json!({
        "api": "openai-chat", "url": "https://models.example.com/v1/chat/completions",
        "model": "judge-1", "prompt": "Deny what deletes.",
    });
    assert!(load(&hook(&sound, "")).is_ok());
    for (key, value, problem) in [
        ("api", json!("openai"), "unknown variant `openai`"),
        ("url", json!("http://models.example.com"), "must begin with `https://`"),
        ("model", json!(" "), "`model` can't be empty"),
        ("prompt", json!(""), "`prompt` can't be empty"),
        ("api_key", json!("sk-12345"), "has no place in a hooks file"),
        ("decisions", json!(["none"]), "must have at least one of"),
        ("decisions", json!(["maybe"]), "unknown variant `maybe`"),
        ("max_tokens", json!(0), "`max_tokens` must be at least 1"),
        ("temperature", json!(0), "unknown field `temperature`"),
    ] {
        let mut with = sound.clone();
        with[key] = value;
        let error = load(&hook(&with, "")).unwrap_err();
        assert!(error.contains(problem) && error.contains("hooks.yaml"), "{with}: {error}");
    }
    for (more, problem) in [
        ("command: ls", "`command` has no meaning for hooks of type `model`"),
        ("dialect: claude-code", "`dialect` has no meaning for hooks of type `model`"),
    ] {
        let error = load(&hook(&sound, more)).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    let limited = format!("defaults: {{ http_hosts: [example.com] }}\n{}", hook(&sound, ""));
    let error = load(&limited).unwrap_err();
    assert!(error.contains("`http_hosts` does not list `models.example.com`"), "{error}");
}
