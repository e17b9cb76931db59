//! The spans of `tracing` that a host gets, and what it logs of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::{fmt, io};

use hookexec::{Builtin, Config, Event, Executor, Input, Output, Registry};
use tokio::sync::Barrier;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Instrument as _, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::warnings::Warnings;

/// One span: its name, that of the span around it, and its fields.
#[derive(Clone, Debug, Default)]
struct Span {
    name: &'static str,
    parent: Option<Id>,
    fields: BTreeMap<&'static str, String>,
    /// The threads that were in it.
    threads: BTreeSet<String>,
    is_closed: bool,
}

impl Visit for Span {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// Keeps all spans, and in which span each message was logged.
#[derive(Clone, Default)]
struct Collected {
    spans: Arc<Mutex<BTreeMap<u64, Span>>>,
    messages: Arc<Mutex<Vec<(String, u64)>>>,
}

impl Collected {
    /// Returns the spans with a name, with their ids, in the order in which they began.
    fn named(&self, name: &str) -> Vec<(u64, Span)> {
        let spans = self.spans.lock().unwrap().clone();
        spans.into_iter().filter(|(_, span)| span.name == name).collect()
    }

    /// Returns the span of a hook.
    fn of_hook(&self, hook: &str) -> (u64, Span) {
        let mut spans = self.named("hookexec.hook").into_iter();
        spans.find(|(_, span)| span.fields["hookexec.hook"] == hook).unwrap()
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Collected {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).unwrap().parent().map(|parent| parent.id());
        let name = attributes.metadata().name();
        let mut span = Span { name, parent, ..Span::default() };
        attributes.record(&mut span);
        self.spans.lock().unwrap().insert(id.into_u64(), span);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(self.spans.lock().unwrap().get_mut(&id.into_u64()).unwrap());
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        let mut message = Span::default();
        event.record(&mut message);
        let within = context.event_span(event).map(|span| span.id().into_u64());
        let message = message.fields.remove("message").unwrap_or_default();
        self.messages.lock().unwrap().push((message, within.unwrap_or_default()));
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        let mut spans = self.spans.lock().unwrap();
        let thread = format!("{:?}", std::thread::current().id());
        spans.get_mut(&id.into_u64()).unwrap().threads.insert(thread);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.spans.lock().unwrap().get_mut(&id.into_u64()).unwrap().is_closed = true;
    }
}

fn fail(_: &Input, _: &[String]) -> io::Result<Option<Output>> {
    Err(io::Error::other("disk full"))
}

/// Returns an executor of `hooks` whose builtin `meet` logs its argument once two calls of it run at
/// once.
fn executor(hooks: &str) -> Executor {
    let barrier = Arc::new(Barrier::new(2));
    let mut registry = Registry::new();
    let meet = move |_: Arc<Input>, args: Arc<[String]>| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            tracing::info!("met as {}", args[0]);
            Ok::<_, io::Error>(None)
        }
    };
    registry.register_builtin("meet", Builtin::future(meet));
    let deny = |_: &Input, _: &[String]| Ok::<_, io::Error>(Some(Output::deny("no")));
    registry.register_builtin("deny", Builtin::blocking(deny));
    registry.register_builtin("fail", Builtin::inline(fail));
    Executor::builder(Config::from_yaml(hooks, "hooks.yaml").unwrap())
        .registry(registry)
        .build()
        .unwrap()
}

#[tokio::test]
async fn an_event_has_a_span_and_so_has_each_hook_also_at_once() {
    let executor = executor(
        "pre_tool_use:
         - hooks:
           - { type: builtin, name: one, command: meet, args: [one] }
           - { type: builtin, name: two, command: meet, args: [two] }
           - { type: builtin, name: guard, command: deny }
           - { type: builtin, name: weak, command: fail, on_error: warn }",
    );
    let collected = Collected::default();
    let subscriber = tracing_subscriber::registry().with(collected.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut input = Input::call("shell").with_session("s-1");
    input.tool_use_id = Some("call-7".into());
    input.agent_name = Some("coder".into());
    let host = tracing::info_span!("execute_tool");
    let verdict = executor.dispatch(Event::PreToolUse, &input).instrument(host).await;
    assert!(!verdict.allowed);

    let (host, _) = collected.named("execute_tool")[0];
    let events = collected.named("hookexec.event");
    let [(event, span)] = &events[..] else { panic!("{events:#?}") };
    assert_eq!(span.parent, Some(Id::from_u64(host)));
    let fields: Vec<_> = span.fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let expected = [
        ("gen_ai.agent.name", "coder"),
        ("gen_ai.conversation.id", "s-1"),
        ("gen_ai.tool.call.id", "call-7"),
        ("gen_ai.tool.name", "shell"),
        ("hookexec.decision", "deny"),
        ("hookexec.event", "pre_tool_use"),
    ];
    assert_eq!(fields, expected);

    for (hook, status, decision, logged) in [
        ("one", "ok", None, Some("met as one")),
        ("two", "ok", None, Some("met as two")),
        ("guard", "blocked", Some("deny"), None),
        ("weak", "failed", None, None),
    ] {
        let (id, span) = collected.of_hook(hook);
        assert_eq!(span.parent, Some(Id::from_u64(*event)), "{hook}");
        assert_eq!(span.fields["hookexec.status"], status, "{hook}");
        assert_eq!(span.fields.get("hookexec.decision").map(String::as_str), decision, "{hook}");
        let error = span.fields.get("hookexec.error").map(String::as_str);
        assert_eq!(error.is_some_and(|error| error.contains("disk full")), hook == "weak");
        let messages = collected.messages.lock().unwrap();
        let inside: Vec<_> = messages.iter().filter(|(_, within)| *within == id).collect();
        assert_eq!(inside.first().map(|(text, _)| text.as_str()), logged, "{messages:?}");
        // The one that blocks goes on in its span on a thread of its own.
        assert_eq!(span.threads.len() > 1, hook == "guard", "{hook}");
    }
    assert!(collected.spans.lock().unwrap().values().all(|span| span.is_closed));
}

#[tokio::test]
async fn a_hook_in_the_background_has_a_span_below_its_event() {
    let executor = executor(
        "stop:
           - { type: builtin, name: later, command: fail, background: true }
           - { type: builtin, name: absent, command: deny, when: { field: agent_name, equals: coder } }",
    );
    let collected = Collected::default();
    let subscriber = tracing_subscriber::registry().with(collected.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let _ = executor.dispatch(Event::Stop, &Input::default()).await;
    executor.shutdown(std::time::Duration::from_secs(30)).await;
    let (event, _) = collected.named("hookexec.event")[0];
    let (_, span) = collected.of_hook("later");
    assert_eq!(span.parent, Some(Id::from_u64(event)));
    assert!(span.fields["hookexec.error"].contains("disk full"), "{span:?}");
    assert!(collected.spans.lock().unwrap().values().all(|span| span.is_closed));
    assert_eq!(collected.named("hookexec.hook").len(), 1);
    // No hook is for it: there is nothing to trace.
    let _ = executor.dispatch(Event::SessionStart, &Input::default()).await;
    assert_eq!(collected.named("hookexec.event").len(), 1);
}

#[test]
fn the_warnings_of_a_configuration_are_logged_when_it_is_built() {
    let (warnings, _guard) = Warnings::watch();
    let hooks = "before_agent_run: { type: command, command: 'true' }";
    let config = Config::from_yaml(hooks, "hooks.yaml").unwrap();
    let expected: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    assert!(!expected.is_empty());
    Executor::builder(config).build().unwrap();
    assert_eq!(warnings.take(), expected);
}
