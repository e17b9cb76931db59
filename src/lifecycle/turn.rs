//! A turn: from the user's prompt to the model's final response, or another end.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::approval::ApprovalRequest;
use super::batch::Batch;
use super::model_call::{ModelCall, ModelRequest};
use super::scope::{Scope, TurnFacts};
use super::tool_call::ToolCall;
use super::tool_run::ToolRun;
use super::trail::{Trail, reason};
use crate::event::{Event, MAX_CONTINUES};
use crate::locks::locked;
use crate::wire::{Input, Verdict};

/// How a turn ends. Each end fires its own events, and `turn_end` last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// The model has finished: `stop` fires.
    Finished {
        /// Its final response.
        response: String,
    },
    /// An error ended it: `notification` and `on_error` fire, unless they already fired for this
    /// error in a failed model call.
    Failed {
        /// The error, for people.
        error: String,
    },
    /// The limit of iterations was reached: `notification` and `on_max_iterations` fire.
    MaxIterations {
        /// The limit.
        limit: u64,
    },
    /// The host or the user cancelled it.
    Canceled,
    /// A hook ended it: a stop, or a request that it refused.
    HookBlocked,
    /// The user steered it into another turn.
    Steered,
    /// Any other reason, in the host's own word.
    Other(String),
}

impl TurnEnd {
    /// Returns the end of a turn whose model has finished.
    pub fn finished(response: impl Into<String>) -> Self {
        Self::Finished { response: response.into() }
    }

    /// Returns the end of a turn that an error ended.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::Failed { error: error.into() }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Finished { .. } => "normal",
            Self::Failed { .. } => "error",
            Self::MaxIterations { .. } => "max_iterations",
            Self::Canceled => "canceled",
            Self::HookBlocked => "hook_blocked",
            Self::Steered => "steered",
            Self::Other(reason) => reason,
        }
    }
}

/// The state of a turn, apart from its session: a host that drives a turn from several processes, or
/// through a server, carries it from one to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TurnState {
    /// The turn's id, as hooks read it.
    pub turn_id: String,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// The number of model calls so far.
    pub iteration: u64,
    /// How often in a row the `stop` hooks kept the model at work.
    pub continued: u32,
    /// Whether the `stop` hooks let the model stop.
    pub stopped: bool,
    /// Whether the last model call failed and its events have fired.
    pub error_told: bool,
}

/// A turn that began and must be [ended](Self::end).
///
/// [`Session::run_turn`](super::Session::run_turn) ends it by itself.
#[must_use = "a turn that is dropped without `end` fires no `turn_end`"]
#[derive(Debug)]
pub struct Turn {
    scope: Scope,
    opening: Trail,
    /// Whether the last model call failed and its events have fired.
    error_told: Arc<AtomicBool>,
    /// Whether it has ended, or has not begun.
    ended: AtomicBool,
    /// Whether its end is due here: it began here and was not detached.
    owes_end: bool,
    /// How often in a row the `stop` hooks kept the model at work.
    continued: AtomicU32,
    /// The answers of the `stop` hooks when they let the model stop.
    closing: Mutex<Option<Trail>>,
}

impl Turn {
    pub(super) fn new(session: &Scope, state: TurnState) -> Self {
        let facts = TurnFacts {
            turn_id: state.turn_id,
            last_user_message: state.prompt,
            iteration: AtomicU64::new(state.iteration),
        };
        Self {
            scope: Scope { session: Arc::clone(&session.session), turn: Some(Arc::new(facts)) },
            opening: Trail::default(),
            error_told: Arc::new(AtomicBool::new(state.error_told)),
            ended: AtomicBool::new(false),
            owes_end: false,
            continued: AtomicU32::new(state.continued),
            closing: Mutex::new(if state.stopped { Some(Trail::default()) } else { None }),
        }
    }

    pub(super) async fn begin(mut self, mut opening: Trail) -> Self {
        opening.push(self.scope.fire_with(Event::TurnStart, |_| {}).await);
        self.opening = opening;
        self.owes_end = true;
        self
    }

    /// Returns what the turn is at, for [`Session::attach_turn`](super::Session::attach_turn).
    #[must_use]
    pub fn state(&self) -> TurnState {
        let turn = self.scope.turn.as_ref();
        TurnState {
            turn_id: self.id().to_owned(),
            prompt: turn.and_then(|turn| turn.last_user_message.clone()),
            iteration: turn.map_or(0, |turn| turn.iteration.load(Ordering::Relaxed)),
            continued: self.continued.load(Ordering::Relaxed),
            stopped: locked(&self.closing).is_some(),
            error_told: self.error_told.load(Ordering::Relaxed),
        }
    }

    /// Leaves the turn open, to be attached and ended elsewhere; fires nothing.
    pub fn detach(mut self) -> TurnState {
        self.owes_end = false;
        self.state()
    }

