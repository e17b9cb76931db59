//! `type: builtin`: Rust functions called by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::config::{Hook, Layer};
use crate::counts::Counter;
use crate::event::Event;
use crate::handler::{
    BoxFuture, BuildError, Call, Failure, Handler, HandlerError, HandlerResult, name_in_command,
};
use crate::suggest;
use crate::wire::{Input, Output};

/// The error of a builtin function.
pub type BuiltinError = Box<dyn std::error::Error + Send + Sync>;

type Answer = Result<Option<Output>, BuiltinError>;
type PlainFunction = dyn Fn(&Call<'_>) -> Answer + Send + Sync;
type AsyncFunction = dyn Fn(Arc<Input>) -> BoxFuture<'static, Answer> + Send + Sync;
/// Checks a hook when it is loaded, and returns the function that runs for it.
type Prepare = dyn Fn(&Hook, Arc<Counter>) -> Result<BuiltinFunction, BuildError> + Send + Sync;
/// Answers for a hook that failed.
type OnFailure = fn(Event) -> Option<Output>;

/// A function that hooks call by name, and what is known about it.
///
/// The type of its second parameter says where its hooks have their parameters: for `[String]` in
/// `args`, for any other type in `with`, from which serde reads it when the executor is built. The
/// function may hold state. A panic or an error is a failure of the hook.
#[derive(Clone)]
#[must_use]
pub struct Builtin {
    prepare: Arc<Prepare>,
    on_failure: OnFailure,
    rewrites: bool,
}

/// The function of a builtin, for one hook.
#[derive(Clone)]
#[non_exhaustive]
pub enum BuiltinFunction {
    /// Fast enough to be called in place.
    Inline(Arc<PlainFunction>),
    /// May block: kept off the reactor.
    Blocking(Arc<PlainFunction>),
    /// Polled where `dispatch` is polled.
    Async(Arc<AsyncFunction>),
}

/// Parameters of a builtin.
pub trait Parameters: Send + Sync + 'static {
    /// Reads those of a hook.
    ///
    /// # Errors
    /// When the hook has others.
    fn of(hook: &Hook) -> Result<Arc<Self>, BuildError>;
}

impl Parameters for [String] {
    fn of(hook: &Hook) -> Result<Arc<Self>, BuildError> {
        match hook.with {
            Some(_) => Err(BuildError::new("it takes its parameters in `args`").at("with")),
            None => Ok(hook.args.clone().into()),
        }
    }
}

impl<P: DeserializeOwned + Send + Sync + 'static> Parameters for P {
    fn of(hook: &Hook) -> Result<Arc<Self>, BuildError> {
        if !hook.args.is_empty() {
            return Err(BuildError::new("it takes its parameters in `with`").at("args"));
        }
        Ok(Arc::new(hook.parameters()?))
    }
}

impl Builtin {
    /// Returns a builtin that is called in place: it must be fast and must not block.
    pub fn inline<P: Parameters + ?Sized, E: Into<BuiltinError>>(
        function: impl Fn(&Input, &P) -> Result<Option<Output>, E> + Send + Sync + 'static,
    ) -> Self {
        let function = Arc::new(function);
        Self::of(move |hook, _| Ok(BuiltinFunction::Inline(plain(&function, hook)?)))
    }

    /// Returns a builtin that may block: it runs on Tokio's blocking threads. At the hook's timeout
    /// it can't be stopped: it ends on its own, and its answer is lost.
    pub fn blocking<P: Parameters + ?Sized, E: Into<BuiltinError>>(
        function: impl Fn(&Input, &P) -> Result<Option<Output>, E> + Send + Sync + 'static,
    ) -> Self {
        let function = Arc::new(function);
        Self::of(move |hook, _| Ok(BuiltinFunction::Blocking(plain(&function, hook)?)))
    }

