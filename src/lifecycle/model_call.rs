//! The drivers around one model call, and around a compaction of the conversation.

use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};

use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cancel::Cancellation;
use super::outcome::{Outcome, Trail, refuses};
use super::scope::Scope;
use super::turn::TurnEnd;
use crate::event::Event;
use crate::executor::DispatchOptions;
use crate::handler::panic_text;
use crate::wire::{Input, JsonObject, Verdict};

/// A request to a model, in the format of the host's model. As JSON it is the body of a request in
/// the format `openai-chat` or `anthropic-messages`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct ModelRequest {
    /// The messages.
    pub messages: Vec<Value>,
    /// The model; the session's own when `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool definitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// Everything else, such as the temperature.
    #[serde(flatten)]
    pub options: JsonObject,
}

impl ModelRequest {
    /// Returns a request of messages alone.
    pub fn new(messages: Vec<Value>) -> Self {
        Self { messages, ..Self::default() }
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

/// A model call about to be driven: `before_llm_call`, the call, and `after_llm_call`; when it
/// fails, `notification` and `on_error` instead of the last.
#[must_use = "a model call does nothing before `run` or `begin` is called"]
pub struct ModelCall<'a> {
    scope: Scope,
    request: ModelRequest,
    cancel: Cancellation<'a>,
}

/// A model call whose request the hooks let pass: the host calls the model, and passes the result to
/// [`finish`](Self::finish). Drop it if the call is cancelled, or if its failure ends the turn: then
/// the end of the turn fires the events of the error.
#[must_use = "`after_llm_call` fires in `finish`"]
pub struct PendingModel<'a> {
    scope: Scope,
    model: Option<String>,
    trail: Trail,
    cancel: Cancellation<'a>,
}

impl Scope {
    /// Returns the driver around one model call. In a turn it counts as the next iteration.
    pub fn model_call<'a>(&self, mut request: ModelRequest) -> ModelCall<'a> {
        request.model = request.model.or_else(|| self.session.common.model_id.clone());
        ModelCall { scope: self.clone(), request, cancel: Cancellation::never() }
    }

    /// Returns the driver around a compaction of the conversation.
    pub fn compaction(&self, source: CompactionSource) -> Compaction {
        Compaction { scope: self.clone(), source, facts: JsonObject::new() }
    }
}

impl<'a> ModelCall<'a> {
    /// Sets a future that ends when the host cancels: hooks and the call itself are dropped then.
    pub fn cancelled_by(mut self, wish: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Cancellation::on(wish);
        self
    }

    /// Fires `before_llm_call`, and returns the request with the hooks' rewrites, for hosts that do
    /// not call the model in a closure.
    ///
    /// # Errors
    /// When a hook refused the request, or the host cancelled: the model must not be called.
    pub async fn begin(self) -> Result<(ModelRequest, PendingModel<'a>), TurnEnd> {
        let Self { scope, mut request, mut cancel } = self;
        scope.next_iteration();
        let mut trail = Trail::default();
        let asking = scope.fire_with(Event::BeforeLlmCall, |input| request.fill(input));
        let mut verdict = cancel.or(asking).await.ok_or(TurnEnd::Cancelled)?;
        if refuses(&verdict) {
            trail.push(verdict.clone());
            return Err(scope.refused(&verdict, trail));
        }
        request.rewrite(&mut verdict);
        trail.push(verdict);
        let model = request.model.clone();
        Ok((request, PendingModel { scope, model, trail, cancel }))
    }

    /// Drives the call, and gives the model the request with the hooks' rewrites.
    ///
    /// # Panics
    /// When `call` panics. The events of an error fire before.
    pub async fn run<F, R, E>(self, call: F) -> Outcome<Value>
    where
        F: FnOnce(ModelRequest) -> R,
        R: Future<Output = Result<Value, E>>,
        E: Display,
    {
        let (request, mut pending) = match self.begin().await {
            Ok(begun) => begun,
            Err(end) => return Outcome::ended(end),
        };
        let calling = AssertUnwindSafe(async move { call(request).await }).catch_unwind();
        let result = tokio::select! {
            biased;
            result = calling => result,
            () = pending.cancel.wished() => {
                return Outcome { end: Err(TurnEnd::Cancelled), trail: pending.trail };
            }
        };
        match result {
            Ok(result) => pending.finish(result).await,
            Err(payload) => {
                let error = format!("the model call panicked: {}", panic_text(&*payload));
                let _ = pending.finish(Err(error)).await;
                panic::resume_unwind(payload)
            }
        }
    }
}

