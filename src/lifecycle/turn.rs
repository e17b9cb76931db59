//! A turn: from the user's prompt to the model's final response, or another end.

use std::fmt::Display;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::scope::{Scope, TurnFacts};
use super::trail::{Refused, Trail, reason};
use crate::event::{Event, MAX_CONTINUES};
use crate::locks::locked;
use crate::wire::Input;

/// A finished turn: the model has responded, and the `stop` hooks let it stop.
///
/// Only [`Turn::finish`] makes one, because it asks them. A host can't forget them:
///
/// ```compile_fail,E0639
/// use hookexec::lifecycle::Finished;
///
/// let finished = Finished { response: "Done.".to_owned() };
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished {
    /// The final response of the model.
    pub response: String,
}

/// Why a turn ended before the model had finished. Each end fires its own events, and `turn_end` last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnEnd {
    /// An error ended it: `notification` and `on_error` fire, unless they already fired for this
    /// error in a failed model call or compaction.
    #[error("{error}")]
    Failed {
        /// The error, for people.
        error: String,
    },
    /// The limit of iterations was reached: `notification` and `on_max_iterations` fire.
    #[error("the limit of {limit} iterations was reached")]
    MaxIterations {
        /// The limit.
        limit: u64,
    },
    /// The host or the user cancelled it.
    #[error("it was cancelled")]
    Cancelled,
    /// A hook ended it: it stopped the turn, or refused the prompt or a request to the model.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// The user steered it into another turn.
    #[error("the user steered it into another turn")]
    Steered,
    /// Any other reason, in the host's own word.
    #[error("{0}")]
    Other(String),
}

impl TurnEnd {
    /// Returns the end of a turn that an error ended.
    pub fn failed(error: impl Display) -> Self {
        Self::Failed { error: error.to_string() }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Failed { .. } => "error",
            Self::MaxIterations { .. } => "max_iterations",
            Self::Cancelled => "canceled",
            Self::Refused(_) => "hook_blocked",
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
    facts: Arc<TurnFacts>,
    opening: Trail,
    /// Whether it has ended.
    ended: AtomicBool,
    /// Whether its end is due here: it began here and was not detached.
    owes_end: bool,
    /// How often in a row the `stop` hooks kept the model at work.
    continued: AtomicU32,
    /// Whether the `stop` hooks let the model stop.
    stopped: AtomicBool,
    /// The last answers of the `stop` hooks.
    closing: Mutex<Trail>,
}

impl Deref for Turn {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Turn {
    pub(super) fn new(session: &Scope, state: TurnState) -> Self {
        let facts = Arc::new(TurnFacts {
            turn_id: state.turn_id,
            last_user_message: state.prompt,
            iteration: AtomicU64::new(state.iteration),
            error_told: AtomicBool::new(state.error_told),
        });
        Self {
            scope: Scope { session: Arc::clone(&session.session), turn: Some(Arc::clone(&facts)) },
            facts,
            opening: Trail::default(),
            ended: AtomicBool::new(false),
            owes_end: false,
            continued: AtomicU32::new(state.continued),
            stopped: AtomicBool::new(state.stopped),
            closing: Mutex::default(),
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
        TurnState {
            turn_id: self.facts.turn_id.clone(),
            prompt: self.facts.last_user_message.clone(),
            iteration: self.facts.iteration.load(Ordering::Relaxed),
            continued: self.continued.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            error_told: self.facts.error_told.load(Ordering::Relaxed),
        }
    }

    /// Leaves the turn open, to be attached and ended elsewhere; fires nothing.
    pub fn detach(mut self) -> TurnState {
        self.owes_end = false;
        self.state()
    }

    /// Returns the hooks' answers at the start of the turn: context for the model, and messages.
    pub const fn opening(&self) -> &Trail {
        &self.opening
    }

    /// Returns the turn's id, as hooks read it.
    pub fn id(&self) -> &str {
        &self.facts.turn_id
    }

    /// Fires `stop` when the model has finished, and returns the proof that it may stop.
    ///
    /// # Errors
    /// What the model must read before it may stop. A `stop` hook keeps the model at work by
    /// `{"decision": "block", "reason": ...}`: give the model the reason, let it go on, and call this
    /// again. The hooks read in `stop_hook_active` that they kept the model at work before. After
    /// [`MAX_CONTINUES`] times in a row it may stop, whatever they say.
    pub async fn finish(&self, response: impl Into<String>) -> Result<Finished, String> {
        let response = response.into();
        let continued = self.continued.load(Ordering::Relaxed);
        let fill = |input: &mut Input| {
            input.stop_response = Some(response.clone());
            input.extra.insert("stop_hook_active".to_owned(), (continued > 0).into());
        };
        let verdict = self.fire_with(Event::Stop, fill).await;
        let may_stop = verdict.allowed || continued >= MAX_CONTINUES;
        let why = reason(&verdict);
        let mut said = Trail::default();
        said.push(verdict);
        *locked(&self.closing) = said;
        self.stopped.store(may_stop, Ordering::Relaxed);
        self.continued.store(if may_stop { 0 } else { continued + 1 }, Ordering::Relaxed);
        if may_stop { Ok(Finished { response }) } else { Err(why) }
    }

    /// Ends the turn, and returns the hooks' answers: context from `stop` is for the next turn. A
    /// second call does nothing.
    pub async fn end(&self, end: Result<Finished, TurnEnd>) -> Trail {
        self.close(end.as_ref().err()).await
    }

    /// Ends the turn: it has finished, or `end` says why not.
    pub(super) async fn close(&self, end: Option<&TurnEnd>) -> Trail {
        if self.ended.swap(true, Ordering::Relaxed) {
            return Trail::default();
        }
        let mut trail = std::mem::take(&mut *locked(&self.closing));
        match end {
            Some(TurnEnd::Failed { error }) if !self.facts.error_told.load(Ordering::Relaxed) => {
                self.fire_error(error, &mut trail).await;
            }
            Some(end @ TurnEnd::MaxIterations { .. }) => {
                let message = end.to_string();
                trail.push(self.fire_notice(Event::Notification, "warning", &message).await);
                trail.push(self.fire_notice(Event::OnMaxIterations, "warning", &message).await);
            }
            _ => {}
        }
        let reason = end.map_or("normal", TurnEnd::reason);
        let named = |input: &mut Input| input.reason = Some(reason.to_owned());
        trail.push(self.fire_with(Event::TurnEnd, named).await);
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
