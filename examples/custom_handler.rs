//! Builtins and a hook type of one's own.
//!
//! ```sh
//! cargo run --example custom_handler
//! ```
//!
//! A builtin is a function that `{ type: builtin, command: NAME }` calls. A hook type is more: it may
//! have keys of its own, a grace period and answers for failures. The parameters of both are checked
//! when the configuration is loaded.
#![expect(clippy::print_stdout, reason = "it shows its verdicts")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hookexec::config::Hook;
use hookexec::{
    AsyncHandler, BuildError, Builtin, Call, Config, Event, Executor, Handler, HandlerEnv,
    HandlerError, HandlerFactory, HandlerResult, Input, Output, Registry,
};
use serde::Deserialize;

const HOOKS: &str = r"
hooks:
  turn_start:
    - { type: builtin, command: house_rules }
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: builtin, command: deny_words, args: [sudo, doas] }
        - { type: builtin, command: ask_once_in_a_while, with: { every: 3 } }
        - type: rate_limit
          with: { calls: 3, hint: take a break }
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = executor(HOOKS)?;
    let verdict = executor.dispatch(Event::TurnStart, &Input::default()).await;
    println!("turn_start: {}", verdict.additional_context.unwrap_or_default());
    for command in ["ls", "sudo ls", "make", "make test"] {
        let mut arguments = serde_json::Map::new();
        arguments.insert("cmd".to_owned(), command.into());
        let input = Input::for_tool("shell", arguments).with_session("example");
        let verdict = executor.dispatch(Event::PreToolUse, &input).await;
        let decision = verdict.decision.map_or("no opinion".to_owned(), |word| word.to_string());
        println!("{command}: {decision} {}", verdict.message.unwrap_or_default());
    }
    if let Err(problems) = self::executor(&HOOKS.replace("calls: 3", "calls: 0")) {
        println!("{problems}");
    }
    executor.shutdown(Duration::from_secs(5)).await;
    Ok(())
}

pub(crate) fn executor(hooks: &str) -> Result<Executor, Box<dyn Error>> {
    let config = Config::from_yaml(hooks, "hooks.yaml")?;
    Ok(Executor::builder(config).registry(registry()).build()?)
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    // A plain function, kept off the reactor: it may read files and wait for locks.
    registry.register_builtin("deny_words", Builtin::blocking(deny_words));
    // An async function.
    registry.register_builtin("house_rules", Builtin::future(house_rules));
    // A closure with state and parameters from `with`, fast enough to be called in place.
    let asked = Mutex::new(0_u64);
    registry.register_builtin(
        "ask_once_in_a_while",
        Builtin::inline(move |_, often: &Often| {
            let mut count = asked.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            let due = count.is_multiple_of(often.every.get());
            Ok::<_, Infallible>(if due { Some(Output::ask("still all right?")) } else { None })
        }),
    );
    registry.register("rate_limit", HandlerFactory::new(rate_limit));
    registry
}

/// The parameters of `ask_once_in_a_while`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Often {
    every: NonZeroU64,
}

/// Denies commands that begin with one of the words in `args`.
fn deny_words(
    input: &Input,
    args: &[String],
) -> Result<Option<Output>, Box<dyn Error + Send + Sync>> {
    if args.is_empty() {
        // A guard that can't do its work has failed, and on `pre_tool_use` that is a denial.
        return Err("`deny_words` needs the words in `args`".into());
    }
    let command = input.tool_input.as_ref().and_then(|arguments| arguments.get("cmd")?.as_str());
    let first = command.and_then(|command| command.split_whitespace().next());
    let hit = args.iter().find(|word| first == Some(word.as_str()));
    Ok(hit.map(|word| Output::deny(format!("`{word}` is not allowed here"))))
}

/// Gives the model a text that could as well come from a database.
async fn house_rules(_: Arc<Input>, _: Arc<[String]>) -> Result<Option<Output>, std::io::Error> {
    tokio::task::yield_now().await;
    Ok(Some(Output::context("Run the tests before you say that something works.")))
}

/// The parameters of a `rate_limit` hook: what stands under `with:`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateLimit {
    /// How many calls a session may make.
    calls: NonZeroU32,
    /// What the model is told then.
    #[serde(default)]
    hint: String,
}

/// Counts the calls of each session.
struct RateLimiter {
    limit: RateLimit,
    made: Mutex<HashMap<String, u32>>,
}

/// Checks a hook of type `rate_limit` and makes its handler. Errors are shown with file and line.
fn rate_limit(_: &HandlerEnv, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    let example = "write `with: { calls: 20, hint: take a break }`";
    let limit = hook.parameters().map_err(|error| error.hint(example))?;
    Ok(Arc::new(RateLimiter { limit, made: Mutex::default() }))
}

impl AsyncHandler for RateLimiter {
    async fn run(&self, call: &Call<'_>) -> Result<HandlerResult, HandlerError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = made.entry(call.input.session_id.clone()).or_default();
        *count += 1;
        let RateLimit { calls, hint } = &self.limit;
        if *count <= calls.get() {
            return Ok(None.into());
        }
        Ok(Output::deny(format!("more than {calls} calls; {hint}")).into())
    }
}