impl PendingModel<'_> {
    /// Fires `after_llm_call`, or after a failure `notification` and `on_error`. Returns the response
    /// as the hooks left it.
    pub async fn finish<E: Display>(self, result: Result<Value, E>) -> Outcome<Value> {
        let Self { scope, model, mut trail, .. } = self;
        let response = match result {
            Ok(response) => response,
            Err(error) => return scope.failed(&error.to_string(), trail).await,
        };
        let firing = scope.fire_with(Event::AfterLlmCall, |input| {
            input.model_id = model;
            input.stop_response = text_of(&response);
            input.response = Some(response.clone());
        });
        let mut verdict = firing.await;
        if refuses(&verdict) {
            trail.push(verdict.clone());
            return Outcome::ended(scope.refused(&verdict, trail));
        }
        let rewritten = verdict.updated_response.take();
        trail.push(verdict);
        Outcome { end: Ok(rewritten.unwrap_or(response)), trail }
    }
}

/// Returns the text of a response: itself, or its `content`, which is a text or a list of blocks.
fn text_of(response: &Value) -> Option<String> {
    let content = response.get("content").unwrap_or(response);
    let Some(blocks) = content.as_array() else { return content.as_str().map(str::to_owned) };
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompactionSource {
    /// The user asked for it.
    Manual,
    /// The context is nearly full.
    Auto,
    /// The model refused the request as too long.
    Overflow,
}

impl CompactionSource {
    const fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Overflow => "overflow",
        }
    }
}

/// A compaction about to be driven: `pre_compact`, `before_compaction`, the host's summariser
/// unless a hook supplied the summary, and `after_compaction`.
#[must_use = "a compaction does nothing before `run` is called"]
#[derive(Debug)]
pub struct Compaction {
    scope: Scope,
    source: CompactionSource,
    facts: JsonObject,
}

impl Compaction {
    /// Adds a field to the hooks' input, such as `input_tokens` or `context_limit`.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.facts.insert(key.into(), value.into());
        self
    }

    /// Drives the compaction, and returns the summary. `summarise` gets the context that hooks add to
    /// its prompt; it is not called if a hook supplied the summary.
    ///
    /// If a hook refuses the compaction, the conversation stays as it is. If `summarise` fails,
    /// `notification` and `on_error` fire.
    pub async fn run<F, R, E>(self, summarise: F) -> Outcome<String>
    where
        F: FnOnce(Option<String>) -> R,
        R: Future<Output = Result<String, E>>,
        E: Display,
    {
        let events = [Event::PreCompact, Event::BeforeCompaction];
        let following = &[Event::BeforeCompaction];
        let options = DispatchOptions { following, ..DispatchOptions::default() };
        let decided = self.scope.fire_together(&events, options, |input| self.fill(input)).await;
        let mut trail = Trail::default();
        for verdict in decided.verdicts {
            trail.push(verdict);
        }
        if refuses(&decided.verdict) {
            return Outcome::ended(self.scope.refused(&decided.verdict, trail));
        }
        let summary = match decided.verdict.summary {
            Some(summary) => summary,
            None => match summarise(trail.additional_context()).await {
                Ok(summary) => summary,
                Err(error) => return self.scope.failed(&error.to_string(), trail).await,
            },
        };
        let firing = self.scope.fire_with(Event::AfterCompaction, |input| {
            self.fill(input);
            input.summary = Some(summary.clone());
        });
        trail.push(firing.await);
        Outcome { end: Ok(summary), trail }
    }

    fn fill(&self, input: &mut Input) {
        input.source = Some(self.source.name().to_owned());
        input.extra.clone_from(&self.facts);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_becomes_a_request_and_a_body_again() {
        let body = json!({
            "model": "m", "messages": [{ "role": "user", "content": "hi" }], "system": "Be brief.",
            "tools": [{ "name": "shell" }], "max_tokens": 9,
        });
        let request: ModelRequest = serde_json::from_value(body.clone()).unwrap();
        assert_eq!(request.model.as_deref(), Some("m"));
        assert_eq!((request.messages.len(), request.tools.len()), (1, 1));
        assert_eq!(request.options.len(), 2);
        assert_eq!(json!(request), body);
    }
}
