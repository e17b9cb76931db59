//! Which events a host fires, and which configured hooks it therefore never calls.

use std::collections::BTreeSet;

use crate::config::{Diagnostic, Hook};
use crate::event::Event;

/// The events that a host fires.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct DeclaredEvents {
    host: &'static str,
    events: BTreeSet<Event>,
}

impl DeclaredEvents {
    /// Returns a declaration of the given events.
    pub fn new(host: &'static str, events: impl IntoIterator<Item = Event>) -> Self {
        Self { host, events: events.into_iter().collect() }
    }

    /// Returns a declaration of what the drivers fire around sessions, turns, model calls, tool calls
    /// and subagents.
    ///
    /// A host that compacts or fires events of its own adds them with [`and`](Self::and).
    pub fn driven() -> Self {
        Self::new("this agent", Event::all().filter(|event| !NOT_DRIVEN.contains(event)))
    }

    /// Adds events.
    pub fn and(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.events.extend(events);
        self
    }

    /// Returns the host's name.
    pub fn host(&self) -> &str {
        self.host
    }

    /// Returns whether the host fires `event`.
    pub fn fires(&self, event: Event) -> bool {
        self.events.contains(&event)
    }

    /// Returns a warning for each enabled hook that this host never calls, in config order.
    pub fn unfired<'h>(&self, hooks: impl IntoIterator<Item = &'h Hook>) -> Vec<Diagnostic> {
        let mut unfired = Vec::new();
        for hook in hooks {
            if hook.enabled && !self.fires(hook.event) {
                let (label, host, event) = (hook.label(), self.host, hook.event);
                let problem = format!("`{label}` never runs: {host} does not fire `{event}`");
                unfired.push(Diagnostic::warning(problem).at(hook.location.clone()));
            }
        }
        unfired
    }
}

/// The events that the drivers do not fire by themselves.
const NOT_DRIVEN: [Event; 10] = [
    Event::OnUserInput,
    Event::UserSteeringMessagesSubmit,
    Event::UserFollowupSubmit,
    Event::PreCompact,
    Event::OnAgentSwitch,
    Event::BeforeCompaction,
    Event::AfterCompaction,
    Event::WorktreeCreate,
    Event::BeforeAgentRun,
    Event::AfterAgentComplete,
];
