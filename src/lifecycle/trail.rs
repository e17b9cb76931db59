//! The verdicts of all events of one driver, in order.

use crate::event::Event;
use crate::wire::{Stop, Verdict};

/// The verdicts of every event that fired on the way, in order.
///
/// Whatever the outcome is, read from here the hooks' texts for the model and the user, and the
/// hooks that failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trail(Vec<Verdict>);

impl Trail {
    /// Adds a verdict, unless no hook took part in it.
    pub(super) fn push(&mut self, verdict: Verdict) {
        if verdict != Verdict::no_opinion(verdict.event) {
            self.0.push(verdict);
        }
    }

    /// Returns the verdicts.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.0
    }

    /// Returns the hooks' context for the model, joined by newlines.
    pub fn additional_context(&self) -> Option<String> {
        let texts: Vec<&str> =
            self.0.iter().filter_map(|verdict| verdict.additional_context.as_deref()).collect();
        if texts.is_empty() { None } else { Some(texts.join("\n")) }
    }

    /// Returns the hooks' messages for the user, each with its event.
    pub fn system_messages(&self) -> impl Iterator<Item = (Event, &str)> {
        self.0
            .iter()
            .filter_map(|verdict| Some((verdict.event, verdict.system_message.as_deref()?)))
    }

    /// Returns the hooks that ended in an error or failed while the event went on.
    pub fn failed_open(&self) -> impl Iterator<Item = (Event, &str)> {
        let mut failed = Vec::new();
        for verdict in &self.0 {
            for name in &verdict.failed_open {
                failed.push((verdict.event, name.as_str()));
            }
        }
        failed.into_iter()
    }
}

/// A hook refused: the action did not begin, or its result must not be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("refused by a `{by}` hook: {message}")]
#[non_exhaustive]
pub struct Refused {
    /// The event whose hooks refused.
    pub by: Event,
    /// Why, for the model or the user.
    pub message: String,
    /// Whether the refusal also ends the turn or the session.
    pub stop: Option<Stop>,
    /// Everything the hooks said on the way.
    pub trail: Trail,
}

impl Refused {
    /// Returns the refusal by `verdict`.
    pub(super) fn of(verdict: &Verdict, trail: Trail) -> Self {
        let (message, stop) = (reason(verdict), verdict.stop.clone());
        Self { by: verdict.event, message, stop, trail }
    }
}

/// Returns whether a verdict refuses. An ask is a refusal at an event that can't ask.
pub(super) fn refuses(verdict: &Verdict) -> bool {
    !verdict.allowed || verdict.stop.is_some()
}

/// Returns why a verdict refuses, with a default text if the hook gave none.
pub(super) fn reason(verdict: &Verdict) -> String {
    if let Some(message) = &verdict.message
        && !message.trim().is_empty()
    {
        return message.clone();
    }
    match &verdict.stop {
        Some(stop) if !stop.reason.is_empty() => stop.reason.clone(),
        _ => format!("a `{}` hook said no", verdict.event),
    }
}
