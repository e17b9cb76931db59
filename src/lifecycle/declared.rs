//! Which events a host fires, and which configured hooks it therefore never calls.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use crate::config::{Diagnostic, Hook, Location};
use crate::event::Event;

/// The events that a host fires.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct DeclaredEvents {
    host: Cow<'static, str>,
    events: BTreeSet<Event>,
}

impl DeclaredEvents {
    /// Returns a declaration of the given events.
    pub fn new(
        host: impl Into<Cow<'static, str>>,
        events: impl IntoIterator<Item = Event>,
    ) -> Self {
        Self { host: host.into(), events: events.into_iter().collect() }
    }

    /// Returns a declaration of what the drivers fire by themselves around sessions, turns, model
    /// calls and tool calls.
    ///
    /// A host that compacts, runs subagents or fires events of its own adds them with
    /// [`and`](Self::and).
    pub fn driven() -> Self {
        Self::new("this agent", DRIVEN)
    }

    /// Adds events.
    pub fn and(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        self.events.extend(events);
        self
    }

    /// Removes events.
    pub fn without(mut self, events: impl IntoIterator<Item = Event>) -> Self {
        for event in events {
            self.events.remove(&event);
        }
        self
    }

    /// Returns the host's name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the events, in the order of the contract table.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        self.events.iter().copied()
    }

    /// Returns whether the host fires `event`.
    pub fn fires(&self, event: Event) -> bool {
        self.events.contains(&event)
    }

    /// Returns the enabled hooks that this host never calls, in config order.
    pub fn unfired<'h>(&self, hooks: impl IntoIterator<Item = &'h Hook>) -> Vec<UnfiredHook> {
        hooks
            .into_iter()
            .filter(|hook| hook.enabled && !self.fires(hook.event))
            .map(|hook| UnfiredHook {
                host: self.host.clone(),
                event: hook.event,
                hook: hook.label(),
                location: hook.location.clone(),
            })
            .collect()
    }
}

/// A configured hook that a host never calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfiredHook {
    /// The host.
    pub host: Cow<'static, str>,
    /// The event that it does not fire.
    pub event: Event,
    /// The hook's name, or what it runs.
    pub hook: String,
    /// Where it is configured.
    pub location: Location,
}

impl UnfiredHook {
    fn problem(&self) -> String {
        let Self { host, event, hook, .. } = self;
        format!("`{hook}` never runs: {host} does not fire `{event}`")
    }
}

impl fmt::Display for UnfiredHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.location, self.problem())
    }
}

impl From<UnfiredHook> for Diagnostic {
    fn from(unfired: UnfiredHook) -> Self {
        Self::warning(unfired.problem()).at(unfired.location)
    }
}

/// The events that the drivers fire by themselves.
const DRIVEN: [Event; 19] = [
    Event::SessionStart,
    Event::SessionEnd,
    Event::OnSessionResume,
    Event::UserPromptSubmit,
    Event::TurnStart,
    Event::TurnEnd,
    Event::Stop,
    Event::BeforeLlmCall,
    Event::AfterLlmCall,
    Event::Notification,
    Event::OnError,
    Event::OnMaxIterations,
    Event::ToolInputTransform,
    Event::ToolGuard,
    Event::PreToolUse,
    Event::PermissionRequest,
    Event::OnToolApprovalDecision,
    Event::ToolResponseTransform,
    Event::PostToolUse,
];
