//! Hooks of a test's own, and a model that answers from a script.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hookexec::config::{Diagnostics, Hook};
use hookexec::lifecycle::{Approval, ApprovalRequest, Session, SessionSource};
use hookexec::wire::{Stop, StopScope, ToolResult};
use hookexec::{
    AsyncHandler, BuildError, Builtin, Call, Config, Executor, Handler, HandlerEnv, HandlerError,
    HandlerFactory, HandlerResult, Input, Output, Registry,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub const HOOKS: &str = r#"
hooks:
  session_start: { type: builtin, command: tell, args: [Be brief.] }
  turn_start: { type: builtin, command: tell, args: [It is Monday.] }
  after_llm_call: { type: builtin, command: redact }
  tool_input_transform:
    - { matcher: echo, hooks: [{ type: builtin, command: upper }] }
  pre_tool_use:
    - matcher: echo
      hooks:
        - { type: builtin, command: deny_word, args: [SECRET] }
        - { type: at_most, with: { calls: 4 } }
    - matcher: pay
      hooks:
        - { type: command, command: 'echo "{\"hook_specific_output\":{\"permission_decision\":\"ask\"}}"' }
  tool_response_transform:
    - hooks: [{ type: builtin, command: redact }]
  stop: { type: builtin, command: once_more }
"#;

pub fn executor(hooks: &str) -> Result<Executor, Diagnostics> {
    let config = Config::from_yaml(hooks, "hooks.yaml")?;
    Executor::builder(config).registry(registry()).build()
}

/// Gives `session` the hooks of another file in the place of those of `executor`.
pub fn replace_hooks(
    session: &Session,
    executor: &Executor,
    hooks: &str,
) -> Result<(), Diagnostics> {
    session.replace_executor(executor.successor(Config::from_yaml(hooks, "hooks.yaml")?)?);
    Ok(())
}

pub const MISTAKES: &str =
    "stop:\n  - { type: builtin, command: tel }\n  - { type: at_most, with: { calls: x } }\n";

/// Checks that all [`MISTAKES`] are reported at once.
pub fn check_mistakes<T>(loaded: Result<T, Diagnostics>) {
    let problems = loaded.err().unwrap().to_string();
    assert!(problems.contains("hooks.yaml:2:31: unknown builtin `tel`"), "{problems}");
    assert!(problems.contains("hooks.yaml:3:28: `with`: invalid type: string \"x\""), "{problems}");
}

/// A hook or a tool that cancels as soon as it runs, and hangs until it is dropped.
#[derive(Clone, Default)]
pub struct Hanging {
    pub cancel: CancellationToken,
    pub dropped: CancellationToken,
}

impl Hanging {
    pub async fn run<T>(self) -> T {
        let _dropped = self.dropped.drop_guard();
        self.cancel.cancel();
        pending().await
    }

    /// Returns an executor with a hook before `echo` that hangs.
    pub fn executor(&self) -> Executor {
        let hooks = "pre_tool_use: [{ matcher: echo, hooks: [{ type: builtin, command: hang }] }]";
        let (hanging, mut registry) = (self.clone(), registry());
        let hang = move |_: Arc<Input>, _: Arc<[String]>| hanging.clone().run::<Answer>();
        registry.register_builtin("hang", Builtin::future(hang));
        let config = Config::from_yaml(hooks, "hooks.yaml").unwrap();
        Executor::builder(config).registry(registry).build().unwrap()
    }
}

/// Runs 100 sessions at once on one executor.
pub async fn a_hundred_sessions<R: Future<Output = ()> + Send>(
    hooks: &str,
    run: impl Fn(Arc<Session>, Arc<Executor>) -> R + Clone + Send + 'static,
) {
    let executor = Arc::new(executor(hooks).unwrap());
    let sessions = (0..100).map(|number| {
        let (executor, run) = (Arc::clone(&executor), run.clone());
        tokio::spawn(async move {
            let session = Session::builder(format!("s-{number}"));
            let session = session.start(Arc::clone(&executor), SessionSource::Startup).await;
            let session = Arc::new(session);
            run(Arc::clone(&session), executor).await;
            session.end("exit").await;
        })
    });
    for session in sessions.collect::<Vec<_>>() {
        session.await.unwrap();
    }
}

/// Runs 100 sessions at once, each with a subagent. `run` gets the subagent's session and the
/// hooks' context for it, and returns its answer.
pub async fn a_hundred_subagents<R: Future<Output = String> + Send>(
    run: impl Fn(Arc<Session>, String) -> R + Clone + Send + Sync + 'static,
) {
    let hooks = "subagent_start: { type: builtin, command: tell, args: [Be kind.] }\n\
                 turn_start: { type: builtin, command: tell, args: [It is Monday.] }";
    let with_subagent = move |session: Arc<Session>, executor| {
        let run = run.clone();
        async move {
            let helper = async |context: Option<String>| {
                let child = Session::builder("helper").parent(&session);
                let child = Arc::new(child.start(executor, SessionSource::Startup).await);
                let said = run(Arc::clone(&child), context.unwrap()).await;
                child.end("exit").await;
                said
            };
            assert_eq!(session.subagent("helper", helper).await, "Done.");
        }
    };
    a_hundred_sessions(hooks, with_subagent).await;
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register_builtin("tell", Builtin::inline(tell));
    registry.register_builtin("upper", Builtin::inline(upper));
    registry.register_builtin("deny_word", Builtin::inline(deny_word));
    registry.register_builtin("redact", Builtin::inline(redact));
    registry.register_builtin("close", Builtin::inline(close));
    registry.register_builtin("offer", Builtin::inline(offer));
    registry.register_builtin("tell_time", Builtin::inline(tell_time));
    // A builtin with state.
    let asked = AtomicBool::new(false);
    let once_more = move |_: &Input, _: &[String]| {
        let first = !asked.swap(true, Ordering::Relaxed);
        Ok::<_, String>(if first { Some(Output::deny("say it again")) } else { None })
    };
    registry.register_builtin("once_more", Builtin::inline(once_more));
    registry.register("at_most", HandlerFactory::new(at_most));
    registry
}

type Answer = Result<Option<Output>, std::io::Error>;

fn tell(_: &Input, args: &[String]) -> Answer {
    Ok(Some(Output::context(args.join(" "))))
}

fn close(_: &Input, _: &[String]) -> Answer {
    let mut output = Output::deny("closed");
    output.stop = Some(Stop::new(StopScope::Session, "closed"));
    Ok(Some(output))
}

/// The parameters of `offer`.
#[derive(Deserialize)]
struct Offered {
    tool: String,
}

fn offer(input: &Input, offered: &Offered) -> Answer {
    Ok(Some(Output::add_tools(input, [json!({ "name": offered.tool })])))
}

fn tell_time(_: &Input, _: &[String]) -> Answer {
    Ok(Some(Output::respond(ToolResult::text("noon"))))
}

fn text_of(input: &Input) -> &str {
    let text = input.tool_input.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
    text.unwrap_or_default()
}

fn upper(input: &Input, _: &[String]) -> Answer {
    let text = Value::from(text_of(input).to_uppercase());
    Ok(Some(Output::patch_input([("text".to_owned(), text)].into_iter().collect())))
}

fn deny_word(input: &Input, words: &[String]) -> Answer {
    let found = words.iter().find(|word| text_of(input).contains(word.as_str()));
    Ok(found.map(|word| Output::deny(format!("no {word}"))))
}

fn redact(input: &Input, _: &[String]) -> Answer {
    let mut output = Output::default();
    let redacted = |value: &Value| value.to_string().replace("KEY", "***").parse().ok();
    output.updated_tool_response = input.tool_response.as_ref().and_then(redacted);
    output.updated_response = input.response.as_ref().and_then(redacted);
    Ok(Some(output))
}

/// Denies all calls after the first few.
#[derive(Deserialize)]
struct AtMost {
    calls: u64,
    #[serde(skip)]
    made: Mutex<u64>,
}

impl AsyncHandler for AtMost {
    async fn run(&self, _: &Call<'_>) -> Result<HandlerResult, HandlerError> {
        let mut made = self.made.lock().unwrap();
        *made += 1;
        let over = *made > self.calls;
        Ok(if over { Some(Output::deny("enough")) } else { None }.into())
    }
}

fn at_most(_: &HandlerEnv, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    Ok(Arc::new(hook.parameters::<AtMost>()?))
}

/// Approves payments of 1.
pub async fn approve(request: ApprovalRequest) -> Approval {
    if request.arguments()["text"] == "1" { request.grant() } else { request.refuse("too much") }
}

/// Returns an answer of a model that wants tools called: the id, the tool, the text for it.
pub fn wants(calls: &[(&str, &str, &str)]) -> Value {
    let calls = calls.iter().map(|(id, tool, text)| {
        let arguments = json!({ "text": text }).to_string();
        json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": arguments } })
    });
    json!({ "role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>() })
}

pub fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// Serves one answer after the other, and brings back the messages of each request.
pub async fn scripted_model(answers: Vec<Value>) -> (String, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = Vec::new();
            let request: Value = loop {
                let mut piece = [0; 4096];
                let count = stream.read(&mut piece).await.unwrap();
                assert!(count > 0, "the request broke off");
                text.extend_from_slice(&piece[..count]);
                let so_far = String::from_utf8_lossy(&text);
                let body = so_far.split_once("\r\n\r\n").map_or("", |(_, body)| body);
                if let Ok(request) = serde_json::from_str(body) {
                    break request;
                }
            };
            requests.push(request["messages"].clone());
            let reason = if answer["tool_calls"].is_null() { "stop" } else { "tool_calls" };
            let choice = json!({ "index": 0, "message": answer, "finish_reason": reason });
            let body = json!({
                "id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [choice],
                "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
            });
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).await.unwrap();
        }
        requests
    });
    (url, serving)
}

/// The script that the agents of the tests work through.
pub fn script() -> Vec<Value> {
    vec![
        wants(&[("1", "echo", "the key"), ("2", "echo", "the secret")]),
        wants(&[("3", "pay", "1"), ("4", "pay", "2")]),
        says("The KEY is done."),
        says("The KEY is done, again."),
    ]
}

/// Checks what the model read under [`HOOKS`] while it gave the answers of [`script`].
pub fn check(requests: &[Value]) {
    let read: Vec<String> = requests.iter().map(Value::to_string).collect();
    assert_eq!(read.len(), 4);
    assert!(read[0].contains("Be brief.") && read[0].contains("It is Monday."), "{}", read[0]);
    assert!(read[1].contains("THE ***") && !read[1].contains("THE KEY"), "{}", read[1]);
    assert!(read[1].contains("Tool call denied: no SECRET"), "{}", read[1]);
    assert!(read[2].contains("paid 1"), "{}", read[2]);
    assert!(read[2].contains("Tool call denied: too much"), "{}", read[2]);
    assert!(read[3].contains("say it again"), "{}", read[3]);
    assert!(read[3].contains("The *** is done."), "{}", read[3]);
}
