//! A small agent whose every step goes through the hooks of a `hooks.yaml`.
//!
//! Three tools (`shell`, `read_file`, `write_file`) and any model behind an OpenAI-style
//! `chat/completions` over plain HTTP, as llama.cpp, Ollama and vLLM offer on one's own machine:
//!
//! ```sh
//! cargo run --example agent -- --hooks examples/guard.yaml --url http://127.0.0.1:8080/v1 \
//!     --model qwen3 "How many files are here?"
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to its user")]

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hookexec::handler::BoxFuture;
use hookexec::lifecycle::{
    Approval, ApprovalRequest, AuthorizedCall, Finished, ModelRequest, Session, SessionSource,
    ToolCall, ToolError, ToolFacts, Trail, Turn, TurnEnd,
};
use hookexec::{Config, Executor};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::signal::ctrl_c;
use tokio::sync::watch;

const MAX_ITERATIONS: u64 = 20;

/// Whether the user has pressed Ctrl-C.
type Interrupted = watch::Receiver<bool>;

/// What the agent is told on its command line.
pub(crate) struct Options {
    pub(crate) hooks: Option<PathBuf>,
    /// Where the tools work.
    pub(crate) directory: PathBuf,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) prompt: String,
    /// Who approves what hooks ask about.
    pub(crate) approver: fn(ApprovalRequest) -> BoxFuture<'static, Approval>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (interrupt, interrupted) = watch::channel(false);
    tokio::spawn(async move {
        if ctrl_c().await.is_ok() {
            interrupt.send_replace(true);
        }
    });
    match parse(std::env::args().skip(1)) {
        Ok(options) => match run(options, interrupted).await {
            Ok(answer) => {
                println!("{answer}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!(
                "error: {error}\nusage: agent [--hooks FILE] [--url URL] [--model NAME] PROMPT"
            );
            ExitCode::from(64)
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        hooks: None,
        directory: std::env::current_dir()?,
        url: "http://127.0.0.1:8080/v1".to_owned(),
        model: "default".to_owned(),
        prompt: String::new(),
        approver: |request| Box::pin(ask_on_terminal(request)),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--hooks" => options.hooks = Some(value()?.into()),
            "--url" => options.url = value()?,
            "--model" => options.model = value()?,
            _ => options.prompt = argument,
        }
    }
    if options.prompt.is_empty() { Err("there is no prompt".into()) } else { Ok(options) }
}

/// Runs one session of one turn, and returns the model's last word.
pub(crate) async fn run(
    options: Options,
    interrupted: Interrupted,
) -> Result<String, Box<dyn Error>> {
    let config = match &options.hooks {
        Some(file) => Config::load_file(file)?,
        None => Config::default(),
    };
    let executor = Executor::builder(config).working_dir(&options.directory).build()?;
    let executor = Arc::new(executor);
    let session = Session::builder(format!("agent-{}", std::process::id()))
        .agent_name("example")
        .model(&options.model)
        .tools(|name| match name {
            "read_file" => ToolFacts::kind("read").read_only(true),
            "write_file" => ToolFacts::kind("write"),
            // The shell's name is its kind.
            _ => ToolFacts::default(),
        })
        .start(Arc::clone(&executor), SessionSource::Startup)
        .await;
    show(session.opening());

    let mut conversation = vec![json!({
        "role": "system",
        "content": format!("You work in {}. Use the tools.", options.directory.display()),
    })];
    conversation.extend(guidance(session.opening()));
    let outcome = session
        .run_turn(&options.prompt, async |turn| {
            conversation.extend(guidance(turn.opening()));
            show(turn.opening());
            conversation.push(user_message(&options.prompt));
            converse(&turn, &options, &interrupted, &mut conversation).await
        })
        .await;
    show(&outcome.trail);
    session.end("exit").await;
    executor.shutdown(Duration::from_secs(5)).await;
    Ok(outcome.end.unwrap_or_else(|end| format!("(no answer: {end})")))
}

/// Calls the model and the tools it wants until it wants no more and the hooks let it stop.
async fn converse(
    turn: &Turn,
    options: &Options,
    interrupted: &Interrupted,
    conversation: &mut Vec<Value>,
) -> Result<Finished, TurnEnd> {
    for _ in 0..MAX_ITERATIONS {
        let request = ModelRequest::new(conversation.clone()).with_tools(tool_definitions());
        let answer = turn
            .model_call(request)
            .cancelled_by(wait(interrupted.clone()))
            .run(async |request| complete(&options.url, request).await)
            .await;
        show(&answer.trail);
        let message = answer.end?;
        conversation.push(message.clone());

        let mut calls = Vec::new();
        for wanted in message["tool_calls"].as_array().into_iter().flatten() {
            let id = wanted["id"].as_str().unwrap_or_default();
            let name = wanted["function"]["name"].as_str().unwrap_or_default();
            let arguments = wanted["function"]["arguments"].as_str().unwrap_or_default();
            match ToolCall::parse(name, arguments) {
                Ok(call) => calls.push(call.with_id(id)),
                Err(error) => conversation.push(tool_message(Some(id), &error.to_string())),
            }
        }
        if message["tool_calls"].as_array().is_none_or(Vec::is_empty) {
            match turn.finish(message["content"].as_str().unwrap_or_default()).await {
                Ok(finished) => return Ok(finished),
                Err(reason) => {
                    eprintln!("[stop] {reason}");
                    conversation.push(user_message(&reason));
                    continue;
                }
            }
        }

        let outcomes = turn
            .batch(calls)
            .approve_with(options.approver)
            .cancelled_by(wait(interrupted.clone()))
            .run(async |call| run_tool(options, call).await)
            .await;
        for outcome in &outcomes {
            show(&outcome.trail);
            conversation.push(tool_message(outcome.call.id.as_deref(), &outcome.for_model()));
        }
        for outcome in &outcomes {
            outcome.go_on()?;
        }
    }
    Err(TurnEnd::MaxIterations { limit: MAX_ITERATIONS })
}

