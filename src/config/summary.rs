//! A hook in a few words, for lists.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::layer::Layer;
use super::model::{Command, Hook, Phase};
use crate::event::Event;

/// What a list of hooks says of one of them.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct HookSummary<'h> {
    /// Its event.
    pub event: Event,
    /// Which tools it is for; missing on events without a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its name, or what it runs.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'h str,
    /// What it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'h Command>,
    /// How long it may take.
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    pub timeout: Duration,
    /// Whether it runs at all.
    pub enabled: bool,
    /// Whether it has a condition.
    pub conditional: bool,
    /// Whether it runs before the others.
    pub mutates: bool,
    /// Whether the event does not wait for it.
    pub background: bool,
    /// The file it stands in.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Who brought the file in.
    pub layer: Layer,
}

impl<'h> HookSummary<'h> {
    /// Sums up a hook.
    #[must_use]
    pub fn of(hook: &'h Hook) -> Self {
        Self {
            event: hook.event,
            matcher: hook.event.contract().tool_matched.then(|| hook.matcher.to_string()),
            name: hook.label(),
            kind: &hook.kind,
            command: hook.command.as_ref(),
            timeout: hook.timeout,
            enabled: hook.enabled,
            conditional: hook.when.is_some(),
            mutates: hook.phase == Phase::Mutate,
            background: hook.phase == Phase::Background,
            file: hook.location.path().display().to_string(),
            line: hook.location.line(),
            layer: hook.layer(),
        }
    }
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_millis().serialize(serializer)
}
