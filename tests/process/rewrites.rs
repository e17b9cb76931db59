//! What processes change around the model, and after a tool.

use hookexec::wire::ToolResult;
use hookexec::{Event, Input};
use serde_json::{Value, json};

use super::harness::{Project, dispatch, error, shutdown, tool};
use super::stage::{Stage, call, input};

fn request() -> Input {
    input(json!({
        "session_id": "s", "model_id": "claude-sonnet", "iteration": 1, "graceful_terminal": true,
        "messages": [{ "role": "system", "content": "be kind" }, { "role": "user", "content": "hello" }],
        "tools": [{ "type": "function", "function": { "name": "echo", "parameters": { "type": "object" } } }],
        "options": { "temperature": 0.70 },
    }))
}

#[tokio::test]
async fn before_llm_may_change_any_part_of_the_request() {
    let stage = Stage::new(Event::BeforeLlmCall, request());
    let told = stage.told().await;
    assert_eq!(told["method"], "hook.before_llm");
    let params = &told["params"];
    assert_eq!(
        (&params["model"], &params["graceful_terminal"]),
        (&"claude-sonnet".into(), &true.into())
    );
    assert_eq!(
        (params["messages"].as_array().unwrap().len(), params["tools"].as_array().unwrap().len()),
        (2, 1)
    );
    assert_eq!(params["meta"]["TracePath"], "turn.llm.request");

    let mut echo = params.clone();
    echo["options"]["temperature"] = json!(0.7);
    stage
        .nothing([
            json!({ "action": "modify", "request": {} }),
            json!({ "action": "modify", "request": { "model": "", "tools": null } }),
            json!({ "action": "modify", "request": echo }),
        ])
        .await;
    let verdict = stage
        .answer(json!({ "action": "modify", "request": {
            "model": "haiku", "messages": [{ "role": "user", "content": "hi" }], "options": {},
        } }))
        .await;
    assert_eq!(verdict.updated_messages, Some(vec![json!({ "role": "user", "content": "hi" })]));
    let change = verdict.updated_request.unwrap();
    // What was not given stays.
    assert_eq!((change.model.as_deref(), change.tools), (Some("haiku"), None));
    assert_eq!(change.options, Some(serde_json::Map::new()));
    stage.stops().await;
    stage
        .failures([
            (json!({ "action": "modify", "request": { "mesages": [] } }), "unknown key `request.mesages`; did you mean `messages`?"),
            (json!({ "action": "modify", "request": { "messages": {} } }), "`request.messages` must be an array"),
            (json!({ "action": "modify", "request": { "model": 1 } }), "`request.model` must be a string"),
            (json!({ "action": "modify", "request": { "options": [] } }), "`request.options` must be an object"),
            (json!({ "action": "modify", "call": {} }), "unknown key `call`"),
            (json!({ "action": "deny_tool" }), "`deny_tool` is not an action of `hook.before_llm`; use one of continue, modify, abort_turn, hard_abort"),
            (json!({ "action": "respond", "result": {} }), "`respond` is not an action of `hook.before_llm`"),
        ])
        .await;
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn after_llm_may_change_the_response() {
    let stage = Stage::new(
        Event::AfterLlmCall,
        input(
            json!({ "model_id": "m", "response": { "content": "Hi!", "tool_calls": [{ "id": "1" }], "usage": { "total_tokens": 5 } } }),
        ),
    );
    let told = stage.told().await;
    assert_eq!(told["method"], "hook.after_llm");
    assert_eq!(told["params"]["response"]["content"], "Hi!");
    stage.nothing([json!({ "action": "modify", "response": told["params"] })]).await;
    let answer = json!({ "action": "modify", "response": { "model": "m", "response": { "content": "Hello." } } });
    // What a hook took out stays out.
    let updated = stage.answer(answer).await.updated_response;
    assert_eq!(updated, Some(json!({ "content": "Hello." })));
    stage.stops().await;
    stage
        .failures([
            (json!({ "action": "modify" }), "`modify` needs `response`"),
            (json!({ "action": "modify", "response": {} }), "`response` has no key `response`"),
            (
                json!({ "action": "modify", "response": { "response": "x" } }),
                "`response.response` must be an object",
            ),
            (json!({ "action": "modify", "response": "x" }), "`response` must be an object"),
        ])
        .await;
    shutdown(&stage.executor).await;

    let stage = Stage::new(Event::AfterLlmCall, input(json!({ "response": "Hi!" })));
    assert_eq!(stage.told().await["params"]["response"], json!({ "content": "Hi!" }));
    stage.nothing([json!({ "action": "modify", "response": { "response": { "content": "Hi!", "reasoning": "", "tool_calls": null } } })]).await;
    let verdict = stage
        .answer(json!({ "action": "modify", "response": { "response": { "content": "Bye!" } } }))
        .await;
    assert_eq!(verdict.updated_response, Some(json!("Bye!")), "a text stays a text");
    shutdown(&stage.executor).await;
}

fn ran(response: Value) -> Input {
    let mut input = call();
    input.tool_response = Some(response);
    input.tool_duration_ms = Some(15);
    input
}

#[tokio::test]
async fn after_tool_may_change_a_result() {
    let result = r#"{"for_llm":"sunny","silent":true,"is_error":false,"async":false,"x":12345678901234567890123}"#;
    let result: Value = serde_json::from_str(result).unwrap();
    let stage = Stage::new(Event::PostToolUse, ran(result.clone()));
    let told = stage.told().await;
    assert_eq!(
        (&told["method"], &told["params"]["duration"]),
        (&"hook.after_tool".into(), &15_000_000.into())
    );
    assert_eq!(told["params"]["result"], result);
    stage.nothing([json!({ "action": "modify", "result": told["params"] })]).await;
    let answer = json!({ "action": "modify", "result": { "tool": "weather", "result": { "for_llm": "rain", "x": 1.234_567_890_123_456_8e22 }, "duration": 1 } });
    let updated = stage.answer(answer).await.updated_tool_response.unwrap();
    assert_eq!(updated.to_string(), r#"{"for_llm":"rain","x":12345678901234567890123}"#);
    stage.stops().await;
    stage
        .failures([
            (json!({ "action": "modify" }), "`modify` needs `result`"),
            (json!({ "action": "modify", "result": {} }), "`result` has no key `result`"),
            (
                json!({ "action": "modify", "result": { "for_llm": "x" } }),
                "`result` has no key `result`: give the whole new one there, nested as in the params",
            ),
            (
                json!({ "action": "modify", "result": { "result": { "is_error": true } } }),
                "`result.for_llm` is missing",
            ),
            (
                json!({ "action": "modify", "result": { "result": { "for_lm": "x" } } }),
                "unknown key `result.for_lm`; did you mean `for_llm`?",
            ),
            (json!({ "action": "deny_tool" }), "is not an action of `hook.after_tool`"),
        ])
        .await;
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn after_tool_gives_a_host_back_what_it_speaks() {
    let stage = Stage::new(Event::PostToolUse, ran(json!("sunny")));
    let sent = json!({ "for_llm": "sunny", "silent": false, "is_error": false, "async": false });
    assert_eq!(stage.told().await["params"]["result"], sent);
    stage
        .nothing([json!({ "action": "modify", "result": { "result": { "for_llm": "sunny" } } })])
        .await;
    let verdict = stage
        .answer(json!({ "action": "modify", "result": { "result": { "for_llm": "" } } }))
        .await;
    assert_eq!(verdict.updated_tool_response, Some(json!("")));
    let verdict = stage
        .answer(json!({ "action": "modify", "result": { "result": { "for_llm": "x", "is_error": true } } }))
        .await;
    assert_eq!(verdict.updated_tool_response.unwrap()["is_error"], true);
    shutdown(&stage.executor).await;

    let stage = Stage::new(Event::PostToolUse, ran(json!({ "stdout": "key=secret", "code": 0 })));
    assert_eq!(
        stage.told().await["params"]["result"]["for_llm"],
        r#"{"code":0,"stdout":"key=secret"}"#
    );
    let redacted = json!({ "action": "modify", "result": { "result": { "for_llm": "{\"code\":0,\"stdout\":\"key=***\"}" } } });
    let verdict = stage.answer(redacted).await;
    assert_eq!(verdict.updated_tool_response, Some(json!({ "stdout": "key=***", "code": 0 })));
    let verdict = stage
        .answer(json!({ "action": "modify", "result": { "result": { "for_llm": "gone" } } }))
        .await;
    assert_eq!(verdict.updated_tool_response, Some(json!("gone")));
    shutdown(&stage.executor).await;
}

#[tokio::test]
async fn a_tool_that_the_process_brought_along_is_its_own() {
    let project = Project::with(
        "
weather = {'type': 'function', 'function': {'name': 'weather'}}
def answer(method, params):
    if method == 'hook.before_llm':
        tools = params.get('tools', [])
        if all(tool['function']['name'] != 'weather' for tool in tools):
            tools.append(weather)
        return {'action': 'modify', 'request': {'tools': tools}}
    return {'action': 'respond', 'result': {'for_llm': 'sunny'}}
serve(answer)
",
    );
    let executor = project.one(&[Event::BeforeLlmCall, Event::PreToolUse], "");
    let weather = tool("weather", json!({ "city": "Rome" }));
    let before = dispatch(&executor, Event::PreToolUse, &weather).await;
    assert!(error(&before).contains("neither provides nor brought along"), "{before:#?}");

    let mut asked = request();
    let verdict = dispatch(&executor, Event::BeforeLlmCall, &asked).await;
    let tools = verdict.updated_request.unwrap().tools.unwrap();
    assert_eq!(tools.len(), 2);
    let verdict = dispatch(&executor, Event::PreToolUse, &weather).await;
    assert_eq!(verdict.respond, Some(ToolResult::text("sunny")), "{verdict:#?}");
    // Not another session's, and not the host's own tool.
    let verdict =
        dispatch(&executor, Event::PreToolUse, &weather.clone().with_session("other")).await;
    assert!(!verdict.allowed, "{verdict:#?}");
    let verdict = dispatch(&executor, Event::PreToolUse, &tool("echo", json!({}))).await;
    assert!(!verdict.allowed, "{verdict:#?}");
    // As soon as somebody else defines it, it is theirs.
    asked.tools = Some(vec![
        json!({ "type": "function", "function": { "name": "weather", "description": "mine" } }),
    ]);
    let _ = dispatch(&executor, Event::BeforeLlmCall, &asked).await;
    let verdict = dispatch(&executor, Event::PreToolUse, &weather).await;
    assert!(error(&verdict).contains("neither provides nor brought along"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_tool_of_the_host_is_nobody_elses_because_a_hook_took_it_out_first() {
    let project = Project::with(
        "
echo = {'type': 'function', 'function': {'name': 'echo'}}
def answer(method, params):
    if method == 'hook.before_llm':
        tools = [] if sys.argv[1] == 'takes' else [echo]
        return {'action': 'modify', 'request': {'tools': tools}}
    return {'action': 'respond', 'result': {'for_llm': 'faked'}}
serve(answer)
",
    );
    let executor = project.executor(
        "
processes:
  takes: { command: [python3, p.py, takes] }
  gives: { command: [python3, p.py, gives] }
hooks:
  before_llm_call:
    - { type: process, command: takes, mutates: true }
    - { type: process, command: gives, mutates: true }
  pre_tool_use:
    - hooks: [{ type: process, command: gives }]
",
    );
    let verdict = dispatch(&executor, Event::BeforeLlmCall, &request()).await;
    assert!(verdict.updated_request.unwrap().tools.is_some());
    let verdict = dispatch(&executor, Event::PreToolUse, &tool("echo", json!({}))).await;
    assert_eq!(verdict.respond, None);
    assert!(error(&verdict).contains("neither provides nor brought along"), "{verdict:#?}");
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_key_that_is_spelt_like_a_private_name_of_the_json_library_is_a_key() {
    for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        let written = || json!({ "a": 1, "deep": [{ name: "{\"b\":1}" }], name: "1" });
        let object = || written().as_object().unwrap().clone();

        let stage = Stage::new(Event::BeforeLlmCall, request());
        let verdict = stage
            .answer(json!({ "action": "modify", "request": {
                "messages": [written()], "tools": [written()], "options": written(),
            } }))
            .await;
        assert_eq!(verdict.updated_messages, Some(vec![written()]));
        let change = verdict.updated_request.unwrap();
        assert_eq!((change.tools, change.options), (Some(vec![written()]), Some(object())));
        shutdown(&stage.executor).await;

        let stage = Stage::new(Event::PreToolUse, call());
        let verdict =
            stage.answer(json!({ "action": "modify", "call": { "arguments": written() } })).await;
        assert_eq!(verdict.updated_input, Some(object()));
        let mut result = object();
        result.insert("for_llm".to_owned(), json!("sunny"));
        let verdict = stage.answer(json!({ "action": "respond", "result": result })).await;
        assert_eq!(verdict.respond.unwrap().extra, object());
        shutdown(&stage.executor).await;

        // The hook is shown the response as a text, and gives another text.
        let mut after = call();
        after.tool_response = Some(written());
        let stage = Stage::new(Event::PostToolUse, after);
        let shown = json!({ "for_llm": json!({ "a": 2, name: "1" }).to_string() });
        let verdict =
            stage.answer(json!({ "action": "modify", "result": { "result": shown } })).await;
        assert_eq!(verdict.updated_tool_response, Some(json!({ "a": 2, name: "1" })));
        shutdown(&stage.executor).await;
    }
}