/// Runs a tool. Its only way in is an [`AuthorizedCall`]: what the hooks let pass.
async fn run_tool(options: &Options, call: AuthorizedCall) -> Result<Value, ToolError> {
    match call.name() {
        "shell" => {
            let output = Command::new("/bin/sh")
                .args(["-c", call.text("cmd")?])
                .current_dir(&options.directory)
                .stdin(Stdio::null())
                // A call that is cancelled is dropped, and takes its child along.
                .kill_on_drop(true)
                .output()
                .await?;
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            if output.status.success() {
                Ok(text.into())
            } else {
                Err(ToolError::new(format!("{text}({})", output.status)))
            }
        }
        "read_file" => {
            let path = options.directory.join(call.text("path")?);
            Ok(std::fs::read_to_string(path)?.into())
        }
        "write_file" => {
            let text = call.text("text")?;
            std::fs::write(options.directory.join(call.text("path")?), text)?;
            Ok(format!("wrote {} bytes", text.len()).into())
        }
        unknown => Err(ToolError::new(format!("there is no tool `{unknown}`"))),
    }
}

fn tool_definitions() -> Vec<Value> {
    let tool = |name: &str, description: &str, arguments: &[&str]| {
        let properties: serde_json::Map<String, Value> = arguments
            .iter()
            .map(|argument| ((*argument).to_owned(), json!({ "type": "string" })))
            .collect();
        let parameters =
            json!({ "type": "object", "properties": properties, "required": arguments });
        json!({ "type": "function", "function": {
            "name": name, "description": description, "parameters": parameters,
        }})
    };
    vec![
        tool("shell", "Runs a shell command.", &["cmd"]),
        tool("read_file", "Reads a file.", &["path"]),
        tool("write_file", "Writes a file.", &["path", "text"]),
    ]
}

fn user_message(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn tool_message(id: Option<&str>, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

/// Returns what hooks tell the model, as a message of the conversation.
fn guidance(trail: &Trail) -> Option<Value> {
    trail.additional_context().map(|text| json!({ "role": "system", "content": text }))
}

/// Shows the user what hooks tell them.
fn show(trail: &Trail) {
    for (event, message) in trail.system_messages() {
        eprintln!("[{event}] {message}");
    }
}

/// Asks whoever sits at the terminal; nobody there is a no.
async fn ask_on_terminal(request: ApprovalRequest) -> Approval {
    let arguments = Value::Object(request.arguments().clone());
    eprintln!("The model wants to run `{}` with {arguments}", request.tool_name());
    for (_, reason) in request.reasons() {
        eprintln!("  {reason}");
    }
    eprint!("Run it? [y/N] ");
    let answer = tokio::task::spawn_blocking(|| {
        std::io::stderr().flush().ok();
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    match answer.await {
        Ok(Ok(line)) if line.trim().eq_ignore_ascii_case("y") => request.grant(),
        _ => request.refuse("the user said no"),
    }
}

/// Waits until the user interrupts; if nobody can tell any more, for ever.
async fn wait(mut interrupted: Interrupted) {
    if interrupted.wait_for(|interrupted| *interrupted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Asks the model for the next message.
///
/// HTTP/1.0, so that the answer ends where the connection does: enough for a server on this
/// machine. One that is farther away needs TLS, and a client such as `reqwest` in this place.
async fn complete(url: &str, request: ModelRequest) -> Result<Value, Box<dyn Error>> {
    let address = url.strip_prefix("http://").ok_or("only http:// is spoken here")?;
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let mut body = Value::Object(request.options);
    body["model"] = request.model.into();
    body["messages"] = request.messages.into();
    body["tools"] = request.tools.into();
    let body = body.to_string();

    let port = if host.contains(':') { "" } else { ":80" };
    let mut stream = TcpStream::connect(format!("{host}{port}")).await?;
    let head = format!(
        "POST /{path}/chat/completions HTTP/1.0\r\nHost: {host}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;

    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer is no HTTP")?;
    let status = head.lines().next().unwrap_or_default();
    if status.split_whitespace().nth(1) != Some("200") {
        return Err(format!("{status}: {body}").into());
    }
    let mut answer: Value = serde_json::from_str(body)?;
    Ok(answer["choices"][0]["message"].take())
}
