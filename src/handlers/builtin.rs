//! `type: builtin`: Rust functions called by name.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::calls::{self, Reading};
use crate::config::{Command, Hook, Layer};
use crate::counts::{CountingHook, Counts};
use crate::event::Event;
use crate::handler::{BoxFuture, BuildError, Call, Failure, Handler, HandlerError, HandlerResult};
use crate::suggest;
use crate::wire::{Input, Output};

/// The error of a builtin function.
pub type BuiltinError = Box<dyn std::error::Error + Send + Sync>;

type Answer = Result<Option<Output>, BuiltinError>;
pub(crate) type PlainFunction = dyn Fn(&Asked<'_>) -> Answer + Send + Sync;
type AsyncFunction = dyn Fn(Arc<Input>, Arc<[String]>) -> BoxFuture<'static, Answer> + Send + Sync;
/// Checks a hook's arguments when it is loaded, and returns what runs with them.
type Prepare = dyn Fn(Event, &[String]) -> Result<Function, String> + Send + Sync;
/// Answers for a hook that failed.
type OnFailure = fn(Event) -> Option<Output>;

/// One call of a builtin: its input, and what shipped builtins may need beside it.
pub(crate) struct Asked<'a> {
    pub(crate) input: &'a Input,
    /// The input as the event came with it, before any rewrite.
    pub(crate) original: &'a Input,
    pub(crate) args: &'a [String],
    /// The most bytes of context that it may give.
    pub(crate) max_output: usize,
    /// What the tool call of the input does, read once for all hooks.
    pub(crate) reading: &'a Reading,
    pub(crate) counter: &'a Counting,
}

impl Asked<'_> {
    /// Returns what the call does.
    pub(crate) fn deeds(&self) -> &calls::Deeds {
        self.reading.of(self.input)
    }
}

impl Deref for Asked<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        self.input
    }
}

/// What one hook counts, and where.
pub(crate) struct Counting {
    pub(crate) counts: Arc<Counts>,
    pub(crate) hook: CountingHook,
}

/// A function that hooks call by name, and what is known about it.
///
/// The function may hold state. A panic or an error is a failure of the hook.
#[derive(Clone)]
#[must_use]
pub struct Builtin {
    prepare: Arc<Prepare>,
    on_failure: OnFailure,
    rewrites: bool,
    about: &'static str,
}

#[derive(Clone)]
pub(crate) enum Function {
    /// Fast enough to be called in place.
    Inline(Arc<PlainFunction>),
    /// May block: kept off the reactor.
    Blocking(Arc<PlainFunction>),
    /// Polled where `dispatch` is polled.
    Async(Arc<AsyncFunction>),
}

impl Builtin {
    /// Returns a builtin that is called in place: it must be fast and must not block.
    pub fn inline<E: Into<BuiltinError>>(
        function: impl Fn(&Input, &[String]) -> Result<Option<Output>, E> + Send + Sync + 'static,
    ) -> Self {
        Self::of(Function::Inline(plain(function)))
    }

    /// Returns a builtin that may block: it runs on Tokio's blocking threads. At the hook's timeout
    /// it can't be stopped: it ends on its own, and its answer is lost.
    pub fn blocking<E: Into<BuiltinError>>(
        function: impl Fn(&Input, &[String]) -> Result<Option<Output>, E> + Send + Sync + 'static,
    ) -> Self {
        Self::of(Function::Blocking(plain(function)))
    }

    /// Returns a builtin of an async function, which must not block. At the hook's timeout its
    /// future is dropped.
    pub fn future<R, E>(
        function: impl Fn(Arc<Input>, Arc<[String]>) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<Option<Output>, E>> + Send + 'static,
        E: Into<BuiltinError>,
    {
        Self::of(Function::Async(Arc::new(move |input, args| {
            let answer = function(input, args);
            Box::pin(async move { answer.await.map_err(Into::into) })
        })))
    }

    fn of(function: Function) -> Self {
        Self::prepared(move |_, _| Ok(function.clone()))
    }

    /// Returns a builtin that understands its arguments when the hook is loaded.
    pub(crate) fn prepared(
        prepare: impl Fn(Event, &[String]) -> Result<Function, String> + Send + Sync + 'static,
    ) -> Self {
        Self { prepare: Arc::new(prepare), on_failure: |_| None, rewrites: false, about: "" }
    }

    /// Adds what counts in the place of an answer when the function fails or is out of time and
    /// the event would go on.
    pub fn with_on_failure(mut self, on_failure: fn(Event) -> Option<Output>) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets whether it rewrites: its hooks then run as with `mutates: true`.
    pub fn with_rewrites(mut self, rewrites: bool) -> Self {
        self.rewrites = rewrites;
        self
    }

    /// Adds one line on what it does.
    pub fn with_about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Returns the line on what it does; empty when it has none.
    pub fn about(&self) -> &'static str {
        self.about
    }
}

