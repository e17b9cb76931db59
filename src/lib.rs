//! Deterministic control over AI agents.
//!
//! `hookexec` reads a declarative `hooks.yaml`. At each event in an agent's life it runs the hooks
//! that match and folds their answers into one [`Verdict`]: allow, deny or ask, with rewrites,
//! context for the model and messages for the user.
//!
//! # One event
//!
//! An [`Executor`] is built from a [`Config`] and a [`Registry`]. The configuration says which
//! hooks run when. The registry maps hook types to handlers, and holds the Rust functions that
//! hooks of type `builtin` call by name. [`matcher::Matcher`] is a hook's pattern over tool names.
//! The package `hookexec-project` finds the hooks files of all layers, with approvals.
//!
//! ```
//! use hookexec::{Builtin, Config, Decision, Event, Executor, Input, Output, Registry};
//!
//! const HOOKS: &str = r#"
//! hooks:
//!   pre_tool_use:
//!     - matcher: shell
//!       hooks:
//!         - { type: builtin, command: no_sudo, args: [sudo, doas] }
//!         - type: command
//!           when: { field: tool_input.cmd, regex: "rm -rf /" }
//!           command: echo "not the whole disk" >&2; exit 2
//! "#;
//!
//! /// Denies shell commands that begin with one of the words in `args`.
//! fn no_sudo(input: &Input, args: &[String]) -> Result<Option<Output>, std::io::Error> {
//!     let command = input.tool_input.as_ref().and_then(|arguments| arguments.get("cmd")?.as_str());
//!     let first = command.and_then(|command| command.split_whitespace().next());
//!     Ok(first
//!         .filter(|word| args.iter().any(|forbidden| forbidden == word))
//!         .map(|word| Output::deny(format!("`{word}` is not allowed here"))))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut registry = Registry::new();
//! registry.register_builtin("no_sudo", Builtin::inline(no_sudo));
//!
//! // All mistakes of a configuration come back at once, each with its line.
//! let config = Config::from_yaml(HOOKS, "hooks.yaml")?;
//! let executor = Executor::builder(config).registry(registry).build()?;
//!
//! let call = Input::call("shell").arg("cmd", "sudo reboot");
//! let verdict = executor.dispatch(Event::PreToolUse, &call).await;
//! assert_eq!(verdict.decision, Some(Decision::Deny));
//! assert_eq!(verdict.message.as_deref(), Some("`sudo` is not allowed here"));
//!
//! let call = Input::call("shell").arg("cmd", "ls");
//! let verdict = executor.dispatch(Event::PreToolUse, &call).await;
//! assert!(verdict.allowed);
//!
//! executor.shutdown(std::time::Duration::from_secs(5)).await;
//! # Ok(())
//! # }
//! ```
//!
//! A host that looks only at [`Verdict::allowed`] is safe: it is false for a denial and for an ask.
//! [`Executor::dispatch`] returns no error; a hook that fails is part of the verdict.
//!
//! # A whole agent
//!
//! Hosts often fire the wrong events, in the wrong order, or ignore an answer on some path. The
//! drivers in [`lifecycle`] get that right: a host passes closures that run the tool, ask the user
//! and call the model, and gets a typed outcome.
//!
//! ```
//! use hookexec::lifecycle::{ModelRequest, Session, SessionSource, ToolCall, TurnEnd};
//! use hookexec::{Config, Executor};
//! use serde_json::{Value, json};
//!
//! const HOOKS: &str = r#"
//! hooks:
//!   turn_start:
//!     - { type: command, command: echo "Be brief." }
//!   pre_tool_use:
//!     - matcher: write_file
//!       hooks:
//!         - type: command
//!           command: echo '{"hook_specific_output":{"permission_decision":"ask"}}'
//! "#;
//!
//! /// A model that wants one file written and is content then.
//! async fn call_model(request: ModelRequest) -> Result<Value, std::io::Error> {
//!     Ok(match request.messages.len() {
//!         2 => json!({ "tool": "write_file", "arguments": "{\"path\":\"a.txt\"}" }),
//!         _ => json!({ "content": "Done." }),
//!     })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::from_yaml(HOOKS, "hooks.yaml")?;
//! let executor = Executor::builder(config).build()?;
//!
//! // `session_start` fires here, `session_end` in `end`.
//! let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
//! let mut messages = vec![json!({ "role": "user", "content": "Write a file." })];
//! let outcome = session
//!     // `user_prompt_submit` and `turn_start`; `turn_end` on every way out of the closure.
//!     .run_turn("Write a file.", async |turn| {
//!         messages.extend(turn.opening().additional_context().map(Value::from));
//!         loop {
//!             // `before_llm_call`, the model, `after_llm_call`. A failure or a refusal ends the turn.
//!             let request = ModelRequest::new(messages.clone());
//!             let response = turn.model_call(request).run(call_model).await.end?;
//!             let Some(tool) = response["tool"].as_str() else {
//!                 let text = response["content"].as_str().unwrap_or_default();
//!                 // `stop`: may the model stop, or must it read something and go on?
//!                 match turn.finish(text).await {
//!                     Ok(finished) => return Ok(finished),
//!                     Err(reason) => messages.push(json!({ "role": "user", "content": reason })),
//!                 }
//!                 continue;
//!             };
//!             let arguments = response["arguments"].as_str().unwrap_or_default();
//!             let call = ToolCall::parse(tool, arguments).map_err(TurnEnd::failed)?;
//!             // Every event around the tool; approval is asked for when a hook wants it.
//!             let outcome = turn
//!                 .tool_call(call)
//!                 .approve_with(async |request| {
//!                     assert_eq!(request.tool_name(), "write_file");
//!                     request.refuse("not in the documentation")
//!                 })
//!                 .run(async |call| Ok(format!("wrote {}", call.text("path")?).into()))
//!                 .await;
//!             outcome.go_on()?;
//!             assert_eq!(outcome.for_model(), "Tool call denied: not in the documentation");
//!             messages.push(json!({ "role": "tool", "content": outcome.for_model() }));
//!         }
//!     })
//!     .await;
//! assert_eq!(outcome.end?, "Done.");
//! session.end("exit").await;
//! # Ok(())
//! # }
//! ```
//!
//! # Hooks of a type of its own
//!
//! A host can add hook types: a function, given to
//! [`Registry::register`], checks the hook's definition, its `with:`
//! parameters included, when the executor is built, and makes the [`Handler`] that runs it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use hookexec::config::Hook;
//! use hookexec::{
//!     BoxFuture, BuildError, Call, Config, Event, Executor, Handler, HandlerEnv, HandlerError,
//!     HandlerFactory, HandlerResult, Input, Output, Registry,
//! };
//!
//! /// Asks from so many model calls of a turn on.
//! #[derive(serde::Deserialize)]
//! struct Budget {
//!     limit: u64,
//! }
//!
//! impl Handler for Budget {
//!     fn run<'a>(
//!         &'a self,
//!         call: &'a Call<'a>,
//!     ) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
//!         let is_spent = call.input.iteration > Some(self.limit);
//!         let answer = if is_spent { Some(Output::ask("the budget is spent")) } else { None };
//!         Box::pin(async move { Ok(answer.into()) })
//!     }
//! }
//!
//! fn budget(_: &HandlerEnv, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
//!     Ok(Arc::new(hook.parameters::<Budget>()?))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut registry = Registry::new();
//! registry.register("budget", HandlerFactory::new(budget));
//!
//! let yaml = "hooks: { pre_tool_use: [{ hooks: [{ type: budget, with: { limit: 1 } }] }] }";
//! let config = Config::from_yaml(yaml, "hooks.yaml")?;
//! let executor = Executor::builder(config).registry(registry.clone()).build()?;
//! let mut input = Input::for_tool("shell", Default::default());
//! input.iteration = Some(2);
//! assert!(!executor.dispatch(Event::PreToolUse, &input).await.allowed);
//!
//! let wrong = "hooks: { pre_tool_use: [{ hooks: [{ type: budget }] }] }";
//! let config = Config::from_yaml(wrong, "hooks.yaml")?;
//! let problems = Executor::builder(config).registry(registry).build().unwrap_err();
//! assert_eq!(problems.to_string(), "hooks.yaml:1:35: `with`: missing field `limit`");
//! # Ok(())
//! # }
//! ```
//!
//! # What it needs, and what it leaves alone
//!
//! * It needs a Tokio runtime with time and I/O enabled, of either flavour. The library builds
//!   none, prints nothing and never exits. Messages beside a verdict go to `tracing`. Dropping a
//!   future stops the hooks it runs and their child processes. The feature `schema` adds the JSON
//!   schemas of what crosses a boundary, and `http` the builtin `http_post` and the hook
//!   types `http` and `model`. The adapters of coding
//!   agents are the package `hookexec-agents`, the command is `hookexec-cli`. A host that wants
//!   numbers beyond 64 bits unchanged turns on the feature `arbitrary_precision` of `serde_json`.
#![forbid(unsafe_code)]

mod answer;
pub mod asks;
pub mod config;
pub mod counts;
pub mod describe;
mod dialect;
mod event;
pub mod executor;
mod handler;
mod handlers;
pub mod lifecycle;
pub mod matcher;
mod recorder;
pub mod registry;
#[cfg(feature = "schema")]
pub mod schema;
mod shipped;
#[cfg(feature = "testing")]
pub mod testing;
pub mod wire;

pub use config::{failed::BuildError, model::Config};
pub use event::{
    ContextMode, Contract, Event, FailureMode, MAX_CONTINUES, Permission, Rewrite, UnknownEvent,
};
pub use executor::{build::ExecutorBuilder, dispatch::Executor};
pub use handler::{
    AsyncHandler, BoxFuture, Exited, Failure, Handler, HandlerError, HandlerResult, call::Call,
};
pub use handlers::builtin::Builtin;
pub use hookexec_files::directories::home_directory;
pub use registry::{entries::Registry, env::HandlerEnv, factory::HandlerFactory};
pub use wire::{input::Input, output::Decision, output::Output, verdict::Verdict};

use hookexec_files::{directories, files, locks, paths, platform, suggest, text};

/// The README's Rust code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
