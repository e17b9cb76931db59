//! The contract between the executor and a handler, which runs one configured hook.

pub(crate) mod call;
mod seats;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use futures_util::future::BoxFuture;

pub(crate) use call::{Call, Shared};
pub(crate) use seats::{BACKGROUND_FULL, Capacity, Place, Seat};
#[cfg(test)]
pub(crate) use tests::Silent;

pub(crate) use crate::config::BuildError;
use crate::config::{Command, Hook};
use crate::event::Event;
use crate::wire::{Input, Output, Usage};

/// Runs one configured hook, any number of times, also at the same time.
///
/// The executor drops the future when the caller of `dispatch` goes away, and at
/// `deadline + grace()` at the latest: a handler must stop what it started when its future is
/// dropped. A panic is caught and counts as a failure of the hook.
pub trait Handler: Send + Sync + 'static {
    /// Runs the hook once.
    ///
    /// # Errors
    /// When the hook could not give an answer. The event's contract and the hook's `on_error`
    /// decide what that means for the event.
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>>;

    /// Returns how long after its deadline the hook may take to stop.
    fn grace(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns why the hook may not answer in the place of the tool that `input` calls; `None` if it
    /// may.
    fn refuses_response(&self, input: &Input) -> Option<String> {
        let tool = input.tool();
        Some(format!("it answered in the place of tool `{tool}`, which hooks of its type can't do"))
    }

    /// Returns whether the hook exists to rewrite: it then runs as with `mutates: true`.
    fn rewrites(&self) -> bool {
        false
    }

    /// Returns a fallback answer for when the hook failed and the event would otherwise go on.
    fn on_failure(&self, event: Event) -> Option<Output> {
        let _ = event;
        None
    }

    /// Returns what the user can do when the hook failed. A verdict shows it to the user and not to the
    /// model.
    fn remedy(&self) -> Option<&str> {
        None
    }
}

/// A [`Handler`] that is written as an `async fn` and needs nothing but its defaults.
pub trait AsyncHandler: Send + Sync + 'static {
    /// See [`Handler::run`].
    fn run(
        &self,
        call: &Call<'_>,
    ) -> impl Future<Output = Result<HandlerResult, HandlerError>> + Send;
}

impl<H: AsyncHandler> Handler for H {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(AsyncHandler::run(self, call))
    }
}

/// The result of one run of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HandlerResult {
    /// The hook's answer.
    pub(crate) answer: HandlerAnswer,
    /// Remarks for the report, such as a background process that kept a pipe open.
    pub warnings: Vec<String>,
    /// The tokens that its model used, for the report.
    pub usage: Option<Usage>,
}

/// The answer of a hook, in one of two forms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HandlerAnswer {
    /// A finished answer. In a box, because it is large and is passed on many times.
    Output(Box<Output>),
    /// The exit code and the output of a program, which the executor reads.
    Exited(Exited),
    /// The exits of a program that ran once for each file of a call, up to the first failure to run.
    /// The strictest answer counts.
    Each(Vec<Result<Exited, HandlerError>>),
}

/// How a program exited, and what it wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exited {
    /// The exit code.
    pub code: i32,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
    /// A remark for the report.
    pub warning: Option<String>,
}

impl Exited {
    /// Returns the exit of a program without a remark.
    pub fn new(code: i32, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        Self { code, stdout, stderr, warning: None }
    }
}

impl HandlerResult {
    /// Returns the exit code, the standard output and the standard error of a program that exited.
    pub fn program(&self) -> Option<(i32, &[u8], &[u8])> {
        match &self.answer {
            HandlerAnswer::Exited(it) => Some((it.code, &it.stdout, &it.stderr)),
            HandlerAnswer::Output(_) | HandlerAnswer::Each(_) => None,
        }
    }
}

impl From<HandlerAnswer> for HandlerResult {
    fn from(answer: HandlerAnswer) -> Self {
        Self { answer, warnings: Vec::new(), usage: None }
    }
}

impl From<Exited> for HandlerResult {
    fn from(mut exited: Exited) -> Self {
        let warnings = exited.warning.take().into_iter().collect();
        Self { warnings, ..HandlerAnswer::Exited(exited).into() }
    }
}

impl From<Output> for HandlerResult {
    fn from(output: Output) -> Self {
        HandlerAnswer::Output(Box::new(output)).into()
    }
}

impl From<Option<Output>> for HandlerResult {
    /// `None` means that the hook has no opinion.
    fn from(output: Option<Output>) -> Self {
        output.unwrap_or_default().into()
    }
}

/// Why a hook could not give an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// It was not done in time.
    TimedOut,
    /// It could not be started.
    Start,
    /// A signal ended it.
    Signal(i32),
    /// It wrote more than it may.
    OutputLimit,
    /// It panicked.
    Panic,
    /// Its answer is malformed.
    Protocol,
    /// Any other reason.
    Other,
}

/// A hook that could not give an answer, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
#[must_use]
pub struct HandlerError {
    /// The kind of failure.
    pub failure: Failure,
    /// The cause and, if known, what to do.
    pub message: String,
    /// The standard error until then.
    pub stderr: Vec<u8>,
    /// The standard output until then: a denial in it still counts.
    pub stdout: Vec<u8>,
    /// The tokens that its model used until then, for the report.
    pub usage: Option<Usage>,
}

impl HandlerError {
    /// Returns a failure with its cause.
    pub fn new(failure: Failure, message: impl Into<String>) -> Self {
        let (stderr, stdout, usage) = (Vec::new(), Vec::new(), None);
        Self { failure, message: message.into(), stderr, stdout, usage }
    }

    /// Returns the failure of a hook that panicked.
    pub fn panicked(panic: &(dyn std::any::Any + Send)) -> Self {
        Self::new(Failure::Panic, format!("panicked: {}", panic_text(panic)))
    }

    /// Adds what the hook wrote to standard output.
    pub fn with_stdout(mut self, stdout: Vec<u8>) -> Self {
        self.stdout = stdout;
        self
    }

    /// Adds what the hook wrote to standard error.
    pub(crate) fn with_stderr(mut self, stderr: Vec<u8>) -> Self {
        self.stderr = stderr;
        self
    }
}

/// Returns a limit as it was given. What is left of it when a call begins is a little less.
pub(crate) fn in_milliseconds(limit: Duration) -> Duration {
    Duration::from_millis(limit.as_micros().div_ceil(1000).try_into().unwrap_or(u64::MAX))
}

/// Returns the name that a hook has in `command`, if its type takes a name there: a hook without one is
/// refused before it is built.
pub(crate) fn name_in_command(hook: &Hook) -> &str {
    match &hook.command {
        Some(Command::Text(name)) => name,
        _ => "",
    }
}

/// Returns what a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    match panic.downcast_ref::<String>() {
        Some(text) => text,
        None => "a value that is not a text",
    }
}
