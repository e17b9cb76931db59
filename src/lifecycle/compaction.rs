//! The driver around a compaction of the conversation.

use std::fmt::Display;
use std::future::Future;

use serde_json::Value;

use super::outcome::{Outcome, Trail, refuses};
use super::scope::Scope;
use crate::event::Event;
use crate::executor::DispatchOptions;
use crate::wire::{Input, JsonObject};

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
    pub(super) fn new(scope: Scope, source: CompactionSource) -> Self {
        Self { scope, source, facts: JsonObject::new() }
    }

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
            return self.scope.refused(&decided.verdict, trail);
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
