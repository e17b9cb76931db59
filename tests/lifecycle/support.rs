//! A host whose every event has one hook, which notes that it ran and answers by a script.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookexec::config::Command;
use hookexec::config::Hook;
use hookexec::lifecycle::{Session, SessionSource, ToolCall};
use hookexec::{
    BoxFuture, Call, Config, Event, Executor, Handler, HandlerError, HandlerFactory, HandlerResult,
    Input, Output, Registry,
};
use serde_json::Value;
use tokio::sync::Notify;

/// What a hook does when its event fires.
pub(crate) enum Act {
    Say(Box<Output>),
    /// Answers later.
    After(Duration, Box<Output>),
    /// Never answers.
    Hang,
}

impl From<Output> for Act {
    fn from(output: Output) -> Self {
        Self::Say(Box::new(output))
    }
}

pub(crate) fn nothing() -> Act {
    Output::default().into()
}

/// What the hooks saw, in order.
#[derive(Clone, Default)]
pub(crate) struct Log {
    seen: Arc<Mutex<Vec<Input>>>,
    /// Rung at each event.
    bell: Arc<Notify>,
}

impl Log {
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.seen.lock().unwrap().clone()
    }

    /// Returns the names of the events that fired, in order, and forgets them.
    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.seen.lock().unwrap())
            .iter()
            .map(|input| input.hook_event_name.unwrap().name())
            .collect()
    }

    /// Returns the last input of `event`.
    pub(crate) fn of(&self, event: Event) -> Input {
        let seen = self.inputs();
        seen.into_iter().rev().find(|input| input.hook_event_name == Some(event)).unwrap()
    }

    /// Waits until `event` has fired.
    pub(crate) async fn fired(&self, event: Event) {
        loop {
            let rung = self.bell.notified();
            if self.inputs().iter().any(|input| input.hook_event_name == Some(event)) {
                return;
            }
            rung.await;
        }
    }

    fn note(&self, input: &Input) {
        self.seen.lock().unwrap().push(input.clone());
        self.bell.notify_waiters();
    }
}

type Script = dyn Fn(Event, &Input) -> Act + Send + Sync;

struct Scripted {
    log: Log,
    script: Arc<Script>,
}

impl Handler for Scripted {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        self.log.note(call.input);
        let act = (self.script)(call.event, call.input);
        Box::pin(async move {
            match act {
                Act::Say(output) => Ok(Some(*output).into()),
                Act::After(delay, output) => {
                    tokio::time::sleep(delay).await;
                    Ok(Some(*output).into())
                }
                Act::Hang => pending().await,
            }
        })
    }

    fn refuses_response(&self, input: &Input) -> Option<String> {
        (input.tool() != "weather").then(|| "it provides only `weather`".to_owned())
    }
}

/// Returns an executor with one scripted hook for each of `events`, and what those hooks see.
pub(crate) fn executor(
    events: impl IntoIterator<Item = Event>,
    script: impl Fn(Event, &Input) -> Act + Send + Sync + 'static,
) -> (Executor, Log) {
    let log = Log::default();
    let script: Arc<Script> = Arc::new(script);
    let mut config = Config::default();
    for event in events {
        config.hooks.push(Hook::new(event, "scripted", Command::Text("scripted".into())));
    }
    let mut registry = Registry::empty();
    let seen = log.clone();
    registry.register(
        "scripted",
        HandlerFactory::new(move |_, _| {
            let handler = Scripted { log: seen.clone(), script: Arc::clone(&script) };
            Ok(Arc::new(handler))
        }),
    );
    (Executor::builder(config).registry(registry).build().unwrap(), log)
}

/// Returns a session in which every event has a hook; what fired as it began is forgotten.
pub(crate) async fn session(
    script: impl Fn(Event, &Input) -> Act + Send + Sync + 'static,
) -> (Session, Log) {
    // A hook of `approval` would answer what no script answers.
    let events = Event::all().filter(|event| *event != Event::Approval);
    let (executor, log) = executor(events, script);
    let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
    assert_eq!(log.take(), ["session_start"]);
    (session, log)
}

/// Returns a script that answers one event and has no opinion on the others.
pub(crate) fn at(
    event: Event,
    output: Output,
) -> impl Fn(Event, &Input) -> Act + Send + Sync + 'static {
    move |fired, _| if fired == event { output.clone().into() } else { nothing() }
}

pub(crate) fn silent() -> impl Fn(Event, &Input) -> Act + Send + Sync + 'static {
    |_, _| nothing()
}

/// Returns a call of `shell` with one argument.
pub(crate) fn shell(cmd: &str) -> ToolCall {
    ToolCall::new("shell", object(serde_json::json!({ "cmd": cmd })))
}

/// Returns a call of the tool that the hooks may answer for.
pub(crate) fn weather() -> ToolCall {
    ToolCall::new("weather", object(serde_json::json!({ "city": "Berlin" })))
}

pub(crate) fn object(value: Value) -> serde_json::Map<String, Value> {
    let Value::Object(object) = value else { panic!("not an object: {value}") };
    object
}
