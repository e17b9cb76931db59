//! A turn: from the user's prompt to the model's final response, or another end.

use std::fmt::Display;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::outcome::{Refused, Trail, reason};
use super::owed::Owed;
use super::scope::{Scope, TurnFacts};
use super::session::Session;
use crate::event::{Event, MAX_CONTINUES};
use crate::locks::locked;

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
    id: String,
    opening: Trail,
    owed: Owed,
    /// The last answers of the `stop` hooks.
    closing: Mutex<Trail>,
}

impl Deref for Turn {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Session {
    /// Returns a turn that began elsewhere, for example in another process; fires nothing.
    pub fn attach_turn(&self, state: TurnState) -> Turn {
        let owed = Owed::new(&state.turn_id, DROPPED, false);
        let id = state.turn_id.clone();
        let facts = TurnFacts { state: Mutex::new(state), refused: Mutex::default() };
        let facts = Arc::new(facts);
        Turn {
            scope: Scope { session: Arc::clone(&self.session), turn: Some(Arc::clone(&facts)) },
            facts,
            id,
            opening: Trail::default(),
            owed,
            closing: Mutex::default(),
        }
    }
}

impl Turn {
    pub(super) async fn begin(mut self, mut opening: Trail) -> Self {
        opening.push(self.scope.fire_with(Event::TurnStart, |_| {}).await);
        self.opening = opening;
        self.owed.is_due = true;
        self
    }

    /// Returns what the turn is at, for [`Session::attach_turn`](super::Session::attach_turn).
    #[must_use]
    pub fn state(&self) -> TurnState {
        locked(&self.facts.state).clone()
    }

    /// Leaves the turn open, to be attached and ended elsewhere; fires nothing.
    pub fn detach(self) -> TurnState {
        self.owed.settle();
        self.state()
    }

    /// Returns the hooks' answers at the start of the turn: context for the model, and messages.
    pub const fn opening(&self) -> &Trail {
        &self.opening
    }

    /// Returns the turn's id, as hooks read it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Fires `stop` when the model has finished, and returns the proof that it may stop.
    ///
    /// # Errors
    /// The text that the model must read before it may stop. A `stop` hook keeps the model at work by
    /// `{"decision": "block", "reason": ...}`: give the model the reason, let it go on, and call this
    /// again. The hooks read in `stop_hook_active` that they kept the model at work before. After
    /// [`MAX_CONTINUES`] times in a row it may stop, whatever they say.
    pub async fn finish(&self, response: impl Into<String>) -> Result<Finished, String> {
        let response = response.into();
        let continued = locked(&self.facts.state).continued;
        let firing = self.fire_with(Event::Stop, |input| {
            input.stop_response = Some(response.clone());
            input.extra.insert("stop_hook_active".to_owned(), (continued > 0).into());
        });
        let verdict = firing.await;
        let may_stop = verdict.allowed || continued >= MAX_CONTINUES;
        let why = reason(&verdict);
        let mut said = Trail::default();
        said.push(verdict);
        *locked(&self.closing) = said;
        let mut state = locked(&self.facts.state);
        state.stopped = may_stop;
        state.continued = if may_stop { 0 } else { continued + 1 };
        if may_stop { Ok(Finished { response }) } else { Err(why) }
    }

    /// Ends the turn, and returns the hooks' answers: context from `stop` is for the next turn. A
    /// second call does nothing.
    pub async fn end(&self, end: Result<Finished, TurnEnd>) -> Trail {
        self.close(end.map_err(|end| self.cause_of(end)).err().as_ref()).await
    }

    /// Returns the refusal of which a failure came: many a framework keeps only the text of an error.
    pub(super) fn cause_of(&self, end: TurnEnd) -> TurnEnd {
        match (end, locked(&self.facts.refused).clone()) {
            (TurnEnd::Failed { .. }, Some(refused)) => TurnEnd::Refused(refused),
            (end, _) => end,
        }
    }

    /// Ends the turn: it has finished, or `end` says why not.
    pub(super) async fn close(&self, end: Option<&TurnEnd>) -> Trail {
        if !self.owed.settle() {
            return Trail::default();
        }
        let mut trail = std::mem::take(&mut *locked(&self.closing));
        match end {
            Some(TurnEnd::Failed { error }) if !self.state().error_told => {
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
        trail
            .push(self.fire_with(Event::TurnEnd, |input| input.reason = Some(reason.into())).await);
        trail
    }
}

/// The log line of a turn that is dropped.
const DROPPED: &str = "a turn was dropped without `end`; its `turn_end` hooks did not fire";
