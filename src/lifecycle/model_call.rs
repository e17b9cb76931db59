//! The driver around one model call.

use std::fmt::Display;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use serde_json::Value;

use super::cancel::Cancellation;
use super::scope::Scope;
use super::tool_call::message_of;
use super::trail::{Refused, Trail};
use crate::event::Event;
use crate::wire::{Input, JsonObject, Verdict};

/// A request to a model, in the format of the host's model.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ModelRequest {
    /// The messages.
    pub messages: Vec<Value>,
    /// The model; the session's own when `None`.
    pub model: Option<String>,
    /// The tool definitions.
    pub tools: Vec<Value>,
    /// Everything else, such as the temperature.
    pub options: JsonObject,
}

impl ModelRequest {
    /// Returns a request of messages alone.
    pub fn new(messages: Vec<Value>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Sets the model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the tool definitions.
    pub fn with_tools(mut self, tools: Vec<Value>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the options.
    pub fn with_options(mut self, options: JsonObject) -> Self {
        self.options = options;
        self
    }

    fn fill(&self, input: &mut Input) {
        input.messages = Some(self.messages.clone());
        input.model_id.clone_from(&self.model);
        input.tools = if self.tools.is_empty() { None } else { Some(self.tools.clone()) };
        input.options = if self.options.is_empty() { None } else { Some(self.options.clone()) };
    }

    /// Applies the hooks' rewrites.
    fn rewrite(&mut self, verdict: &mut Verdict) {
        if let Some(messages) = verdict.updated_messages.take() {
            self.messages = messages;
        }
        if let Some(change) = verdict.updated_request.take() {
            self.model = change.model.or_else(|| self.model.take());
            self.tools = change.tools.unwrap_or_else(|| std::mem::take(&mut self.tools));
            self.options = change.options.unwrap_or_else(|| std::mem::take(&mut self.options));
        }
    }
}

/// How a model call ended.
#[must_use = "a refusal stands here"]
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a host must have an answer to each of them")]
pub enum ModelOutcome<E> {
    /// The model responded.
    Answered {
        /// The response, as the hooks left it.
        response: Value,
        /// Everything the hooks said on the way.
        trail: Trail,
    },
    /// A hook refused the request, or ended the turn or the session because of the response.
    Refused(Box<Refused>),
    /// The call failed; `notification` and `on_error` have fired.
    Failed {
        /// The host's own error.
        error: E,
        /// Everything the hooks said on the way.
        trail: Trail,
    },
    /// The host cancelled it.
    Cancelled {
        /// Everything the hooks said on the way.
        trail: Trail,
    },
}

/// A model call about to be driven: `before_llm_call`, the call, and `after_llm_call`; when it
/// fails, `notification` and `on_error` instead of the last.
#[must_use = "a model call does nothing before `run` is called"]
pub struct ModelCall<'a> {
    scope: Scope,
    request: ModelRequest,
    cancel: Cancellation<'a>,
    /// Records that the hooks have seen a failure.
    told: Option<Arc<AtomicBool>>,
}

impl<'a> ModelCall<'a> {
    pub(super) fn new(scope: Scope, mut request: ModelRequest) -> Self {
        request.model = request.model.or_else(|| scope.session.model_id.clone());
        Self { scope, request, cancel: Cancellation::Never, told: None }
    }

    pub(super) fn telling(mut self, told: Arc<AtomicBool>) -> Self {
        self.told = Some(told);
        self
    }

    /// Sets a future that ends when the host cancels: hooks and the call itself are dropped then.
    pub fn cancelled_by(mut self, wish: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Cancellation::on(wish);
        self
    }

    /// Drives the call, and gives the model the request with the hooks' rewrites.
    ///
    /// # Panics
    /// When `call` panics. The events of an error fire before.
    pub async fn run<F, R, E>(self, call: F) -> ModelOutcome<E>
    where
        F: FnOnce(ModelRequest) -> R,
        R: Future<Output = Result<Value, E>>,
        E: Display,
    {
        let Self { scope, mut request, mut cancel, told } = self;
        scope.next_iteration();
        let mut trail = Trail::default();
        let asking = scope.fire_with(Event::BeforeLlmCall, |input| request.fill(input));
        let Some(verdict) = cancel.or(asking).await else {
            return ModelOutcome::Cancelled { trail };
        };
        let mut verdict = match Refused::read(trail, verdict) {
            Ok((empty, verdict)) => {
                trail = empty;
                verdict
            }
            Err(refused) => return ModelOutcome::Refused(refused),
        };
        request.rewrite(&mut verdict);
        trail.push(verdict);

        let model = request.model.clone();
        let calling = AssertUnwindSafe(async move { call(request).await }).catch_unwind();
        let result = tokio::select! {
            biased;
            result = calling => result,
            () = cancel.wished() => return ModelOutcome::Cancelled { trail },
        };
        let note = |failed: bool| {
            if let Some(told) = &told {
                told.store(failed, Ordering::Relaxed);
            }
        };
        match result {
            Ok(Ok(response)) => {
                note(false);
                after(&scope, response, model, trail).await
            }
            Ok(Err(error)) => {
                scope.tell(&error.to_string(), &mut trail).await;
                note(true);
                ModelOutcome::Failed { error, trail }
            }
            Err(payload) => {
                let error = format!("the model call panicked: {}", message_of(payload.as_ref()));
                scope.tell(&error, &mut trail).await;
                note(true);
                panic::resume_unwind(payload)
            }
        }
    }
}

async fn after<E>(
    scope: &Scope,
    response: Value,
    model: Option<String>,
    trail: Trail,
) -> ModelOutcome<E> {
    let fill = |input: &mut Input| {
        input.model_id = model;
        input.stop_response = text_of(&response).map(str::to_owned);
        input.response = Some(response.clone());
    };
    let verdict = scope.fire_with(Event::AfterLlmCall, fill).await;
    match Refused::read(trail, verdict) {
        Ok((mut trail, mut verdict)) => {
            let rewritten = verdict.updated_response.take();
            trail.push(verdict);
            ModelOutcome::Answered { response: rewritten.unwrap_or(response), trail }
        }
        Err(refused) => ModelOutcome::Refused(refused),
    }
}

/// Returns the text of a response: itself, or its `content`, where most models put it.
fn text_of(response: &Value) -> Option<&str> {
    response.as_str().or_else(|| response.get("content")?.as_str())
}