    pub(super) const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the hooks' answers at the start of the turn: context for the model, and messages.
    pub const fn opening(&self) -> &Trail {
        &self.opening
    }

    /// Returns the turn's id, as hooks read it.
    pub fn id(&self) -> &str {
        self.scope.turn.as_ref().map_or("", |turn| turn.turn_id.as_str())
    }

    /// Returns the driver around one tool call.
    pub fn tool_call<'a>(&self, call: ToolCall) -> ToolRun<'a> {
        ToolRun::new(self.scope.clone(), call)
    }

    /// Returns the driver around the tool calls of one answer of the model.
    pub fn batch<'a>(&self, calls: Vec<ToolCall>) -> Batch<'a> {
        Batch::new(self.scope.clone(), calls)
    }

    /// Returns the driver around one model call, which counts as the turn's next iteration.
    pub fn model_call<'a>(&self, request: ModelRequest) -> ModelCall<'a> {
        ModelCall::new(self.scope.clone(), request).telling(Arc::clone(&self.error_told))
    }

    /// Returns an approval request for a call that is not driven yet; see
    /// [`Session::approval_request`](super::Session::approval_request).
    pub fn approval_request(&self, call: &ToolCall) -> ApprovalRequest {
        ApprovalRequest::new(&self.scope.session.session_id, call)
    }

    /// Fires an event that no driver fires; see [`Session::fire`](super::Session::fire).
    #[must_use = "the event may have been blocked"]
    pub async fn fire(&self, event: Event, input: Input) -> Verdict {
        self.scope.fire(event, input).await
    }

    /// Fires `stop` when the model has finished, and returns what the model must read before it may
    /// stop. A `stop` hook keeps the model at work by `{"decision": "block", "reason": ...}`: give
    /// the model the reason, let it go on, and call this again. On `None` end the turn with
    /// [`TurnEnd::Finished`], which then does not fire `stop` again. The hooks read in
    /// `stop_hook_active` that they kept the model at work before. After [`MAX_CONTINUES`] times in
    /// a row it may stop, whatever they say.
    pub async fn finish(&self, response: &str) -> Option<String> {
        let continued = self.continued.load(Ordering::Relaxed);
        let verdict = self.stop(response, continued > 0).await;
        if !verdict.allowed && continued < MAX_CONTINUES {
            self.continued.store(continued + 1, Ordering::Relaxed);
            return Some(reason(&verdict));
        }
        self.continued.store(0, Ordering::Relaxed);
        let mut trail = Trail::default();
        trail.push(verdict);
        *locked(&self.closing) = Some(trail);
        None
    }

    async fn stop(&self, response: &str, again: bool) -> Verdict {
        let said = |input: &mut Input| {
            input.stop_response = Some(response.to_owned());
            input.extra.insert("stop_hook_active".to_owned(), again.into());
        };
        self.scope.fire_with(Event::Stop, said).await
    }

    /// Ends the turn, and returns the hooks' answers: context from `stop` is for the next turn.
    ///
    /// Only [`finish`](Self::finish) lets a `stop` hook keep the model at work.
    pub async fn end(self, end: TurnEnd) -> Trail {
        self.close(end).await
    }

    /// Ends the turn unless it has ended.
    pub(super) async fn close(&self, end: TurnEnd) -> Trail {
        let mut trail = Trail::default();
        if self.ended.swap(true, Ordering::Relaxed) {
            return trail;
        }
        let scope = &self.scope;
        match &end {
            TurnEnd::Finished { response } => {
                let told = locked(&self.closing).take();
                if let Some(told) = told {
                    trail = told;
                } else {
                    let verdict = self.stop(response, false).await;
                    if !verdict.allowed {
                        tracing::warn!(
                            turn_id = %self.id(),
                            "a `stop` hook wants the model to go on, but the turn is ended: \
                             call `finish` before `end`"
                        );
                    }
                    trail.push(verdict);
                }
            }
            TurnEnd::Failed { error } if !self.error_told.load(Ordering::Relaxed) => {
                scope.tell(error, &mut trail).await;
            }
            TurnEnd::MaxIterations { limit } => {
                let message = format!("the limit of {limit} iterations was reached");
                trail.push(scope.notify(Event::Notification, "warning", &message).await);
                trail.push(scope.notify(Event::OnMaxIterations, "warning", &message).await);
            }
            _ => {}
        }
        let named = |input: &mut Input| input.reason = Some(end.reason().to_owned());
        trail.push(scope.fire_with(Event::TurnEnd, named).await);
        trail
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.owes_end && !*self.ended.get_mut() {
            tracing::warn!(
                turn_id = %self.id(),
                "a turn was dropped without `end`; its `turn_end` hooks did not fire"
            );
        }
    }
}