impl fmt::Debug for Builtin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Builtin").field("about", &self.about).finish_non_exhaustive()
    }
}

fn plain<E: Into<BuiltinError>>(
    function: impl Fn(&Input, &[String]) -> Result<Option<Output>, E> + Send + Sync + 'static,
) -> Arc<PlainFunction> {
    Arc::new(move |asked| function(asked.input, asked.args).map_err(Into::into))
}

/// Builds the handler of a hook of `type: builtin`, which names one of `names`.
pub(crate) fn build<'n>(
    find: impl Fn(&str) -> Option<Builtin>,
    names: impl Fn() -> BTreeSet<&'n str>,
    counts: &Arc<Counts>,
    hook: &Hook,
) -> Result<Arc<dyn Handler>, BuildError> {
    let Some(Command::Text(name)) = &hook.command else {
        return Err(BuildError::new("`command` of a builtin hook is the builtin's name")
            .at("command")
            .hint("write `command: add_date`; arguments go into `args`"));
    };
    let Some(builtin) = find(name) else {
        let names = names();
        let hint = if names.is_empty() {
            "this program registered no builtins".to_owned()
        } else {
            suggest::hint_or_list(name, names, "known builtins:")
        };
        return Err(BuildError::new(format!("unknown builtin `{name}`")).at("command").hint(hint));
    };
    let function = (builtin.prepare)(hook.event, &hook.args)
        .map_err(|problem| BuildError::new(format!("builtin `{name}`: {problem}")).at("args"))?;
    let function = match function {
        // The timers of all hooks run on this thread.
        Function::Inline(function) if hook.layer() == Layer::Project => {
            Function::Blocking(function)
        }
        other => other,
    };
    Ok(Arc::new(BuiltinHandler {
        function,
        on_failure: builtin.on_failure,
        rewrites: builtin.rewrites,
        args: hook.args.clone().into(),
        max_output: hook.max_output,
        counter: Arc::new(Counting { counts: Arc::clone(counts), hook: hook.counter() }),
    }))
}

struct BuiltinHandler {
    function: Function,
    on_failure: OnFailure,
    rewrites: bool,
    args: Arc<[String]>,
    max_output: usize,
    counter: Arc<Counting>,
}

impl Handler for BuiltinHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let max_output = self.max_output;
            let answer = match &self.function {
                Function::Inline(function) => function(&Asked {
                    input: call.input,
                    original: call.original,
                    args: &self.args,
                    max_output,
                    reading: call.reading(),
                    counter: &self.counter,
                }),
                Function::Async(function) => {
                    function(call.owned_input(), Arc::clone(&self.args)).await
                }
                Function::Blocking(function) => {
                    let function = Arc::clone(function);
                    let args = Arc::clone(&self.args);
                    let (input, reading) = (call.owned_input(), call.reading().share());
                    let counter = Arc::clone(&self.counter);
                    let is_same = std::ptr::eq(call.input, call.original);
                    let original =
                        if is_same { Arc::clone(&input) } else { Arc::new(call.original.clone()) };
                    // A function that is late can't be stopped: until it ends, it keeps its seat.
                    let seat = call.seat_for_thread().await?;
                    let work = move || {
                        let _seat = seat;
                        let (input, original, args) = (&input, &original, &args);
                        let (reading, counter) = (&reading, &counter);
                        function(&Asked { input, original, args, max_output, reading, counter })
                    };
                    tokio::task::spawn_blocking(work).await.map_err(joined)?
                }
            };
            let answer =
                answer.map_err(|error| HandlerError::new(Failure::Other, with_causes(&*error)))?;
            let context = answer.as_ref().and_then(|output| output.additional_context.as_ref());
            if context.is_some_and(|context| context.len() > max_output) {
                return Err(HandlerError::new(Failure::OutputLimit, too_long(max_output)));
            }
            Ok(HandlerResult::from(answer))
        })
    }

    /// A builtin is the host's own code, which may answer in its own tools' place.
    fn refuses_response(&self, _: &Input) -> Option<String> {
        None
    }

    fn rewrites(&self) -> bool {
        self.rewrites
    }

    fn on_failure(&self, event: Event) -> Option<Output> {
        (self.on_failure)(event)
    }
}

/// Returns the failure of a builtin that gives more context than its hook may.
pub(crate) fn too_long(max_output: usize) -> String {
    format!("it gives more than {max_output} bytes of context; give less, or raise `max_output`")
}

pub(super) fn joined(error: tokio::task::JoinError) -> HandlerError {
    match error.try_into_panic() {
        Ok(panic) => HandlerError::panicked(&*panic),
        Err(_) => HandlerError::new(Failure::Other, "the runtime is shutting down"),
    }
}

/// Returns an error's text with the texts of its causes.
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