    /// Returns a builtin of an async function, which must not block. At the hook's timeout its
    /// future is dropped.
    pub fn future<P: Parameters + ?Sized, R, E>(
        function: impl Fn(Arc<Input>, Arc<P>) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<Option<Output>, E>> + Send + 'static,
        E: Into<BuiltinError>,
    {
        let function = Arc::new(function);
        Self::of(move |hook, _| {
            let (function, parameters) = (Arc::clone(&function), P::of(hook)?);
            Ok(BuiltinFunction::Async(Arc::new(move |input| {
                let answer = function(input, Arc::clone(&parameters));
                Box::pin(async move { answer.await.map_err(Into::into) })
            })))
        })
    }

    /// Returns a builtin that checks the `args` of its hook when it is loaded, and makes the function
    /// that runs for it. The function may count in a session what it does.
    pub fn prepared<E: fmt::Display>(
        prepare: impl Fn(&Hook, Arc<Counter>) -> Result<BuiltinFunction, E> + Send + Sync + 'static,
    ) -> Self {
        Self::of(move |hook, counter| {
            <[String]>::of(hook)?;
            prepare(hook, counter)
                .map_err(|problem| BuildError::new(problem.to_string()).at("args"))
        })
    }

    fn of(
        prepare: impl Fn(&Hook, Arc<Counter>) -> Result<BuiltinFunction, BuildError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { prepare: Arc::new(prepare), on_failure: |_| None, rewrites: false }
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
}

/// Returns a function for the parameters of one hook.
fn plain<F, P, E>(function: &Arc<F>, hook: &Hook) -> Result<Arc<PlainFunction>, BuildError>
where
    F: Fn(&Input, &P) -> Result<Option<Output>, E> + Send + Sync + 'static,
    P: Parameters + ?Sized,
    E: Into<BuiltinError>,
{
    let (function, parameters) = (Arc::clone(function), P::of(hook)?);
    Ok(Arc::new(move |call| function(call.input, &parameters).map_err(Into::into)))
}

/// Builds the handler of a hook of `type: builtin`, which names one of `builtins`.
pub(crate) fn build(
    builtins: &BTreeMap<Cow<'static, str>, Builtin>,
    counter: Counter,
    hook: &Hook,
) -> Result<Arc<dyn Handler>, BuildError> {
    let name = name_in_command(hook);
    let Some(builtin) = builtins.get(name) else {
        let hint = if builtins.is_empty() {
            "this program registered no builtins; `hookexec_builtins::register` adds the shipped ones".to_owned()
        } else {
            suggest::hint_or_list(name, builtins.keys().map(AsRef::as_ref), "known builtins:")
        };
        return Err(BuildError::new(format!("unknown builtin `{name}`")).at("command").hint(hint));
    };
    let mut function = (builtin.prepare)(hook, Arc::new(counter)).map_err(|mut error| {
        error.message = format!("builtin `{name}`: {}", error.message);
        error
    })?;
    // The timers of all hooks run on this thread.
    if let BuiltinFunction::Inline(inline) = &function
        && hook.layer() == Layer::Project
    {
        function = BuiltinFunction::Blocking(Arc::clone(inline));
    }
    let (builtin, max_output) = (builtin.clone(), hook.max_output);
    Ok(Arc::new(BuiltinHandler { function, builtin, max_output }))
}

struct BuiltinHandler {
    function: BuiltinFunction,
    builtin: Builtin,
    max_output: usize,
}

impl Handler for BuiltinHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let answer = match &self.function {
                BuiltinFunction::Inline(function) => function(call),
                BuiltinFunction::Async(function) => function(call.owned_input()).await,
                BuiltinFunction::Blocking(function) => {
                    let function = Arc::clone(function);
                    call.blocking(move |call| function(call)).await?
                }
            };
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    return Err(HandlerError::new(Failure::Other, with_causes(&*error)));
                }
            };
            if let Some(Output { additional_context: Some(context), .. }) = &answer
                && context.len() > self.max_output
            {
                return Err(HandlerError::new(Failure::OutputLimit, too_long(self.max_output)));
            }
            Ok(HandlerResult::from(answer))
        })
    }

    /// A builtin is the host's own code, which may answer in its own tools' place.
    fn refuses_response(&self, _: &Input) -> Option<String> {
        None
    }

    fn rewrites(&self) -> bool {
        self.builtin.rewrites
    }

    fn on_failure(&self, event: Event) -> Option<Output> {
        (self.builtin.on_failure)(event)
    }
}

/// Returns the failure of a builtin that gives more context than its hook may.
pub fn too_long(max_output: usize) -> String {
    format!("it gives more than {max_output} bytes of context; give less, or raise `max_output`")
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
